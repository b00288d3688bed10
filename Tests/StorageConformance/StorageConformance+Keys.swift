// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let keys: [Scenario] = [
        Scenario("R-067: the first account key counts, for its user alone") { store in
            let alice = try await store.alice().user
            let bob = try await store.bob().user
            let check = bytes(9)
            try expect(try await store.first.claimMasterKey(check: check), "the first master key")
            try expectEqual(
                try await store.first.accountKey(of: alice), StoredAccountKey(mode: .escrowed), "none yet")
            let key = StoredAccountKey(mode: .escrowed, id: bytes(1), escrow: bytes(2))
            let other = StoredAccountKey(mode: .escrowed, id: bytes(3), escrow: bytes(4))
            try expectEqual(try await store.save(key, of: alice, check), key, "the first one")
            try expectEqual(try await store.save(other, of: alice, check), key, "the first one stays")
            try expectEqual(try await store.second.accountKey(of: alice), key, "on every server")
            try expectEqual(try await store.save(other, of: bob, check), other, "each user has one")
        },
        Scenario("R-067: of account keys that are saved at once, one counts for all") { store in
            let alice = try await store.alice().user
            _ = try await store.first.claimMasterKey(check: bytes(9))
            let saves = (1...6).map { number in
                let key = StoredAccountKey(mode: .escrowed, id: bytes(UInt8(number)), escrow: bytes(7))
                return store.scheduler.runThrowing { try await store.save(key, of: alice, bytes(9)) }
            }
            var winners: [StoredAccountKey] = []
            for save in saves { winners.append(try await save.value) }
            try expect(winners.allSatisfy { $0 == winners[0] && $0.id != nil }, "the same key: \(winners)")
        },
        Scenario("a key is not saved that another master key closed, or for another mode") { store in
            let alice = try await store.alice().user
            let key = StoredAccountKey(mode: .escrowed, id: bytes(1), escrow: bytes(2))
            let none = StoredAccountKey(mode: .escrowed)
            try expectEqual(try await store.save(key, of: alice, bytes(9)), none, "there is no master key yet")
            try expect(try await store.first.claimMasterKey(check: bytes(9)), "the first")
            try expect(try await store.second.claimMasterKey(check: bytes(9)), "it is the store's")
            try expect(try await !store.second.claimMasterKey(check: bytes(8)), "another one is not")
            try expectEqual(try await store.save(key, of: alice, bytes(8)), none, "closed by another one")
            let endToEnd = StoredAccountKey(mode: .endToEnd, id: bytes(1))
            try expectEqual(try await store.save(endToEnd, of: alice, bytes(9)), none, "of another mode")
            try expectEqual(try await store.save(key, of: alice, bytes(9)), key, "now")
        },
        Scenario("R-067: a zone's key is saved after the one that was the newest, and nothing else is") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            try expectEqual(try await store.zoneKeys("notes", in: database), [], "none yet")
            let keys = (1...4).map { zoneKey(UInt8($0)) }
            try expectEqual(try await store.save(keys[0], in: key, after: nil), [keys[0]], "the first")
            try expectEqual(try await store.save(keys[1], in: key, after: nil), [keys[0]], "there is one")
            try expectEqual(try await store.save(keys[2], in: key, after: keys[1].id), [keys[0]], "not the newest")
            try expectEqual(
                try await store.save(keys[3], in: key, after: keys[0].id), [keys[0], keys[3]], "oldest first")
            try expectEqual(
                try await store.save(keys[1], in: key, after: keys[3].id, atMost: 2), [keys[0], keys[3]], "enough")
            try expectEqual(try await store.zoneKeys("notes", in: database), [keys[0], keys[3]], "kept")
        },
        Scenario("R-067: of keys of a zone that are saved at once, one counts for all") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let saves = (1...6).map { number in
                let storage = number % 2 == 0 ? store.first : store.second
                return store.scheduler.runThrowing {
                    try await storage.saveZoneKey(
                        zoneKey(UInt8(number)), in: key, after: nil, atMost: 10, rowsMax: .max, now: StorageFixture.now)
                }
            }
            var winners: [ZoneKeysRead] = []
            for save in saves { winners.append(try await save.value) }
            try expect(winners.allSatisfy { $0 == winners[0] && $0.keys?.count == 1 }, "the same key: \(winners)")
        },
        Scenario("R-036: keys belong to one life of a zone, and a zone that is gone says why") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", "other", in: database).first, "a zone").key
            _ = try await store.save(zoneKey(1), in: key, after: nil)
            let other = ZoneKey(database: database, name: "other")
            _ = try await store.save(zoneKey(2), in: other, after: nil)
            try await store.changeZones(in: database, remove: ["notes"])
            let gone = try await store.second.zoneKeys(of: ["other", "notes", "none"], in: database, keysMax: 100)
            try expectEqual(
                gone,
                [
                    ZoneKeysRead(keys: [zoneKey(2)]), ZoneKeysRead(keys: nil, lastRemoval: .deleted),
                    ZoneKeysRead(keys: nil),
                ], "in the order of the question")
            let refused = try await store.first.saveZoneKey(
                zoneKey(3), in: key, after: nil, atMost: 10, rowsMax: .max, now: StorageFixture.now)
            try expectEqual(refused, ZoneKeysRead(keys: nil, lastRemoval: .deleted), "not in a zone that is gone")
            try await store.changeZones(in: database, create: ["notes"])
            try expectEqual(try await store.zoneKeys("notes", in: database), [], "a new life")
        },
        Scenario("R-744: a page of keys ends before the first zone whose keys do not fit") { store in
            let database = try await store.alice().privateDatabase
            let zones = try await store.createZones("one", "bare", "three", "ended", "two", in: database).map(\.key)
            let keys = (1...6).map { zoneKey(UInt8($0)) }
            let owned = [("one", keys[..<1]), ("three", keys[1..<4]), ("two", keys[4...])]
            for (name, keys) in owned {
                let zone = try require(zones.first { $0.name == name }, "a zone")
                var newest: [UInt8]?
                for key in keys {
                    _ = try await store.save(key, in: zone, after: newest)
                    newest = key.id
                }
            }
            try await store.changeZones(in: database, remove: ["ended"])
            let names = ["one", "bare", "three", "ended", "two", "never"]
            let all = [
                ZoneKeysRead(keys: [keys[0]]), ZoneKeysRead(keys: []), ZoneKeysRead(keys: Array(keys[1..<4])),
                ZoneKeysRead(keys: nil, lastRemoval: .deleted), ZoneKeysRead(keys: Array(keys[4...])),
                ZoneKeysRead(keys: nil),
            ]
            func page(_ names: [String], _ keysMax: Int) async throws -> [ZoneKeysRead] {
                try await store.second.zoneKeys(of: names, in: database, keysMax: keysMax)
            }
            // A zone without keys counts as one, and what is not there as none.
            for (keysMax, count) in [(1, 1), (2, 2), (4, 2), (5, 4), (6, 4), (7, 6), (100, 6)] {
                try expectEqual(try await page(names, keysMax), Array(all[..<count]), "of \(keysMax) keys")
            }
            var found: [ZoneKeysRead] = []
            for _ in 0..<3 { found += try await page(Array(names[found.count...]), 3) }
            try expectEqual(found, all, "page by page")
            try expectEqual(try await page(["two", "two"], 3), [all[4]], "a zone that is named twice counts twice")
            try expectEqual(try await page(["three"], 2), [], "no part of a zone's keys")
            try expectEqual(try await page([], 3), [], "no names")
        },
        Scenario("R-744: keys of zones of several databases come together, in the order of the question") { store in
            let (hers, his) = (try await store.alice().privateDatabase, try await store.bob().privateDatabase)
            let (one, two) = (ZoneKey(database: hers, name: "notes"), ZoneKey(database: his, name: "notes"))
            let (ended, never) = (ZoneKey(database: his, name: "ended"), ZoneKey(database: hers, name: "ended"))
            try await store.createZones("notes", in: hers)
            try await store.createZones("notes", "ended", in: his)
            _ = try await store.save(zoneKey(1), in: one, after: nil)
            _ = try await store.save(zoneKey(2), in: two, after: nil)
            try await store.changeZones(in: his, remove: ["ended"])
            let all = [
                ZoneKeysRead(keys: [zoneKey(2)]), ZoneKeysRead(keys: nil, lastRemoval: .deleted),
                ZoneKeysRead(keys: nil), ZoneKeysRead(keys: [zoneKey(1)]),
            ]
            let zones = [two, ended, never, one]
            for (keysMax, count) in [(1, 3), (2, 4)] {
                let found = try await store.second.zoneKeys(of: zones, keysMax: keysMax, sharing: .nothing)
                try expectEqual(found, Array(all[..<count]), "of \(keysMax) keys")
            }
        },
        Scenario("I-5, R-744: a zone without access takes no room among the keys of others") { store in
            let (closed, open) = (try await store.shareZone("closed"), try await store.shareZone("open"))
            try await store.accept(open)
            _ = try await store.save(zoneKey(1), in: closed.key, after: nil)
            _ = try await store.save(zoneKey(2), in: closed.key, after: zoneKey(1).id)
            _ = try await store.save(zoneKey(3), in: open.key, after: nil)
            let zones = [closed.key, open.key, ZoneKey(database: open.key.database, name: "never"), open.key]
            // In the first round nobody knows who has access.
            for round in 1...2 {
                let found = try await store.second.zoneKeys(of: zones, keysMax: 1, sharing: open.access)
                try expectEqual(found.map(\.keys), [nil, [zoneKey(3)], nil], "round \(round)")
                let more = try await store.second.zoneKeys(of: zones, keysMax: 2, sharing: open.access)
                try expectEqual(more.map(\.keys), [nil, [zoneKey(3)], nil, [zoneKey(3)]], "round \(round)")
            }
        },
        Scenario("R-783: shares, participants and further keys of an account count together, also in a new transaction")
        {
            store in
            let (one, two) = (try await store.shareZone("one"), try await store.shareZone("two"))
            try await store.accept(one)
            func rowCount(_ sharing: SharingRead, in key: ZoneKey) async throws -> Int? {
                var read = ZoneRead(key: key, recordNames: [], parentNames: [], lives: [])
                read.sharing = sharing
                let transaction = try await store.first.beginWrite([read])
                await transaction.rollback()
                return transaction.snapshots.first?.sharingRowCount
            }
            try expectEqual(try await rowCount(.whole, in: two.key), 3, "two shares, one participant")
            try expectEqual(try await rowCount(.nothing, in: two.key), 0, "nobody asked")
            let his = try await store.bob().privateDatabase
            let other = try require(try await store.createZones("his", in: his).first, "a zone").key
            try expectEqual(try await rowCount(.whole, in: other), 0, "of another account")
            let keys = (1...4).map { zoneKey(UInt8($0)) }
            let newest = keys[0].id
            try expectEqual(
                try await store.save(keys[0], in: two.key, after: nil, rowsMax: 0), [keys[0]], "a first key")
            try expectEqual(try await store.save(keys[1], in: two.key, after: newest, rowsMax: 3), [keys[0]], "full")
            try expectEqual(
                try await store.save(keys[1], in: two.key, after: newest, rowsMax: 4), [keys[0], keys[1]], "room for it"
            )
            try expectEqual(try await rowCount(.whole, in: one.key), 4, "with a further key")
            _ = try await store.save(keys[2], in: other, after: nil)
            try expectEqual(
                try await store.save(keys[3], in: other, after: keys[2].id, rowsMax: 1), [keys[2], keys[3]],
                "another account has its own room")
            let asked = try await store.changeShares(in: two.key) { _, number in
                var changes = SharingChanges(two.share, at: number)
                changes.insertedRequests = [AccessRequest(user: one.viewer.user, requestedAt: StorageFixture.now)]
                return changes
            }
            _ = try require(asked, "somebody asks for access")
            try expectEqual(try await rowCount(.whole, in: one.key), 5, "with a request for access")
        },
        Scenario("R-967: keys that are retired stay to be read, no save may use them, and what was known is outdated") {
            store in
            let database = try await store.alice().privateDatabase
            let zones = try await store.createZones("notes", "other", in: database).map(\.key)
            for (zone, numbers) in [(zones[0], [1, 2, 3] as [UInt8]), (zones[1], [1, 2])] {
                for number in numbers {
                    let newest = number == 1 ? nil : bytes(number - 1)
                    _ = try await store.save(zoneKey(number), in: zone, after: newest)
                }
            }
            func usable() async throws -> (ids: [Set<[UInt8]>], writeNumbers: [Int64]) {
                let transaction = try await store.first.beginWrite(zones.map { $0.read(needsZoneKeys: true) })
                await transaction.rollback()
                return (transaction.snapshots.map(\.zoneKeyIDs), transaction.snapshots.map(\.writeNumber))
            }
            let before = try await usable()
            try await store.second.retireZoneKeys(in: zones[0], before: bytes(3))
            let after = try await usable()
            try expectEqual(after.ids, [[bytes(3)], [bytes(1), bytes(2)]], "of that zone alone")
            try expect(
                after.writeNumbers[0] != before.writeNumbers[0] && after.writeNumbers[1] == before.writeNumbers[1],
                "of that zone something has changed")
            try expectEqual(
                try await store.zoneKeys("notes", in: database), [zoneKey(1), zoneKey(2), zoneKey(3)], "all are there")
            try await store.first.retireZoneKeys(in: zones[0], before: bytes(3))
            try await store.first.retireZoneKeys(in: zones[0], before: bytes(1))
            try await store.first.retireZoneKeys(in: zones[0], before: bytes(9))
            try await store.first.retireZoneKeys(in: ZoneKey(database: database, name: "never"), before: bytes(1))
            try expectEqual(try await usable().ids, after.ids, "again, before the first, and before none")
            _ = try await store.save(zoneKey(4), in: zones[0], after: bytes(3))
            try expectEqual(try await usable().ids[0], [bytes(3), bytes(4)], "a further one retires none by itself")
            try await store.changeZones(in: database, remove: ["notes"])
            try await store.changeZones(in: database, create: ["notes"])
            _ = try await store.save(zoneKey(1), in: zones[0], after: nil)
            try expectEqual(try await usable().ids[0], [bytes(1)], "a new life of the zone")
        },
        Scenario("R-067: a transaction knows the keys of its zone, and of no other, if it asks") { store in
            let database = try await store.alice().privateDatabase
            let zones = try await store.createZones("notes", "other", "bare", in: database).map(\.key)
            _ = try await store.save(zoneKey(1), in: zones[0], after: nil)
            _ = try await store.save(zoneKey(2), in: zones[0], after: bytes(1))
            _ = try await store.save(zoneKey(3), in: zones[1], after: nil)
            let transaction = try await store.first.beginWrite([
                zones[0].read(needsZoneKeys: true), zones[1].read(), zones[2].read(needsZoneKeys: true),
            ])
            await transaction.rollback()
            try expectEqual(
                transaction.snapshots.map(\.zoneKeyIDs), [[bytes(1), bytes(2)], [], []], "by zone")
        },
    ]

    private static func zoneKey(_ number: UInt8) -> WrappedZoneKey {
        WrappedZoneKey(
            id: bytes(number), accountKeyID: bytes(100), wrapped: [UInt8](repeating: number, count: 60))
    }

    private static func bytes(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 16) }
}

extension StorageFixture {
    fileprivate func save(
        _ key: StoredAccountKey, of user: UserID, _ check: [UInt8]
    ) async throws -> StoredAccountKey {
        try await second.saveAccountKey(key, of: user, masterKeyCheck: check, now: Self.now)
    }

    fileprivate func save(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int = 10,
        rowsMax: Int = .max
    ) async throws -> [WrappedZoneKey]? {
        try await second.saveZoneKey(
            key, in: zone, after: newest, atMost: countMax, rowsMax: rowsMax, now: Self.now
        ).keys
    }

    fileprivate func zoneKeys(_ name: String, in database: DatabaseID) async throws -> [WrappedZoneKey]? {
        try await first.zoneKeys(of: [name], in: database, keysMax: 100).first?.keys
    }
}
