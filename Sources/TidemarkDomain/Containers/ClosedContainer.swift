// SPDX-License-Identifier: Apache-2.0

/// A container that an operator deletes.
package struct ClosedContainer: Hashable, Sendable {
    package let id: ContainerID
    /// Tells this deletion from one that ended, and after which the container was created again.
    package let closedAt: Timestamp

    package init(id: ContainerID, closedAt: Timestamp) {
        self.id = id
        self.closedAt = closedAt
    }
}
