// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKDatabase {
    /// The first records that a query finds (R-173 … R-188).
    ///
    /// - Parameters:
    ///   - query: for one record type.
    ///   - zoneID: nil for all zones; the shared database needs one.
    ///   - desiredKeys: nil for all keys; an empty list for system fields alone.
    ///   - resultsLimit: `CKQueryOperation.maximumResults` leaves it to the server.
    /// - Returns: the records in the query's order, and the cursor to continue from; nil if there are no more.
    /// - Throws: `invalidArguments` for an invalid query, `unknownItem` for a record type that was never saved.
    public func records(
        matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        let page = try await cloud.records(matching: query, in: zoneID, desiredKeys: desiredKeys, limit: resultsLimit)
        return (page.matches.map { ($0.id, $0.result.erased) }, page.cursor)
    }

    /// The next records of a query.
    ///
    /// - Throws: `invalidArguments` for a cursor of another database.
    public func records(
        continuingMatchFrom queryCursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        let page = try await cloud.records(continuing: queryCursor, desiredKeys: desiredKeys, limit: resultsLimit)
        return (page.matches.map { ($0.id, $0.result.erased) }, page.cursor)
    }

    /// All records that a query finds.
    ///
    /// - Throws: also the error of a record that cannot be delivered.
    @available(*, deprecated, renamed: "records(matching:inZoneWith:desiredKeys:resultsLimit:)")
    @_disfavoredOverload
    public func records(matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?) async throws -> [CKRecord] {
        try await allRecords(matching: query, in: zoneID)
    }

    func allRecords(matching query: CKQuery, in zoneID: CKRecordZone.ID?) async throws -> [CKRecord] {
        let limit = CKQueryOperation.maximumResults
        // One object, so that all pages together have the time of one call.
        let cloud = try cloud
        var page = try await cloud.records(matching: query, in: zoneID, desiredKeys: nil, limit: limit)
        var records: [CKRecord] = []
        while true {
            for match in page.matches { records.append(try match.result.get()) }
            guard let cursor = page.cursor else { return records }
            page = try await cloud.records(continuing: cursor, desiredKeys: nil, limit: limit)
        }
    }
}
