// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

extension WireNotificationInfo {
    init(_ info: CKSubscription.NotificationInfo) {
        self.init()
        alertBody = info.alertBody ?? ""
        alertLocalizationKey = info.alertLocalizationKey ?? ""
        alertLocalizationArgs = info.alertLocalizationArgs ?? []
        alertActionLocalizationKey = info.alertActionLocalizationKey ?? ""
        alertLaunchImage = info.alertLaunchImage ?? ""
        soundName = info.soundName ?? ""
        shouldBadge = info.shouldBadge
        shouldSendContentAvailable = info.shouldSendContentAvailable
        shouldSendMutableContent = info.shouldSendMutableContent
        title = info.title ?? ""
        titleLocalizationKey = info.titleLocalizationKey ?? ""
        titleLocalizationArgs = info.titleLocalizationArgs ?? []
        subtitle = info.subtitle ?? ""
        subtitleLocalizationKey = info.subtitleLocalizationKey ?? ""
        subtitleLocalizationArgs = info.subtitleLocalizationArgs ?? []
        category = info.category ?? ""
        collapseIDKey = info.collapseIDKey ?? ""
        desiredKeys = info.desiredKeys ?? []
    }
}

extension CKSubscription.NotificationInfo {
    convenience init(_ wire: WireNotificationInfo) {
        func present(_ text: String) -> String? { text.isEmpty ? nil : text }
        func present(_ list: [String]) -> [String]? { list.isEmpty ? nil : list }
        self.init()
        alertBody = present(wire.alertBody)
        alertLocalizationKey = present(wire.alertLocalizationKey)
        alertLocalizationArgs = present(wire.alertLocalizationArgs)
        alertActionLocalizationKey = present(wire.alertActionLocalizationKey)
        alertLaunchImage = present(wire.alertLaunchImage)
        soundName = present(wire.soundName)
        shouldBadge = wire.shouldBadge
        shouldSendContentAvailable = wire.shouldSendContentAvailable
        shouldSendMutableContent = wire.shouldSendMutableContent
        title = present(wire.title)
        titleLocalizationKey = present(wire.titleLocalizationKey)
        titleLocalizationArgs = present(wire.titleLocalizationArgs)
        subtitle = present(wire.subtitle)
        subtitleLocalizationKey = present(wire.subtitleLocalizationKey)
        subtitleLocalizationArgs = present(wire.subtitleLocalizationArgs)
        category = present(wire.category)
        collapseIDKey = present(wire.collapseIDKey)
        desiredKeys = present(wire.desiredKeys)
    }
}
