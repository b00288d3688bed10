// SPDX-License-Identifier: Apache-2.0

/// The operations that are possible in a zone. Bits are CloudKit's.
package struct ZoneCapabilities: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let fetchChanges = ZoneCapabilities(rawValue: 1)
    package static let atomic = ZoneCapabilities(rawValue: 2)
    package static let sharing = ZoneCapabilities(rawValue: 4)
    package static let zoneWideSharing = ZoneCapabilities(rawValue: 8)

    /// The capabilities of a zone. A zone that is encrypted as a whole can be shared only as a whole.
    ///
    /// - Parameter feedsEverywhere: whether the container gives the default zones a feed too, beyond CloudKit.
    package static func of(
        zoneNamed name: String, in scope: DatabaseScope, encryptedBy encryption: ZoneEncryptionScope = .perRecord,
        feedsEverywhere: Bool = false
    ) -> ZoneCapabilities {
        if name == ZoneName.default { return feedsEverywhere ? .fetchChanges : [] }
        return switch scope {
        case .public: []
        case .private where encryption == .perZone: [.fetchChanges, .atomic, .zoneWideSharing]
        case .private: [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
        case .shared: [.fetchChanges, .atomic]
        }
    }
}
