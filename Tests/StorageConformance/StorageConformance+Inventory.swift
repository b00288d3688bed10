// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkService

extension StorageConformance {
    static let inventories: [Scenario] = [
        Scenario("R-844: the digest that is kept is that of the living records, whoever writes and deletes them") {
            store in
            let zones = try await store.createZones("a", "b", in: try await store.alice().privateDatabase).map(\.key)
            for zone in zones { try await store.expectDigest(of: zone, "of a new zone") }
            var random = StepRandom(state: 844)
            for step in 0..<60 {
                let zone = zones[Int.random(in: 0...1, using: &random)]
                let names = (0..<8).map { "r\($0)" }.shuffled(using: &random).prefix(
                    Int.random(in: 1...4, using: &random))
                let drafts = names.map { RecordDraft($0, isDeleted: Int.random(in: 0...2, using: &random) == 0) }
                try await store.write(drafts, in: zone, on: step % 2 == 0 ? store.first : store.second)
                for zone in zones { try await store.expectDigest(of: zone, "after step \(step)") }
            }
            let there = try await store.inventory(of: zones[0], nil)
            try expect(there.recordCount > 0, "something is left")
            try await store.changeZones(in: zones[0].database, remove: ["a"])
            try expectEqual(try await store.second.inventory(of: zones[0], nil).value, nil, "an ended zone has nothing")
            try await store.createZones("a", in: zones[0].database)
            let anew = try await store.inventory(of: zones[0], nil)
            try expectEqual(anew.recordCount, 0, "a zone that is made again is empty")
            try expectEqual(anew.digest, VersionDigest().bytes, "and so is its digest")
            try await store.expectDigest(of: zones[1], "the other one is as it was")
        },
        Scenario("R-845: names come by their bytes, page by page, with the numbers of their versions") { store in
            let zones = try await store.createZones("a", in: try await store.alice().privateDatabase)
            let key = try require(zones.first, "the zone was created").key
            // In the order of their bytes, which no dictionary has.
            let names = ["A", "B", "a", "b", "é", "ü", "Ω", "😀"]
            for name in names.reversed() { try await store.write([RecordDraft(name)], in: key) }
            try await store.write([RecordDraft("B", isDeleted: true)], in: key, on: store.second)
            let living = names.filter { $0 != "B" }
            for rowsMax in [1, 2, 3, 7, 8, 9] {
                var (found, after): ([ZoneInventory.Version], String?) = ([], "")
                for _ in 0..<20 {
                    guard let name = after else { break }
                    let page = try await store.inventory(of: key, ZoneListing(after: name, rowsMax: rowsMax))
                    try expect(page.versions.count <= rowsMax, "no more than were asked for")
                    found += page.versions
                    after = page.next
                }
                try expectEqual(found.map(\.name), living, "\(rowsMax) at once")
                try expectEqual(after, nil, "there is an end")
                let records = try await store.first.records(named: living, in: key).records
                try expectEqual(
                    found.map(\.number), living.compactMap { records[$0]?.changeNumber }, "their versions")
            }
            let none = try await store.inventory(of: key, nil)
            try expect(none.versions.isEmpty && none.next == nil, "nobody asked for names")
            try expectEqual(none.zone.changeNumber, ChangeNumber(names.count + 1), "at this place of the feed")
            let nowhere = ZoneKey(database: key.database, name: "none")
            try expectEqual(try await store.first.inventory(of: nowhere, nil).value, nil, "no such zone")
        },
    ]
}

extension StorageFixture {
    func inventory(of key: ZoneKey, _ listing: ZoneListing?) async throws -> ZoneInventory {
        try require(try await second.inventory(of: key, listing).value, "zone \(key.name) lives")
    }

    /// Whether the kept digest and count are those of what is stored.
    func expectDigest(of key: ZoneKey, _ promise: String) async throws {
        let inventory = try await inventory(of: key, ZoneListing(after: "", rowsMax: 1_000))
        var digest = VersionDigest()
        for version in inventory.versions { digest.toggle(version.name, UInt64(bitPattern: version.number)) }
        try expectEqual(inventory.recordCount, Int64(inventory.versions.count), "\(promise): the count")
        try expectEqual(inventory.digest, digest.bytes, "\(promise): the digest")
    }
}
