// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// What a transaction reads beside all else in zones of which hierarchies are shared: their shares, which of them cover
/// the records that were read, and all that is below records that may move. Other zones cost nothing.
struct HierarchyReads {
    private let reads: [ZoneRead]

    init(_ reads: [ZoneRead]) {
        self.reads = reads
    }

    /// After the zones are locked, on the connection of the transaction.
    func complete(
        _ snapshots: [ZoneSnapshot], on connection: PostgresConnection
    ) async throws(PostgresError) -> [ZoneSnapshot] {
        let places = snapshots.indices.filter { place in
            guard let zone = snapshots[place].zone else { return false }
            return zone.hasHierarchies || reads[place].sharesHierarchy
        }
        guard !places.isEmpty else { return snapshots }
        var snapshots = snapshots
        // Of all zones together.
        var roomLeft = reads.lazy.map(\.relativesMax).max() ?? 0
        for place in places {
            let belowMax = min(reads[place].belowMax, roomLeft)
            try await complete(&snapshots[place], reads[place], belowMax: belowMax, on: connection)
            roomLeft -= snapshots[place].hierarchies?.below.count ?? 0
        }
        return snapshots
    }

    /// A zone's part of what is read.
    private struct Found {
        var hierarchies = ZoneHierarchies()
        var records: [(record: RecordState, unread: Int32?)] = []
    }

    private func complete(
        _ snapshot: inout ZoneSnapshot, _ read: ZoneRead, belowMax: Int, on connection: PostgresConnection
    ) async throws(PostgresError) {
        guard let zone = snapshot.zone else { return }
        try await readShares(of: &snapshot, read, on: connection)
        let others = snapshot.recordsOfShares(for: read)
        var found = Found()
        var reading = Reading<Found>()
        if !others.isEmpty {
            let wanted = others.map { WantedKey(readIndex: 0, zone: read.key, key: $0) }
            reading.add(sql.records.readRecords(([read.key], wanted, read.storedBytesMax))) { found, row in
                found.records.append((row.record, row.unread))
            }
        }
        let moved = snapshot.movedNames(for: read)
        let names = Set(snapshot.records.keys).union(others).union(moved).sorted()
        reading.add(
            sql.hierarchies.covers(CoverQuery(database: zone.key.database, zone: zone.id, names: names))
        ) { found, row in found.hierarchies.covers[row.name] = row.cover }
        if !moved.isEmpty {
            let query = CoverQuery(
                database: zone.key.database, zone: zone.id, names: moved, rowsMax: belowMax + 1)
            reading.add(sql.hierarchies.below(query)) { found, row in found.hierarchies.below.append(row) }
        }
        found = try await connection.run(reading, into: found)
        for (record, unread) in found.records {
            snapshot.records[record.name] = record
            if let unread { snapshot.unread[record.name] = Int(unread) }
        }
        if found.hierarchies.below.count > belowMax, !moved.isEmpty {
            found.hierarchies.below.removeLast()
            found.hierarchies.isCut = true
        }
        snapshot.hierarchies = found.hierarchies
        snapshot.cover()
    }

    /// Whoever deletes a CKShare record needs no more: an end writes no people, and whoever leaves has a row of their own, which
    /// is read with the access of each request in the shared database.
    private func readShares(
        of snapshot: inout ZoneSnapshot, _ read: ZoneRead, on connection: PostgresConnection
    ) async throws(PostgresError) {
        guard snapshot.sharing == nil else { return }
        snapshot.sharing = try await shares(.access(of: []), of: read.key, on: connection)
    }

    private func shares(
        _ read: SharingRead, of key: ZoneKey, on connection: PostgresConnection
    ) async throws(PostgresError) -> ZoneSharing? {
        guard let call = read.call(for: [key]) else { return nil }
        var rows = SharingRows(isWhole: read.isWhole)
        for row in try await connection.run(call).rows { rows.add(row) }
        return rows.sharing
    }
}
