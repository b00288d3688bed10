// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Who owns zones, and what leads to them: links, lists and addresses. None of these grants anything.
extension StorageConformance {
    static let sharedLists: [Scenario] = [
        Scenario("R-225: an owner is found by name in a container, and by private database") { store in
            let (alice, bob) = (try await store.alice(), try await store.bob())
            let owners = [alice, bob].map {
                ZoneOwner(user: $0.user, recordName: $0.userRecordName, privateDatabase: $0.privateDatabase)
            }
            let names = owners.map(\.recordName)
            try expectEqual(
                try await store.second.owners(named: names + ["_nobody"], in: container),
                [names[0]: owners[0], names[1]: owners[1]], "by name")
            try expectEqual(
                try await store.second.owners(named: [names[1]], in: container), [names[1]: owners[1]], "only these")
            try expectEqual(try await store.second.owners(named: [], in: container), [:], "no names")
            for other in [
                ContainerKey(identifier: "iCloud.other", environment: .development),
                ContainerKey(identifier: "iCloud.test", environment: .production),
            ] {
                try expectEqual(try await store.second.owners(named: names, in: other), [:], "in another container")
            }
            let open = try require(
                try await store.first.publicDatabase(of: container, now: StorageFixture.now), "a public database")
            let databases = [
                alice.privateDatabase, alice.sharedDatabase, bob.privateDatabase, open.database, DatabaseID(1 << 40),
            ]
            try expectEqual(
                try await store.second.owners(of: databases),
                [alice.privateDatabase: owners[0], bob.privateDatabase: owners[1]], "private databases alone")
            try expectEqual(try await store.second.owners(of: []), [:], "no databases")
        },
        Scenario("R-314: a verified address finds a user of the container, and a user all of theirs") { store in
            let (alice, bob) = (try await store.alice(), try await store.bob())
            let all = [Addresses.email, Addresses.telephone]
            try expectEqual(try await store.second.addresses(of: alice.user), Set(all), "alice's")
            try expectEqual(try await store.second.addresses(of: bob.user), [], "bob has none")
            try expectEqual(
                try await store.second.users(withAddresses: all + ["nobody@example.org"], in: container),
                [all[0]: alice.user, all[1]: alice.user], "alice by each")
            try expectEqual(
                try await store.second.users(withAddresses: [all[1]], in: container), [all[1]: alice.user],
                "only these")
            try expectEqual(try await store.second.users(withAddresses: [], in: container), [:], "none")
            try expectEqual(
                try await store.second.users(withAddresses: ["ALICE@example.org", "alice"], in: container), [:],
                "exactly")
            let other = ContainerKey(identifier: "iCloud.other", environment: .development)
            try expectEqual(
                try await store.second.users(withAddresses: all, in: other), [:], "she is no user of another container")
        },
        Scenario("R-306: a link leads to one zone for as long as that lives") { store in
            let database = try await store.alice().privateDatabase
            let list = try await store.bob().sharedDatabase
            let keys = try await store.createZones("notes", "other", in: database).map(\.key)
            let (hash, next) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
            let none = ZoneKey(database: database, name: "none")
            try expect(try await !store.first.point(hash, to: none), "there is no such zone")
            try expectEqual(try await store.second.linkedZone(secretHash: hash, for: list), nil, "nor such a link")
            for storage in [store.first, store.second] {
                try expect(try await storage.point(hash, to: keys[0]), "also if it is there")
                let linked = try await store.second.linkedZone(secretHash: hash, for: list)
                try expectEqual(linked, keys[0], "it leads there")
            }
            try expect(try await store.first.point(next, to: keys[0]), "a zone may have several")
            try expectEqual(try await store.second.linkedZone(secretHash: next, for: list), keys[0], "all lead there")
            try await store.changeZones(in: database, remove: ["notes"])
            try await store.changeZones(in: database, create: ["notes"])
            for gone in [hash, next, []] {
                let linked = try await store.second.linkedZone(secretHash: gone, for: list)
                try expectEqual(linked, nil, "another zone of that name")
            }
        },
        Scenario("R-306: a zone has few links that no share took, and none but its own once it has that") { store in
            let list = try await store.bob().sharedDatabase
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let hashes = (1...3).map { [UInt8](repeating: $0, count: 32) }
            for hash in hashes[..<2] { try expect(try await store.first.point(hash, to: key, atMost: 2), "room") }
            try await expectError(.crowded, "one too many") {
                try await store.second.point(hashes[2], to: key, atMost: 2)
            }
            try expectEqual(try await store.first.linkedZone(secretHash: hashes[2], for: list), nil, "it leads nowhere")
            try expect(try await store.second.point(hashes[1], to: key, atMost: 2), "it is there already")
            _ = try await store.beginShare(in: key)
            try expect(try await store.second.point(hashes[2], to: key, atMost: 2), "the zone has its link, and lives")
            try expectEqual(try await store.first.linkedZone(secretHash: hashes[2], for: list), nil, "which stays")
            try expectEqual(try await store.first.linkedZone(secretHash: hashes[0], for: list), key, "as others do")
        },
        Scenario("R-306: a zone's own link leads to it again, if it led to one of that name before") { store in
            let list = try await store.bob().sharedDatabase
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let (own, other) = (SHA256.hash(secret), [UInt8](repeating: 1, count: 32))
            try expect(try await store.first.point(own, to: key), "the zone lives")
            try await store.changeZones(in: database, remove: ["notes"])
            let next = try require(try await store.createZones("notes", in: database).first, "the next one")
            _ = try await store.beginShare(in: key)
            try expectEqual(try await store.second.linkedZone(secretHash: own, for: list), nil, "to the one before")
            for _ in 1...2 {
                let zone = try await store.first.pointLink(secretHash: other, to: key, root: nil, atMost: 9)
                try expectEqual(zone, next.id, "the zone that has the name now")
                try expectEqual(try await store.second.linkedZone(secretHash: own, for: list), key, "its own link")
                try expectEqual(try await store.second.linkedZone(secretHash: other, for: list), nil, "and no other")
            }
        },
        Scenario("R-306: a link leads nowhere from another container or environment") { store in
            let (alice, bob) = (try await store.alice(), try await store.bob())
            let key = try require(try await store.createZones("notes", in: alice.privateDatabase).first, "a zone").key
            let hash = [UInt8](repeating: 1, count: 32)
            try expect(try await store.first.point(hash, to: key), "the zone lives")
            for database in [bob.sharedDatabase, bob.privateDatabase, alice.sharedDatabase] {
                let linked = try await store.second.linkedZone(secretHash: hash, for: database)
                try expectEqual(linked, key, "whoever opens it in the container")
            }
            for (identifier, environment) in [
                ("iCloud.other", ContainerEnvironment.development), ("iCloud.test", .production),
            ] {
                let elsewhere = try require(
                    try await store.first.identity(
                        credentialHash: Credentials.bob, container: identifier, environment: environment,
                        containersMax: .max, now: StorageFixture.now), "bob has an identity there")
                let linked = try await store.second.linkedZone(secretHash: hash, for: elsewhere.sharedDatabase)
                try expectEqual(linked, nil, "in \(identifier), \(environment)")
            }
            let nobody = try await store.second.linkedZone(secretHash: hash, for: DatabaseID(1 << 40))
            try expectEqual(nobody, nil, "in a database that does not exist")
        },
        Scenario("R-306: many links are looked up at once, and those that lead nowhere are left out") { store in
            let (alice, bob) = (try await store.alice(), try await store.bob())
            let elsewhere = try require(
                try await store.first.identity(
                    credentialHash: Credentials.bob, container: "iCloud.other", environment: .development,
                    containersMax: .max, now: StorageFixture.now), "bob has an identity there")
            let keys = try await store.createZones("a", "b", in: alice.privateDatabase).map(\.key)
            let other = try require(try await store.createZones("a", in: elsewhere.privateDatabase).first, "a zone").key
            let hashes = (1...5).map { [UInt8](repeating: $0, count: 32) }
            // The last one leads nowhere.
            for (hash, key) in zip(hashes, [keys[0], keys[1], keys[0], other]) {
                try expect(try await store.first.point(hash, to: key), "the zone lives")
            }
            let asked = hashes + [hashes[1], []]
            try expectEqual(
                try await store.second.linkedZones(secretHashes: asked, for: bob.sharedDatabase),
                [hashes[0]: keys[0], hashes[1]: keys[1], hashes[2]: keys[0]], "those of the container")
            try expectEqual(
                try await store.second.linkedZones(secretHashes: asked, for: elsewhere.sharedDatabase),
                [hashes[3]: other], "those of another container")
            try expectEqual(
                try await store.second.linkedZones(secretHashes: asked, for: DatabaseID(1 << 40)), [:],
                "in a database that does not exist")
            try expectEqual(
                try await store.second.linkedZones(secretHashes: [], for: bob.sharedDatabase), [:], "no links")
        },
        Scenario("R-320: a viewer's list grants nothing, and has the zones to which they have access") { store in
            var zones: [SharedZone] = []
            for name in ["a", "b", "c"] { zones.append(try await store.shareZone(name)) }
            let (bob, list) = (zones[0].viewer.user, zones[0].list)
            let none = ZoneKey(database: zones[0].key.database, name: "none")
            try expectEqual(
                try await store.first.pointViewer(list, to: none, atMost: 9), .zoneMissing, "there is no such zone")
            try expectEqual(try await store.pointed(list), 0, "the list is empty")
            for zone in zones.reversed() {
                for storage in [store.first, store.second] { try await store.point(zone, on: storage) }
            }
            try expectEqual(try await store.pointed(list), zones.count, "each once")
            try expectEqual(try await store.listed(list, for: bob), [], "but bob takes no part")
            for zone in zones { try await store.join(zone) }
            let ids = zones.map(\.zone)
            try expectEqual(try await store.listed(list, for: bob), ids, "now he does")
            try expectEqual(try await store.listed(list, for: bob, after: ids[0]), Array(ids[1...]), "after the first")
            try expectEqual(try await store.listed(list, for: bob, zonesMax: 2), Array(ids[..<2]), "two")
            try expectEqual(try await store.listed(list, for: bob, after: ids[2]), [], "after the last")
            let first = try await store.second.sharedZones(of: list, for: bob, after: nil, zonesMax: 1)
            try expectEqual(first.first?.key, zones[0].key, "by the owner's name of it")
            try expectEqual(first.first?.changeNumber, 2, "as it is now")
            let alice = zones[0].owner
            try expectEqual(try await store.listed(list, for: alice.user), [], "R-322: owners take no part")
            try expectEqual(try await store.listed(alice.sharedDatabase, for: bob), [], "not in another's list")
            try expectEqual(try await store.pointed(alice.sharedDatabase), 0, "another's list")
        },
        Scenario("R-770: a viewer's list has room for so many zones, and those that have ended take none") { store in
            var zones: [SharedZone] = []
            for name in ["a", "b", "c", "d"] { zones.append(try await store.shareZone(name)) }
            let (list, keys) = (zones[0].list, zones.map(\.key))
            func point(_ index: Int) async throws -> PointedViewer {
                try await store.second.pointViewer(list, to: keys[index], atMost: 2)
            }
            try await store.accept(zones[0])
            let token = try await store.advance(list).head
            try expectEqual(try await point(1), .done, "there is room")
            for index in [2, 3] { try expectEqual(try await point(index), .full, "there is none") }
            for index in [0, 1] { try expectEqual(try await point(index), .done, "they are there already") }
            try await store.changeZones(in: keys[0].database, remove: ["a"])
            try expectEqual(try await point(2), .done, "one has ended")
            try expectEqual(try await point(3), .full, "but one alone")
            try expectEqual(try await point(0), .zoneMissing, "which does not come again")
            let ends = try await store.advance(list, after: token).entries
            try expectEqual(ends.map(\.zone), [zones[0].zone], "I-2: its end is told, although it took no room")
            try await store.changeZones(in: keys[0].database, remove: ["b"])
            try expectEqual(try await point(3), .done, "one that was never told of has ended")
            try expectEqual(try await store.pointed(list), 2, "and is not in the list any more")
        },
        Scenario("R-770: two servers do not give the same room twice") { store in
            let (zone, other) = (try await store.shareZone("a"), try await store.shareZone("b"))
            let calls = [(zone, store.first), (other, store.second)].map { zone, storage in
                store.scheduler.runThrowing {
                    try await storage.pointViewer(zone.list, to: zone.key, atMost: 1)
                }
            }
            var answers: [PointedViewer] = []
            for call in calls { answers.append(try await call.value) }
            try expectEqual(answers.count { $0 == .done }, 1, "one has the room")
            try expectEqual(answers.count { $0 == .full }, 1, "and the other has none")
        },
        Scenario("R-034: the zones of a database that are shared are told from the others") { store in
            var zones: [SharedZone] = []
            for name in ["a", "b", "c"] { zones.append(try await store.shareZone(name)) }
            let (database, ids) = (zones[0].key.database, zones.map(\.zone))
            try await store.createZones("d", in: database)
            func shared() async throws -> Set<ZoneID> {
                let all = try await store.second.zones(in: database)
                try expect(all.count > ids.count, "with the others")
                let named = try await store.second.zones(named: all.map(\.key.name), in: database)
                let listed = all.filter(\.isShared)
                try expectEqual(named.filter(\.isShared).sorted { $0.id < $1.id }, listed, "the same by name")
                return Set(listed.map(\.id))
            }
            try expectEqual(try await shared(), Set(ids), "those with a share")
            let others = try await store.second.zones(in: zones[0].viewer.privateDatabase)
            try expect(!others.contains(where: \.isShared), "bob shares nothing")
            try await store.endShare(in: zones[0].key)
            try expectEqual(try await shared(), Set(ids[1...]), "one has ended")
            for zone in zones[1...] { try await store.endShare(in: zone.key) }
            try expectEqual(try await shared(), [], "all have")
            _ = try await store.beginShare(in: zones[0].key)
            try expectEqual(try await shared(), [ids[0]], "and one is shared again")
        },
        Scenario("R-225, R-330: what has no access any more is not in the list") { store in
            var zones: [SharedZone] = []
            for name in ["kept", "left", "ended", "gone", "lost"] { zones.append(try await store.shareZone(name)) }
            for zone in zones { try await store.accept(zone) }
            let (bob, list) = (zones[0].viewer.user, zones[0].list)
            try expectEqual(try await store.listed(list, for: bob), zones.map(\.zone), "all of them")
            try await store.leave(zones[1])
            try await store.endShare(in: zones[2].key)
            try await store.changeZones(in: zones[3].key.database, remove: ["gone"])
            // A public user may what everybody may, and that is nothing now.
            try await store.changeShares(in: zones[4].key) { sharing, number in
                sharing.livingShare.map { share in
                    var changes = SharingChanges(share.number, at: number)
                    changes.updatedShare = share
                    changes.updatedShare?.publicPermission = .noAccess
                    return changes
                }
            }
            try expectEqual(try await store.listed(list, for: bob), [zones[0].zone], "the one that is left")
            try await store.changeZones(in: zones[3].key.database, create: ["gone"])
            try expectEqual(try await store.listed(list, for: bob), [zones[0].zone], "no other zone of that name")
            try await store.accept(zones[1])
            try expectEqual(try await store.listed(list, for: bob), zones[..<2].map(\.zone), "who comes again")
        },
    ]
}

extension Storage {
    fileprivate func point(
        _ secretHash: [UInt8], to key: ZoneKey, atMost countMax: Int = 9
    ) async throws(StorageError) -> Bool {
        try await pointLink(secretHash: secretHash, to: key, root: nil, atMost: countMax) != nil
    }
}

extension StorageFixture {
    /// How many zones are in a list, whatever they grant.
    fileprivate func pointed(_ list: DatabaseID) async throws -> Int {
        let nobody = UserID(0)
        return try require(try await second.sharedMarks(of: [list: nobody])[list], "each list has a mark").zoneCount
    }

    func advance(_ list: DatabaseID, after: ChangeNumber? = nil) async throws -> DatabaseFeedRead {
        try await second.advanceDatabaseFeed(of: list, after: after, entriesMax: 9).value
    }

    fileprivate func listed(
        _ list: DatabaseID, for user: UserID, after: ZoneID? = nil, zonesMax: Int = 9
    ) async throws -> [ZoneID] {
        try await second.sharedZones(of: list, for: user, after: after, zonesMax: zonesMax).map(\.id)
    }
}
