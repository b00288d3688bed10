// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

extension CloudDatabase {
    /// One page of the database's feed.
    ///
    /// - Parameter withEnds: whether, without a token, zones that are gone are reported as well.
    func databaseChanges(
        since token: CKServerChangeToken?, limit: Int = 0, withEnds: Bool = false
    ) async throws(CKError) -> SyncEngineDatabasePage {
        try await databaseChanges(since: token, limit: limit, withEnds: withEnds, then: nil, follows: false).page
    }

    /// As above. If the server likes, the answer to a request for a page of a zone's feed comes along, which is not
    /// older. It also says whether a database subscription is gone.
    func databaseChanges(
        since token: CKServerChangeToken?, limit: Int = 0, withEnds: Bool, then zoneRequest: WireFetchZoneChanges?,
        follows: Bool, relyingOn subscriptionID: CKSubscription.ID? = nil
    ) async throws(CKError) -> (page: SyncEngineDatabasePage, zoneAnswer: WireFetchZoneChangesAnswer?) {
        var request = WireFetchDatabaseChanges()
        request.database = wireScope
        request.token = token?.bytes ?? []
        request.limit = UInt32(clamping: limit)
        request.withEnds = withEnds && token == nil
        if let zoneRequest { request.then = zoneRequest }
        request.follows = follows
        if let subscriptionID { request.subscriptionID = subscriptionID }
        guard
            case .fetchDatabaseChanges(let answer) =
                try await self.request({ [request] _ in .fetchDatabaseChanges(request) }).answer
        else { throw Self.wrongAnswer(to: .fetchDatabaseChanges) }
        var page = SyncEngineDatabasePage(answer)
        if answer.subscriptionMissing { page.missingSubscriptionID = subscriptionID }
        return (page, answer.hasThen ? answer.then : nil)
    }

    /// One page of a zone's feed, in the feed's order.
    struct FetchedZonePage {
        var modifications: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] = []
        var deletions: [CKDatabase.RecordZoneChange.Deletion] = []
        var token: CKServerChangeToken
        var moreComing: Bool
        /// The last token that this device gave with its changes of the zone.
        var clientToken: Data?
    }

    /// One page of a zone's feed.
    ///
    /// - Parameter withEnds: whether, without a token, all records that are gone are reported as well.
    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, desiredKeys: [CKRecord.FieldKey]? = nil,
        limit: Int = 0, withEnds: Bool = false, missingAssets: MissingAssets = .failRecord
    ) async throws(CKError) -> FetchedZonePage {
        var request = zoneChangesRequest(in: zoneID, since: token, limit: limit, withEnds: withEnds)
        if let desiredKeys { request.desiredKeys = WireDesiredKeys(desiredKeys) }
        guard
            case .fetchZoneChanges(let answer) =
                try await self.request({ [request] _ in .fetchZoneChanges(request) }).answer
        else { throw Self.wrongAnswer(to: .fetchZoneChanges) }
        return try await zonePage(answer, in: zoneID, missingAssets: missingAssets)
    }

    /// For whole records.
    ///
    /// - Parameter limit: the most records; 0 lets the server choose.
    func zoneChangesRequest(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, limit: Int, withEnds: Bool
    ) -> WireFetchZoneChanges {
        var request = WireFetchZoneChanges()
        request.database = wireScope
        request.zone = WireZoneID(zoneID)
        request.token = token?.bytes ?? []
        request.limit = UInt32(clamping: limit)
        request.withEnds = withEnds && token == nil
        return request
    }

    /// The server's answer, with values decrypted and files fetched.
    func zonePage(
        _ answer: WireFetchZoneChangesAnswer, in zoneID: CKRecordZone.ID, missingAssets: MissingAssets
    ) async throws(CKError) -> FetchedZonePage {
        var page = FetchedZonePage(token: CKServerChangeToken(bytes: answer.token), moreComing: answer.moreComing)
        if !answer.clientChangeToken.isEmpty { page.clientToken = Data(answer.clientChangeToken) }
        for change in answer.changes {
            switch change.change {
            case .record(let record):
                let id = CKRecord.ID(recordName: record.name, zoneID: zoneID)
                page.modifications.append((id, self.record(record, in: zoneID)))
            case .deleted(let end):
                page.deletions.append(
                    .init(recordID: CKRecord.ID(recordName: end.name, zoneID: zoneID), recordType: end.type))
            case nil:
                throw Self.wrongAnswer(to: .fetchZoneChanges)
            }
        }
        page.modifications = try await withFiles(
            try await unsealed(page.modifications, missing: missingAssets), missing: missingAssets)
        return page
    }
}

extension CKDatabase.DatabaseChange.Deletion.Reason {
    init(_ wire: WireZoneEndReason) {
        switch wire {
        case .purged: self = .purged
        case .encryptedDataReset: self = .encryptedDataReset
        case .deleted, .unrecognized: self = .deleted
        }
    }
}

extension SyncEngineDatabasePage {
    init(_ answer: WireFetchDatabaseChangesAnswer) {
        self.init(
            modifications: answer.changed.map { .init(zoneID: CKRecordZone.ID($0)) },
            deletions: answer.ended.map { .init(zoneID: CKRecordZone.ID($0.zone), reason: .init($0.reason)) },
            token: CKServerChangeToken(bytes: answer.token), moreComing: answer.moreComing)
    }
}
