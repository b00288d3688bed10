// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Fields by key: the plain fields of a record, or its encrypted ones.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    /// The value of a key; nil if there is none.
    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)?

    /// Sets a key. Nil removes it, and once the record is saved, on the server too.
    func setObject(_ object: (any CKRecordValue)?, forKey key: CKRecord.FieldKey)

    /// The value of a key; nil if there is none.
    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? { get set }

    /// The keys that have a value.
    func allKeys() -> [CKRecord.FieldKey]

    /// The keys that were set since the record was made, fetched or saved, including those set to nil.
    func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
    /// The value of a key, of any type that a field can hold.
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { object(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The value of a key as the wanted type. Numbers are converted if possible. Nil if the value has another type
    ///
    public subscript<T>(key: CKRecord.FieldKey) -> T? where T: CKRecordValueProtocol {
        get {
            let object = object(forKey: key)
            return object as? T ?? (object as? NSObject).flatMap { RecordObject.convert($0, to: T.self) }
        }
        set { setValue(newValue, forKey: key) }
    }

    private func setValue(_ value: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey) {
        guard let value else { return setObject(nil, forKey: key) }
        guard let object = value as? any CKRecordValue else {
            //
            preconditionFailure(
                "A record cannot hold a \(type(of: value)): convert it to a type that a field can have.")
        }
        setObject(object, forKey: key)
    }
}
