// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

extension StorageConformance {
    static let zones: [Scenario] = [
        Scenario("R-022: a private database has its default zone from the beginning") { store in
            let alice = try await store.alice()
            let zones = try await store.second.zones(in: alice.privateDatabase)
            try expectEqual(zones.map(\.key.name), [ZoneName.default], "only the default zone")
            try await store.write([RecordDraft("a")], in: try require(zones.first?.key, "a zone"))
        },
        Scenario("zones are listed by age while they live") { store in
            let database = try await store.alice().privateDatabase
            try await store.createZones("b", "a", "c", in: database)
            try await store.changeZones(in: database, remove: ["a"])
            let zones = try await store.second.zones(in: database)
            try expectEqual(zones.map(\.key.name), [ZoneName.default, "b", "c"], "by age, without the ended one")
            try expectEqual(zones.map(\.id), zones.map(\.id).sorted(), "ids grow")
            try expectEqual(zones.last?.createdAt, StorageFixture.now, "the date is kept")
        },
        Scenario("R-716: a page of zones begins after any zone, also one that has ended meanwhile") { store in
            let database = try await store.alice().privateDatabase
            let other = try await store.bob().privateDatabase
            let zones = try await store.createZones("d", "c", "b", "a", in: database)
            try await store.createZones("foreign", in: other)
            func page(after zone: ZoneID?) async throws -> [ZoneState] {
                try await store.second.zones(in: database, after: zone, zonesMax: 2)
            }
            let first = try await page(after: nil)
            try expectEqual(first.map(\.key.name), [ZoneName.default, "d"], "the oldest")
            try await store.changeZones(in: database, remove: ["d", "b"])
            try await store.changeZones(in: database, create: ["d"])
            let second = try await page(after: first.last?.id)
            try expectEqual(second, [zones[1], zones[3]], "without the ended ones, and none is skipped")
            let third = try await page(after: second.last?.id)
            try expectEqual(third.map(\.key.name), ["d"], "the zone that was created again is the newest")
            try expect(try require(third.first, "a zone").id > zones[3].id, "and another incarnation")
            try expectEqual(try await page(after: third.last?.id), [], "no more, and none of another database")
        },
        Scenario("R-029: zones are found by name while they live") { store in
            let database = try await store.alice().privateDatabase
            let other = try await store.bob().privateDatabase
            let zones = try await store.createZones("a", "b", "c", in: database)
            try await store.changeZones(in: database, remove: ["b"])
            let names = ["c", "none", "b", "a", ZoneName.default, "a"]
            let found = try await store.second.zones(named: names, in: database)
            try expectEqual(Set(found.map(\.key.name)), ["a", "c", ZoneName.default], "those that live")
            try expectEqual(found.first { $0.key.name == "a" }, zones[0], "as they are listed")
            let foreign = try await store.second.zones(named: names, in: other)
            try expectEqual(foreign.map(\.key.name), [ZoneName.default], "of one database only")
            try expectEqual(try await store.second.zones(named: [], in: database), [], "no names, no zones")
        },
        Scenario("R-036: a zone that is deleted and created again is another incarnation, and empty") { store in
            let database = try await store.alice().privateDatabase
            let old = try require(try await store.createZones("notes", in: database).first, "a zone")
            try await store.write(
                [RecordDraft("a")], in: old.key, memories: [DeviceID(high: 1, low: 2): .init(lowestCounter: 7)])
            try await store.changeZones(in: database, remove: ["notes"])
            let missing = try await store.second.records(named: ["a"], in: old.key)
            try expect(missing.zone == nil && missing.records.isEmpty, "nothing is read of an ended zone")
            try expectEqual(missing.lastRemoval, .deleted, "why it ended is known")
            let new = try require(try await store.createZones("notes", in: database).first, "a zone")
            try expect(new.id > old.id, "a newer incarnation")
            let transaction = try await store.second.beginWrite(
                [new.key.read(records: ["a"], lives: [DeviceID(high: 1, low: 2)])])
            await transaction.rollback()
            let snapshot = try require(transaction.snapshots.first, "a snapshot")
            try expectEqual(snapshot.zone?.changeNumber, 0, "numbers begin again")
            try expect(snapshot.records.isEmpty && snapshot.memories.isEmpty, "it is empty and remembers nothing")
        },
        Scenario("R-106, R-107: why zones ended is known by their names, the last time if they ended often") { store in
            let database = try await store.alice().privateDatabase
            let other = try await store.bob().privateDatabase
            try await store.createZones("kept", "purged", "reset", "deleted", in: database)
            try await store.changeZones(in: database, remove: ["purged"], reason: .purged)
            try await store.changeZones(in: database, remove: ["reset", "deleted"], reason: .deleted)
            try await store.createZones("reset", in: database)
            try await store.changeZones(in: database, remove: ["reset"], reason: .encryptedDataReset)
            let names = ["kept", "purged", "never", "reset", "deleted"]
            try expectEqual(
                try await store.second.removals(ofZones: names, in: database),
                ["purged": .purged, "reset": .encryptedDataReset, "deleted": .deleted], "the reasons")
            try expectEqual(try await store.second.removals(ofZones: names, in: other), [:], "of another database")
        },
        Scenario("R-157: a database remembers requests by device, in the transaction that decides them") { store in
            let database = try await store.alice().privateDatabase
            let other = try await store.bob().privateDatabase
            let device = DeviceID(high: 3, low: 4)
            let memory = RequestMemory(lowestCounter: 5, outcomes: [5: [1, 2, 3], 9: []])
            try await store.changeZones(in: database, create: ["a"], life: device, memory: memory)
            for (where_, who, expected) in [
                (database, device, memory), (database, DeviceID(high: 3, low: 5), nil), (other, device, nil),
            ] {
                let transaction = try await store.second.beginZonesWrite(in: where_, names: [], life: who)
                try expectEqual(transaction.snapshot.memory, expected, "what was remembered")
                await transaction.rollback()
            }
        },
        Scenario("R-157: memories are cleared when they are some epochs old, and no epoch begins too soon") { store in
            let database = try await store.alice().privateDatabase
            let zone = try require(try await store.createZones("notes", in: database).first, "a zone")
            let life = DeviceID(high: 3, low: 4)
            let memory = RequestMemory(lowestCounter: 5, outcomes: [5: [1, 2, 3]])
            try await store.write([RecordDraft("a")], in: zone.key, memories: [life: memory])
            try await store.changeZones(in: database, create: ["a"], life: life, memory: memory)
            let first = try await store.first.standing().memoryEpoch
            for age in 1...Int64(3) {
                try expect(
                    try await store.first.advanceMemoryEpoch(after: .zero, keeping: 3), "the epoch was old enough")
                for again in [store.first, store.second] {
                    try expect(
                        try await !again.advanceMemoryEpoch(after: .seconds(3_600), keeping: 0), "it has just begun")
                }
                try expectEqual(try await store.second.standing().memoryEpoch, first + age, "epochs are counted")
                let records = try await store.second.beginWrite([zone.key.read(records: ["a"], lives: [life])])
                let snapshot = try require(records.snapshots.first, "a snapshot")
                await records.rollback()
                let zones = try await store.second.beginZonesWrite(in: database, names: [], life: life)
                await zones.rollback()
                let expected = age < 3 ? memory : nil
                try expectEqual(snapshot.memories[life], expected, "of the zone, \(age) epochs later")
                try expectEqual(zones.snapshot.memory, expected, "of the database, \(age) epochs later")
                try expectEqual(
                    [snapshot.memoryEpoch, zones.snapshot.memoryEpoch], [first + age, first + age],
                    "what is read says which epoch it is of")
            }
        },
        Scenario("zone requests see the named zones and how many there are") { store in
            let database = try await store.alice().privateDatabase
            let zones = try await store.createZones("a", "b", in: database)
            let transaction = try await store.second.beginZonesWrite(
                in: database, names: ["b", "none"], life: DeviceID(high: 1, low: 1))
            await transaction.rollback()
            try expectEqual(transaction.snapshot.zones, ["b": zones[1]], "living zones among the names")
            try expectEqual(transaction.snapshot.zoneCount, 3, "the default zone counts as well")
        },
        Scenario("R-991: zone requests see how many zones the account has in all containers, and nobody else's") {
            store in
            func count(in database: DatabaseID) async throws -> Int {
                let transaction = try await store.second.beginZonesWrite(
                    in: database, names: [], life: DeviceID(high: 1, low: 1))
                await transaction.rollback()
                return transaction.snapshot.accountZoneCount
            }
            let (alice, bob) = (try await store.alice(), try await store.bob())
            try await store.createZones("a", "b", in: alice.privateDatabase)
            try await store.createZones("c", in: bob.privateDatabase)
            try expectEqual(try await count(in: alice.privateDatabase), 3, "with the default zone")
            let elsewhere = try require(
                try await store.first.identity(
                    credentialHash: Credentials.alice, container: "iCloud.other", environment: .development,
                    containersMax: .max, now: StorageFixture.now), "alice in another container")
            try await store.createZones("d", in: elsewhere.privateDatabase)
            for database in [alice.privateDatabase, elsewhere.privateDatabase] {
                try expectEqual(try await count(in: database), 5, "of both containers")
            }
            try await store.changeZones(in: elsewhere.privateDatabase, remove: ["d"])
            try expectEqual(try await count(in: alice.privateDatabase), 4, "without those that have ended")
            try expectEqual(try await count(in: bob.privateDatabase), 2, "bob has his own")
        },
        Scenario("R-753: of the zones that have ended those that ended last are kept, and older tokens expire") {
            store in
            let database = try await store.alice().privateDatabase
            try await store.createZones("a", "b", "c", "alive", in: database)
            func feed(after: ChangeNumber?) async throws -> DatabaseFeedRead {
                try await store.second.databaseFeed(of: database, after: after, entriesMax: 10, then: nil).feed.value
            }
            var heads: [ChangeNumber] = []
            // Not in the order in which they were created.
            for name in ["c", "a", "b"] {
                try await store.changeZones(in: database, remove: [name])
                heads.append(
                    try await store.first.advanceDatabaseFeed(of: database, after: nil, entriesMax: 0).value.head)
            }
            func endedCount() async throws -> Int {
                let transaction = try await store.second.beginZonesWrite(
                    in: database, names: [], life: DeviceID(high: 1, low: 1))
                await transaction.rollback()
                return transaction.snapshot.endedCount
            }
            try expectEqual(try await endedCount(), 3, "the living ones do not count")
            try await store.first.forgetEndedZones(of: database, keeping: 2)
            try expectEqual(try await endedCount(), 2, "one is forgotten")
            let after = try await feed(after: heads[0])
            try expect(1...heads[0] ~= after.oldestToken, "tokens from before its end are expired, and no others")
            try expectEqual(after.entries.map(\.key.name), ["a", "b"], "and is told of the others")
            let removals = try await store.second.removals(ofZones: ["a", "b", "c"], in: database)
            try expectEqual(removals, ["a": .deleted, "b": .deleted], "nobody knows how the first one ended")
            try await store.first.forgetEndedZones(of: database, keeping: 2)
            try expectEqual(try await endedCount(), 2, "no more than these")
            try await store.changeZones(in: database, remove: ["alive"])
            try await store.first.forgetEndedZones(of: database, keeping: 0)
            try expectEqual(try await endedCount(), 0, "also one that no feed has seen end")
            try expect(try await feed(after: nil).oldestToken > heads[2], "tokens from before its end are expired")
        },
        Scenario("R-035: a zone keeps the encryption scope with which it was created") { store in
            let database = try await store.alice().privateDatabase
            let device = DeviceID(high: 1, low: 1)
            let transaction = try await store.first.beginZonesWrite(in: database, names: ["a", "b"], life: device)
            try await transaction.commit(
                ZonesChanges(
                    created: ["a", "b"], createdPerZone: ["b"], removed: [], life: device, memory: RequestMemory()),
                now: StorageFixture.now)
            let listed = try await store.second.zones(in: database).suffix(2)
            try expectEqual(listed.map(\.encryptionScope), [.perRecord, .perZone], "in the list")
            let key = ZoneKey(database: database, name: "b")
            let again = try await store.second.beginZonesWrite(in: database, names: ["b"], life: device)
            await again.rollback()
            try expectEqual(again.snapshot.zones["b"]?.encryptionScope, .perZone, "under the lock of zone requests")
            let write = try await store.second.beginWrite([key.read()])
            await write.rollback()
            try expectEqual(write.snapshots[0].zone?.encryptionScope, .perZone, "under the lock of record requests")
            let page = try await store.second.zonePage(key.page())
            try expectEqual(page.zone?.encryptionScope, .perZone, "with a page")
            let found = try await store.second.records(named: [], in: key)
            try expectEqual(found.zone?.encryptionScope, .perZone, "with records")
        },
        Scenario("a zone transaction that is rolled back leaves nothing") { store in
            let database = try await store.alice().privateDatabase
            let transaction = try await store.first.beginZonesWrite(
                in: database, names: ["a"], life: DeviceID(high: 1, low: 1))
            await transaction.rollback()
            try expectEqual(try await store.second.zones(in: database).count, 1, "no zone")
            try await store.changeZones(in: database, create: ["a"])
        },
        Scenario("I-4: the mark of a database differs after every change") { store in
            let database = try await store.alice().privateDatabase
            let other = try await store.bob().privateDatabase
            var marks = [try await store.first.changeMarks(of: [database])[database]]
            let key = ZoneKey(database: database, name: "a")
            for change in 0..<4 {
                switch change {
                case 0, 3: try await store.changeZones(in: database, create: ["a"])
                case 1: try await store.write([RecordDraft("x")], in: key)
                default: try await store.changeZones(in: database, remove: ["a"])
                }
                marks.append(try await store.second.changeMarks(of: [database, other])[database])
            }
            try expectEqual(Set(marks.map { $0?.value }).count, 5, "five different marks")
            try expect(!marks.contains(nil), "each database has a mark")
            let first = marks[0]?.zoneCount ?? 0
            try expectEqual(
                marks.map { ($0?.zoneCount ?? 0) - first }, [0, 1, 1, 1, 2], "R-739: all zones, also those that ended")
        },
    ]
}
