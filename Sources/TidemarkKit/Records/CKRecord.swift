// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkBytes
internal import TidemarkFields

/// A named set of fields: the unit that is saved, fetched and shared (section 3 of the rules).
///
/// Records are reference objects; `copy()` makes an independent one (R-052). They may be used from several threads:
/// each call is atomic.
///
/// A copy of a subclass has the same class; it is made with `encode(with:)` and `init(coder:)`. Records from a server
/// are `CKRecord`s.
open class CKRecord: NSObject, NSSecureCoding, NSCopying, Sequence, CKRecordKeyValueSetting, @unchecked Sendable {
    /// The name of a record type: a letter, then letters, digits and underscores (R-041).
    public typealias RecordType = String

    /// The name of a field: a letter, then letters, digits and underscores (R-042).
    public typealias FieldKey = String

    /// The type of the record. It never changes (R-041).
    public let recordType: CKRecord.RecordType

    /// The ID of the record. It never changes (R-040).
    public let recordID: CKRecord.ID

    let state: Locked<RecordContents>

    /// A new record. It exists on the server once it is saved.
    public init(recordType: CKRecord.RecordType, recordID: CKRecord.ID = CKRecord.ID()) {
        self.recordType = recordType
        self.recordID = recordID
        state = Locked(RecordContents())
        super.init()
    }

    /// A new record with a new name in that zone.
    @available(*, deprecated, message: "Use init(recordType:recordID:)")
    public convenience init(recordType: CKRecord.RecordType, zoneID: CKRecordZone.ID) {
        self.init(recordType: recordType, recordID: CKRecord.ID(zoneID: zoneID))
    }

    init(recordType: CKRecord.RecordType, recordID: CKRecord.ID, state: RecordContents) {
        self.recordType = recordType
        self.recordID = recordID
        self.state = Locked(state)
        super.init()
    }

    // MARK: System fields

    /// The version of the record that was last fetched or saved; nil for a new record (R-046).
    public var recordChangeTag: String? {
        state.withLock { $0.metadata.map { Base64.encodeURLSafe($0.tag) } }
    }

    /// When the server first stored the record; nil for a new one (R-044).
    public var creationDate: Date? {
        state.withLock { $0.metadata.map { Date(timeIntervalSince1970: Double($0.createdAt) / 1000) } }
    }

    /// The user who created the record (R-047); nil for a new one.
    public var creatorUserRecordID: CKRecord.ID? {
        state.withLock { $0.metadata.map { CKRecord.ID(recordName: $0.createdBy) } }
    }

    /// When the record was last saved (R-045). It grows with each save; nil for a new record.
    public var modificationDate: Date? {
        state.withLock { $0.metadata.map { Date(timeIntervalSince1970: Double($0.modifiedAt) / 1000) } }
    }

    /// The user who last saved the record (R-047); nil for a new one.
    public var lastModifiedUserRecordID: CKRecord.ID? {
        state.withLock { $0.metadata.map { CKRecord.ID(recordName: $0.modifiedBy) } }
    }

    /// The share whose root is this record (R-043).
    public var share: CKRecord.Reference? {
        state.withLock { $0.share }
    }

    /// The record under which this one is shared: in the same zone, with the action `none` (R-080).
    public var parent: CKRecord.Reference? {
        get { state.withLock { $0.parent } }
        set { state.withLock { $0.setParent(newValue) } }
    }

    /// Makes that record the parent; nil for none.
    public func setParent(_ parentRecord: CKRecord?) {
        setParent(parentRecord?.recordID)
    }

    /// Makes the record of that ID the parent; nil for none.
    public func setParent(_ parentRecordID: CKRecord.ID?) {
        parent = parentRecordID.map { CKRecord.Reference(recordID: $0, action: .none) }
    }

    // MARK: Fields

    /// The value of a plain key; nil if there is none (R-069).
    public func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        value(forKey: key, in: \.plain)
    }

    /// Sets a plain key. Nil removes it, and once the record is saved, on the server too (R-063).
    public func setObject(_ object: (any CKRecordValue)?, forKey key: CKRecord.FieldKey) {
        set(object, forKey: key, in: \.plain)
    }

    /// The value of a plain key; nil if there is none.
    public subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    /// The value of a plain key; nil if there is none.
    public func value(forKey key: String) -> Any? {
        object(forKey: key)
    }

    /// Sets a plain key. Stops the process for a value of a type that a record cannot hold (R-066).
    public func setValue(_ value: Any?, forKey key: String) {
        set(value, forKey: key, in: \.plain)
    }

    /// Sets several plain keys; `NSNull` removes one. Stops the process as `setValue(_:forKey:)` does (R-066).
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The values of these plain keys; `NSNull` for keys without one.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
    }

    /// The value of a plain key. Nil for a path of several keys: fields hold no objects with keys (R-060), and no
    /// field's name contains a dot (R-042).
    public func value(forKeyPath keyPath: String) -> Any? {
        value(forKey: keyPath)
    }

    /// The plain keys that have a value, in ascending order (R-053, R-069).
    public func allKeys() -> [CKRecord.FieldKey] {
        keys(in: \.plain)
    }

    /// The plain and encrypted keys that were set since the record was made, fetched or saved, in ascending order. Keys
    /// that were set to nil are included (R-053, R-069).
    public func changedKeys() -> [CKRecord.FieldKey] {
        state.withLock { Set($0.plain.changes.keys).union($0.encrypted.changes.keys).sorted() }
    }

    /// All words of the plain string fields (R-057).
    public func allTokens() -> [String] {
        allKeys().compactMap { self[$0] as? String }.flatMap {
            $0.split(whereSeparator: \.isWhitespace).map(String.init)
        }
    }

    /// The encrypted fields, with the same calls as the record (R-067).
    public var encryptedValues: any CKRecordKeyValueSetting & Sendable {
        EncryptedValues(of: self)
    }

    /// The current plain keys and their values (R-056).
    public func makeIterator() -> CKRecordKeyValueIterator {
        let values = unpacked { $0.plain.values }
        return CKRecordKeyValueIterator(
            fields: values.sorted { $0.key < $1.key }.compactMap { key, object in
                (object as? any CKRecordValueProtocol).map { (key, $0) }
            })
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// A record from an archive of `encode(with:)` or `encodeSystemFields(with:)` (R-049, R-051); nil if it holds none.
    public required init?(coder: NSCoder) {
        guard let archived = RecordArchive.decode(from: coder) else { return nil }
        recordType = archived.recordType
        recordID = archived.recordID
        state = Locked(archived.state)
        super.init()
    }

    /// Writes the record with all fields and changes; for assets, the URLs of their files (R-051).
    open func encode(with coder: NSCoder) {
        RecordArchive.encodeSystemFields(recordType, recordID, unpacked { $0 }, to: coder)
        RecordArchive.encodeFields(unpacked { $0 }, to: coder)
    }

    /// Writes what the server knows of the record, without the app's fields: identity, type, tag, dates, users, parent
    /// and share (R-049).
    open func encodeSystemFields(with coder: NSCoder) {
        RecordArchive.encodeSystemFields(recordType, recordID, state.withLock { $0 }, to: coder)
    }

    /// An independent record of the same class, with the same ID, tag, fields and changes (R-052).
    open func copy(with zone: NSZone? = nil) -> Any {
        let plain = copied()
        guard type(of: self) != type(of: plain) else { return plain }
        // NB: Swift can create an object of an unknown class only with an initializer that every subclass has.
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        encode(with: archiver)
        archiver.finishEncoding()
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: archiver.encodedData),
            let copy = type(of: self).init(coder: unarchiver)
        else { return plain }
        // State that archives do not contain.
        let state = state.withLock { $0 }
        copy.state.withLock { $0 = state }
        return copy
    }

    /// An independent record of the class of a server's records, whatever a subclass does.
    func copied() -> CKRecord {
        CKRecord(recordType: recordType, recordID: recordID, state: state.withLock { $0 })
    }

    /// For people to read.
    open override var description: String {
        "<CKRecord recordType=\(recordType) recordID=\(recordID) recordChangeTag=\(recordChangeTag ?? "none")>"
    }

    // MARK: Under the lock

    /// Calls `body` with the fields unpacked to objects.
    func unpacked<Result>(_ body: (inout RecordContents) -> Result) -> Result {
        state.withLock {
            $0.unpack(zoneID: recordID.zoneID)
            return body(&$0)
        }
    }

    func value(
        forKey key: CKRecord.FieldKey, in space: WritableKeyPath<RecordContents, RecordContents.KeySpace>
    ) -> (any __CKRecordObjCValue)? {
        let object = unpacked { $0[keyPath: space].values[key] }
        // NB: Swift's own type, because Foundation on Linux converts an NSData to a Data byte by byte, 65 ms for a
        // megabyte. The conversion back to an NSData costs nothing.
        if let data = object as? NSData {
            let value: Any = Data(bytes: data.bytes, count: data.length)
            return value as? any __CKRecordObjCValue
        }
        return object as? any __CKRecordObjCValue
    }

    func set(
        _ value: Any?, forKey key: CKRecord.FieldKey, in space: WritableKeyPath<RecordContents, RecordContents.KeySpace>
    ) {
        var object: NSObject?
        if let value {
            object = RecordObject.make(of: value)
            // R-066.
            precondition(
                object != nil, "A record cannot hold a \(type(of: value)): convert it to a type that a field can have.")
        }
        unpacked { $0.set(object, forKey: key, in: space) }
    }

    func keys(in space: WritableKeyPath<RecordContents, RecordContents.KeySpace>) -> [CKRecord.FieldKey] {
        unpacked { $0[keyPath: space].values.keys.sorted() }
    }
}

/// Iterates over a record's plain keys and values (R-056).
public struct CKRecordKeyValueIterator: IteratorProtocol {
    private var fields: IndexingIterator<[(CKRecord.FieldKey, any CKRecordValueProtocol)]>

    init(fields: [(CKRecord.FieldKey, any CKRecordValueProtocol)]) {
        self.fields = fields.makeIterator()
    }

    /// The next key with its value.
    public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
        fields.next()
    }
}
