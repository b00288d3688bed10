// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKRecord {
    /// A record's name and zone.
    public typealias ID = CKRecordID
}

// NB: Not nested in CKRecord, because the keyed archivers of swift-corelibs-foundation stop the process when they meet
// an object whose class is nested in another (`NSStringFromClass`). `CKRecord.ID` is the name to use.

/// A record's name and zone: use its name `CKRecord.ID`.
///
/// Two are equal when name and zone ID are.
public class CKRecordID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// Printable ASCII, 1 to 255 characters; a server refuses others with `invalidArguments`.
    public let recordName: String

    /// The zone that the record lies in.
    public let zoneID: CKRecordZone.ID

    /// Names a record; without a name, a new one that no other record has.
    public convenience init(
        recordName: String = UUID().uuidString, zoneID: CKRecordZone.ID = CKRecordZone.ID.default
    ) {
        self.init(name: recordName, zone: zoneID)
    }

    /// Names a record in the default zone.
    public convenience init(recordName: String) {
        self.init(name: recordName, zone: .default)
    }

    private init(name: String, zone: CKRecordZone.ID) {
        recordName = name
        zoneID = zone
        super.init()
    }

    // MARK: NSSecureCoding, NSCopying

    /// Archives call the class by the name that they always had.
    public override var classForKeyedArchiver: AnyClass? { _CKRecordID.self }

    /// What archives of that name are read as.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKRecordID.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a record ID.
    public required init?(coder: NSCoder) {
        guard let recordName = coder.optionalString(forKey: "RecordName"),
            let zoneID = coder.optionalObject(of: CKRecordZone.ID.self, forKey: "ZoneID")
        else { return nil }
        self.recordName = recordName
        self.zoneID = zoneID
        super.init()
    }

    /// Writes name and zone ID.
    public func encode(with coder: NSCoder) {
        coder.encode(string: recordName, forKey: "RecordName")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    /// The same object: it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether name and zone are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecord.ID else { return false }
        return recordName == other.recordName && zoneID == other.zoneID
    }

    /// Equal for equal IDs.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(recordName)
        hasher.combine(zoneID)
        return hasher.finalize()
    }

    /// For people to read.
    public override var description: String { "<CKRecord.ID recordName=\(recordName) zoneID=\(zoneID)>" }
}
