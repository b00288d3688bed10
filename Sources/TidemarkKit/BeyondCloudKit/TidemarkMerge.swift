// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Merges two changes of one record: a three-way merge, field by field, of the records in a conflict's error (R-094,
/// CloudKit has no such type.
///
/// A field that only one side changed gets that side's value. A field that both sides changed alike gets that value.
/// Policies decide the fields that both sides changed differently.
///
/// ```swift
/// case .sentRecordZoneChanges(let sent):
///     store(sent.mergeConflicts(TidemarkMerge(.newest(by: "editedAt"), fields: ["tags": .listElements]), syncEngine))
/// ```
/// The result depends on the three records alone, so every device gets the same.
///
/// If the server was restored from a backup, its record may be older than the version that the client edited.
/// Nobody made that difference as an edit, so the client's record wins as it is. If it is unknown whether one version
/// follows from the other, every field that differs is in dispute. So is a field that the client did not set. The
/// policies decide. If the zone has ended meanwhile, and was made again, they decide without the ancestor.
public struct TidemarkMerge: Sendable {
    /// What happens to a field that both sides changed differently.
    public enum Policy: Sendable {
        /// The server's value stays.
        case serverWins
        /// The client's value replaces it.
        case clientWins
        /// The side wins whose record has the later date in that field, which the app sets with each edit. A record
        /// without a date there counts as older. At equal dates the server wins.
        case newest(by: CKRecord.FieldKey)
        /// The client wins if it was edited after the server's record was last saved (`modificationDate`).
        ///
        /// `clientDate` returns when the client's record was edited; it must not change the record. The date comes from
        /// the client's clock and is compared with one of the server's. A client whose clock is fast wins too often.
        case newestEdit(clientDate: @Sendable (CKRecord) -> Date)
        /// For lists: the result has the elements that either side added, and lacks those that either side removed.
        /// Elements are equal if the server stores them alike: assets with the same content, references with the same
        /// target and action. A file that was never saved equals only itself.
        ///
        /// The result is in the server's order, followed by the client's additions. If both sides changed the list, a
        /// new order from the client is lost. Repeated elements are counted. If both sides added some, the larger
        /// number counts, so that the same addition on both sides is one. If both removed some, the smaller; otherwise
        /// both changes count. If one of the three values is not a list, the server wins.
        case listElements
        /// The app decides; nil removes the field. It is called once for each such field, and must not call the
        /// records' engine. The parent stays the server's.
        case custom(@Sendable (Conflict) -> (any CKRecordValue)?)
    }

    /// A field that both sides changed differently.
    public struct Conflict: Sendable {
        /// The field.
        public let key: CKRecord.FieldKey
        /// Whether it is one of the `encryptedValues`.
        public let isEncrypted: Bool
        /// The value before both changes; nil if there was none, or if it is unknown.
        public var ancestor: (any __CKRecordObjCValue)? { ancestorObject as? any __CKRecordObjCValue }
        /// The server's value; nil if it was removed.
        public var server: (any __CKRecordObjCValue)? { serverObject as? any __CKRecordObjCValue }
        /// The value to be saved; nil if it was removed.
        public var client: (any __CKRecordObjCValue)? { clientObject as? any __CKRecordObjCValue }

        // Immutable, as records keep them.
        nonisolated(unsafe) let ancestorObject: NSObject?
        nonisolated(unsafe) let serverObject: NSObject?
        nonisolated(unsafe) let clientObject: NSObject?
    }

    /// The policy of the parent, and of all fields that are not in ``fields``.
    public var policy: Policy

    /// Policies of single fields, plain and encrypted.
    public var fields: [CKRecord.FieldKey: Policy]

    /// - Parameters:
    ///   - policy: for all other fields.
    ///   - fields: policies of single fields.
    public init(_ policy: Policy = .serverWins, fields: [CKRecord.FieldKey: Policy] = [:]) {
        self.policy = policy
        self.fields = fields
    }

    /// Merges the changes of both sides. For a `CKShare` it also merges the participants and their permissions. Each participant whom the
    /// client has added, changed or removed is as the client has it. So is `publicPermission` if the client changed it. If somebody else
    /// has made the share public, participants who have not accepted are left out: a public share has no invitations.
    ///
    /// - Parameters:
    ///   - ancestor: the record before both changes. It may be nil, or lack fields because only system fields were
    ///     kept. Then a field that the client set counts as changed by both sides if the server has another value. This
    ///     holds even if the client set it to nil. A field that the server does not have counts as added by the client.
    ///   - server: the record on the server. It is not changed.
    ///   - client: the record that was to be saved, with its edits (`changedKeys()`). It is not changed.
    /// - Returns: a new record with the server's tag, in which the fields are set that differ from the server's.
    ///   `changedKeys()` is empty if nothing is left to save.
    public func merge(ancestor: CKRecord?, server: CKRecord, client: CKRecord) -> CKRecord {
        let merge = RecordMerge(
            rules: self, clientRecord: client, zoneID: server.recordID.zoneID,
            ancestor: ancestor?.unpacked { $0 } ?? RecordContents(), server: server.unpacked { $0 },
            client: client.unpacked { $0 })
        let merged = server.copy() as? CKRecord ?? server
        merged.unpacked { state in
            for change in merge.changes(in: \.plain) { state.set(change.object, forKey: change.key, in: \.plain) }
            for change in merge.changes(in: \.encrypted) {
                state.set(change.object, forKey: change.key, in: \.encrypted)
            }
            let parent = merge.parent
            if parent != state.parent { state.setParent(parent) }
            if let share = merge.newShare { state.setShare(share) }
        }
        if let share = merged as? CKShare, let client = client as? CKShare { share.takeChanges(of: client) }
        return merged
    }
}

extension CKError {
    /// With `serverRecordChanged`: the merge of the error's three records. Nil for other errors.
    public func merged(by merge: TidemarkMerge = TidemarkMerge()) -> CKRecord? {
        guard code == .serverRecordChanged, let serverRecord, let clientRecord else { return nil }
        return merge.merge(ancestor: ancestorRecord, server: serverRecord, client: clientRecord)
    }
}

extension CKSyncEngine.Event.SentRecordZoneChanges {
    /// Merges every conflict of this event, and adds saves of the results.
    ///
    /// Call it in `handleEvent`. The app stores the returned records, because its next batch must contain them. A
    /// record that no longer differs from the server's is not saved again. A record that is pending again, because it
    /// was edited or deleted while its save was under way, is left out. Storing or saving the merge would undo that.
    /// The save of the newer edit meets the same conflict, and is merged then.
    ///
    /// Other failures are not touched: the app adds changes again that failed with `batchRequestFailed` beside a
    /// conflict.
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
        if (self as? CKShare)?.hasSharingChanges == true { return true }
        return state.withLock {
            !$0.plain.changes.isEmpty || !$0.encrypted.changes.isEmpty || $0.parentChange != nil
                || $0.shareChange != nil
        }
    }
}
