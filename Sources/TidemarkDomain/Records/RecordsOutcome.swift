// SPDX-License-Identifier: Apache-2.0

/// The outcome of a ``RecordsRequest``: one entry for each item, in the order of the request.
package struct RecordsOutcome: Sendable, Equatable {
    package var saves: [SaveOutcome]
    package var deletes: [DeleteOutcome]

    package init(saves: [SaveOutcome], deletes: [DeleteOutcome]) {
        self.saves = saves
        self.deletes = deletes
    }
}

extension RecordsOutcome {
    /// The users who created or last changed the records in the outcome, except the caller.
    package func users(besides caller: UserID?) -> Set<UserID> {
        var users: Set<UserID> = []
        for save in saves {
            switch save {
            case .saved(let metadata): users.insert(metadata.createdBy, metadata.modifiedBy, besides: caller)
            case .failed(let failure):
                guard let record = failure.serverRecord else { continue }
                users.insert(record.createdBy, record.modifiedBy, besides: caller)
            }
        }
        return users
    }
}

extension RecordsOutcome {
    /// The same without some of the server's records. The client fetches these.
    package func withholding(_ isWithheld: (RecordState) -> Bool) -> RecordsOutcome {
        // NB: only outcomes with a record are copied, because most have none.
        var outcome = self
        for index in saves.indices {
            guard let record = saves[index].record, isWithheld(record) else { continue }
            outcome.saves[index].withholdRecord()
        }
        return outcome
    }
}

/// The outcome for one record that a request saves.
package enum SaveOutcome: Sendable, Equatable {
    /// The record's metadata after the save.
    case saved(RecordMetadata)
    case failed(ItemFailure)

    /// The server's record that comes with it.
    package var record: RecordState? {
        switch self {
        case .saved(let metadata): if case .record(let record) = metadata.content { record } else { nil }
        case .failed(let failure): failure.serverRecord
        }
    }

    fileprivate mutating func withholdRecord() {
        switch self {
        case .saved(var metadata):
            metadata.content = .withheld
            self = .saved(metadata)
        case .failed(var failure):
            failure.serverRecord = nil
            self = .failed(failure)
        }
    }
}

/// The outcome for one record that a request deletes.
package enum DeleteOutcome: Sendable, Equatable {
    case deleted
    case failed(ItemFailure)
}

/// The metadata that the server adds to a record that was saved.
package struct RecordMetadata: Sendable, Equatable {
    package let zone: ZoneID
    package let changeNumber: ChangeNumber
    package let createdAt: Timestamp
    package let createdBy: UserID
    package let modifiedAt: Timestamp
    package let modifiedBy: UserID
    package var content: SavedContent

    package init(
        zone: ZoneID, changeNumber: ChangeNumber, createdAt: Timestamp, createdBy: UserID, modifiedAt: Timestamp,
        modifiedBy: UserID, content: SavedContent = .known
    ) {
        self.zone = zone
        self.changeNumber = changeNumber
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.modifiedAt = modifiedAt
        self.modifiedBy = modifiedBy
        self.content = content
    }
}

/// The data that a device needs about the fields and the parent of a record that it saved.
package enum SavedContent: Sendable, Equatable {
    /// Nothing: the save had the tag of the version that it changed, or there was none and the save had no tag.
    case known
    /// The record after the save. It is not remembered but read again for a retry.
    indirect case record(RecordState)
    /// The record must be fetched: it has changed again since, or the user may not read it.
    case withheld

    // NB: not `==`, which compares and copies whole records.
    package var isKnown: Bool { if case .known = self { true } else { false } }
    package var isWithheld: Bool { if case .withheld = self { true } else { false } }
}

/// Why one item failed: a reason, a text, and for a conflict the record that is in the way.
package struct ItemFailure: Sendable, Equatable {
    package let reason: FailureReason
    /// Replaces the reason's own text where names or numbers help. It is not stored, but made again for a repeat. A
    /// repeat lacks numbers that are no longer known, and the text of a reason that comes from another item.
    package var detail: String?
    /// The current record, for the two reasons that are conflicts. It is not remembered but read again for a
    /// retry.
    package var serverRecord: RecordState?
    package var serverZone: ZoneID?

    package init(_ reason: FailureReason, serverRecord: RecordState? = nil, serverZone: ZoneID? = nil) {
        self.reason = reason
        self.serverRecord = serverRecord
        self.serverZone = serverZone
    }

    init(_ refusal: SchemaRefusal) {
        self.init(refusal.reason)
        detail = refusal.text
    }

    /// a limit was passed.
    init(_ reason: FailureReason, within limits: Limits, count: Int? = nil) {
        self.init(reason)
        detail = reason.text(within: limits, count: count.map(Int64.init))
    }

    init(_ use: StorageUse, growth: Int64) {
        self.init(.quotaExceeded)
        detail = use.refusalText(of: growth)
    }

    /// the share of the record's creator is full.
    ///
    /// - Parameter isOwn: whether the share is the caller's. Only the caller gets the numbers.
    init(share: StorageUse, growth: Int64, isOwn: Bool) {
        self.init(.publicShareFull)
        detail = isOwn ? share.shareRefusalText(of: growth) : FailureReason.publicShareOfCreatorText
    }
}

extension RecordsOutcome {
    /// The same for a participant of a share: a missing permission is one of the share, and not of a role.
    var ofParticipant: RecordsOutcome {
        RecordsOutcome(
            saves: saves.map { save -> SaveOutcome in
                guard case .failed(let failure) = save else { return save }
                return .failed(failure.ofParticipant)
            },
            deletes: deletes.map { delete -> DeleteOutcome in
                guard case .failed(let failure) = delete else { return delete }
                return .failed(failure.ofParticipant)
            })
    }
}

extension ItemFailure {
    fileprivate var ofParticipant: ItemFailure {
        guard detail == nil, reason == .notPermitted || reason == .createNotPermitted else { return self }
        var failure = self
        failure.detail = FailureReason.readOnlyText
        return failure
    }
}
