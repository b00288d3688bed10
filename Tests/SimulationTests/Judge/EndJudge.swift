// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain

/// Judges where a device comes to at the end of a run.
enum EndJudge {
    /// From now on nothing changes: whoever goes on from any bookmark comes to what is stored, a guest to that of the zones
    /// to which they have access.
    static func judge(_ device: SimulatedDevice, in world: SimulatedWorld) async {
        let living = world.history.zones.values.filter { $0.endedAt == nil && $0.name != ZoneName.default }
        let shown = living.filter { zone in
            device.guest.map { world.sharing?.hasAccess($0.user, to: zone.id) == true } ?? true
        }
        let stored = Dictionary(uniqueKeysWithValues: shown.map { ($0.name, $0.records.compactMapValues(\.text)) })
        for (index, bookmark) in ([device.bookmark] + device.bookmarks).enumerated() {
            device.bookmark = bookmark
            guard await device.sync() else {
                world.history.accuse("in calm weather a fetch failed")
                continue
            }
            if device.bookmark.views.mapValues(\.living) != stored {
                let who = device.guest == nil ? "a device" : "a guest's device"
                world.history.accuse("I-2: from bookmark \(index) \(who) does not come to what is stored")
            }
        }
    }
}
