// SPDX-License-Identifier: Apache-2.0

import TidemarkCrypto
import TidemarkDomain
import TidemarkService
import TidemarkTestKit

/// What the store keeps of its zones beside their records is what they have, whatever has happened.
enum DigestJudge {
    /// the digest and the count of each zone are those of its living records.
    static func judge(_ world: SimulatedWorld) async {
        let store = MemoryStore(world.database)
        do {
            for zone in try await store.zones(in: world.viewer, after: nil, zonesMax: 1_000) {
                let listing = ZoneListing(after: "", rowsMax: 100_000)
                guard let inventory = try await store.inventory(of: zone.key, listing).value else { continue }
                var digest = VersionDigest()
                for version in inventory.versions { digest.toggle(version.name, UInt64(bitPattern: version.number)) }
                if inventory.digest != digest.bytes || inventory.recordCount != Int64(inventory.versions.count) {
                    world.history.accuse("R-844: the digest of zone \(zone.key.name) is not that of its records")
                }
            }
        } catch {
            world.history.accuse("in calm weather a read failed: \(error)")
        }
    }
}
