// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

extension CKSubscription {
    /// How pushes of a subscription are shown.
    public typealias NotificationInfo = CKNotificationInfo
}

// NB: Not nested in CKSubscription. The keyed archivers of swift-corelibs-foundation stop the process when they meet an
// object whose class is nested in another. Use the name `CKSubscription.NotificationInfo`.

/// How pushes of a subscription are shown. Use its name `CKSubscription.NotificationInfo`.
///
/// Without any alert, title, sound or badge a push is silent. Two are equal if all settings are.
public class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    struct Settings: Sendable, Hashable {
        var alertBody: String?
        var alertLocalizationKey: String?
        var alertLocalizationArgs: [CKRecord.FieldKey]?
        var title: String?
        var titleLocalizationKey: String?
        var titleLocalizationArgs: [CKRecord.FieldKey]?
        var subtitle: String?
        var subtitleLocalizationKey: String?
        var subtitleLocalizationArgs: [CKRecord.FieldKey]?
        var alertActionLocalizationKey: String?
        var alertLaunchImage: String?
        var soundName: String?
        var desiredKeys: [CKRecord.FieldKey]?
        var shouldBadge: Bool = false
        var shouldSendContentAvailable: Bool = false
        var shouldSendMutableContent: Bool = false
        var category: String?
        var collapseIDKey: String?
    }

    private let settings: Mutex<Settings>

    /// A silent push.
    public override init() {
        settings = Mutex(Settings())
        super.init()
    }

    private init(_ settings: Settings) {
        self.settings = Mutex(settings)
        super.init()
    }

    /// A push with these settings. An empty list counts as none.
    public convenience init(
        alertBody: String? = nil,
        alertLocalizationKey: String? = nil,
        alertLocalizationArgs: [CKRecord.FieldKey] = [],
        title: String? = nil,
        titleLocalizationKey: String? = nil,
        titleLocalizationArgs: [CKRecord.FieldKey] = [],
        subtitle: String? = nil,
        subtitleLocalizationKey: String? = nil,
        subtitleLocalizationArgs: [CKRecord.FieldKey] = [],
        alertActionLocalizationKey: String? = nil,
        alertLaunchImage: String? = nil,
        soundName: String? = nil,
        desiredKeys: [CKRecord.FieldKey] = [],
        shouldBadge: Bool = false,
        shouldSendContentAvailable: Bool = false,
        shouldSendMutableContent: Bool = false,
        category: String? = nil,
        collapseIDKey: String? = nil
    ) {
        var settings = Settings()
        settings.alertBody = alertBody
        settings.alertLocalizationKey = alertLocalizationKey
        settings.alertLocalizationArgs = alertLocalizationArgs.isEmpty ? nil : alertLocalizationArgs
        settings.title = title
        settings.titleLocalizationKey = titleLocalizationKey
        settings.titleLocalizationArgs = titleLocalizationArgs.isEmpty ? nil : titleLocalizationArgs
        settings.subtitle = subtitle
        settings.subtitleLocalizationKey = subtitleLocalizationKey
        settings.subtitleLocalizationArgs = subtitleLocalizationArgs.isEmpty ? nil : subtitleLocalizationArgs
        settings.alertActionLocalizationKey = alertActionLocalizationKey
        settings.alertLaunchImage = alertLaunchImage
        settings.soundName = soundName
        settings.desiredKeys = desiredKeys.isEmpty ? nil : desiredKeys
        settings.shouldBadge = shouldBadge
        settings.shouldSendContentAvailable = shouldSendContentAvailable
        settings.shouldSendMutableContent = shouldSendMutableContent
        settings.category = category
        settings.collapseIDKey = collapseIDKey
        self.init(settings)
    }

    /// The text of the alert.
    public var alertBody: String? {
        get { settings.withLock { $0.alertBody } }
        set { settings.withLock { $0.alertBody = newValue } }
    }

    /// The name of the alert's text in the app's tables; it wins over `alertBody`.
    public var alertLocalizationKey: String? {
        get { settings.withLock { $0.alertLocalizationKey } }
        set { settings.withLock { $0.alertLocalizationKey = newValue } }
    }

    /// The fields whose values are inserted into the alert's text.
    public var alertLocalizationArgs: [CKRecord.FieldKey]? {
        get { settings.withLock { $0.alertLocalizationArgs } }
        set { settings.withLock { $0.alertLocalizationArgs = newValue } }
    }

    /// The alert's title.
    public var title: String? {
        get { settings.withLock { $0.title } }
        set { settings.withLock { $0.title = newValue } }
    }

    /// The name of the title in the app's tables; it wins over `title`.
    public var titleLocalizationKey: String? {
        get { settings.withLock { $0.titleLocalizationKey } }
        set { settings.withLock { $0.titleLocalizationKey = newValue } }
    }

    /// The fields whose values are inserted into the title.
    public var titleLocalizationArgs: [CKRecord.FieldKey]? {
        get { settings.withLock { $0.titleLocalizationArgs } }
        set { settings.withLock { $0.titleLocalizationArgs = newValue } }
    }

    /// The alert's second title.
    public var subtitle: String? {
        get { settings.withLock { $0.subtitle } }
        set { settings.withLock { $0.subtitle = newValue } }
    }

    /// The name of the subtitle in the app's tables; it wins over `subtitle`.
    public var subtitleLocalizationKey: String? {
        get { settings.withLock { $0.subtitleLocalizationKey } }
        set { settings.withLock { $0.subtitleLocalizationKey = newValue } }
    }

    /// The fields whose values are inserted into the subtitle.
    public var subtitleLocalizationArgs: [CKRecord.FieldKey]? {
        get { settings.withLock { $0.subtitleLocalizationArgs } }
        set { settings.withLock { $0.subtitleLocalizationArgs = newValue } }
    }

    /// The name of the alert's button in the app's tables.
    public var alertActionLocalizationKey: String? {
        get { settings.withLock { $0.alertActionLocalizationKey } }
        set { settings.withLock { $0.alertActionLocalizationKey = newValue } }
    }

    /// The picture to show while the app starts.
    public var alertLaunchImage: String? {
        get { settings.withLock { $0.alertLaunchImage } }
        set { settings.withLock { $0.alertLaunchImage = newValue } }
    }

    /// The sound to play.
    public var soundName: String? {
        get { settings.withLock { $0.soundName } }
        set { settings.withLock { $0.soundName = newValue } }
    }

    /// At most three fields to include; query subscriptions only.
    public var desiredKeys: [CKRecord.FieldKey]? {
        get { settings.withLock { $0.desiredKeys } }
        set { settings.withLock { $0.desiredKeys = newValue } }
    }

    /// Whether to increment the app's badge; default false.
    public var shouldBadge: Bool {
        get { settings.withLock { $0.shouldBadge } }
        set { settings.withLock { $0.shouldBadge = newValue } }
    }

    /// Whether to wake the app silently; default false.
    public var shouldSendContentAvailable: Bool {
        get { settings.withLock { $0.shouldSendContentAvailable } }
        set { settings.withLock { $0.shouldSendContentAvailable = newValue } }
    }

    /// Whether the app may change the alert; default false.
    public var shouldSendMutableContent: Bool {
        get { settings.withLock { $0.shouldSendMutableContent } }
        set { settings.withLock { $0.shouldSendMutableContent = newValue } }
    }

    /// The kind of alert.
    public var category: String? {
        get { settings.withLock { $0.category } }
        set { settings.withLock { $0.category = newValue } }
    }

    /// The field whose value lets later pushes replace earlier ones.
    public var collapseIDKey: String? {
        get { settings.withLock { $0.collapseIDKey } }
        set { settings.withLock { $0.collapseIDKey = newValue } }
    }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKNotificationInfo.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKNotificationInfo.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Settings from an archive. Those that it lacks have their defaults.
    public required init?(coder: NSCoder) {
        var settings = Settings()
        settings.alertBody = coder.optionalString(forKey: "AlertBody")
        settings.alertLocalizationKey = coder.optionalString(forKey: "AlertLocalizationKey")
        settings.alertLocalizationArgs = coder.optionalStrings(forKey: "AlertLocalizationArgs")
        settings.title = coder.optionalString(forKey: "Title")
        settings.titleLocalizationKey = coder.optionalString(forKey: "TitleLocalizationKey")
        settings.titleLocalizationArgs = coder.optionalStrings(forKey: "TitleLocalizationArgs")
        settings.subtitle = coder.optionalString(forKey: "Subtitle")
        settings.subtitleLocalizationKey = coder.optionalString(forKey: "SubtitleLocalizationKey")
        settings.subtitleLocalizationArgs = coder.optionalStrings(forKey: "SubtitleLocalizationArgs")
        settings.alertActionLocalizationKey = coder.optionalString(forKey: "AlertActionLocalizationKey")
        settings.alertLaunchImage = coder.optionalString(forKey: "AlertLaunchImage")
        settings.soundName = coder.optionalString(forKey: "SoundName")
        settings.desiredKeys = coder.optionalStrings(forKey: "DesiredKeys")
        settings.shouldBadge = coder.containsValue(forKey: "ShouldBadge")
        settings.shouldSendContentAvailable = coder.containsValue(forKey: "ShouldSendContentAvailable")
        settings.shouldSendMutableContent = coder.containsValue(forKey: "ShouldSendMutableContent")
        settings.category = coder.optionalString(forKey: "Category")
        settings.collapseIDKey = coder.optionalString(forKey: "CollapseIDKey")
        self.settings = Mutex(settings)
        super.init()
    }

    /// Writes all settings.
    public func encode(with coder: NSCoder) {
        let settings = settings.withLock { $0 }
        coder.encode(string: settings.alertBody, forKey: "AlertBody")
        coder.encode(string: settings.alertLocalizationKey, forKey: "AlertLocalizationKey")
        coder.encode(strings: settings.alertLocalizationArgs, forKey: "AlertLocalizationArgs")
        coder.encode(string: settings.title, forKey: "Title")
        coder.encode(string: settings.titleLocalizationKey, forKey: "TitleLocalizationKey")
        coder.encode(strings: settings.titleLocalizationArgs, forKey: "TitleLocalizationArgs")
        coder.encode(string: settings.subtitle, forKey: "Subtitle")
        coder.encode(string: settings.subtitleLocalizationKey, forKey: "SubtitleLocalizationKey")
        coder.encode(strings: settings.subtitleLocalizationArgs, forKey: "SubtitleLocalizationArgs")
        coder.encode(string: settings.alertActionLocalizationKey, forKey: "AlertActionLocalizationKey")
        coder.encode(string: settings.alertLaunchImage, forKey: "AlertLaunchImage")
        coder.encode(string: settings.soundName, forKey: "SoundName")
        coder.encode(strings: settings.desiredKeys, forKey: "DesiredKeys")
        if settings.shouldBadge { coder.encode(true, forKey: "ShouldBadge") }
        if settings.shouldSendContentAvailable { coder.encode(true, forKey: "ShouldSendContentAvailable") }
        if settings.shouldSendMutableContent { coder.encode(true, forKey: "ShouldSendMutableContent") }
        coder.encode(string: settings.category, forKey: "Category")
        coder.encode(string: settings.collapseIDKey, forKey: "CollapseIDKey")
    }

    /// Independent settings, equal to these.
    public func copy(with zone: NSZone? = nil) -> Any { copied }

    var copied: CKSubscription.NotificationInfo { CKSubscription.NotificationInfo(settings.withLock { $0 }) }

    // MARK: NSObject

    /// Whether all settings are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription.NotificationInfo else { return false }
        let theirs = other.settings.withLock { $0 }
        return settings.withLock { $0 } == theirs
    }

    /// Equal for equal settings.
    public override var hash: Int { settings.withLock { $0.hashValue } }
}
