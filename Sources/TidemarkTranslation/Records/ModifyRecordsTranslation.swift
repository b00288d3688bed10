// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
package import TidemarkWire

/// One zone's part of a `ModifyRecords`.
package enum RecordsPart: Sendable {
    case request(RecordsRequest)
    /// The zone cannot be one of the caller's: every item gets the reason, without a look at the store.
    case refused(FailureReason, saveCount: Int, deleteCount: Int)
}

extension RecordsPart {
    /// Cuts a request into its zones' parts.
    ///
    /// - Throws: ``Refusal`` for the request as a whole: `requestInvalid`, or what the rules say of it whatever is stored.
    package static func parts(
        of request: WireModifyRecords, by viewpoint: Viewpoint, limits: Limits
    ) throws(Refusal) -> [RecordsPart] {
        // Before anything is made of it, and with the number, which the rules cannot give.
        try ItemCount.check(request.zones.reduce(0) { $0 + $1.saves.count + $1.deletes.count }, limits)
        try ItemCount.check(request.zones.count, limits)
        guard let user = viewpoint.access.user else { throw Refusal(.notAuthenticated) }
        let id = try RequestID(request.stamp, device: viewpoint.device)
        let policy = try SavePolicy(request.policy)
        var parts: [RecordsPart] = []
        var requests: [RecordsRequest] = []
        for part in request.zones {
            guard let zoneName = ZoneNames.read(part.zone, by: viewpoint) else {
                parts.append(.refused(.zoneNotFound, saveCount: part.saves.count, deleteCount: part.deletes.count))
                continue
            }
            var saves: [RecordSave] = []
            saves.reserveCapacity(part.saves.count)
            for save in part.saves { saves.append(try RecordSave(save, limits: limits)) }
            let records = RecordsRequest(
                id: id, zoneName: zoneName, saves: saves, deletes: part.deletes, policy: policy,
                isAtomic: request.atomic, user: user, access: viewpoint.access,
                clientToken: [UInt8](request.clientChangeToken))
            requests.append(records)
            parts.append(.request(records))
        }
        if let reason = RecordsRequest.refusal(of: requests, within: limits) { throw Refusal(reason) }
        return parts
    }
}

extension RecordSave {
    fileprivate init(_ save: WireRecordSave, limits: Limits) throws(Refusal) {
        var fields = FieldMap()
        var failure: FailureReason?
        do {
            // One record over its own limit fails alone, by the rules: here only the request's limit counts.
            fields = try FieldMap(
                validating: [UInt8](save.fields), limits: FieldLimits(byteCountMax: limits.requestBytesMax))
        } catch {
            guard error.code != .tooLarge else { throw Refusal(.requestTooLarge) }
            failure = .fieldsInvalid
        }
        self.init(
            name: save.name, type: save.type, tag: save.tag.isEmpty ? nil : ChangeTag(bytes: [UInt8](save.tag)),
            fields: fields, parent: try ParentChange(save), fieldsFailure: failure)
    }
}

extension ParentChange {
    fileprivate init(_ save: WireRecordSave) throws(Refusal) {
        switch save.parentChange {
        case .parentUnchanged: self = .unchanged
        case .parentSet where !save.parent.isEmpty: self = .set(save.parent)
        case .parentRemoved: self = .removed
        case .parentSet: throw Refusal(.requestInvalid, "A parent that is set has a name.")
        case .UNRECOGNIZED: throw Refusal(.requestInvalid, "There is no such change of a parent.")
        }
    }
}

extension SavePolicy {
    fileprivate init(_ policy: WireSavePolicy) throws(Refusal) {
        switch policy {
        case .ifServerRecordUnchanged: self = .ifServerRecordUnchanged
        case .changedKeys: self = .changedKeys
        case .allKeys: self = .allKeys
        case .UNRECOGNIZED: throw Refusal(.requestInvalid, "There is no such save policy.")
        }
    }
}

/// Makes the answer of a `ModifyRecords`.
package struct RecordsAnswer {
    /// Knows the names of all users that the outcomes name.
    private let viewpoint: Viewpoint
    /// Stored bytes of records that are in the way which the answer may still hold.
    private var bytesLeft: Int
    private var answer = WireModifyRecordsAnswer()

    package init(viewpoint: Viewpoint, limits: Limits) {
        self.viewpoint = viewpoint
        bytesLeft = limits.answerBytesMax
    }

    /// Adds the next part's outcome.
    package mutating func append(_ outcome: RecordsOutcome) {
        var results = WireZoneModificationResults()
        results.saves.reserveCapacity(outcome.saves.count)
        for save in outcome.saves { results.saves.append(result(of: save)) }
        results.deletes = outcome.deletes.map { delete in
            switch delete {
            case .deleted: .done
            case .failed(let failure): WireDeleteResult(failure.reason)
            }
        }
        answer.zones.append(results)
    }

    /// Adds the next part, all of whose items have failed for one reason.
    package mutating func append(_ reason: FailureReason, saveCount: Int, deleteCount: Int) {
        var results = WireZoneModificationResults()
        results.saves = Array(repeating: WireSaveResult(reason), count: saveCount)
        results.deletes = Array(repeating: WireDeleteResult(reason), count: deleteCount)
        answer.zones.append(results)
    }

    /// The answer to request `id`.
    package func message(_ id: UInt64) -> [UInt8] {
        ServerMessage.answer(id, .modifyRecords(answer))
    }

    private mutating func result(of save: SaveOutcome) -> WireSaveResult {
        switch save {
        case .saved(let metadata):
            var result = WireSaveResult()
            result.saved = WireSavedRecord(metadata, seenFrom: viewpoint)
            return result
        case .failed(let failure):
            var result = WireSaveResult(failure.reason, detail: failure.detail)
            if let record = failure.serverRecord, let zone = failure.serverZone, record.fields.byteCount <= bytesLeft {
                bytesLeft -= record.fields.byteCount
                result.failure.serverRecord = WireRecord(record, in: zone, seenFrom: viewpoint)
            }
            return result
        }
    }
}

extension WireSaveResult {
    fileprivate init(_ reason: FailureReason, detail: String? = nil) {
        self.init()
        failure.failure = reason.wire(detail: detail)
    }
}

extension WireDeleteResult {
    fileprivate static var done: Self {
        var result = Self()
        result.deleted = WireDone()
        return result
    }

    fileprivate init(_ reason: FailureReason) {
        self.init()
        failure = reason.wire()
    }
}
