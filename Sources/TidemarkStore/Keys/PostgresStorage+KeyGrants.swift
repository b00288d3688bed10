// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func keyReaders(
        of zone: ZoneKey, after last: UserID?, countMax: Int
    ) async throws(StorageError) -> KeyReadersPage? {
        let rows = try await read(sql.keyGrants.readers((zone, last ?? UserID(.min), countMax)))
        guard let first = rows.first else { return nil }
        let isFull = rows.count == countMax
        return KeyReadersPage(
            keys: first.keys, readers: rows.compactMap(\.reader), last: isFull ? rows.last?.user : nil)
    }

    package func saveKeyGrants(
        _ grants: [KeyGrant], in zone: ZoneKey, now: Timestamp
    ) async throws(StorageError) {
        // NB: each statement sees what was committed before it began, so the lock comes first.
        _ = try await writeRepeatably(
            sql.zones.lockNamed((zone.database, [zone.name])), sql.keyGrants.drop(zone),
            sql.keyGrants.save((zone, grants, now)))
    }

    package func givenKeys(
        in zones: [ZoneKey], to user: UserID
    ) async throws(StorageError) -> [ZoneKey: GivenKeys] {
        guard !zones.isEmpty else { return [:] }
        let rows = try await read(sql.keyGrants.given((zones, user)))
        return Dictionary(rows.map { (zones[$0.ordinal - 1], $0.keys) }) { first, _ in first }
    }
}
