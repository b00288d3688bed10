// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// A database that holds records, and whose it is.
package struct PlacedDatabase: Sendable, Equatable {
    package let id: DatabaseID
    package let container: ContainerKey
    package let isPublic: Bool
    /// The name of the account whose private database it is; nil: it is public, or the account was deleted.
    package let account: String?

    package init(id: DatabaseID, container: ContainerKey, isPublic: Bool, account: String?) {
        self.id = id
        self.container = container
        self.isPublic = isPublic
        self.account = account
    }
}

extension AdminStore {
    /// Public and private databases by age, a page at a time.
    ///
    /// - Parameters:
    ///   - place: only those that follow this one.
    ///   - container: only those of it; nil: of all.
    ///   - account: only its private ones; nil: all.
    package func databases(
        after place: DatabaseID, in container: ContainerID?, of account: AccountID?, countMax: Int
    ) async throws(StorageError) -> [PlacedDatabase] {
        try await storage.read(sql.containers.placedDatabases((place, container, account, countMax)))
    }
}
