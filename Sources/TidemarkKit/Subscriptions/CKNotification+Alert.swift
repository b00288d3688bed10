// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The text, sound and badge that the notification shows to the user.
extension CKNotification {
    /// The text of the alert; nil if it has a key instead.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var alertBody: String? { payload.alert.body.text }

    /// The key of the text of the alert.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var alertLocalizationKey: String? { payload.alert.body.localizationKey }

    /// The values of the fields that the text of the alert names, in their order.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var alertLocalizationArgs: [String]? { payload.alert.body.localizationArgs }

    /// The title of the alert; nil if it has a key instead.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var title: String? { payload.alert.title.text }

    /// The key of the title of the alert.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var titleLocalizationKey: String? { payload.alert.title.localizationKey }

    /// The values of the fields that the title names, in their order.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var titleLocalizationArgs: [String]? { payload.alert.title.localizationArgs }

    /// The subtitle of the alert; nil if it has a key instead.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var subtitle: String? { payload.alert.subtitle.text }

    /// The key of the subtitle of the alert.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var subtitleLocalizationKey: String? { payload.alert.subtitle.localizationKey }

    /// The values of the fields that the subtitle names, in their order.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var subtitleLocalizationArgs: [String]? { payload.alert.subtitle.localizationArgs }

    /// The key of the text of the button of the alert.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var alertActionLocalizationKey: String? { payload.alert.actionLocalizationKey }

    /// The image with which the app starts from the alert.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var alertLaunchImage: String? { payload.alert.launchImage }

    /// The sound of the alert.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var soundName: String? { payload.alert.soundName }

    /// One, if the subscription asks for a badge. How many there are, nobody counts.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var badge: NSNumber? { payload.alert.badges ? 1 : nil }

    /// The category of the alert, by which the app chooses its buttons.
    @available(*, deprecated, message: "Read the part aps of the notification's dictionary")
    public var category: String? { payload.alert.category }
}
