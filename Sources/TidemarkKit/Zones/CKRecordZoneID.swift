// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKRecordZone {
    /// A zone's name and owner.
    public typealias ID = CKRecordZoneID
}

// NB: Not nested in CKRecordZone. The keyed archivers of swift-corelibs-foundation stop the process when they meet an
// object whose class is nested in another (`NSStringFromClass`). Use the name `CKRecordZone.ID`.

/// A zone's name and owner. Use its name `CKRecordZone.ID`.
///
/// Two IDs are equal if both strings are, as given. The name that stands for the current user does not equal that
/// user's real name.
public class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The name of the zone that each private and public database has from the beginning.
    public static let defaultZoneName = "_defaultZone"

    /// The current user's default zone.
    public static let `default` = CKRecordZoneID()

    /// Printable ASCII, 1 to 255 characters.
    public let zoneName: String

    /// The owner's user record name; `CKCurrentUserDefaultName` for the current user.
    public let ownerName: String

    /// The same in one process. Calculated once, because an engine looks each ID up many times.
    private let namesHash: Int

    /// An ID with this name. A debug build stops at an invalid name; a server refuses it with `invalidArguments`
    ///
    public convenience init(
        zoneName: String = CKRecordZone.ID.defaultZoneName, ownerName: String = CKCurrentUserDefaultName
    ) {
        assert(
            CKRecordZoneID.isPossible(zoneName: zoneName),
            "A zone cannot be named \(zoneName): use 1 to 255 printable ASCII characters.")
        assert(
            CKRecordZoneID.isPossible(ownerName: ownerName),
            "An owner cannot be named \(ownerName): use a user record's name.")
        self.init(unchecked: zoneName, ownerName: ownerName)
    }

    /// The same, with nil for the current user.
    @available(*, deprecated)
    @_disfavoredOverload
    public convenience init(zoneName: String, ownerName: String?) {
        self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    /// An ID with names from a server or an archive.
    package init(unchecked zoneName: String, ownerName: String) {
        self.zoneName = zoneName
        self.ownerName = ownerName
        namesHash = Self.hash(zoneName, ownerName)
        super.init()
    }

    static func isPossible(zoneName: String) -> Bool {
        isPossible(ownerName: zoneName) && (!zoneName.hasPrefix("_") || zoneName == defaultZoneName)
    }

    private static func isPossible(ownerName: String) -> Bool {
        (1...255).contains(ownerName.utf8.count) && ownerName.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKRecordZoneID.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKRecordZoneID.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a zone ID.
    public required init?(coder: NSCoder) {
        guard let zoneName = coder.optionalString(forKey: "ZoneName"),
            let ownerName = coder.optionalString(forKey: "OwnerName")
        else { return nil }
        self.zoneName = zoneName
        self.ownerName = ownerName
        namesHash = Self.hash(zoneName, ownerName)
        super.init()
    }

    /// Writes both names.
    public func encode(with coder: NSCoder) {
        coder.encode(string: zoneName, forKey: "ZoneName")
        coder.encode(string: ownerName, forKey: "OwnerName")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether both names are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordZone.ID else { return false }
        return hasNames(of: other)
    }

    func hasNames(of other: CKRecordZone.ID) -> Bool {
        self === other || zoneName == other.zoneName && ownerName == other.ownerName
    }

    /// Whether it is another user's: this one can neither save nor create it.
    var isOfOther: Bool { ownerName != CKCurrentUserDefaultName }

    /// Equal for equal IDs.
    public override var hash: Int { namesHash }

    private static func hash(_ zoneName: String, _ ownerName: String) -> Int {
        var hasher = Hasher()
        hasher.combine(zoneName)
        hasher.combine(ownerName)
        return hasher.finalize()
    }

    /// For people to read.
    public override var description: String { "<CKRecordZone.ID zoneName=\(zoneName) ownerName=\(ownerName)>" }
}
