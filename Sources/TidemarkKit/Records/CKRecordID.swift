// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKRecord {
    /// A record's name and zone.
    public typealias ID = CKRecordID
}

// NB: Not nested in CKRecord. The keyed archivers of swift-corelibs-foundation stop the process when they meet an
// object whose class is nested in another (`NSStringFromClass`). Use the name `CKRecord.ID`.

/// A record's name and zone. Use its name `CKRecord.ID`.
///
/// Two IDs are equal if name and zone ID are.
public class CKRecordID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// Printable ASCII, 1 to 255 characters; a server refuses others with `invalidArguments`.
    public let recordName: String

    /// The zone of the record.
    public let zoneID: CKRecordZone.ID

    /// The same in one process. Calculated once, because an engine looks each ID up many times.
    private let namesHash: Int

    /// An ID with this name, or without one, with a new unique name.
    public convenience init(
        recordName: String = UUID().uuidString, zoneID: CKRecordZone.ID = CKRecordZone.ID.default
    ) {
        self.init(name: recordName, zone: zoneID)
    }

    /// An ID in the default zone.
    public convenience init(recordName: String) {
        self.init(name: recordName, zone: .default)
    }

    private init(name: String, zone: CKRecordZone.ID) {
        recordName = name
        zoneID = zone
        namesHash = Self.hash(name, zone)
        super.init()
    }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKRecordID.self }

    /// The class for objects of that name in archives.
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
        namesHash = Self.hash(recordName, zoneID)
        super.init()
    }

    /// Writes name and zone ID.
    public func encode(with coder: NSCoder) {
        coder.encode(string: recordName, forKey: "RecordName")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether name and zone are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecord.ID else { return false }
        return self === other || recordName == other.recordName && zoneID.hasNames(of: other.zoneID)
    }

    /// Equal for equal IDs.
    public override var hash: Int { namesHash }

    private static func hash(_ name: String, _ zone: CKRecordZone.ID) -> Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(zone.hash)
        return hasher.finalize()
    }

    /// For people to read.
    public override var description: String { "<CKRecord.ID recordName=\(recordName) zoneID=\(zoneID)>" }
}
