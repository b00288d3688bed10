// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService

/// Shares with their participants: what is written, and what is read of them with everything else.
extension StorageConformance {
    static let shares: [Scenario] = [
        Scenario("R-310, R-312: what is written of a share is what every read of the zone shows, if it asks") { store in
            let bob = try await store.bob().user
            let rows = [
                Participant(id: participant(1), user: bob, role: .administrator, addedAt: StorageFixture.now),
                Participant(
                    id: participant(2), address: "carol@example.org", permission: .readWrite,
                    addedAt: Timestamp(milliseconds: StorageFixture.now.milliseconds + 1)),
            ]
            let zone = try await store.shareZone("notes", publicPermission: .noAccess, inviting: rows)
            var expected = ZoneSharing(
                owner: zone.owner.user, shares: [Share(number: zone.share)], participants: [zone.share: rows],
                secret: secret)
            try await store.expectEverywhere(expected, in: zone, "a new share")
            for (name, decide) in changesOfOneShare(with: bob) {
                let number = try require(try await store.changeShares(in: zone.key, decide), "a change")
                expected = expected.applying(try require(decide(expected, number), "the same change"))
                try await store.expectEverywhere(expected, in: zone, name)
            }
        },
        Scenario("R-970: the secret of a one-time link is stored with its participant, and stays with them") { store in
            let rows = [
                Participant(id: participant(1), linkSecret: [1, 2, 3], addedAt: StorageFixture.now),
                Participant(id: participant(2), linkSecret: [4], permission: .readWrite, addedAt: StorageFixture.now),
            ]
            let zone = try await store.shareZone("notes", publicPermission: .noAccess, inviting: rows)
            var expected = ZoneSharing(
                owner: zone.owner.user, shares: [Share(number: zone.share)], participants: [zone.share: rows],
                secret: secret)
            try await store.expectEverywhere(expected, in: zone, "nobody has come")
            let bob = ShareVisitor(user: zone.viewer.user, linkSecret: [4])
            @Sendable func decide(_ sharing: ZoneSharing, _ number: ChangeNumber) -> SharingChanges? {
                let accepted = bob.accepting(
                    in: sharing, as: participant(3), at: number, now: StorageFixture.now, limits: Limits())
                return (try? accepted.get())?.changes
            }
            let number = try require(try await store.changeShares(in: zone.key, decide), "bob comes")
            expected = expected.applying(try require(decide(expected, number), "the same change"))
            try await store.expectEverywhere(expected, in: zone, "bob has come")
        },
        Scenario("R-972 … R-974: requests for access are stored with their share, answered, and gone with it") {
            store in
            let (alice, bob) = (try await store.alice().user, try await store.bob().user)
            let approved = Participant(
                id: participant(1), user: bob, addedAt: StorageFixture.now, isApprovedRequester: true)
            let zone = try await store.shareZone("notes", publicPermission: .noAccess)
            let waits = AccessRequest(user: bob, requestedAt: StorageFixture.now)
            let shut = AccessRequest(user: bob, requestedAt: StorageFixture.now, isBlocked: true)
            let other = AccessRequest(user: alice, requestedAt: Timestamp(milliseconds: 1_000))
            let unasked = AccessRequest(user: bob, requestedAt: nil, isBlocked: true)
            var expected = ZoneSharing(owner: alice, shares: [Share(number: zone.share)], secret: secret)
            let steps: [(String, @Sendable (inout SharingChanges) -> Void)] = [
                ("it takes requests", { $0.updatedShare = Share(number: $0.share, allowsRequests: true) }),
                ("two ask", { $0.insertedRequests = [waits, other] }),
                ("one is blocked, the other refused", { ($0.updatedRequests, $0.droppedRequests) = ([shut], [alice]) }),
                ("one is invited", { ($0.droppedRequests, $0.inserted) = ([bob], [approved]) }),
                ("one asks again", { $0.insertedRequests = [other] }),
                ("one is blocked who has not asked", { $0.insertedRequests = [unasked] }),
            ]
            for (name, fill) in steps {
                let decide = { @Sendable (sharing: ZoneSharing, number: ChangeNumber) -> SharingChanges? in
                    var changes = SharingChanges(zone.share, at: number)
                    fill(&changes)
                    return changes
                }
                let number = try require(try await store.changeShares(in: zone.key, decide), name)
                expected = expected.applying(try require(decide(expected, number), name))
                try await store.expectEverywhere(expected, in: zone, name)
            }
            let names = [alice: try require(PersonNames.alice, "alice's name")]
            try await store.expectNames(names, in: zone, "who asks has a name, and who only is blocked has none")
            let number = try await store.changeShares(in: zone.key) { sharing, number in
                sharing.ending(shareNamed: Share.zoneWideName, at: number)
            }
            _ = try require(number, "the share ends")
            let after = try require(try await store.second.sharing(of: zone.key, .whole), "the zone").sharing
            try expectEqual(after.requests, [:], "nobody waits for a share that has ended")
        },
        Scenario("R-300: a zone without a share has none, which is another answer than none was asked for") { store in
            let zone = try require(
                try await store.createZones("notes", in: try await store.alice().privateDatabase).first, "a zone")
            let alice = try await store.alice().user
            let reads: [SharingRead] = [.whole, .access(of: [alice]), .access(of: [])]
            for read in reads {
                let (state, sharing) = try require(try await store.second.sharing(of: zone.key, read), "the zone")
                try expectEqual(state, zone, "the zone itself")
                try expectSharing(sharing, ZoneSharing(owner: alice, isWhole: read == .whole), "no share")
            }
            let page = try await store.second.zonePage(zone.key.page())
            try expectEqual(page.sharing, nil, "nobody asked with the page")
            let found = try await store.second.records(named: ["a"], in: zone.key)
            try expectEqual(found.sharing, nil, "nobody asked with the records")
            let transaction = try await store.first.beginWrite([zone.key.read()])
            await transaction.rollback()
            try expectEqual(transaction.snapshots.map(\.sharing), [nil], "nobody asked under the lock")
        },
        Scenario("R-779: a share that is shown has the names of its owner and of those who have accepted") { store in
            let (alice, bob) = (try await store.alice().user, try await store.bob().user)
            let rows = [
                Participant(id: participant(1), user: bob, addedAt: StorageFixture.now),
                Participant(id: participant(2), address: Addresses.email, addedAt: StorageFixture.now),
            ]
            let zone = try await store.shareZone("notes", publicPermission: .noAccess, inviting: rows)
            var names = [alice: try require(PersonNames.alice, "alice's name")]
            try await store.expectNames(names, in: zone, "nobody has accepted")
            _ = try await store.changeShares(in: zone.key) { accepting(bob, in: $0, at: $1) }
            names[bob] = try require(PersonNames.bob, "bob's name")
            try await store.expectNames(names, in: zone, "bob has accepted")
            try await store.leave(zone)
            names[bob] = nil
            try await store.expectNames(names, in: zone, "bob has left")
            let plain = try require(try await store.createZones("plain", in: zone.key.database).first, "a zone")
            let found = try await store.second.sharings(of: [zone.key, plain.key], .shown(to: bob))
            for (_, sharing) in found { try expectEqual(sharing.personNames, names, "each zone has its owner's") }
            try expectEqual(found.count, 2, "both zones")
        },
        Scenario("R-312: the shares of several zones are read together, of those that live") { store in
            let zones = [try await store.shareZone("a"), try await store.shareZone("b")]
            try await store.accept(zones[1])
            let bobsDatabase = zones[0].viewer.privateDatabase
            let other = try require(try await store.createZones("a", in: bobsDatabase).first, "a zone of another owner")
            let none = ZoneKey(database: bobsDatabase, name: "b")
            let keys = [zones[1].key, none, other.key, zones[0].key]
            let found = try await store.second.sharings(of: keys, .whole)
            let living = [zones[0].key, zones[1].key, other.key].sorted()
            try expectEqual(found.map { $0.zone.key }.sorted(), living, "those that live, whoever owns them")
            for (zone, sharing) in found {
                let listed = try await store.second.zones(named: [zone.key.name], in: zone.key.database)
                try expectEqual([zone], listed, "as it is in its database")
                let alone = try await store.second.records(
                    named: ["a"], in: zone.key, bytesMax: 1_000, sharing: .whole)
                try expectSharing(sharing, try require(alone.sharing, "its shares"), "as they are alone")
            }
            let bobs = found.filter { $0.sharing.admits(zones[1].viewer.user) }
            try expectEqual(bobs.map { $0.zone.key.name }, ["b"], "each with its own")
        },
        Scenario("R-308, R-317: of several changes in one transaction each is over the one before") { store in
            let zone = try await store.shareZone("notes", publicPermission: .noAccess)
            let bob = zone.viewer.user
            func row(_ number: UInt64, _ user: UserID?, acceptedAt accepted: ChangeNumber? = nil) -> Participant {
                Participant(
                    id: participant(number), user: user, address: user == nil ? Addresses.telephone : nil,
                    status: accepted == nil ? .pending : .accepted, acceptedNumber: accepted,
                    addedAt: StorageFixture.now)
            }
            let before = zone.share.rawValue
            var invited = SharingChanges(zone.share, at: before + 1)
            invited.inserted = [row(1, bob), row(2, nil)]
            // The row of an address becomes bob's, whose own one goes.
            var accepted = SharingChanges(zone.share, at: before + 2)
            accepted.forgotten = [participant(1)]
            var taken = row(2, nil, acceptedAt: before + 2)
            taken.user = bob
            accepted.updated = [taken]
            // And the other way round.
            var again = SharingChanges(zone.share, at: before + 3)
            again.forgotten = [participant(2)]
            again.inserted = [row(3, bob, acceptedAt: before + 3), row(4, nil)]
            var read = zone.key.read(records: [Share.zoneWideName])
            read.sharing = .whole
            let transaction = try await store.first.beginWrite([read])
            let changes = transaction.snapshots[0].changes(
                [invited, accepted, again], names: ["x", "y", Share.zoneWideName])
            try await transaction.commit([try require(changes, "the zone lives")])
            let expected = ZoneSharing(
                owner: zone.owner.user, shares: [Share(number: zone.share)],
                participants: [zone.share: [row(3, bob, acceptedAt: before + 3), row(4, nil)]],
                secret: secret)
            try await store.expectEverywhere(expected, in: zone, "the last one")
        },
        Scenario("a change of shares that is rolled back leaves nothing") { store in
            let zone = try await store.shareZone("notes")
            try await store.accept(zone)
            let before = try require(try await store.second.sharing(of: zone.key, .whole), "the zone").sharing
            var read = zone.key.read(records: [Share.zoneWideName])
            read.sharing = .whole
            let transaction = try await store.first.beginWrite([read])
            let sharing = try require(transaction.snapshots[0].sharing, "the shares")
            let leaving = ShareVisitor(user: zone.viewer.user).declining(in: sharing, at: 9)
            try expect(leaving != nil, "there is something to change")
            await transaction.rollback()
            let after = try require(try await store.second.sharing(of: zone.key, .whole), "the zone").sharing
            try expectSharing(after, before, "as before")
        },
        Scenario("I-5, R-316: of a zone without access nothing is read but its shares") { store in
            let zone = try await store.shareZone("notes")
            try await store.write([RecordDraft("x")], in: zone.key)
            let gone = try await store.shareZone("gone")
            try await store.changeZones(in: gone.key.database, remove: ["gone"])
            let none = ZoneKey(database: zone.key.database, name: "none")
            let incarnation = try await store.first.incarnation()
            for (key, isLiving) in [(zone.key, true), (gone.key, false), (none, false)] {
                let read = try await store.second.zonePage(key.page(for: zone.viewer.user))
                try expect(read.value.zone == nil && read.value.records.isEmpty, "\(key.name): a page has nothing")
                try expectEqual(read.value.lastRemoval, nil, "\(key.name): nor says a page why")
                try expectEqual(read.value.sharing != nil, isLiving, "\(key.name): the shares")
                try expectEqual(read.store, incarnation, "\(key.name): the store")
                let found = try await store.second.records(
                    named: ["x"], in: key, bytesMax: 1_000, sharing: zone.access)
                try expect(found.zone == nil && found.records.isEmpty, "\(key.name): there are no records")
                try expectEqual(found.lastRemoval, nil, "\(key.name): nor is it said why")
                let opened = try await store.second.records(
                    named: ["x"], in: key, bytesMax: 1_000, sharing: .shown(to: zone.viewer.user))
                try expectEqual(opened.zone != nil, isLiving, "\(key.name): who opens a link")
                try expectEqual(opened.lastRemoval, nil, "\(key.name): nor is it said why to them")
                let keys = try await store.second.zoneKeys(
                    of: [key.name], in: key.database, keysMax: 9, sharing: zone.access)
                try expectEqual(keys.map(\.keys), [nil], "\(key.name): there are no keys")
                try expectEqual(keys.map(\.lastRemoval), [nil], "\(key.name): nor is it said why")
            }
            try await store.accept(zone)
            let page = try await store.second.zonePage(zone.key.page(for: zone.viewer.user)).value
            try expectEqual(page.records.map(\.name).sorted(), [Share.zoneWideName, "x"], "who accepts has all of it")
        },
        Scenario("R-036: a zone that is gone has no shares, nor has the one that has its name now") { store in
            let zone = try await store.shareZone("notes")
            try await store.accept(zone)
            try await store.changeZones(in: zone.key.database, remove: ["notes"])
            try expect(try await store.second.sharing(of: zone.key, .whole) == nil, "it is gone")
            let gone = try await store.second.zonePage(zone.key.page(for: zone.viewer.user))
            try expect(gone.zone == nil && gone.sharing == nil, "with a page")
            let keys = try await store.second.zoneKeys(
                of: ["notes"], in: zone.key.database, keysMax: 9, sharing: zone.access)
            try expectEqual(keys, [ZoneKeysRead(keys: nil)], "I-5: with keys, and no reason is told")
            try await store.changeZones(in: zone.key.database, create: ["notes"])
            let next = try require(try await store.second.sharing(of: zone.key, .whole), "the next one")
            try expectSharing(next.sharing, ZoneSharing(owner: zone.owner.user), "it begins without")
            try expect(next.zone.id != zone.zone, "it is another one")
        },
    ]

    private typealias Decision = @Sendable (ZoneSharing, ChangeNumber) -> SharingChanges?

    /// What becomes of a share with bob and an address, one after another.
    private static func changesOfOneShare(with bob: UserID) -> [(String, Decision)] {
        [
            step("somebody who is invited accepts") { accepting(bob, in: $0, at: $1) },
            step("rows change, end and are new") { rowsChanging(in: $0, at: $1) },
            step("everybody may join") { sharing, number in
                changing(sharing, at: number) { changes, _ in
                    changes.updatedShare = sharing.livingShare
                    changes.updatedShare?.publicPermission = .readOnly
                }
            },
            step("somebody leaves") { ShareVisitor(user: bob).declining(in: $0, at: $1) },
            step("what has ended is forgotten, or lives again") { sharing, number in
                changing(sharing, at: number) { changes, rows in
                    changes.forgotten = [participant(2)]
                    changes.updated = rows.filter { $0.user == bob }.map {
                        Participant(id: $0.id, user: bob, addedAt: StorageFixture.now)
                    }
                }
            },
            step("who was invited again accepts") { accepting(bob, in: $0, at: $1) },
            step("R-326: the share ends, and its rows stay as they are") { sharing, number in
                sharing.ending(shareNamed: Share.zoneWideName, at: number)
            },
            step("R-306: the zone is shared again, and has the secret that it had") { _, number in
                var changes = SharingChanges(ShareNumber(number), at: number)
                changes.insertedShare = Share(number: ShareNumber(number), publicPermission: .readWrite)
                changes.inserted = [Participant(id: participant(1), user: bob, addedAt: StorageFixture.now)]
                return changes
            },
            step("the share of before is forgotten, with its rows") { sharing, number in
                changing(sharing, at: number) { changes, _ in
                    changes.forgottenShares = sharing.shares.values.filter { !$0.isLiving }.map(\.number)
                }
            },
        ]
    }

    private static func step(_ name: String, _ decide: @escaping Decision) -> (String, Decision) { (name, decide) }

    private static func rowsChanging(in sharing: ZoneSharing, at number: ChangeNumber) -> SharingChanges? {
        changing(sharing, at: number) { changes, rows in
            for var row in rows {
                if row.user != nil {
                    (row.role, row.permission) = (.privateUser, .readWrite)
                    changes.updated.append(row)
                } else {
                    (row.status, row.endedNumber) = (.removed, number)
                    changes.ended.append(row)
                }
            }
            changes.inserted = [
                Participant(id: participant(3), address: Addresses.telephone, addedAt: StorageFixture.now)
            ]
        }
    }

    private static func accepting(_ user: UserID, in sharing: ZoneSharing, at number: ChangeNumber) -> SharingChanges? {
        let acceptance = ShareVisitor(user: user).accepting(
            in: sharing, as: participant(99), at: number, now: StorageFixture.now, limits: Limits())
        return (try? acceptance.get())?.changes
    }

    private static func changing(
        _ sharing: ZoneSharing, at number: ChangeNumber, _ change: (inout SharingChanges, [Participant]) -> Void
    ) -> SharingChanges? {
        guard let share = sharing.livingShare else { return nil }
        var changes = SharingChanges(share.number, at: number)
        change(&changes, (sharing.participants[share.number] ?? [:]).values.sorted { $0.id < $1.id })
        return changes
    }
}

extension StorageFixture {
    /// Whether every read that can ask for shares shows these, or as much of them as it asks for.
    fileprivate func expectEverywhere(_ whole: ZoneSharing, in zone: SharedZone, _ promise: String) async throws {
        let users = [zone.owner.user, zone.viewer.user].sorted { $0.rawValue < $1.rawValue }
        let reads: [SharingRead] = [
            .whole, .shown(to: zone.viewer.user), zone.access, .access(of: users), .access(of: [zone.owner.user]),
        ]
        for read in reads {
            let expected = whole.reduced(to: read)
            for (name, sharing) in try await sharings(of: zone.key, read) {
                try expectSharing(sharing, expected, "\(promise), \(read), \(name)")
            }
        }
        for user in users {
            let alone = try require(try await second.shareAccess(of: user, to: zone.key), "the zone")
            try expectEqual(alone.zone, zone.zone, "\(promise), the incarnation")
            try expectSharing(alone.sharing, whole.reduced(to: .access(of: [user])), "\(promise), of one user")
        }
        let page = try await second.zonePage(zone.key.page(for: zone.viewer.user))
        try expectSharing(page.sharing, whole.reduced(to: zone.access), "\(promise), with a page")
    }

    /// Whether each read that is to be shown has these names, and no other read has any.
    fileprivate func expectNames(
        _ names: [UserID: PersonName], in zone: SharedZone, _ promise: String
    ) async throws {
        let shown = SharingRead.shown(to: zone.viewer.user)
        for read in [shown, .whole, zone.access] {
            let expected = read == shown ? names : [:]
            let alone = try await second.sharing(of: zone.key, read)
            try expectEqual(alone?.sharing.personNames, expected, "\(promise), \(read), alone")
            let records = try await second.records(named: ["a"], in: zone.key, bytesMax: 1_000, sharing: read)
            try expectEqual(records.sharing?.personNames, expected, "\(promise), \(read), with records")
        }
    }

    private func sharings(of key: ZoneKey, _ read: SharingRead) async throws -> [(String, ZoneSharing?)] {
        let alone = try await second.sharing(of: key, read)
        let records = try await second.records(named: ["a"], in: key, bytesMax: 1_000, sharing: read)
        let keys = try await second.zoneKeys(of: [key.name, "none"], in: key.database, keysMax: 9, sharing: read)
        try expectEqual(keys.last?.sharing, nil, "a zone that never was")
        let query = QueryPageQuery(
            database: key.database, query: Query(recordType: "Note", zoneName: key.name), recordsMax: 9,
            bytesMax: 1_000, sharing: read)
        let page = try await second.queryPage(query, for: WorkTurn(of: .nobody))
        let unlocked = [
            ("alone", alone?.sharing), ("with records", records.sharing), ("with keys", keys.first?.sharing),
            ("with a query", page.sharing),
        ]
        // Nobody is shown a share under the lock.
        if case .shown = read { return unlocked }
        var locked = key.read(records: ["a"])
        locked.sharing = read
        let transaction = try await second.beginWrite([locked])
        await transaction.rollback()
        return unlocked + [("under the lock", transaction.snapshots.first?.sharing)]
    }
}

extension ZoneSharing {
    /// As much as is asked for: of shares that have ended no participants.
    fileprivate func reduced(to read: SharingRead) -> ZoneSharing {
        let living = participants.filter { shares[$0.key]?.isLiving ?? false }
        guard case .access(let users) = read else {
            // Those who have ended are shown to nobody.
            let leavesOutEnded = if case .shown = read { true } else { false }
            return ZoneSharing(
                owner: owner, shares: Array(shares.values),
                participants: living.mapValues { $0.values.filter { $0.isLiving || !leavesOutEnded } },
                requests: requests.mapValues { Array($0.values) }, secret: secret)
        }
        let rows = living.mapValues { rows in
            rows.values.filter { row in row.user.map(users.contains) ?? false }
        }
        return ZoneSharing(owner: owner, shares: Array(shares.values), participants: rows, isWhole: false)
    }
}
