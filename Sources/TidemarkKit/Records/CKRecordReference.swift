// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKRecord {
    /// A field's value that points to another record.
    public typealias Reference = CKReference

    /// What happens to a record when the record that it points to is deleted.
    public enum ReferenceAction: UInt, Sendable {
        /// Nothing: the reference dangles.
        case none = 0
        /// It is deleted too (section 6 of the rules).
        case deleteSelf = 1
    }
}

// NB: Not nested in CKRecord. The keyed archivers of swift-corelibs-foundation stop the process when they meet an
// object whose class is nested in another (`NSStringFromClass`). Use the name `CKRecord.Reference`.

/// A field's value that points to another record. Use its name `CKRecord.Reference`.
///
/// Two references are equal if target and action are.
public class CKReference: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The older name of `CKRecord.ReferenceAction`.
    @available(*, deprecated, renamed: "CKRecord.ReferenceAction")
    public typealias Action = CKRecord.ReferenceAction

    /// The target. It must be in the zone of the record that holds the reference.
    public let recordID: CKRecord.ID

    /// What happens to the record that holds the reference when its target is deleted.
    public let action: CKRecord.ReferenceAction

    /// A reference to the record of that ID, which need not exist.
    public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
        self.recordID = recordID
        self.action = action
        super.init()
    }

    /// A reference to that record.
    public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
        self.init(recordID: record.recordID, action: action)
    }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKRecordReference.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKReference.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a reference.
    public required init?(coder: NSCoder) {
        guard let recordID = coder.optionalObject(of: CKRecord.ID.self, forKey: "RecordID"),
            let code = coder.optionalInt64(forKey: "Action").flatMap({ UInt(exactly: $0) }),
            let action = CKRecord.ReferenceAction(rawValue: code)
        else { return nil }
        self.recordID = recordID
        self.action = action
        super.init()
    }

    /// Writes target and action.
    public func encode(with coder: NSCoder) {
        coder.encode(recordID, forKey: "RecordID")
        coder.encode(Int64(action.rawValue), forKey: "Action")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether target and action are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecord.Reference else { return false }
        return recordID == other.recordID && action == other.action
    }

    /// Equal for equal references.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(recordID)
        hasher.combine(action)
        return hasher.finalize()
    }

    /// For people to read.
    public override var description: String { "<CKRecord.Reference recordID=\(recordID) action=\(action)>" }
}
