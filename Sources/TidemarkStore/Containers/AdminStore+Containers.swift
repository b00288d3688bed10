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
    }

    /// - Returns: whether the container is new.
    package func createContainer(_ key: ContainerKey) async throws(StorageError) -> Bool {
        let rows = try await storage.write([
            ContainerStatements.create(.text(key.identifier), .int2(key.environment.rawValue))
        ])
        return rows[0].count > 0
    }

    /// By identifier, development first.
    package func containers() async throws(StorageError) -> [Container] {
        try all(try await storage.read(ContainerStatements.all())) { row throws(PostgresError) in
            Container(
                key: ContainerKey(
                    identifier: try row.string(0),
                    environment: ContainerEnvironment(rawValue: try row.int16(1)) ?? .development),
                createdAt: Timestamp(milliseconds: try row.milliseconds(2)),
                referencesMax: try row.isNull(3) ? nil : Int(try row.int32(3)), feedsEverywhere: try row.bool(5),
                userCount: Int(try row.int64(4)))
        }
    }

    /// Sets a container's own limit of deleteSelf references to one record. It holds from the next request on.
    ///
    /// - Returns: whether there is such a container.
    package func setReferencesMax(_ referencesMax: Int?, of key: ContainerKey) async throws(StorageError) -> Bool {
        let rows = try await storage.write([
            ContainerStatements.setReferencesMax(
                .text(key.identifier), .int2(key.environment.rawValue),
                referencesMax.map { .int4(Int32(clamping: $0)) } ?? .null)
        ])
        return rows[0].count > 0
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
        let rows = try await storage.read(
            ContainerStatements.privateDatabase(
                .text(account), .text(key.identifier), .int2(key.environment.rawValue)))
        return try first(rows) { row throws(PostgresError) in DatabaseID(try row.int64(0)) }
    }

    /// The user that an account is in one container.
    package struct User: Sendable {
        package let id: UserID
        package let recordName: String
        package let privateDatabase: DatabaseID
    }

    /// The user that an account is in a container. Created with a private database if there is none yet.
    ///
    /// - Returns: nil if there is no such account or container.
    package func user(
        ofAccount account: String, in key: ContainerKey, now: Timestamp
    ) async throws(StorageError) -> User? {
        let question = ContainerStatements.user(
            .text(account), .text(key.identifier), .int2(key.environment.rawValue))
        for _ in 0..<2 {
            let rows = try await storage.read(question)
            guard let id = try first(rows, { row throws(PostgresError) in try row.int64(0) }) else { return nil }
            let user = try decode { () throws(PostgresError) -> User? in
                guard try !rows[0].isNull(3) else { return nil }
                return User(
                    id: UserID(try rows[0].int64(1)), recordName: try rows[0].string(2),
                    privateDatabase: DatabaseID(try rows[0].int64(3)))
            }
            if let user { return user }
            try await storage.createUser(
                id, container: key.identifier, environment: key.environment, now: now)
        }
        return nil
    }
}
