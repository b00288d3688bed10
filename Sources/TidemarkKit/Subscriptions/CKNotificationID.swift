// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKNotification {
    /// The name of a notification.
    public typealias ID = CKNotificationID
}

// NB: Not nested in CKNotification, because the keyed archivers of swift-corelibs-foundation stop the process when they
// meet an object whose class is nested in another. `CKNotification.ID` is the name to use.

/// The name of a notification: use its name `CKNotification.ID`.
public class CKNotificationID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    private let name: String

    init(_ name: String) {
        self.name = name
        super.init()
    }

    /// Archives call the class by the name that they always had.
    public override var classForKeyedArchiver: AnyClass? { _CKNotificationID.self }

    /// What archives of that name are read as.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKNotificationID.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold such a name.
    public required init?(coder: NSCoder) {
        guard let name = coder.optionalString(forKey: "NotificationID") else { return nil }
        self.name = name
        super.init()
    }

    /// Writes the name.
    public func encode(with coder: NSCoder) {
        coder.encode(string: name, forKey: "NotificationID")
    }

    /// The same object: it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are the same name.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKNotification.ID)?.name == name
    }

    /// Equal for equal names.
    public override var hash: Int { name.hashValue }
}
