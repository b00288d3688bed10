// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// One entry of the list, as it is on disk.
struct Contact: Codable, Sendable {
    let id: String
    var name: String
    var phone: String
    /// When the user changed it, as the clock of their device said: the newest edit wins.
    var userModificationDate: Date
    /// What the server knows of it: the system fields of the record that was last sent or fetched, archived.
    private var lastKnownRecordData: Data?

    init(id: String, name: String, phone: String) {
        self.id = id
        self.name = name
        self.phone = phone
        userModificationDate = .distantPast
    }
}

extension Contact {
    static let recordType: CKRecord.RecordType = "Contact"
    static let zoneName = "Contacts"

    var zoneID: CKRecordZone.ID { CKRecordZone.ID(zoneName: Self.zoneName) }
    var recordID: CKRecord.ID { CKRecord.ID(recordName: id, zoneID: zoneID) }

    mutating func edit(name: String, phone: String) {
        self.name = name
        self.phone = phone
        userModificationDate = max(Date(), userModificationDate.addingTimeInterval(0.001))
    }

    // MARK: Records

    func populate(_ record: CKRecord) {
        record["name"] = name
        record.encryptedValues["phone"] = phone
        record["userModificationDate"] = userModificationDate
    }

    /// Last writer wins.
    mutating func merge(from record: CKRecord) {
        guard let date = record["userModificationDate"] as? Date, date >= userModificationDate else { return }
        name = record["name"] as? String ?? ""
        phone = record.encryptedValues["phone"] as? String ?? ""
        userModificationDate = date
    }

    /// A record that arrives late must not replace what a newer one said.
    mutating func setLastKnownRecordIfNewer(_ other: CKRecord) {
        if let localDate = lastKnownRecord?.modificationDate {
            if let otherDate = other.modificationDate, localDate < otherDate { lastKnownRecord = other }
        } else {
            lastKnownRecord = other
        }
    }

    /// Whether the server once had a newer version than this record, as its own dates say.
    func isKnownNewer(than record: CKRecord) -> Bool {
        guard let known = lastKnownRecord?.modificationDate, let date = record.modificationDate else { return false }
        return date < known
    }

    var lastKnownRecord: CKRecord? {
        get {
            guard let data = lastKnownRecordData,
                let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
            else { return nil }
            unarchiver.requiresSecureCoding = true
            return CKRecord(coder: unarchiver)
        }
        set {
            guard let newValue else { return lastKnownRecordData = nil }
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            newValue.encodeSystemFields(with: archiver)
            lastKnownRecordData = archiver.encodedData
        }
    }
}
