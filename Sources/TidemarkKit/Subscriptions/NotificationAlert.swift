// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

/// The text, sound and badge that a push shows to the user, and their form as the part `aps` of a push's
/// dictionary.
package struct NotificationAlert: Sendable, Equatable {
    /// A text, or the key by which the app finds one in its own language. The key wins over the text.
    package struct Text: Sendable, Equatable {
        package var text: String?
        package var localizationKey: String?
        package var localizationArgs: [String]?

        package init(text: String? = nil, localizationKey: String? = nil, localizationArgs: [String]? = nil) {
            self.localizationKey = Self.present(localizationKey)
            let isLocalized = self.localizationKey != nil
            self.text = isLocalized ? nil : Self.present(text)
            self.localizationArgs = isLocalized && localizationArgs?.isEmpty == false ? localizationArgs : nil
        }

        static func present(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }
    }

    package var body = Text()
    package var title = Text()
    package var subtitle = Text()
    package var actionLocalizationKey: String?
    package var launchImage: String?
    package var soundName: String?
    package var category: String?
    package var badges = false
    package var sendsContentAvailable = false
    package var sendsMutableContent = false

    package init() {}

    /// Whether the user sees or hears it. Everything else is silent.
    package var isVisible: Bool {
        badges || soundName != nil || [body, title, subtitle].contains { $0 != Text() }
    }

    // MARK: The protocol

    init(_ wire: WireNotificationInfo) {
        body = Text(
            text: wire.alertBody, localizationKey: wire.alertLocalizationKey,
            localizationArgs: wire.alertLocalizationArgs)
        title = Text(
            text: wire.title, localizationKey: wire.titleLocalizationKey, localizationArgs: wire.titleLocalizationArgs)
        subtitle = Text(
            text: wire.subtitle, localizationKey: wire.subtitleLocalizationKey,
            localizationArgs: wire.subtitleLocalizationArgs)
        actionLocalizationKey = Text.present(wire.alertActionLocalizationKey)
        launchImage = Text.present(wire.alertLaunchImage)
        soundName = Text.present(wire.soundName)
        category = Text.present(wire.category)
        badges = wire.shouldBadge
        sendsContentAvailable = wire.shouldSendContentAvailable
        sendsMutableContent = wire.shouldSendMutableContent
    }

    // MARK: The dictionary

    /// The keys are those of Apple's push service.
    init(aps: [AnyHashable: Any]) {
        func flag(_ key: String) -> Bool { aps[key].map { $0 as? Int == 1 || $0 as? Bool == true } ?? false }
        // An alert without a title may be its text alone.
        let alert = aps["alert"] as? [AnyHashable: Any] ?? (aps["alert"] as? String).map { ["body": $0] } ?? [:]
        func text(_ key: String, _ prefix: String) -> Text {
            Text(
                text: alert[key] as? String, localizationKey: alert[prefix + "loc-key"] as? String,
                localizationArgs: alert[prefix + "loc-args"] as? [String])
        }
        body = text("body", "")
        title = text("title", "title-")
        subtitle = text("subtitle", "subtitle-")
        actionLocalizationKey = alert["action-loc-key"] as? String
        launchImage = alert["launch-image"] as? String
        soundName = aps["sound"] as? String
        category = aps["category"] as? String
        badges = aps["badge"] != nil
        sendsContentAvailable = flag("content-available")
        sendsMutableContent = flag("mutable-content")
    }

    /// A push that shows nothing says that there is something to fetch.
    var aps: [AnyHashable: Any] {
        var alert: [AnyHashable: Any] = [:]
        func add(_ part: Text, _ key: String, _ prefix: String) {
            alert[key] = part.text
            alert[prefix + "loc-key"] = part.localizationKey
            alert[prefix + "loc-args"] = part.localizationArgs
        }
        add(body, "body", "")
        add(title, "title", "title-")
        add(subtitle, "subtitle", "subtitle-")
        alert["action-loc-key"] = actionLocalizationKey
        alert["launch-image"] = launchImage
        var aps: [AnyHashable: Any] = [:]
        if !alert.isEmpty { aps["alert"] = alert }
        aps["sound"] = soundName
        aps["category"] = category
        // One more. How many there are, nobody counts.
        if badges { aps["badge"] = 1 }
        if sendsContentAvailable || !isVisible { aps["content-available"] = 1 }
        if sendsMutableContent { aps["mutable-content"] = 1 }
        return aps
    }
}
