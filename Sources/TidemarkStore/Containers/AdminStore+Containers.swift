// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// A row of the operator's list of containers.
    package struct Container: Sendable {
        package let key: ContainerKey
        package let createdAt: Timestamp
        /// Its own limit of deleteSelf references to one record; nil for the server's.
        package let referencesMax: Int?
        /// Whether all its zones have feeds, even where CloudKit has none.
        package let feedsEverywhere: Bool
        package let userCount: Int
        /// Whether it is being deleted.
        package let isClosed: Bool
    }

    /// - Returns: whether the container is new.
    package func createContainer(_ key: ContainerKey) async throws(StorageError) -> Bool {
        try await !storage.write(sql.containers.create(key)).isEmpty
    }

    /// By identifier, development first.
    package func containers() async throws(StorageError) -> [Container] {
        try await storage.read(sql.containers.all())
    }

    /// Sets a container's own limit of deleteSelf references to one record. It holds from the next request on.
    ///
    /// - Returns: whether there is such a container.
    package func setReferencesMax(_ referencesMax: Int?, of key: ContainerKey) async throws(StorageError) -> Bool {
        let limit = referencesMax.map { Int32(clamping: $0) }
        return try await !storage.write(sql.containers.setReferencesMax((key, limit))).isEmpty
    }

    /// Sets whether all the container's zones have feeds, even where CloudKit has none. It holds from the next
    /// request on.
    ///
    /// - Returns: whether there is such a container.
    package func setFeedsEverywhere(_ isOn: Bool, in key: ContainerKey) async throws(StorageError) -> Bool {
        try await storage.setFeedsEverywhere(isOn, in: key)
    }

    /// The private database of an account in a container; nil if it has none there.
    package func privateDatabase(
        ofAccount account: String, in key: ContainerKey
    ) async throws(StorageError) -> DatabaseID? {
        try await storage.read(sql.containers.privateDatabase((account, key))).first
    }

    /// The user that an account is in one container.
    package struct User: Sendable {
        package let id: UserID
        package let recordName: String
        package let privateDatabase: DatabaseID

        /// Stands for a user whom a command would make. No user and no database has its numbers.
        package static let planned = User(id: UserID(0), recordName: "", privateDatabase: DatabaseID(0))

        package var isPlanned: Bool { id == Self.planned.id }
    }

    /// As ``user(ofAccount:in:now:)``, but nothing is created: ``User/planned`` stands for a user who is not there yet.
    package func plannedUser(ofAccount account: String, in key: ContainerKey) async throws(StorageError) -> User? {
        guard let found = try await storage.read(sql.containers.user((account, key))).first else { return nil }
        if let user = found.user { return user }
        return try await isClosed(key) ? nil : .planned
    }

    /// The user that an account is in a container. Created with a private database if there is none yet.
    ///
    /// - Returns: nil if there is no such account or container.
    package func user(
        ofAccount account: String, in key: ContainerKey, now: Timestamp
    ) async throws(StorageError) -> User? {
        for _ in 0..<2 {
            guard let found = try await storage.read(sql.containers.user((account, key))).first else { return nil }
            if let user = found.user { return user }
            try await storage.create((key, found.account, now))
        }
        return nil
    }
}
