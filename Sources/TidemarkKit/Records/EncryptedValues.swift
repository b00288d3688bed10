// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A view of a record's encrypted fields, which have their own keys. It stores nothing itself.
final class EncryptedValues: NSObject, CKRecordKeyValueSetting, Sendable {
    private let record: CKRecord

    init(of record: CKRecord) {
        self.record = record
        super.init()
    }

    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        record.value(forKey: key, in: \.encrypted)
    }

    func setObject(_ object: (any CKRecordValue)?, forKey key: CKRecord.FieldKey) {
        record.set(object, forKey: key, in: \.encrypted)
    }

    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    func allKeys() -> [CKRecord.FieldKey] {
        record.keys(in: \.encrypted)
    }

    func changedKeys() -> [CKRecord.FieldKey] {
        record.state.withLock { $0.encrypted.changes.keys.sorted() }
    }
}
