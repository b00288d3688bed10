// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

extension StorageConformance {
    static let records: [Scenario] = [
        Scenario("I-1: what was committed is read, on every server, as it was written") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let odd = "100% 'quoted' \"twice\" \\ {a,b} NULL"
            let drafts = [
                RecordDraft("a"), RecordDraft(odd, text: "ünï\u{1F30A}\n", parent: "a"),
                RecordDraft("gone", isDeleted: true),
            ]
            try await store.write(drafts, in: key)
            let snapshot = try await store.second.records(named: ["a", "gone", "never", odd].sorted(), in: key)
            try expectEqual(snapshot.zone?.changeNumber, 3, "the zone counts")
            let expected = drafts.enumerated().map { $1.record(number: Int64($0) + 1, batchEnd: 3) }
            try expectEqual(
                snapshot.records, Dictionary(uniqueKeysWithValues: expected.map { ($0.name, $0) }),
                "records and tombstones, and nothing for names never used")
        },
        Scenario("R-702: a repeated change replaces the row and moves it to its new number") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            try await store.write([RecordDraft("a"), RecordDraft("b")], in: key)
            try await store.write([RecordDraft("a", isDeleted: true)], in: key, on: store.second)
            try await store.write([RecordDraft("a", text: "back")], in: key)
            let snapshot = try await store.first.records(named: ["a", "b"], in: key)
            try expectEqual(
                snapshot.records["a"], RecordDraft("a", text: "back").record(number: 4, batchEnd: 4), "the last version"
            )
            let page = try await store.second.zonePage(key.page())
            try expectEqual(page.records.map(\.changeNumber), [2, 4], "each record once")
        },
        Scenario("R-136: living children are found by their parent") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("notes", "other", in: database).map(\.key)
            try await store.write(
                [
                    RecordDraft("p"), RecordDraft("c2", parent: "p"), RecordDraft("c1", parent: "p"),
                    RecordDraft("x", parent: "q"), RecordDraft("dead", isDeleted: true, parent: "p"),
                ], in: keys[0])
            let transaction = try await store.second.beginWrite(
                [keys[0].read(parents: ["none", "p"]), keys[1].read(parents: ["p"])])
            await transaction.rollback()
            let children = transaction.snapshots.map { $0.children.mapValues { $0.sorted() } }
            try expectEqual(children[0]["p"], ["c1", "c2"], "those that live")
            try expectEqual(children[0]["none"] ?? [], [], "none")
            try expectEqual(children[1]["p"] ?? [], [], "none in another zone")
        },
        Scenario("R-724, R-170: records by name have their fields as long as these fit, in the order of the names") {
            store in
            let (key, size) = try await store.equalRecords("a", "b", "c")
            let names = ["c", "a", "gone", "b", "never"]
            func unread(bytesMax: Int) async throws -> [String: Int] {
                let snapshot = try await store.second.records(named: names, in: key, bytesMax: bytesMax)
                try expectEqual(Set(snapshot.records.keys), ["a", "b", "c", "gone"], "all of them are there")
                for (name, record) in snapshot.records where name != "gone" {
                    try expectEqual(record.fields.isEmpty, snapshot.unread[name] != nil, "the fields of \(name)")
                }
                return snapshot.unread
            }
            try expectEqual(try await unread(bytesMax: 3 * size), [:], "all that fits")
            try expectEqual(
                try await unread(bytesMax: 3 * size - 1), ["b": size], "what is too much, and how much it is")
            try expectEqual(try await unread(bytesMax: 2 * size), ["b": size], "a tombstone takes no room")
            try expectEqual(try await unread(bytesMax: size), ["a": size, "b": size], "one")
            try expectEqual(try await unread(bytesMax: 0), ["a": size, "b": size], "one in any case")
        },
        Scenario("R-724: a transaction reads fields up to its bound, first those that are needed") { store in
            let (key, size) = try await store.equalRecords("a", "b", "c")
            func unread(bytesMax: Int) async throws -> [String: Int] {
                var read = key.read(records: ["a", "b", "c", "gone"])
                read.fieldlessNames = ["a"]
                read.storedBytesMax = bytesMax
                let transaction = try await store.second.beginWrite([read])
                await transaction.rollback()
                let snapshot = transaction.snapshots[0]
                try expectEqual(snapshot.records["a"]?.changeNumber, 1, "all else is read")
                try expectEqual(snapshot.records["a"]?.fields.isEmpty, snapshot.unread["a"] != nil, "the fields")
                try expectEqual(
                    snapshot.lacksFields(for: read), snapshot.unread["c"] != nil, "what is needed is missing")
                return snapshot.unread
            }
            try expectEqual(try await unread(bytesMax: 3 * size), [:], "all that fits")
            try expectEqual(try await unread(bytesMax: 2 * size), ["a": size], "what is not needed is left out first")
            try expectEqual(try await unread(bytesMax: size), ["a": size, "c": size], "then the last")
            try expectEqual(try await unread(bytesMax: 0), ["a": size, "c": size], "one comes in any case")
        },
        Scenario("R-724, R-136: no more children are read than may be taken away, and one more") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            try await store.write(
                ["p", "q"].map { RecordDraft($0) } + (0..<10).map { RecordDraft("p\($0)", parent: "p") }
                    + (0..<3).map { RecordDraft("q\($0)", parent: "q") }, in: key)
            func children(of parents: String..., followedMax: Int) async throws -> ([String: Int], isCut: Bool) {
                let read = ZoneRead(
                    key: key, recordNames: parents, parentNames: parents, lives: [], referencesFollowedMax: followedMax)
                let transaction = try await store.second.beginWrite([read])
                await transaction.rollback()
                let snapshot = transaction.snapshots[0]
                return (snapshot.children.mapValues(\.count), snapshot.areChildrenCut)
            }
            let one = try await children(of: "p", followedMax: 100)
            try expect(one == (["p": 3], false), "the request names one record, and reaches one")
            let both = try await children(of: "p", "q", followedMax: 100)
            try expect(both == (["p": 5, "q": 3], false), "of each parent its own")
            let cut = try await children(of: "p", "q", followedMax: 1)
            try expect(cut.isCut, "more than the two and what they may take along")
        },
        Scenario("several zones, also of two databases, go in one transaction, in the order that was asked") { store in
            let alice = try await store.alice().privateDatabase
            let bob = try await store.bob().privateDatabase
            try await store.createZones("a", "b", in: alice)
            try await store.createZones("a", in: bob)
            let keys = [
                ZoneKey(database: bob, name: "a"), ZoneKey(database: alice, name: "b"),
                ZoneKey(database: alice, name: "none"), ZoneKey(database: alice, name: "a"),
            ]
            let transaction = try await store.first.beginWrite(keys.map { $0.read() })
            try expectEqual(transaction.snapshots.map(\.key), keys, "one a read, in that order")
            try expectEqual(
                transaction.snapshots.map { $0.zone?.key }, [keys[0], keys[1], nil, keys[3]], "their zones")
            try await transaction.commit(
                transaction.snapshots.enumerated().compactMap { $1.changes([RecordDraft("r\($0)")]) })
            for (index, key) in keys.enumerated() where index != 2 {
                let names = try await store.second.zonePage(key.page()).records.map(\.name)
                try expectEqual(names, ["r\(index)"], "each zone has its own")
            }
        },
        Scenario("R-157: a zone remembers requests by device, in the transaction that decides them") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("a", "b", in: database).map(\.key)
            let devices = [DeviceID(high: 0, low: 1), DeviceID(high: .max, low: 0)]
            let memory = RequestMemory(lowestCounter: 3, outcomes: [3: [0xFF, 0], .max - 1: [7]])
            try await store.write([], in: keys[0], memories: [devices[0]: RequestMemory(lowestCounter: 1)])
            try await store.write([RecordDraft("x")], in: keys[0], memories: [devices[0]: memory])
            try await store.write(
                [], in: keys[0], on: store.second, memories: [devices[1]: RequestMemory(lowestCounter: 9)])
            let transaction = try await store.second.beginWrite(keys.map { $0.read(lives: devices) })
            await transaction.rollback()
            try expectEqual(
                transaction.snapshots[0].memories, [devices[0]: memory, devices[1]: RequestMemory(lowestCounter: 9)],
                "the last memory of each device")
            try expectEqual(transaction.snapshots[1].memories, [:], "nothing in the other zone")
            try expectEqual(transaction.snapshots[0].zone?.changeNumber, 1, "to remember is no change")
        },
        Scenario("a transaction that is rolled back leaves nothing and frees its zones") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let transaction = try await store.first.beginWrite([key.read()])
            await transaction.rollback()
            try await store.write([RecordDraft("a")], in: key, on: store.second)
            try expectEqual(
                try await store.first.records(named: ["a"], in: key).records["a"]?.changeNumber, 1, "number 1")
        },
        Scenario("many records go in one transaction") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let drafts = (0..<1_000).map { RecordDraft("r\(1_000 + $0)", text: "\($0)") }
            try await store.write(drafts, in: key)
            let transaction = try await store.second.beginWrite([key.read(records: drafts.map(\.name))])
            await transaction.rollback()
            try expectEqual(transaction.snapshots.first?.records.count, 1_000, "all of them")
        },
    ]
}

extension StorageFixture {
    /// Writes records whose fields have the same size, and the tombstone `gone` after them.
    ///
    /// - Returns: their zone, and the size.
    fileprivate func equalRecords(_ names: String...) async throws -> (ZoneKey, size: Int) {
        let database = try await alice().privateDatabase
        let key = try require(try await createZones("notes", in: database).first, "a zone").key
        try await write(names.map { RecordDraft($0) } + [RecordDraft("gone", isDeleted: true)], in: key)
        let record = try await first.records(named: [names[0]], in: key).records[names[0]]
        return (key, try require(record, "a record").fields.byteCount)
    }
}
