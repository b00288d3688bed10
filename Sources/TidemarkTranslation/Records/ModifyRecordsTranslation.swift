// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
internal import TidemarkFields
package import TidemarkWire

/// One zone's part of a `ModifyRecords`.
package enum RecordsPart: Sendable {
    case request(RecordsRequest)
    /// The caller cannot have the zone. Each item gets the reason, without a read of the store.
    case refused(FailureReason, saveCount: Int, deleteCount: Int)

    package var request: RecordsRequest? {
        if case .request(let request) = self { request } else { nil }
    }
}

extension RecordsPart {
    /// Splits a request into the parts of its zones.
    ///
    /// - Throws: ``Refusal`` for the whole request: `requestInvalid`, or what the rules refuse whatever is stored.
    package static func parts(
        of request: WireModifyRecords, by viewpoint: Viewpoint, limits: Limits
    ) throws(Refusal) -> [RecordsPart] {
        var reader = try RecordsPartsReader(request, by: viewpoint, limits: limits)
        _ = try reader.read()
        return try reader.finished()
    }
}

/// Reads a `ModifyRecords` in steps, so that others can have their turn on the event loop between two of them.
package struct RecordsPartsReader: Sendable {
    /// Bytes of fields for one turn of an event loop; it may also be one record. A field has 8 bytes at least, and takes up
    /// to some 30 ns to be checked.
    package static let bytesPerTurn = 262_144
    /// Somebody who is to take part in a share takes as long as so many bytes of fields.
    private static let bytesPerParticipant = 512

    private let request: WireModifyRecords
    private let viewpoint: Viewpoint
    private let limits: Limits
    private let user: UserID
    private let id: RequestID
    private let policy: SavePolicy
    private var parts: [RecordsPart] = []
    /// Those of the next part that were read.
    private var saves: [RecordSave] = []

    /// - Throws: as ``RecordsPart/parts(of:by:limits:)``.
    package init(_ request: WireModifyRecords, by viewpoint: Viewpoint, limits: Limits) throws(Refusal) {
        // Before anything is allocated, and with the number, which the rules do not know.
        try ItemCount.check(request.zones.reduce(0) { $0 + $1.saves.count + $1.deletes.count }, limits)
        try ItemCount.check(request.zones.count, limits)
        try ItemCount.checkBytes(request.zones.reduce(0) { $0 + $1.saves.reduce(0) { $0 + $1.fields.count } }, limits)
        guard let user = viewpoint.access.user else { throw Refusal(.notAuthenticated) }
        self.request = request
        self.viewpoint = viewpoint
        self.limits = limits
        self.user = user
        id = try RequestID(request.stamp, from: viewpoint)
        policy = try SavePolicy(request.policy)
    }

    /// Reads records until they have so many bytes of fields, or shares that take as long.
    ///
    /// - Returns: whether there is more to read.
    package mutating func read(bytesMax: Int = .max) throws(Refusal) -> Bool {
        var bytesLeft = bytesMax
        while parts.count < request.zones.count {
            let part = request.zones[parts.count]
            guard let key = viewpoint.zoneKey(of: part.zone) else {
                parts.append(.refused(.zoneNotFound, saveCount: part.saves.count, deleteCount: part.deletes.count))
                continue
            }
            let userRecordName = viewpoint.userRecordName(in: key)
            saves.reserveCapacity(part.saves.count)
            while saves.count < part.saves.count {
                guard bytesLeft > 0 else { return true }
                let save = part.saves[saves.count]
                let participantCount = save.hasShare ? save.share.participants.count : 0
                bytesLeft -= save.fields.count + participantCount * Self.bytesPerParticipant
                saves.append(
                    try RecordSave(save, isOwnUser: save.name == userRecordName, by: viewpoint, limits: limits))
            }
            let records = RecordsRequest(
                id: id, key: key, saves: saves, deletes: part.deletes, policy: policy,
                isAtomic: request.atomic, user: user, access: viewpoint.access,
                clientToken: request.clientChangeToken)
            parts.append(.request(records))
            saves = []
        }
        return false
    }

    /// All parts, once everything was read.
    package func finished() throws(Refusal) -> [RecordsPart] {
        let requests = parts.compactMap(\.request)
        if let reason = RecordsRequest.refusal(of: requests, within: limits) { throw Refusal(reason) }
        return parts
    }
}

extension RecordSave {
    fileprivate convenience init(
        _ save: WireRecordSave, isOwnUser: Bool, by viewpoint: Viewpoint, limits: Limits
    ) throws(Refusal) {
        var fields = FieldMap()
        var failure: FailureReason?
        do {
            // A record that exceeds its own limit fails alone, by the rules. Here only the request's limit counts.
            fields = try FieldMap(
                validating: save.fields, limits: FieldLimits(byteCountMax: limits.requestBytesMax),
                keys: Share.isType(save.type) ? .share : .app)
        } catch {
            guard error.code != .tooLarge else { throw Refusal(.requestTooLarge) }
            failure = .fieldsInvalid
        }
        self.init(
            name: save.name, type: save.type, tag: save.tag.isEmpty ? nil : ChangeTag(bytes: save.tag),
            fields: fields, parent: try ParentChange(save), fieldsFailure: failure, isOwnUser: isOwnUser,
            share: save.hasShare ? try ShareSave(save, by: viewpoint) : nil)
    }
}

extension ParentChange {
    fileprivate init(_ save: WireRecordSave) throws(Refusal) {
        switch save.parentChange {
        case .parentUnchanged: self = .unchanged
        case .parentSet where !save.parent.isEmpty: self = .set(save.parent)
        case .parentRemoved: self = .removed
        case .parentSet: throw Refusal(.requestInvalid, "A parent that is set has a name.")
        case .unrecognized: throw Refusal(.requestInvalid, "There is no such change of a parent.")
        }
    }
}

extension SavePolicy {
    fileprivate init(_ policy: WireSavePolicy) throws(Refusal) {
        switch policy {
        case .ifServerRecordUnchanged: self = .ifServerRecordUnchanged
        case .changedKeys: self = .changedKeys
        case .allKeys: self = .allKeys
        case .unrecognized: throw Refusal(.requestInvalid, "There is no such save policy.")
        }
    }
}

/// Makes the answer to a `ModifyRecords`. Successes are written without message objects, because they are most frequent.
package struct RecordsAnswer {
    private let limits: Limits
    /// How many more bytes of the server's records fit into the answer.
    private var bytesLeft: Int
    /// The content of the `ModifyRecordsAnswer`.
    private var answer = WireWriter(capacity: 0)
    private var records: RecordWriter
    /// Why the first item failed; nil if none did. An item that failed with its batch says nothing of why.
    package private(set) var failure: FailureReason?

    /// - Parameters:
    ///   - viewpoint: it knows the names of all users in the outcomes.
    ///   - bytesMax: bytes of the server's records; nil: as many as an answer can hold.
    package init(viewpoint: Viewpoint, limits: Limits, bytesMax: Int? = nil) {
        records = RecordWriter(viewpoint)
        self.limits = limits
        bytesLeft = bytesMax ?? limits.answerBytesMax
    }

    /// Adds the outcome of the next part.
    package mutating func append(_ outcome: RecordsOutcome) {
        var results = WireWriter(capacity: outcome.saves.count * 64 + outcome.deletes.count * 4)
        for save in outcome.saves {
            switch save {
            case .saved(let metadata): append(metadata, to: &results)
            case .failed(let failure): append(failure, to: &results)
            }
        }
        for delete in outcome.deletes {
            switch delete {
            case .deleted:
                WireZoneModificationResults.begin(deletes: WireDeleteResult.size(deleted: 0), to: &results)
                WireDeleteResult.begin(deleted: 0, to: &results)
            case .failed(let failure):
                var result = WireDeleteResult()
                result.failure = wire(failure)
                WireZoneModificationResults.begin(deletes: result.size, to: &results)
                result.write(to: &results)
            }
        }
        WireModifyRecordsAnswer.begin(zones: results.bytes.count, to: &answer)
        answer.raw(results.bytes)
    }

    /// Adds the next part. All of its items failed for the same reason.
    package mutating func append(_ reason: FailureReason, saveCount: Int, deleteCount: Int) {
        let failure = ItemFailure(reason)
        append(
            RecordsOutcome(
                saves: Array(repeating: .failed(failure), count: saveCount),
                deletes: Array(repeating: .failed(failure), count: deleteCount)))
    }

    /// The answer to request `id`.
    package func message(_ id: UInt64) -> [UInt8] {
        var envelope = WireWriter(capacity: answer.bytes.count + 24)
        WireServerEnvelope.write(id: id, to: &envelope)
        WireServerEnvelope.begin(modifyRecords: answer.bytes.count, to: &envelope)
        envelope.raw(answer.bytes)
        return envelope.bytes
    }

    private mutating func append(_ metadata: RecordMetadata, to results: inout WireWriter) {
        var saved = metadata
        records.zone = saved.zone
        if case .record(let record) = saved.content, !takeRoom(for: record) { saved.content = .withheld }
        let length = WireWriter.size { records.write(saved, to: &$0) }
        WireZoneModificationResults.begin(saves: WireSaveResult.size(saved: length), to: &results)
        WireSaveResult.begin(saved: length, to: &results)
        records.write(saved, to: &results)
    }

    private mutating func append(_ failure: ItemFailure, to results: inout WireWriter) {
        var answer = WireSaveFailure()
        answer.failure = wire(failure)
        if let zone = failure.serverZone { records.zone = zone }
        guard let record = failure.serverRecord, failure.serverZone != nil, takeRoom(for: record) else {
            begin(failure: answer.size, to: &results)
            return answer.write(to: &results)
        }
        let length = records.size(of: record, record.fields)
        begin(failure: answer.size + WireSaveFailure.size(serverRecord: length), to: &results)
        answer.write(to: &results)
        WireSaveFailure.begin(serverRecord: length, to: &results)
        records.write(record, record.fields, to: &results)
    }

    /// Whether the record fits into what is left of the answer's bytes.
    private mutating func takeRoom(for record: RecordState) -> Bool {
        let byteCount = records.byteCount(of: record)
        guard byteCount <= bytesLeft else { return false }
        bytesLeft -= byteCount
        return true
    }

    private func begin(failure length: Int, to results: inout WireWriter) {
        WireZoneModificationResults.begin(saves: WireSaveResult.size(failure: length), to: &results)
        WireSaveResult.begin(failure: length, to: &results)
    }

    private mutating func wire(_ failure: ItemFailure) -> WireFailure {
        if self.failure == nil || self.failure == .batchFailed { self.failure = failure.reason }
        return failure.reason.wire(detail: failure.detail ?? failure.reason.text(within: limits))
    }
}
