// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How two changes of one record become one: a three-way merge, field by field, of the records that a conflict's
/// error has. CloudKit has nothing of this.
///
/// A field that only one side changed has that side's value, a field that both changed alike has the value that both gave
/// it. What is left are fields that both changed differently: for these there are policies.
///
/// ```swift
/// case .sentRecordZoneChanges(let sent):
///     store(sent.mergeConflicts(TidemarkMerge(.newest(by: "editedAt"), fields: ["tags": .listElements]), syncEngine))
/// ```
/// Merging is a function of the three records alone: every device comes to the same result.
///
/// If the server was restored from a backup, and its record is older than what the client's edits were made in, that
/// is no edit of anybody: the client's record wins, as it is. If it cannot be told whether the one follows from the other, all
/// fields that differ are in dispute, also those that the client did not set, and the policies decide.
public struct TidemarkMerge: Sendable {
    /// What becomes of a field that both sides changed differently.
    public enum Policy: Sendable {
        /// What the server has stays.
        case serverWins
        /// What the client has replaces it.
        case clientWins
        /// The side wins whose record has the later date in that field, which the app sets with each edit. A record
        /// without a date there is older than one with; at equal dates the server wins.
        case newest(by: CKRecord.FieldKey)
        /// The client wins if it was edited after the server's record was last saved (`modificationDate`).
        ///
        /// `clientDate` is asked when that client's record was edited; it must leave the record alone. The date comes from
        /// the client's clock and is compared with one of the server's: a client whose clock is fast wins where it should not.
        case newestEdit(clientDate: @Sendable (CKRecord) -> Date)
        /// Lists: elements that either side added are in the result, elements that either side removed are not. Elements
        /// are equal if the server stores them alike: assets with the same content, references with the same target and
        /// action. A file that was never saved is equal to itself alone.
        ///
        /// The result is in the server's order, the client's additions after it: if both changed the list, an order that the
        /// client gave it is lost. An element that is there several times is counted: if both added to its number, the
        /// larger one counts, so that the same addition on both sides is one; if both took away, the smaller; else both
        /// changes count. Where one of the three is no list, the server wins.
        case listElements
        /// The app decides; nil removes the field. It is called once for each such field, and must not call the records'
        /// engine. The parent stays the server's.
        case custom(@Sendable (Conflict) -> (any CKRecordValue)?)
    }

    /// A field that both sides changed differently.
    public struct Conflict: Sendable {
        /// The field.
        public let key: CKRecord.FieldKey
        /// Whether it is one of the `encryptedValues`.
        public let isEncrypted: Bool
        /// The value before both changes; nil if there was none, or if it is not known.
        public var ancestor: (any __CKRecordObjCValue)? { ancestorObject as? any __CKRecordObjCValue }
        /// The value on the server; nil if it was removed.
        public var server: (any __CKRecordObjCValue)? { serverObject as? any __CKRecordObjCValue }
        /// The value to be saved; nil if it was removed.
        public var client: (any __CKRecordObjCValue)? { clientObject as? any __CKRecordObjCValue }

        // Immutable, as a record keeps them.
        nonisolated(unsafe) let ancestorObject: NSObject?
        nonisolated(unsafe) let serverObject: NSObject?
        nonisolated(unsafe) let clientObject: NSObject?
    }

    /// For all fields that are not in ``fields``, and for the parent.
    public var policy: Policy

    /// Policies of single fields, plain and encrypted.
    public var fields: [CKRecord.FieldKey: Policy]

    /// - Parameters:
    ///   - policy: for all fields but these.
    ///   - fields: policies of single fields.
    public init(_ policy: Policy = .serverWins, fields: [CKRecord.FieldKey: Policy] = [:]) {
        self.policy = policy
        self.fields = fields
    }

    /// Merges what was changed on both sides.
    ///
    /// - Parameters:
    ///   - ancestor: the record before both changes. Nil, or without fields because only system fields were kept: then
    ///     a field that the client set counts as changed by both if the server has another value there, also if the client
    ///     set it to nil; one that the server does not have counts as added by the client.
    ///   - server: the record as it is on the server. It is left alone.
    ///   - client: the record that was to be saved, with what was set in it (`changedKeys()`). It is left alone.
    /// - Returns: a new record with the server's tag, in which the fields are set that differ from the server's:
    ///   `changedKeys()` is empty if nothing is left to save.
    public func merge(ancestor: CKRecord?, server: CKRecord, client: CKRecord) -> CKRecord {
        let merge = RecordMerge(
            rules: self, clientRecord: client, zoneID: server.recordID.zoneID,
            ancestor: ancestor?.unpacked { $0 } ?? RecordState(), server: server.unpacked { $0 },
            client: client.unpacked { $0 })
        let merged = server.copy() as? CKRecord ?? server
        merged.unpacked { state in
            for change in merge.changes(in: \.plain) { state.set(change.object, forKey: change.key, in: \.plain) }
            for change in merge.changes(in: \.encrypted) {
                state.set(change.object, forKey: change.key, in: \.encrypted)
            }
            let parent = merge.parent
            if parent != state.parent { state.setParent(parent) }
        }
        return merged
    }
}

extension CKError {
    /// With `serverRecordChanged`: the error's three records merged; nil with other errors.
    public func merged(by merge: TidemarkMerge = TidemarkMerge()) -> CKRecord? {
        guard code == .serverRecordChanged, let serverRecord, let clientRecord else { return nil }
        return merge.merge(ancestor: ancestorRecord, server: serverRecord, client: clientRecord)
    }
}

extension CKSyncEngine.Event.SentRecordZoneChanges {
    /// Merges every conflict of this event, and has what came of it saved.
    ///
    /// To be called in `handleEvent`. The app stores the records that this returns: they are what its next batch must hold.
    /// Records in which nothing differs from the server's any more are not saved again. A record that is pending again, because
    /// it was edited or deleted while its save was under way, is left out: to store or save what was merged would undo that.
    /// The save of the newer edit meets the same conflict, and is merged then.
    ///
    /// Other failures are not touched: what failed with `batchRequestFailed` beside a conflict is for the app to add.
    ///
    /// - Returns: the merged records, in the order in which their saves failed.
    public func mergeConflicts(
        _ merge: TidemarkMerge = TidemarkMerge(), _ syncEngine: CKSyncEngine
    ) -> [CKRecord] {
        let pending = Set(syncEngine.state.pendingRecordZoneChanges.map(\.recordID))
        let merged = failedRecordSaves.filter { !pending.contains($0.record.recordID) }
            .compactMap { $0.error.merged(by: merge) }
        let unsaved = merged.filter(\.hasChanges).map { CKSyncEngine.PendingRecordZoneChange.saveRecord($0.recordID) }
        syncEngine.state.add(pendingRecordZoneChanges: unsaved)
        return merged
    }
}

extension CKRecord {
    /// Whether there is anything to save.
    var hasChanges: Bool {
        state.withLock { !$0.plain.changes.isEmpty || !$0.encrypted.changes.isEmpty || $0.parentChange != nil }
    }
}
