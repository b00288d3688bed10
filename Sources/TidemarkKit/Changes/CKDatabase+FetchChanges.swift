// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKDatabase {
    /// One page of the zones that changed since a token (R-203 … ).
    ///
    /// - Parameters:
    ///   - changeToken: from an earlier call on this database; nil to begin with the first change.
    ///   - resultsLimit: the most zones; nil leaves it to the server.
    /// - Throws: `changeTokenExpired`: begin again with nil.
    public func databaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil
    ) async throws -> (
        modifications: [CKDatabase.DatabaseChange.Modification], deletions: [CKDatabase.DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        let page = try await cloud.databaseChanges(since: changeToken, limit: resultsLimit ?? 0)
        return (page.modifications, page.deletions, page.token, page.moreComing)
    }

    /// One page of the records that changed in a zone since a token (R-208 … R-215). It may have none although more is
    /// coming.
    ///
    /// - Parameters:
    ///   - zoneID: a zone that has changes to fetch.
    ///   - changeToken: from an earlier call on this zone; nil to begin with the first change.
    ///   - desiredKeys: nil for all keys; an empty list for system fields alone.
    ///   - resultsLimit: the most records; nil leaves it to the server.
    /// - Throws: `changeTokenExpired`: begin again with nil; `zoneNotFound`.
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
    ) async throws -> (
        modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        let page = try await cloud.zoneChanges(
            in: zoneID, since: changeToken, desiredKeys: desiredKeys, limit: resultsLimit ?? 0)
        var modifications: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>] = [:]
        for (id, result) in page.modifications {
            modifications[id] = result.map { .init(record: $0) }.mapError { $0 }
        }
        return (modifications, page.deletions, page.token, page.moreComing)
    }
}
