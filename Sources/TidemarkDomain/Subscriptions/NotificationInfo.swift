// SPDX-License-Identifier: Apache-2.0

/// How a push is shown to the user, as the app asked for it or with what a record has put in.
package struct NotificationInfo: Sendable, Equatable {
    package var alertBody = ""
    package var alertLocalizationKey = ""
    package var alertLocalizationArgs: [String] = []
    package var alertActionLocalizationKey = ""
    package var alertLaunchImage = ""
    package var soundName = ""
    package var shouldBadge = false
    package var shouldSendContentAvailable = false
    package var shouldSendMutableContent = false
    package var title = ""
    package var titleLocalizationKey = ""
    package var titleLocalizationArgs: [String] = []
    package var subtitle = ""
    package var subtitleLocalizationKey = ""
    package var subtitleLocalizationArgs: [String] = []
    package var category = ""
    package var collapseIDKey = ""
    package var desiredKeys: [String] = []

    package init() {}

    /// whether the user sees or hears anything. All other pushes are silent.
    package var isVisible: Bool {
        shouldBadge
            || [
                alertBody, alertLocalizationKey, soundName, title, titleLocalizationKey, subtitle,
                subtitleLocalizationKey,
            ].contains { !$0.isEmpty }
    }

    /// Bytes of its texts, and some for each that there is.
    package var byteCount: Int {
        let texts = [
            alertBody, alertLocalizationKey, alertActionLocalizationKey, alertLaunchImage, soundName, title,
            titleLocalizationKey, subtitle, subtitleLocalizationKey, category, collapseIDKey,
        ]
        return Self.bytes(of: texts.filter { !$0.isEmpty }) + Self.bytes(of: alertLocalizationArgs)
            + Self.bytes(of: titleLocalizationArgs) + Self.bytes(of: subtitleLocalizationArgs)
    }

    private static func bytes(of texts: [String]) -> Int { texts.reduce(0) { $0 + $1.utf8.count + bytesPerText } }

    /// What a text counts beside its bytes.
    static let bytesPerText = 4

    /// more names of fields are refused.
    package static let desiredKeysMax = 3
}
