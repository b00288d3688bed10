// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks for pushes about changes. Use one of its subclasses.
public class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The name of a subscription, unique among the user's subscriptions to a database.
    public typealias ID = String

    /// The subject of a subscription.
    public enum SubscriptionType: Int, Sendable {
        /// Records that match a predicate.
        case query = 1
        /// Records of a zone.
        case recordZone = 2
        /// All custom zones of a database.
        case database = 3
    }

    struct Settings {
        var notificationInfo: CKSubscription.NotificationInfo?
        var recordType: CKRecord.RecordType?
    }

    /// The subscription's name.
    public let subscriptionID: CKSubscription.ID

    /// The subject of the subscription.
    public let subscriptionType: SubscriptionType

    let settings: Locked<Settings>

    init(_ subscriptionID: CKSubscription.ID, _ type: SubscriptionType, _ settings: Settings = Settings()) {
        self.subscriptionID = subscriptionID
        subscriptionType = type
        self.settings = Locked(settings)
        super.init()
    }

    /// How pushes are shown; nil for silent pushes. The value is copied when it is set.
    public var notificationInfo: CKSubscription.NotificationInfo? {
        get { settings.withLock { $0.notificationInfo } }
        set {
            let own = newValue?.copied
            settings.withLock { $0.notificationInfo = own }
        }
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// A subscription from an archive. Values that the archive lacks are empty, and a server refuses such a
    /// subscription.
    public required init(coder aDecoder: NSCoder) {
        subscriptionID = aDecoder.optionalString(forKey: "SubscriptionID") ?? ""
        let type = aDecoder.optionalInt64(forKey: "SubscriptionType").flatMap { Int(exactly: $0) }
        subscriptionType = type.flatMap(SubscriptionType.init(rawValue:)) ?? .database
        settings = Locked(
            Settings(
                notificationInfo: aDecoder.optionalObject(
                    of: CKSubscription.NotificationInfo.self, forKey: "NotificationInfo"),
                recordType: aDecoder.optionalString(forKey: "RecordType")))
        super.init()
    }

    /// Writes all of it.
    public func encode(with coder: NSCoder) {
        coder.encode(string: subscriptionID, forKey: "SubscriptionID")
        coder.encode(Int64(subscriptionType.rawValue), forKey: "SubscriptionType")
        let settings = settings.withLock { $0 }
        coder.encode(string: settings.recordType, forKey: "RecordType")
        if let info = settings.notificationInfo { coder.encode(info, forKey: "NotificationInfo") }
    }

    /// An independent subscription with the same settings.
    public func copy(with zone: NSZone? = nil) -> Any {
        CKSubscription(subscriptionID, subscriptionType, copiedSettings)
    }

    /// The same of its type.
    var copied: CKSubscription { copy() as? CKSubscription ?? self }

    var copiedSettings: Settings {
        var copied = settings.withLock { $0 }
        copied.notificationInfo = copied.notificationInfo?.copied
        return copied
    }

    /// For people to read.
    public override var description: String {
        "<\(type(of: self)) subscriptionID=\(subscriptionID) subscriptionType=\(subscriptionType)>"
    }
}
