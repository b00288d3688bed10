// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// One row of the store.
struct Note: Sendable {
    /// What the user sees and edits, and what is merged field by field.
    struct Fields: Codable, Equatable, Sendable {
        var title = ""
        var body = ""
        var tags: Set<String> = []
    }

    let id: String
    var fields = Fields()
    /// The fields as the server had them last: the ancestor of the next merge. Nil: the server has never had the note.
    var serverFields: Fields?
    /// The system fields of the record that `serverFields` were of.
    var systemFields: Data?
    /// The user deleted it, and the server may still have it.
    var isDeleted = false

    /// Whether the server is still to be told.
    var isDirty: Bool { isDeleted || fields != serverFields }
}

extension Note {
    static let recordType = "Note"
    static let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)

    var recordID: CKRecord.ID { CKRecord.ID(recordName: id, zoneID: Self.zoneID) }

    var pendingChange: CKSyncEngine.PendingRecordZoneChange {
        isDeleted ? .deleteRecord(recordID) : .saveRecord(recordID)
    }

    // MARK: Sending

    /// The record to send: the server's version, with those fields set that were edited here.
    func makeRecord() -> CKRecord {
        let record = archivedRecord ?? CKRecord(recordType: Self.recordType, recordID: recordID)
        if fields.title != serverFields?.title { record["title"] = fields.title as CKRecordValue }
        if fields.body != serverFields?.body { record["body"] = fields.body as CKRecordValue }
        if fields.tags != serverFields?.tags {
            record["tags"] = fields.tags.isEmpty ? nil : fields.tags.sorted() as NSArray
        }
        return record
    }

    private var archivedRecord: CKRecord? {
        guard let systemFields, let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else {
            return nil
        }
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }

    // MARK: Fetching

    /// Whether the server once had a newer version than this record, as its own dates say.
    func isKnownNewer(than record: CKRecord) -> Bool {
        guard let known = archivedRecord?.modificationDate, let date = record.modificationDate else { return false }
        return date < known
    }

    /// Brings the server's version in: a field that was edited here stays, any other becomes the server's. Tags that were
    /// added or removed on either side are added and removed.
    ///
    /// If the server went back to a backup, its version is nobody's edit: all fields stay, and are sent again.
    mutating func merge(_ record: CKRecord) {
        let theirs = Fields(record)
        if isKnownNewer(than: record) { return remember(record, theirs) }
        let before = serverFields ?? Fields()
        // Deleted here and edited there: an edit outlives a deletion.
        if isDeleted, theirs != before {
            isDeleted = false
            fields = theirs
        }
        if fields.title == before.title { fields.title = theirs.title }
        if fields.body == before.body { fields.body = theirs.body }
        let (added, removed) = (fields.tags.subtracting(before.tags), before.tags.subtracting(fields.tags))
        fields.tags = theirs.tags.union(added).subtracting(removed)
        remember(record, theirs)
    }

    /// The server has taken it, and has these fields now; what the user typed meanwhile is still to be sent.
    ///
    /// - Parameter sent: all fields as they were when the record was made. The record itself has only those that were edited.
    mutating func saved(_ record: CKRecord, _ sent: Fields) {
        if isKnownNewer(than: record) { return }
        remember(record, sent)
    }

    /// The server does not have it any more.
    mutating func forgetServer() {
        (serverFields, systemFields) = (nil, nil)
    }

    private mutating func remember(_ record: CKRecord, _ fields: Fields) {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        systemFields = archiver.encodedData
        serverFields = fields
    }
}

extension Note.Fields {
    init(_ record: CKRecord) {
        title = record["title"] as? String ?? ""
        body = record["body"] as? String ?? ""
        tags = Set(record["tags"] as? [String] ?? [])
    }
}
