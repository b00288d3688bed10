// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// A public database that counts something else than accounts have created there.
package struct PublicUseDifference: Sendable, Equatable {
    package let database: DatabaseID
    /// One of those of whom it is so.
    package let user: UserID
    package let counted: Int64
    package let sum: Int64
    /// How many users there are.
    package let count: Int
}

/// Some public databases, compared with their records.
package struct PublicUsePage: Sendable {
    package fileprivate(set) var differences: [PublicUseDifference] = []
    /// The last one that was compared; nil: there were none.
    package fileprivate(set) var last: DatabaseID?
}

extension BackupSnapshot {
    /// Compares what is counted for creators with what they have. All of a public database is of the snapshot.
    package func publicUses(after database: DatabaseID?) async throws(StorageError) -> PublicUsePage {
        var page = PublicUsePage()
        for place in try await run(sql.publicUses.databases((database ?? DatabaseID(.min), Self.databasesOfStep))) {
            // Whoever asked may be gone, and nobody else ends this connection.
            guard !Task.isCancelled else { throw StorageError(.stopped) }
            page.differences += try await run(sql.publicUses.wrong(place)).map {
                PublicUseDifference(place.database, $0)
            }
            page.last = place.database
        }
        return page
    }

    private static let databasesOfStep = 20
}

extension AdminStore {
    /// Counts anew what accounts have created in public databases, where it is wrong: servers of before did not count.
    /// Each database is a transaction of its own, under the lock of its zone.
    ///
    /// - Parameter onMended: is called after each database in which something was wrong.
    package func mendPublicUses(_ onMended: () -> Void) async throws(StorageError) {
        try await eachPublicDatabase { (place) async throws(StorageError) in
            let (_, mended) = try await storage.writeRepeatably(
                sql.compaction.lockZone((place.database, place.zone)), sql.publicUses.mend(place))
            if mended.affectedCount > 0 { onMended() }
        }
    }

    /// How many public databases ``mendPublicUses(_:)`` would mend now.
    package func wrongPublicUseCount() async throws(StorageError) -> Int {
        var count = 0
        try await eachPublicDatabase { (place) async throws(StorageError) in
            if try await !storage.read(sql.publicUses.wrong(place), isLong: true).isEmpty { count += 1 }
        }
        return count
    }

    private func eachPublicDatabase(
        _ body: (DigestPlace) async throws(StorageError) -> Void
    ) async throws(StorageError) {
        var place: DatabaseID? = DatabaseID(.min)
        while let after = place {
            let places = try await storage.read(sql.publicUses.databases((after, Self.publicDatabasesOfStep)))
            for place in places { try await body(place) }
            place = places.count == Self.publicDatabasesOfStep ? places.last?.database : nil
        }
    }

    private static let publicDatabasesOfStep = 500
}

extension PublicUseDifference {
    fileprivate init(_ database: DatabaseID, _ row: (user: UserID, counted: Int64, sum: Int64, count: Int)) {
        self.init(database: database, user: row.user, counted: row.counted, sum: row.sum, count: row.count)
    }
}
