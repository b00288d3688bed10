// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// One record of a ``TidemarkReplica``: the server's last known version, and the user's unsent edits.
///
/// It alone decides which changes must be sent. The engine's list of pending changes is made to agree.
struct ReplicaEntry: Codable, Sendable {
    enum Edit: String, Codable, Sendable {
        case save, delete
    }

    let recordType: CKRecord.RecordType
    /// An archive of the server's last known version; nil if the server is not known to have the record.
    private(set) var server: Data?
    /// An archive of the server's record when the zone of another user ended here; nil if it has not ended. The zone
    /// may be shared again, and the edit was made on this version.
    private var ancestor: Data?
    /// The edit that is still to be sent.
    private(set) var edit: Edit?
    /// Whether the edit waits until the app says that it may be sent. Nil for no.
    private(set) var isHeld: Bool?
    /// Incremented with each edit, so that an edit made during a save is not taken for saved.
    private(set) var editCount = 0
    /// The edit that was last handed to the engine.
    private var sentCount: Int?
    /// Archives of records that were handed to the engine and may have been saved without an answer, newest last.
    private var sent: [Data] = []
    /// An archive of a newer record of the server that arrived while the app's values could not be read. It must still
    /// be merged with the edit; then ``server`` is the ancestor of both.
    private var unmerged: Data?
    /// Whether that record may lack something that ``server`` has, as after a restore. Nil for no.
    private var isUnmergedDoubtful: Bool?

    /// Each lost answer adds one. The oldest are dropped; then an edit of this device may be taken for somebody else's.
    static let sentCountMax = 8

    init(recordType: CKRecord.RecordType) {
        self.recordType = recordType
    }

    init(server record: CKRecord) {
        recordType = record.recordType
        server = ReplicaArchive.data(of: record)
    }

    /// The change that the engine should have pending; nil if there is none.
    var pending: Edit? { isHeld == true ? nil : edit }

    /// Whether there is no known record of the server and no edit of the user.
    var isEmpty: Bool { server == nil && edit == nil }

    /// Whether the server is known to have the record.
    var isOnServer: Bool { server != nil || unmerged != nil }

    var isUnmerged: Bool { unmerged != nil }

    var serverRecord: CKRecord? { server.flatMap(ReplicaArchive.record) }

    /// The ancestor of an edit.
    private var ancestorRecord: CKRecord? { serverRecord ?? ancestor.flatMap(ReplicaArchive.record) }

    /// The server's last known version, merged or not.
    var newestServerRecord: CKRecord? { unmergedRecord ?? serverRecord }

    var unmergedRecord: CKRecord? { unmerged.flatMap(ReplicaArchive.record) }

    var unmergedIsNews: Bool { isUnmergedDoubtful != true }

    /// A record with the right tag, for the app to fill with its values.
    func draft(of id: CKRecord.ID) -> CKRecord {
        ancestorRecord ?? CKRecord(recordType: recordType, recordID: id)
    }

    // MARK: What the user does

    mutating func edited() {
        edit = .save
        isHeld = nil
        editCount += 1
    }

    /// - Returns: whether there is anything to delete: a record that was never handed out can be nowhere else. Nothing
    ///   can be deleted in a zone that has ended.
    mutating func deleted() -> Bool {
        edit = .delete
        isHeld = nil
        editCount += 1
        return isOnServer || sentCount != nil
    }

    mutating func hold() { isHeld = true }

    mutating func release() { isHeld = nil }

    /// Nothing is left to send.
    mutating func settle() {
        server = unmerged ?? server
        ancestor = nil
        forgetUnmerged()
        (edit, isHeld, sentCount, sent) = (nil, nil, nil, [])
    }

    private mutating func forgetUnmerged() { (unmerged, isUnmergedDoubtful) = (nil, nil) }

    // MARK: Sending

    /// - Parameter count: ``editCount`` when the record was made.
    mutating func handedOut(_ record: CKRecord, count: Int) {
        let isRepeated = sentCount == count && !sent.isEmpty
        sentCount = count
        guard !isRepeated, let data = ReplicaArchive.data(of: record) else { return }
        sent = (sent + [data]).suffix(Self.sentCountMax)
    }

    mutating func saved(_ record: CKRecord) {
        server = ReplicaArchive.data(of: record)
        ancestor = nil
        isHeld = nil
        if let unmergedRecord, [.same, .older].contains(unmergedRecord.versionOrder(relativeTo: record)) {
            forgetUnmerged()
        }
        // The record still to be merged may hold a later edit of somebody else. The merge settles equal values.
        if edit == .save, sentCount == editCount, !isUnmerged { settle() }
    }

    /// The server no longer has the record.
    mutating func lostOnServer() {
        (server, ancestor) = (nil, nil)
        forgetUnmerged()
        sent = []
        sentCount = nil
    }

    /// The zone, of another user, is not shared with this user any more. The record may still be in it. If the zone
    /// comes again, the edit must be merged with the record as if the zone had not been away.
    mutating func lostAccess() {
        (server, ancestor) = (nil, server ?? ancestor)
        // The record comes again with the zone.
        forgetUnmerged()
        sentCount = nil
        hold()
    }

    /// The server lost the record without the user deleting it: it must be saved as a new record.
    mutating func lostByServer() {
        lostOnServer()
        edited()
    }

    // MARK: Meeting the server's record

    /// a restored server's record may lack what the app has. So the app's values count as an edit.
    mutating func dispute(_ record: CKRecord) {
        guard edit == nil, let known = serverRecord else { return }
        switch record.versionOrder(relativeTo: known) {
        // Older in the same incarnation of the store: the server was restored without being told.
        case .wentBack, .older: edited()
        case .unrelated where record.isOfAnotherLife(than: known): edited()
        case .unrelated, .same, .newer: break
        }
    }

    /// Whether the server's record is the known version or an older one.
    ///
    /// - Parameter isNews: as in ``meet(_:local:isNews:_:)``. A restored server's record is its current one, however
    ///   old it is.
    func isKnown(_ record: CKRecord, isNews: Bool) -> Bool {
        guard let known = newestServerRecord, let tag = record.recordChangeTag else { return false }
        return known.recordChangeTag == tag || isNews && record.versionOrder(relativeTo: known) == .older
    }

    /// Keeps the server's record, because the app's values cannot be read now.
    mutating func keepUnmerged(_ record: CKRecord, isNews: Bool) {
        if !isNews { isUnmergedDoubtful = true }
        unmerged = ReplicaArchive.data(of: record)
    }

    /// Takes in the server's record from a fetch or a conflict.
    ///
    /// - Parameters:
    ///   - local: the draft with the app's values; nil if the app has no such record.
    ///   - isNews: whether the record is known to follow from the last known version; false after a restore.
    /// - Returns: what the app must store; nil for nothing.
    mutating func meet(_ record: CKRecord, local: CKRecord?, isNews: Bool, _ rules: TidemarkMerge) -> CKRecord? {
        let known = ancestorRecord
        (server, ancestor) = (ReplicaArchive.data(of: record), nil)
        forgetUnmerged()
        let order = known.map { record.versionOrder(relativeTo: $0) }
        switch edit {
        case .save:
            // an edit of a record that the app does not have does not count.
            guard let local else { break }
            // A version that was saved in another incarnation of the store may lack what the earlier one had.
            let isDisputed = !isNews && order == .unrelated && known.map(record.isOfAnotherLife) == true
            let ancestor = isDisputed ? nil : known
            let merged = rules.merge(
                ancestor: ancestor, server: record, client: local, sent: sent.compactMap(ReplicaArchive.record))
            isHeld = nil
            // The result of the merge may differ from the record that was sent.
            if merged.hasChanges { editCount += 1 } else { settle() }
            return merged
        case .delete where order == .wentBack || order == .older:
            return nil
        case .delete:
            // an edit outlives a deletion. But the returning record may be this device's own.
            let news = ReplicaNews(known: known, sent: sent.compactMap(ReplicaArchive.record))
            guard news.isIn(record) else { return nil }
        case nil:
            break
        }
        settle()
        return record
    }
}

/// Archives records completely, so that a conflict has its ancestor.
enum ReplicaArchive {
    static func data(of record: CKRecord) -> Data? {
        try? NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
    }

    static func record(_ data: Data) -> CKRecord? {
        try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
    }
}

extension CKRecord {
    /// Whether the store was restored between the two versions.
    fileprivate func isOfAnotherLife(than other: CKRecord) -> Bool {
        guard let version, let others = other.version else { return false }
        return version.life != others.life
    }
}
