// SPDX-License-Identifier: Apache-2.0

/// A container by name: what a client says when it connects, before anybody knows whether it exists.
package struct ContainerKey: Hashable, Sendable {
    /// Case-sensitive.
    package let identifier: String
    package let environment: ContainerEnvironment

    package init(identifier: String, environment: ContainerEnvironment) {
        self.identifier = identifier
        self.environment = environment
    }
}

/// A container's public database, which is made when it is first used.
package struct PublicDatabase: Hashable, Sendable {
    package let container: ContainerID
    package let database: DatabaseID

    package init(container: ContainerID, database: DatabaseID) {
        self.container = container
        self.database = database
    }
}
