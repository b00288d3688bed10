// SPDX-License-Identifier: Apache-2.0

/// A container by its name, as a client gives it when it connects. The container may not exist.
package struct ContainerKey: Hashable, Sendable {
    /// Case-sensitive.
    package let identifier: String
    package let environment: ContainerEnvironment

    package init(identifier: String, environment: ContainerEnvironment) {
        self.identifier = identifier
        self.environment = environment
    }
}

/// A container's public database. It is created on first use.
package struct PublicDatabase: Hashable, Sendable {
    package let container: ContainerID
    package let database: DatabaseID

    package init(container: ContainerID, database: DatabaseID) {
        self.container = container
        self.database = database
    }
}
