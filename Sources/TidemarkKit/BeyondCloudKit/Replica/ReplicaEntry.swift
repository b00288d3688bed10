// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// One record of a ``TidemarkReplica``: what the server had last, and what of the user's is still to be sent.
///
/// What is to be sent follows from this alone. The engine's list of pending changes is made to say the same.
struct ReplicaEntry: Codable, Sendable {
    enum Edit: String, Codable, Sendable {
        case save, delete
    }

    let recordType: CKRecord.RecordType
    /// An archive of the record as the server had it last; nil: it has none, as far as is known.
    private(set) var server: Data?
    /// What is still to be sent.
    private(set) var edit: Edit?
    /// Whether the edit waits until the app says that it is to be sent. Nil: no.
    private(set) var isHeld: Bool?
    /// Grows with each edit, so that an edit that was made while a save was under way is not taken for saved.
    private(set) var editCount = 0
    /// The edit that was handed to the engine last.
    private var sentCount: Int?
    /// Archives of the records that were handed to the engine and may have been saved without an answer, newest last.
    private var sent: [Data] = []
    /// An archive of the server's newer record that came while the app's values could not be read: it is still to be merged with
    /// the edit. Then ``server`` is the ancestor of both.
    private var unmerged: Data?
    /// Whether that record may lack what ``server`` has, as after a restore. Nil: no.
    private var isUnmergedDoubtful: Bool?

    /// Each answer that is lost adds one. The oldest are forgotten: then an own edit may be met as somebody else's.
    static let sentCountMax = 8

    init(recordType: CKRecord.RecordType) {
        self.recordType = recordType
    }

    init(server record: CKRecord) {
        recordType = record.recordType
        server = ReplicaArchive.data(of: record)
    }

    /// What the engine is to have pending; nil: nothing.
    var pending: Edit? { isHeld == true ? nil : edit }

    /// Whether nothing is known that the server or the user has of the record.
    var isEmpty: Bool { server == nil && edit == nil }

    /// Whether the server has the record, as far as is known.
    var isOnServer: Bool { server != nil || unmerged != nil }

    var isUnmerged: Bool { unmerged != nil }

    /// The ancestor of an edit.
    var serverRecord: CKRecord? { server.flatMap(ReplicaArchive.record) }

    /// As the server had it last.
    var newestServerRecord: CKRecord? { unmergedRecord ?? serverRecord }

    var unmergedRecord: CKRecord? { unmerged.flatMap(ReplicaArchive.record) }

    var unmergedIsNews: Bool { isUnmergedDoubtful != true }

    /// A record with the right tag, to be filled with what the app has.
    func draft(of id: CKRecord.ID) -> CKRecord {
        serverRecord ?? CKRecord(recordType: recordType, recordID: id)
    }

    // MARK: What the user does

    mutating func edited() {
        edit = .save
        isHeld = nil
        editCount += 1
    }

    /// - Returns: whether there is anything to delete: what was never handed out can be nowhere else.
    mutating func deleted() -> Bool {
        edit = .delete
        isHeld = nil
        editCount += 1
        return isOnServer || !sent.isEmpty
    }

    mutating func hold() { isHeld = true }

    mutating func release() { isHeld = nil }

    /// There is nothing to send any more.
    mutating func settle() {
        server = unmerged ?? server
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
        isHeld = nil
        if let unmergedRecord, [.same, .older].contains(unmergedRecord.versionOrder(relativeTo: record)) {
            forgetUnmerged()
        }
        // What is still to be merged may be somebody's later edit. The merge settles what is the same.
        if edit == .save, sentCount == editCount, !isUnmerged { settle() }
    }

    /// The server has it no more.
    mutating func lostOnServer() {
        server = nil
        forgetUnmerged()
        sent = []
        sentCount = nil
    }

    /// The server lost it, and the user did not: it is to be saved as a new record.
    mutating func lostByServer() {
        lostOnServer()
        edited()
    }

    // MARK: Meeting the server's record

    /// a restored server's record may lack what the app has. What the app has is then as good as an edit.
    mutating func dispute(_ record: CKRecord) {
        guard edit == nil, let known = serverRecord else { return }
        switch record.versionOrder(relativeTo: known) {
        // Older in the same life: the server was restored and not told so.
        case .wentBack, .older: edited()
        case .unrelated where record.isOfAnotherLife(than: known): edited()
        case .unrelated, .same, .newer: break
        }
    }

    /// Whether the server's record is the version that is known already, or an older one.
    ///
    /// - Parameter isNews: as in ``meet(_:local:isNews:_:)``. What a restored server has is what it has, however old.
    func isKnown(_ record: CKRecord, isNews: Bool) -> Bool {
        guard let known = newestServerRecord, let tag = record.recordChangeTag else { return false }
        return known.recordChangeTag == tag || isNews && record.versionOrder(relativeTo: known) == .older
    }

    /// The server's record has come, and what the app has cannot be read just now.
    mutating func keepUnmerged(_ record: CKRecord, isNews: Bool) {
        if !isNews { isUnmergedDoubtful = true }
        unmerged = ReplicaArchive.data(of: record)
    }

    /// The server's record has come: from a fetch, or with a conflict.
    ///
    /// - Parameters:
    ///   - local: the draft with what the app has; nil: the app has no such record.
    ///   - isNews: whether it is known to follow from what the server had last; not so after a restore.
    /// - Returns: what the app is to store; nil: nothing.
    mutating func meet(_ record: CKRecord, local: CKRecord?, isNews: Bool, _ rules: TidemarkMerge) -> CKRecord? {
        let known = serverRecord
        server = ReplicaArchive.data(of: record)
        forgetUnmerged()
        let order = known.map { record.versionOrder(relativeTo: $0) }
        switch edit {
        case .save:
            // an edit of what the app does not have is none.
            guard let local else { break }
            // What was saved in another life of the store may lack what there was before.
            let isDisputed = !isNews && order == .unrelated && known.map(record.isOfAnotherLife) == true
            let ancestor = isDisputed ? nil : known
            let merged = rules.merge(
                ancestor: ancestor, server: record, client: local, sent: sent.compactMap(ReplicaArchive.record))
            isHeld = nil
            // It may be another text than the one that was sent.
            if merged.hasChanges { editCount += 1 } else { settle() }
            return merged
        case .delete where order == .wentBack || order == .older:
            return nil
        case .delete:
            // an edit outlives a deletion. What comes back may be this device's own, though.
            let news = ReplicaNews(known: known, sent: sent.compactMap(ReplicaArchive.record))
            guard news.isIn(record) else { return nil }
        case nil:
            break
        }
        settle()
        return record
    }
}

/// How records are kept: whole, so that a conflict has its ancestor.
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
