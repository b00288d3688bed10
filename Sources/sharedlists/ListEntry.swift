// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// One row of the store: a list, or an item of a list.
///
/// A list is a record without a parent. The parent of an item is its list, and nothing else says so. To share a list is to
/// share its record, and what hangs below it comes along.
struct ListEntry: Sendable {
    /// The type of the record.
    enum Kind: String {
        case list = "List"
        case item = "Item"
    }

    /// What people see and edit, and what is merged field by field.
    struct Fields: Codable, Equatable, Sendable {
        var text = ""
        var isDone = false
        /// The name of the list's record; nil for a list.
        var list: String?
    }

    let id: CKRecord.ID
    let kind: Kind
    var fields = Fields()
    /// The fields as the server had them last: the ancestor of the next merge. Nil: the server has never had the record.
    var serverFields: Fields?
    /// The system fields of the record that `serverFields` were of.
    var systemFields: Data?
    /// Somebody deleted it here, and the server may still have it.
    var isDeleted = false

    /// Whether the server is still to be told.
    var isDirty: Bool { isDeleted || fields != serverFields }
    /// Whether it was edited here, and not deleted, since the server had it.
    var isEdited: Bool { isDirty && !isDeleted }
    /// Whether it is of this account. All else is shared with it.
    var isMine: Bool { id.zoneID.isMine }

    var listID: CKRecord.ID? { fields.list.map { CKRecord.ID(recordName: $0, zoneID: id.zoneID) } }

    var pendingChange: CKSyncEngine.PendingRecordZoneChange { isDeleted ? .deleteRecord(id) : .saveRecord(id) }
}

extension CKRecordZone.ID {
    /// The zone of all lists that one person owns.
    static func lists(of owner: String = CKCurrentUserDefaultName) -> CKRecordZone.ID {
        CKRecordZone.ID(zoneName: "Lists", ownerName: owner)
    }

    var isMine: Bool { ownerName == CKCurrentUserDefaultName }
    /// The database in which this account sees the zone.
    var scope: CKDatabase.Scope { isMine ? .private : .shared }
}

// MARK: Records

extension ListEntry {
    /// The record to send: the server's version, with those fields set that were edited here.
    func makeRecord() -> CKRecord {
        let record = archivedRecord ?? CKRecord(recordType: kind.rawValue, recordID: id)
        if fields.text != serverFields?.text { record["text"] = fields.text }
        if fields.isDone != serverFields?.isDone { record["isDone"] = fields.isDone }
        if fields.list != serverFields?.list { record.setParent(listID) }
        return record
    }

    /// The name of the share of a list; nil if it is not shared.
    var shareID: CKRecord.ID? { archivedRecord?.share?.recordID }

    private var archivedRecord: CKRecord? {
        guard let systemFields, let coder = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else { return nil }
        coder.requiresSecureCoding = true
        defer { coder.finishDecoding() }
        return CKRecord(coder: coder)
    }

    /// Brings the server's version in: a field that was edited here stays, any other becomes the server's.
    mutating func merge(_ record: CKRecord) {
        let theirs = Fields(record)
        switch archivedRecord.map({ record.versionOrder(relativeTo: $0) }) {
        // It was fetched before the server took what this device sent.
        case .older?: return
        // The server went back to a backup. Its version is nobody's edit, and ours is sent again.
        case .wentBack?: return remember(record, theirs)
        default: break
        }
        let before = serverFields ?? Fields()
        // Deleted here and edited there: an edit outlives a deletion.
        if isDeleted, theirs != before {
            isDeleted = false
            fields = theirs
        }
        if fields.text == before.text { fields.text = theirs.text }
        if fields.isDone == before.isDone { fields.isDone = theirs.isDone }
        if fields.list == before.list { fields.list = theirs.list }
        remember(record, theirs)
    }

    /// The server has taken it, and has these fields now. What was typed meanwhile is still to be sent.
    ///
    /// - Parameter sent: all fields as they were when the record was made. The record has only those that were edited.
    mutating func saved(_ record: CKRecord, _ sent: Fields) {
        if let known = archivedRecord, record.versionOrder(relativeTo: known) == .older { return }
        remember(record, sent)
    }

    /// The server does not have it any more.
    mutating func forgetServer() {
        (serverFields, systemFields) = (nil, nil)
    }

    private mutating func remember(_ record: CKRecord, _ fields: Fields) {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: coder)
        coder.finishEncoding()
        systemFields = coder.encodedData
        serverFields = fields
    }
}

extension ListEntry.Fields {
    init(_ record: CKRecord) {
        text = record["text"] as? String ?? ""
        isDone = record["isDone"] as? Bool ?? false
        list = record.parent?.recordID.recordName
    }
}
