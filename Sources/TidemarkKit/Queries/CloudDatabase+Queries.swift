// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkWire

extension CloudDatabase {
    /// One page of a query's results.
    struct QueryResults {
        var matches: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] = []
        /// Nil: there are no more records.
        var cursor: CKQueryOperation.Cursor?
    }

    /// The first page.
    ///
    /// - Parameters:
    ///   - zoneID: nil for all zones.
    ///   - limit: 0 lets the server choose.
    func records(
        matching query: CKQuery, in zoneID: CKRecordZone.ID?, desiredKeys: [CKRecord.FieldKey]?, limit: Int
    ) async throws(CKError) -> QueryResults {
        try await page(of: try query.wire(in: zoneID, now: Date()), after: [], desiredKeys, limit)
    }

    /// The page after another one.
    func records(
        continuing cursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]?, limit: Int
    ) async throws(CKError) -> QueryResults {
        guard let query = try? WireQuery(reading: cursor.query), !cursor.place.isEmpty else {
            throw CKError(.invalidArguments, message: "The cursor is damaged. Run the query again from the beginning.")
        }
        return try await page(of: query, after: cursor.place, desiredKeys, limit)
    }

    private func page(
        of query: WireQuery, after place: [UInt8], _ desiredKeys: [CKRecord.FieldKey]?, _ limit: Int
    ) async throws(CKError) -> QueryResults {
        var request = WireQueryRecords()
        request.database = wireScope
        request.query = query
        request.cursor = place
        request.limit = UInt32(clamping: limit)
        if let desiredKeys { request.desiredKeys = WireDesiredKeys(desiredKeys) }
        guard
            case .queryRecords(let answer) = try await self.request({ [request] _ in .queryRecords(request) }).answer
        else { throw Self.wrongAnswer(to: .queryRecords) }
        var results = QueryResults()
        for match in answer.matches {
            let zoneID = CKRecordZone.ID(match.hasZone ? match.zone : query.zone)
            let id = CKRecord.ID(recordName: match.record.name, zoneID: zoneID)
            results.matches.append((id, record(match.record, in: zoneID)))
        }
        results.matches = try await withFiles(try await unsealed(results.matches))
        if !answer.cursor.isEmpty {
            results.cursor = CKQueryOperation.Cursor(query: query.encoded, place: answer.cursor)
        }
        return results
    }
}
