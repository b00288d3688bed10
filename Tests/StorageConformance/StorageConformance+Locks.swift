// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let locks: [Scenario] = [
        Scenario("R-700: lock first, read after: who waited for a zone sees what was committed meanwhile") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let device = DeviceID(high: 1, low: 1)
            let memory = RequestMemory(lowestCounter: 4)
            let transaction = try await store.first.beginWrite([key.read()])
            let waiting = store.scheduler.runThrowing {
                try await store.second.beginWrite([key.read(records: ["a"], lives: [device])])
            }
            try await store.passTime()
            let changes = transaction.snapshots.first?.changes([RecordDraft("a")], memories: [device: memory])
            try await transaction.commit([try require(changes, "the zone lives")])
            let second = try await waiting.value
            await second.rollback()
            let snapshot = try require(second.snapshots.first, "a snapshot")
            try expectEqual(snapshot.zone?.changeNumber, 1, "the zone as it is now")
            try expectEqual(snapshot.records["a"]?.changeNumber, 1, "the record as it is now")
            try expectEqual(snapshot.memories, [device: memory], "what is remembered now")
        },
        Scenario("zones that others write are not waited for") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("a", "b", in: database).map(\.key)
            let transaction = try await store.first.beginWrite([keys[0].read()])
            try await store.write([RecordDraft("x")], in: keys[1], on: store.second)
            await transaction.rollback()
        },
        Scenario("readers do not wait for writers, and do not see what is not committed") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("a", in: database).first, "a zone").key
            let transaction = try await store.first.beginWrite([key.read()])
            try expectEqual(try await store.second.zonePage(key.page()).records, [], "nothing yet")
            try expectEqual(try await store.second.records(named: ["x"], in: key).records, [:], "nothing yet")
            try expectEqual(try await store.second.zones(in: database).count, 2, "the zones")
            let changes = transaction.snapshots.first?.changes([RecordDraft("x")])
            try await transaction.commit([try require(changes, "the zone lives")])
            try expectEqual(try await store.second.zonePage(key.page()).records.map(\.name), ["x"], "now")
        },
        Scenario("R-158: a zone that another server holds is busy after a while, and free when it is let go") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("a", "b", in: database).map(\.key)
            let transaction = try await store.first.beginWrite([keys[1].read()])
            try await expectError(.zoneBusy, "the zone is busy") {
                try await store.second.beginWrite(keys.map { $0.read() })
            }
            try await store.write([RecordDraft("x")], in: keys[0], on: store.second)
            await transaction.rollback()
            try await store.write([RecordDraft("x")], in: keys[1], on: store.second)
        },
        Scenario("groups of the same zones never wait for each other in a circle") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("a", "b", "c", in: database).map(\.key)
            let rounds = 20
            let writers = [(store.first, keys), (store.second, Array(keys.reversed()))].map { storage, keys in
                store.scheduler.runThrowing {
                    for round in 0..<rounds {
                        let transaction = try await storage.beginWrite(keys.map { $0.read() })
                        try await transaction.commit(
                            transaction.snapshots.compactMap { $0.changes([RecordDraft("r\(round)")]) })
                    }
                }
            }
            for writer in writers { try await writer.value }
            for key in keys {
                let zone = try await store.first.records(named: [], in: key).zone
                try expectEqual(zone?.changeNumber, ChangeNumber(2 * rounds), "nobody's change is lost")
            }
        },
        Scenario("a zone is not deleted under those who write in it, and they do not write in it afterwards") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("a", in: database).first, "a zone").key
            let writing = try await store.first.beginWrite([key.read()])
            let device = DeviceID(high: 1, low: 1)
            let deleting = store.scheduler.runThrowing {
                try await store.second.beginZonesWrite(in: database, names: ["a"], life: device)
            }
            try await store.passTime()
            let changes = writing.snapshots.first?.changes([RecordDraft("x")])
            try await writing.commit([try require(changes, "the zone lives")])
            let deletion = try await deleting.value
            let zone = try require(deletion.snapshot.zones["a"], "it still lives")
            try expectEqual(zone.changeNumber, 1, "as the writer left it")
            let waiting = store.scheduler.runThrowing { try await store.first.beginWrite([key.read(records: ["x"])]) }
            try await store.passTime()
            try await deletion.commit(
                ZonesChanges(created: [], removed: [zone.id], life: device, memory: RequestMemory()),
                now: StorageFixture.now)
            let late = try await waiting.value
            await late.rollback()
            try expect(late.snapshots.first?.zone == nil, "the zone is gone")
        },
        Scenario("two requests to create one zone follow each other") { store in
            let database = try await store.alice().privateDatabase
            let creators = [store.first, store.second].map { storage in
                store.scheduler.runThrowing {
                    let device = DeviceID(high: 1, low: 1)
                    let transaction = try await storage.beginZonesWrite(in: database, names: ["a"], life: device)
                    let isNew = transaction.snapshot.zones["a"] == nil
                    try await transaction.commit(
                        ZonesChanges(created: isNew ? ["a"] : [], removed: [], life: device, memory: RequestMemory()),
                        now: StorageFixture.now)
                    return isNew
                }
            }
            var created: [Bool] = []
            for creator in creators { created.append(try await creator.value) }
            try expectEqual(created.filter(\.self).count, 1, "one of them finds it there")
            try expectEqual(try await store.first.zones(in: database).count, 2, "one zone")
        },
    ]
}
