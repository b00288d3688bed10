// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKNotification {
    /// The name of a notification.
    public typealias ID = CKNotificationID
}

// NB: Not nested in CKNotification. The keyed archivers of swift-corelibs-foundation stop the process when they meet an
// object whose class is nested in another. Use the name `CKNotification.ID`.

/// The name of a notification. Use its name `CKNotification.ID`.
public class CKNotificationID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    private let name: String

    init(_ name: String) {
        self.name = name
        super.init()
    }

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKNotificationID.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKNotificationID.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil if the archive does not hold such a name.
    public required init?(coder: NSCoder) {
        guard let name = coder.optionalString(forKey: "NotificationID") else { return nil }
        self.name = name
        super.init()
    }

    /// Writes the name.
    public func encode(with coder: NSCoder) {
        coder.encode(string: name, forKey: "NotificationID")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are the same name.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKNotification.ID)?.name == name
    }

    /// Equal for equal names.
    public override var hash: Int { name.hashValue }
}
