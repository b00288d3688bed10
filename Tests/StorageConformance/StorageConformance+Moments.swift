// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Writes from cached knowledge (``Storage/commit(_:at:)``): they take place only if the zones are unchanged.
extension StorageConformance {
    static let moments: [Scenario] = [
        Scenario("I-1: what is written by what is known is there, with what it remembers") { store in
            let key = try await store.zoneAtMoment("notes")
            let device = DeviceID(high: 1, low: 1)
            let memory = RequestMemory(lowestCounter: 4)
            let before = try await store.moment(key)
            try expectEqual(before.moment.writeNumber, 1, "one transaction has written")
            // Replaces one record and creates others, then some with values that only some records have.
            for (drafts, number) in [(["a"], ChangeNumber(2)), (["a", "b", "c"], 5), (["d"], 6)] {
                let (snapshot, moment) = try await store.moment(key)
                let changes = try require(
                    snapshot.changes(drafts.map { RecordDraft($0, text: "\(number)") }, memories: [device: memory]),
                    "the zone lives")
                try await store.first.commit([changes], at: [moment])
                try expectEqual(changes.changeNumber, number, "the numbers go on")
            }
            let mixed = [
                RecordDraft("e"), RecordDraft("f", parent: "e"), RecordDraft("b", isDeleted: true), RecordDraft("g"),
            ]
            for drafts in [Array(mixed[..<2]), mixed, [RecordDraft("h", device: DeviceID(high: 5, low: 5))] + mixed] {
                let (snapshot, moment) = try await store.moment(key)
                let changes = try require(snapshot.changes(drafts, memories: [device: memory]), "the zone lives")
                try await store.first.commit([changes], at: [moment])
                let names = drafts.map(\.name)
                let (after, _) = try await store.moment(key, records: names)
                try expectEqual(names.compactMap { after.records[$0] }, changes.records, "each as it was given")
            }
            let (after, moment) = try await store.moment(key, records: ["a", "b", "c", "d"], lives: [device])
            try expectEqual(after.zone?.changeNumber, 17, "the zone's number")
            try expectEqual(moment.writeNumber, 7, "six transactions more")
            try expectEqual(
                after.records.mapValues(\.changeNumber), ["a": 3, "b": 16, "c": 5, "d": 6], "each record's number")
            try expectEqual(after.records["a"], RecordDraft("a", text: "5").record(number: 3, batchEnd: 5), "all of it")
            try expectEqual(after.memories, [device: memory], "what is remembered")
            let page = try await store.second.zonePage(key.page(after: .init(zone: moment.zone, number: 1)))
            try expectEqual(
                page.records.map(\.name), ["a", "c", "d", "h", "e", "f", "b", "g"], "the feed has them in their order")
        },
        Scenario("nothing is written where somebody else has written since, and a writer hears of it") { store in
            let key = try await store.zoneAtMoment("notes")
            for count in [1, 2] {
                let (snapshot, moment) = try await store.moment(key)
                try await store.write([RecordDraft("b", text: "\(count)")], in: key, on: store.second)
                let drafts = (0..<count).map { RecordDraft("mine-\($0)") }
                let changes = try require(snapshot.known(drafts), "the zone lives")
                try await expectError(.outdated, "the zone has moved") {
                    try await store.first.commit([changes], at: [moment])
                }
                let (after, _) = try await store.moment(key, records: drafts.map(\.name) + ["b"])
                try expectEqual(after.zone?.changeNumber, snapshot.zone.map { $0.changeNumber + 1 }, "only the other's")
                try expectEqual(Array(after.records.keys), ["b"], "only the other's")
            }
        },
        Scenario("R-157: an outcome that somebody else has remembered since counts as writing") { store in
            let key = try await store.zoneAtMoment("notes")
            let (snapshot, moment) = try await store.moment(key)
            let device = DeviceID(high: 1, low: 1)
            try await store.write([], in: key, on: store.second, memories: [device: RequestMemory(lowestCounter: 4)])
            let memory = [device: RequestMemory(lowestCounter: 2)]
            for drafts in [[RecordDraft("x")], []] {
                let changes = try require(snapshot.changes(drafts, memories: memory), "the zone lives")
                try await expectError(.outdated, "there is an outcome more") {
                    try await store.first.commit([changes], at: [moment])
                }
            }
            let (after, _) = try await store.moment(key, records: ["x"], lives: [device])
            try expectEqual(after.memories, [device: RequestMemory(lowestCounter: 4)], "it is still there")
            try expectEqual(after.records, [:], "nothing else is")
        },
        Scenario("of several zones all are written, or none") { store in
            let keys = [try await store.zoneAtMoment("a"), try await store.zoneAtMoment("b")]
            for isOutdated in [false, true] {
                var changes: [ZoneChanges] = []
                var moments: [ZoneMoment] = []
                // Not in the order of locking.
                for key in keys.reversed() {
                    let (snapshot, moment) = try await store.moment(key)
                    changes.append(try require(snapshot.changes([RecordDraft("\(isOutdated)")]), "the zone lives"))
                    moments.append(moment)
                }
                if isOutdated {
                    try await store.write([RecordDraft("other")], in: keys[1], on: store.second)
                    try await expectError(.outdated, "one of them has moved") {
                        try await store.first.commit(changes, at: moments)
                    }
                } else {
                    try await store.first.commit(changes, at: moments)
                }
            }
            for (key, expected) in [(keys[0], ["false"]), (keys[1], ["false", "other"])] {
                let (after, _) = try await store.moment(key, records: ["false", "true", "other"])
                try expectEqual(after.records.keys.sorted(), expected, "of zone \(key.name)")
            }
        },
        Scenario("R-092, R-105: what was taken for new is written if it is, and else nothing is") { store in
            let keys = [try await store.zoneAtMoment("a"), try await store.zoneAtMoment("b")]
            try await store.write([RecordDraft("gone", isDeleted: true)], in: keys[1], on: store.second)
            for (zones, absent, isNew) in [
                ([1], ["never"], true), ([1], ["first"], false), ([1], ["gone"], false), ([0], ["gone"], true),
                ([1, 0], ["x", "y"], true), ([1, 0], ["x"], false), ([0, 1], ["y", "z"], false),
                ([0], ["z", "a"], true),
            ] {
                var changes: [ZoneChanges] = []
                var moments: [ZoneMoment] = []
                for key in zones.map({ keys[$0] }) {
                    var (snapshot, moment) = try await store.moment(key)
                    moment.absentNames = absent
                    // A single zone uses a statement of its own.
                    changes.append(try require(snapshot.known(absent.map { RecordDraft($0) }), "the zone lives"))
                    moments.append(moment)
                }
                if isNew {
                    try await store.first.commit(changes, at: moments)
                } else {
                    try await expectError(.outdated, "\(absent) are there") {
                        try await store.first.commit(changes, at: moments)
                    }
                }
            }
            for (key, number) in [(keys[0], ChangeNumber(6)), (keys[1], 5)] {
                let zone = try await store.moment(key).snapshot.zone
                try expectEqual(zone?.changeNumber, number, "nothing else was written in \(key.name)")
            }
        },
        Scenario("R-106: a zone that has ended is not written, nor is the one that has its name now") { store in
            let key = try await store.zoneAtMoment("notes")
            let (snapshot, moment) = try await store.moment(key)
            for create in [[], ["notes"]] {
                try await store.changeZones(
                    in: key.database, create: create, remove: create.isEmpty ? ["notes"] : [],
                    life: DeviceID(high: 3, low: 3))
                for drafts in [[RecordDraft("x")], [RecordDraft("x"), RecordDraft("y")]] {
                    let changes = try require(snapshot.known(drafts), "it lived")
                    try await expectError(.outdated, "it is gone") {
                        try await store.first.commit([changes], at: [moment])
                    }
                }
            }
            let (after, fresh) = try await store.moment(key, records: ["x", "first"])
            try expectEqual(after.records, [:], "nothing is there")
            try expectEqual(fresh.writeNumber, 0, "nobody has written in a new zone")
        },
        Scenario("R-220: what was known in another life of the store is not known in this one") { store in
            let key = try await store.zoneAtMoment("notes")
            let (snapshot, moment) = try await store.moment(key)
            let other = ZoneMoment(
                store: StoreIncarnation(moment.store.rawValue &+ 1), schema: moment.schema, database: moment.database,
                zone: moment.zone, changeNumber: moment.changeNumber, writeNumber: moment.writeNumber)
            for drafts in [[RecordDraft("a")], [RecordDraft("a"), RecordDraft("b")]] {
                let changes = try require(snapshot.known(drafts), "the zone lives")
                try await expectError(.outdated, "the store lives again") {
                    try await store.first.commit([changes], at: [other])
                }
            }
        },
        Scenario("R-062, R-011: who has not heard what an operator decided writes nothing") { store in
            let key = try await store.zoneAtMoment("notes")
            let container = try await store.alice().container
            let containerKey = ContainerKey(identifier: "iCloud.test", environment: .development)
            for decision in ["schema", "quota"] {
                let (snapshot, moment) = try await store.moment(key)
                if decision == "schema" {
                    let current = try await store.second.schema(of: container)
                    try expect(try await store.second.replaceSchema(current, by: current.schema), "it is replaced")
                } else {
                    let quota = StorageQuota(privateBytes: 1_000_000)
                    try expect(try await store.second.setQuota(quota, of: containerKey), "it is set")
                }
                for drafts in [[RecordDraft("x")], [RecordDraft("x"), RecordDraft("y")]] {
                    let changes = try require(snapshot.known(drafts), "the zone lives")
                    try await expectError(.outdated, "the \(decision) is another") {
                        try await store.first.commit([changes], at: [moment])
                    }
                }
            }
        },
        Scenario("lock first, look after: who waited for the zone finds that it has moved") { store in
            let key = try await store.zoneAtMoment("notes")
            for count in [1, 2] {
                let (snapshot, moment) = try await store.moment(key)
                let transaction = try await store.second.beginWrite([key.read()])
                let drafts = (0..<count).map { RecordDraft("late-\($0)") }
                let changes = try require(snapshot.known(drafts), "the zone lives")
                let waiting = store.scheduler.runThrowing { try await store.first.commit([changes], at: [moment]) }
                try await store.passTime()
                let other = transaction.snapshots.first?.changes([RecordDraft("other")])
                try await transaction.commit([try require(other, "the zone lives")])
                try await expectError(.outdated, "it has moved meanwhile") { try await waiting.value }
            }
        },
        Scenario("R-158: a zone that another server holds is busy after a while, and as it was afterwards") { store in
            let key = try await store.zoneAtMoment("notes")
            let (snapshot, moment) = try await store.moment(key)
            let changes = try require(snapshot.known([RecordDraft("x")]), "the zone lives")
            let transaction = try await store.second.beginWrite([key.read()])
            try await expectError(.zoneBusy, "the zone is busy") {
                try await store.first.commit([changes], at: [moment])
            }
            await transaction.rollback()
            try await store.first.commit([changes], at: [moment])
        },
        Scenario("groups of the same zones that are known never wait for each other in a circle") { store in
            var keys: [ZoneKey] = []
            for name in ["a", "b", "c"] { keys.append(try await store.zoneAtMoment(name)) }
            let rounds = 20
            let writers = [(store.first, keys), (store.second, Array(keys.reversed()))].map { storage, keys in
                store.scheduler.runThrowing {
                    var written = 0
                    while written < rounds {
                        var changes: [ZoneChanges] = []
                        var moments: [ZoneMoment] = []
                        for key in keys {
                            let (snapshot, moment) = try await store.moment(key)
                            changes.append(try require(snapshot.changes([RecordDraft("r")]), "the zone lives"))
                            moments.append(moment)
                        }
                        do {
                            try await storage.commit(changes, at: moments)
                            written += 1
                        } catch let error as StorageError where error.code == .outdated {
                            continue
                        }
                    }
                }
            }
            for writer in writers { try await writer.value }
            for key in keys {
                let (snapshot, _) = try await store.moment(key)
                try expectEqual(snapshot.zone?.changeNumber, ChangeNumber(2 * rounds + 1), "nobody's change is lost")
            }
        },
    ]
}

extension ZoneSnapshot {
    /// As ``changes(_:memories:assetUses:)``. One record usually comes with the memory of its request, and uses a
    /// statement of its own. Several come without, and use the one for everything.
    fileprivate func known(_ drafts: [RecordDraft]) -> ZoneChanges? {
        changes(drafts, memories: drafts.count == 1 ? [DeviceID(high: 6, low: 6): RequestMemory()] : [:])
    }
}

extension StorageFixture {
    /// A zone of alice with one record in it.
    fileprivate func zoneAtMoment(_ name: String) async throws -> ZoneKey {
        let zone = try require(
            try await createZones(name, in: try await alice().privateDatabase).first, "the zone was created")
        try await write([RecordDraft("first")], in: zone.key)
        return zone.key
    }

    /// The zone's current state, and what must hold for as long as it is unchanged.
    func moment(
        _ key: ZoneKey, records: [String] = [], lives: [DeviceID] = []
    ) async throws -> (snapshot: ZoneSnapshot, moment: ZoneMoment) {
        let transaction = try await second.beginWrite([key.read(records: records, lives: lives)])
        await transaction.rollback()
        let snapshot = try require(transaction.snapshots.first, "a snapshot a read")
        let zone = try require(snapshot.zone, "the zone lives")
        let schema = try require(snapshot.schema, "the zone has a schema")
        return (
            snapshot,
            ZoneMoment(
                store: transaction.store, schema: schema, database: key.database, zone: zone.id,
                changeNumber: zone.changeNumber, writeNumber: snapshot.writeNumber)
        )
    }
}
