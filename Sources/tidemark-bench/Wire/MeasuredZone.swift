// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkWire

/// A zone as a device names it: its own, one that another user shares with it, or the public database's.
struct MeasuredZone: Sendable {
    let name: String
    /// The record name of the user who shares it; empty for a zone of the device's own account.
    var owner = ""

    /// Whether it is in the public database.
    var isPublic = false

    /// The only zone of the public database.
    static let everybodys = MeasuredZone(name: ZoneName.default, isPublic: true)

    var isOwn: Bool { owner.isEmpty && !isPublic }

    /// The database in which the device finds it.
    var scope: WireDatabaseScope { isPublic ? .public : isOwn ? .private : .shared }

    var wire: WireZoneID {
        var zone = WireZoneID()
        zone.name = name
        zone.owner = owner
        return zone
    }
}
