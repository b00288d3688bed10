// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkWire

@testable import TidemarkKit

/// What a push shows.
@Suite struct NotificationAlertTests {
    private static var whole: WireNotificationInfo {
        var info = WireNotificationInfo()
        (info.alertBody, info.title, info.subtitle) = ("body", "title", "subtitle")
        (info.alertActionLocalizationKey, info.alertLaunchImage) = ("action", "image")
        (info.soundName, info.category) = ("sound", "category")
        info.shouldBadge = true
        info.shouldSendContentAvailable = true
        info.shouldSendMutableContent = true
        return info
    }

    private static var localized: WireNotificationInfo {
        var info = whole
        (info.alertLocalizationKey, info.alertLocalizationArgs) = ("key", ["a", "1"])
        (info.titleLocalizationKey, info.titleLocalizationArgs) = ("titleKey", ["b"])
        (info.subtitleLocalizationKey, info.subtitleLocalizationArgs) = ("subtitleKey", [])
        return info
    }

    @Test func `R-250: each part that is seen or heard makes a push visible, and nothing else does`() {
        let visible: [(inout WireNotificationInfo) -> Void] = [
            { $0.alertBody = "x" }, { $0.alertLocalizationKey = "x" }, { $0.title = "x" },
            { $0.titleLocalizationKey = "x" }, { $0.subtitle = "x" }, { $0.subtitleLocalizationKey = "x" },
            { $0.soundName = "x" }, { $0.shouldBadge = true },
        ]
        let silent: [(inout WireNotificationInfo) -> Void] = [
            { _ in }, { $0.shouldSendContentAvailable = true }, { $0.shouldSendMutableContent = true },
            { $0.category = "x" }, { $0.alertLaunchImage = "x" }, { $0.alertActionLocalizationKey = "x" },
            { $0.alertLocalizationArgs = ["x"] }, { $0.desiredKeys = ["x"] }, { $0.collapseIDKey = "x" },
        ]
        for (changes, isVisible) in [(visible, true), (silent, false)] {
            for change in changes {
                var info = WireNotificationInfo()
                change(&info)
                let alert = NotificationAlert(info)
                #expect(alert.isVisible == isVisible, "\(info)")
                let isContent = alert.aps["content-available"] as? Int == 1
                #expect(isContent == (!isVisible || info.shouldSendContentAvailable), "\(info)")
            }
        }
    }

    @Test func `R-252: a key of a text wins over the text, and arguments come with it`() {
        let alert = NotificationAlert(Self.localized)
        #expect(alert.body == .init(localizationKey: "key", localizationArgs: ["a", "1"]))
        #expect(alert.body.text == nil && alert.title.text == nil && alert.subtitle.text == nil)
        #expect(alert.title.localizationArgs == ["b"] && alert.subtitle.localizationArgs == nil)
        let plain = NotificationAlert(Self.whole)
        #expect(plain.body.text == "body" && plain.body.localizationKey == nil)
        var strayed = Self.whole
        strayed.alertLocalizationArgs = ["a"]
        #expect(NotificationAlert(strayed).body.localizationArgs == nil, "arguments of no key say nothing")
    }

    @Test func `R-254, R-255: the dictionary of a push says all of it`() {
        for info in [Self.whole, Self.localized] {
            let alert = NotificationAlert(info)
            #expect(NotificationAlert(aps: alert.aps) == alert)
        }
        let aps = NotificationAlert(Self.localized).aps
        let alert = aps["alert"] as? [AnyHashable: Any]
        #expect(alert?["loc-key"] as? String == "key" && alert?["loc-args"] as? [String] == ["a", "1"])
        #expect(alert?["title-loc-key"] as? String == "titleKey" && alert?["title"] == nil && alert?["body"] == nil)
        #expect(alert?["action-loc-key"] as? String == "action" && alert?["launch-image"] as? String == "image")
        #expect(aps["sound"] as? String == "sound" && aps["category"] as? String == "category")
        #expect(aps["badge"] as? Int == 1 && aps["mutable-content"] as? Int == 1)
    }

    @Test func `R-254: the parts of a foreign dictionary are read as far as they are of the right type`() {
        #expect(NotificationAlert(aps: [:]) == NotificationAlert())
        #expect(NotificationAlert(aps: ["alert": "text"]).body.text == "text")
        let alert: [AnyHashable: Any] = ["body": 7, "loc-args": "x"]
        let strange = NotificationAlert(aps: ["alert": alert, "sound": 1, "content-available": "1"])
        #expect(strange == NotificationAlert())
        #expect(NotificationAlert(aps: ["content-available": true]).sendsContentAvailable)
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-255: a notification has the fields of its alert`() throws {
        var push = WirePush()
        (push.subscriptionID, push.database, push.kind) = ("all", .private, .database)
        push.alert = Self.localized
        let localized = try notification(push)
        #expect(localized.alertBody == nil && localized.title == nil && localized.subtitle == nil)
        #expect(localized.alertLocalizationKey == "key" && localized.alertLocalizationArgs == ["a", "1"])
        #expect(localized.titleLocalizationKey == "titleKey" && localized.titleLocalizationArgs == ["b"])
        #expect(localized.subtitleLocalizationKey == "subtitleKey" && localized.subtitleLocalizationArgs == nil)
        push.alert = Self.whole
        let plain = try notification(push)
        #expect(plain.alertBody == "body" && plain.title == "title" && plain.subtitle == "subtitle")
        #expect(plain.alertActionLocalizationKey == "action" && plain.alertLaunchImage == "image")
        #expect(plain.soundName == "sound" && plain.category == "category" && plain.badge == 1)
        push.alert = WireNotificationInfo()
        let silent = try notification(push)
        #expect(silent.badge == nil && silent.alertBody == nil)
    }

    private func notification(_ push: WirePush) throws -> CKNotification {
        let payload = try #require(NotificationPayload(push))
        return try #require(CKNotification(fromRemoteNotificationDictionary: payload.dictionary))
    }
}
