// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// Remembers for a short time the record types of recent queries. Each query reads the version again, which decides
/// everything that matters for correctness. A new index is used a little later.
///
/// Owners have no shares of the places, because what is remembered counts for ten seconds only. Somebody who queries a
/// thousand types in that time makes others' next queries take one round trip more.
final class QueryTypes: Sendable {
    private static let countMax = 1_000
    private static let lifetime = Duration.seconds(10)

    private struct Key: Hashable {
        let database: DatabaseID
        let name: String
    }

    private struct Entry {
        let type: QueryType
        let expiresAt: Duration
    }

    private let entries = Mutex<[Key: Entry]>([:])

    func type(_ name: String, in database: DatabaseID, now: Duration) -> QueryType? {
        entries.withLock { entries in
            guard let entry = entries[Key(database: database, name: name)], now < entry.expiresAt else { return nil }
            return entry.type
        }
    }

    func remember(_ type: QueryType, in database: DatabaseID, now: Duration) {
        entries.withLock { entries in
            if entries.count >= Self.countMax { entries = [:] }
            entries[Key(database: database, name: type.name)] = Entry(type: type, expiresAt: now + Self.lifetime)
        }
    }

    func forget(_ name: String, in database: DatabaseID) {
        entries.withLock { $0[Key(database: database, name: name)] = nil }
    }
}
