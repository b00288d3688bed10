// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// A zone as a device names it: its own, or one that another user shares with it.
struct MeasuredZone: Sendable {
    let name: String
    /// The record name of the user who shares it; empty for a zone of the device's own account.
    var owner = ""

    var isOwn: Bool { owner.isEmpty }

    /// The database in which the device finds it.
    var scope: WireDatabaseScope { isOwn ? .private : .shared }

    var wire: WireZoneID {
        var zone = WireZoneID()
        zone.name = name
        zone.owner = owner
        return zone
    }
}
