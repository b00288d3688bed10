// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func queryPage(_ query: QueryPageQuery) async throws(StorageError) -> QueryPageRead {
        let lease = try await acquire()
        let read: QueryPageRead
        do {
            read = try await scan(query, on: lease.connection)
            release(lease)
        } catch {
            release(lease)
            throw StorageError(error, duringCommit: false)
        }
        guard !read.isZoneFound, let zoneName = query.query.zoneName else { return read }
        let key = ZoneKey(database: query.database, name: zoneName)
        return QueryPageRead(
            isZoneFound: false, lastRemoval: try await records(named: [], in: key).lastRemoval, isTypeKnown: false)
    }

    private func scan(
        _ query: QueryPageQuery, on connection: PostgresConnection
    ) async throws(PostgresError) -> QueryPageRead {
        let database = PostgresValue.int8(query.database.rawValue)
        let rows = try await connection.execute([QueryStatements.begin(), ZoneStatements.all(database)])[1]
        var living: [ZoneState] = []
        for row in rows { living.append(try ZoneRow.decode(row, from: 0, in: query.database)) }
        let searched = living.filter { zone in query.query.zoneName.map { $0 == zone.key.name } ?? true }
        guard query.query.zoneName == nil || !searched.isEmpty else {
            return QueryPageRead(isZoneFound: false, isTypeKnown: false)
        }
        var scan = QueryScan(query)
        var recordCount = 0
        for zone in searched { recordCount += try await look(at: zone, query, with: &scan, on: connection) }
        var isTypeKnown = recordCount > 0
        if !isTypeKnown {
            let zones = PostgresValue.int8Array(living.map(\.id.rawValue))
            let statement = QueryStatements.isTypeKnown(database, zones, .text(query.query.recordType))
            isTypeKnown = try await connection.execute([statement])[0][0].bool(0)
        }
        return QueryPageRead(
            isZoneFound: true, isTypeKnown: isTypeKnown, matches: scan.matches, hasMore: scan.hasMore)
    }

    private static let batchRecordsMax: Int64 = 500

    /// - Returns: how many records of the type the zone has.
    private func look(
        at zone: ZoneState, _ query: QueryPageQuery, with scan: inout QueryScan, on connection: PostgresConnection
    ) async throws(PostgresError) -> Int {
        var recordCount = 0
        var lastName = ""
        while true {
            let statement = QueryStatements.records(
                .int8(query.database.rawValue), .int8(zone.id.rawValue), .text(lastName), .text(query.query.recordType),
                .int8(Self.batchRecordsMax), .int8(Int64(query.bytesMax)))
            let rows = try await connection.execute([statement])[0]
            if rows.count == 0 { return recordCount }
            for row in rows {
                let record = try RecordRow.decode(row, from: 0)
                scan.look(at: record, in: zone.id, named: zone.key.name)
                lastName = record.name
            }
            recordCount += rows.count
        }
    }
}
