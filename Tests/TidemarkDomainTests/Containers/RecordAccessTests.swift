// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Who may do what with records, on the pure rules.
@Suite struct RecordAccessTests {
    private static let closed = Grants([:])
    private static let editors = Grants([.authenticated: [.create, .write]])
    /// Only creators see these.
    private static let diaries = Grants([.authenticated: .create, .creator: .write])
    private static let grants = [
        "Closed": closed, "Wiki": editors, "Open": Grants([.world: .all]), "Diary": diaries,
    ]

    @Test(
        arguments: [
            // the standard grants.
            (nil, "Note", nil, .read), (nil, "Note", bob, .read), (alice, "Note", nil, [.read, .create]),
            (alice, "Note", bob, [.read, .create]), (alice, "Note", alice, .all),
            // nobody writes, whatever the world is granted.
            (nil, "Open", nil, .read), (alice, "Open", bob, .all),
            // grants of a type take the place of the standard ones. Who may write also may read.
            (alice, "Closed", alice, []), (nil, "Closed", alice, []), (nil, "Wiki", alice, []),
            (alice, "Wiki", bob, .all),
        ] as [(UserID?, String, UserID?, Permissions)])
    func `R-006, R-007, R-008: what a role may do with a public record`(
        user: UserID?, type: String, creator: UserID?, expected: Permissions
    ) {
        let access = RecordAccess(scope: .public, user: user, grants: Self.grants)
        #expect(access.effectivePermission(on: RecordPlace(type: type, creator: creator)) == expected)
    }

    @Test func `R-008: a role of the container's own`() {
        let grants = ["Page": Grants([.world: .read, .custom("Editor"): .write])]
        for (roles, expected) in [([], .read), ([.custom("Editor")], [.read, .write]), ([.custom("Other")], .read)]
            as [(Set<Role>, Permissions)]
        {
            let access = RecordAccess(scope: .public, user: alice, grants: grants, roles: roles)
            #expect(access.effectivePermission(on: RecordPlace(type: "Page", creator: bob)) == expected)
        }
    }

    @Test func `R-009, R-010: the owner may do everything in private, and the shared database owns nothing`() {
        for creator in [nil, alice, bob] {
            let place = RecordPlace(type: "Note", creator: creator)
            #expect(RecordAccess.owner(alice).effectivePermission(on: place) == .all)
            let shared = RecordAccess(scope: .shared, user: alice)
            #expect(shared.effectivePermission(on: place) == [])
        }
    }

    @Test func `R-008: a query finds what may be read: all, one's own, or nothing`() {
        let query = Query(recordType: "Note", zoneName: nil, predicate: .search("word"))
        var own = query
        own.predicate = .and([.compare(.system(.creatorUserRecordID), .equal, .user(alice)), .search("word")])
        let rows: [(Grants, UserID?, Query?)] = [
            (.standard, alice, query), (.standard, nil, query), (Grants([.authenticated: .read]), alice, query),
            (Grants([.authenticated: .read]), nil, nil), (Grants([.creator: .write]), alice, own),
            (Grants([.creator: .write]), nil, nil), (Grants([:]), alice, nil),
        ]
        for (grants, user, expected) in rows {
            let access = RecordAccess(scope: .public, user: user, grants: ["Note": grants])
            #expect(access.narrowing(query) == expected)
        }
        #expect(RecordAccess.owner(alice).narrowing(query) == query)
    }

    @Test func `R-173, R-300: a query for CKShare records looks at no record of another name`() {
        let query = Query(recordType: Share.recordType, zoneName: nil)
        let name = QueryValue.reference(QueryReference(recordName: Share.zoneWideName))
        var named = query
        named.predicate = .and([.compare(.system(.recordID), .equal, name), .always(true)])
        for access in [RecordAccess.owner(alice), RecordAccess(scope: .shared, user: alice)] {
            #expect(access.narrowing(query) == named)
        }
    }

    @Test func `R-007, R-139: only the creator changes and deletes, and the refusal comes before any other news of it`()
    {
        var zone = TestZone(name: ZoneName.default)
        zone.run(publicRequest(&zone, by: alice, saves: [save("a", fields(["k": 1]))]))
        let before = zone.records
        for policy in SavePolicy.allCases {
            for (sent, name) in [
                (save("a"), "no tag"), (save("a", tag: zone.tag("a")), "the tag"),
                (save("a", tag: .foreign), "a wrong one"),
                (save("a", type: "Other"), "another type"),
            ] {
                let request = publicRequest(&zone, by: bob, saves: [sent, save("b-\(policy)-\(name)")], policy: policy)
                // the default zone has no atomic batches, so the other record is saved.
                #expect(zone.run(request).reasons == [.notPermitted, nil], "\(policy) with \(name)")
            }
        }
        #expect(zone.run(publicRequest(&zone, by: bob, deletes: ["a", "none"])).reasons == [.notPermitted, nil])
        #expect(zone.records["a"] == before["a"])
        let mine = publicRequest(&zone, by: alice, saves: [save("a", tag: zone.tag("a"), fields(["k": 2]))])
        #expect(zone.run(mine).reasons == [nil])
        #expect(zone.run(publicRequest(&zone, by: alice, deletes: ["a"])).reasons == [nil])
        // what was deleted may be made anew by anybody, whose it is then.
        #expect(zone.run(publicRequest(&zone, by: bob, saves: [save("a")])).reasons == [nil])
        #expect(zone.living("a")?.createdBy == bob)
    }

    @Test func `R-008: types with other grants`() {
        var zone = TestZone(name: ZoneName.default)
        let closed = publicRequest(&zone, by: alice, saves: [save("c", type: "Closed"), save("w", type: "Wiki")])
        #expect(zone.run(closed).reasons == [.createNotPermitted, nil])
        let changed = publicRequest(
            &zone, by: bob, saves: [save("w", type: "Wiki", tag: zone.tag("w"), fields(["k": 9]))])
        #expect(zone.run(changed).reasons == [nil])
        #expect(zone.living("w")?.createdBy == alice && zone.living("w")?.modifiedBy == bob)
        // A tag of a record that is gone is news of its own, whatever may be created.
        let stale = publicRequest(&zone, by: bob, saves: [save("gone", type: "Closed", tag: .foreign)])
        #expect(zone.run(stale).reasons == [.recordMissing])
    }

    @Test func `I-5: a record that may not be read is not there`() throws {
        var zone = TestZone(name: ZoneName.default)
        zone.save(save("w", type: "Wiki"), save("n"))
        let snapshot = ZoneSnapshot(key: zone.key, zone: zone.zone, records: zone.records)
        func found(_ user: UserID?) -> [String?] {
            let access = RecordAccess(scope: .public, user: user, grants: Self.grants)
            return snapshot.lookUp(["w", "n", "none"], by: access, within: answers(of: 1_000)).map {
                try? $0.get().name
            }
        }
        #expect(found(nil) == [nil, "n", nil])
        #expect(found(bob) == ["w", "n", nil])
        let hidden = snapshot.lookUp(
            ["w"], by: RecordAccess(scope: .public, user: nil, grants: Self.grants), within: answers(of: 9))
        #expect(hidden[0] == .failure(.recordUnknown))
    }

    @Test func `R-157, R-355: two users of a public zone with one device's bits are answered each for themselves`() {
        var zone = TestZone(name: ZoneName.default)
        func request(_ user: UserID, _ name: String) -> RecordsRequest {
            RecordsRequest(
                id: stamp(1), key: zone.key, saves: [save(name)], deletes: [],
                policy: .ifServerRecordUnchanged, isAtomic: false, user: user,
                access: RecordAccess(scope: .public, user: user))
        }
        let first = zone.run(request(alice, "a"))
        #expect(zone.run(request(bob, "b")).reasons == [nil])
        #expect(zone.living("b")?.createdBy == bob)
        #expect(zone.run(request(alice, "a")) == first)
    }

    /// Of alice's: a note that all may read, a page that all may change, and a diary that only she sees.
    private func zoneOfAlice() -> TestZone {
        var zone = TestZone(name: ZoneName.default)
        let saves = [save("note"), save("page", type: "Wiki"), save("diary", type: "Diary")]
        #expect(zone.run(publicRequest(&zone, by: alice, saves: saves)).reasons == [nil, nil, nil])
        return zone
    }

    @Test func `R-741: a parent takes the right to change it, and one that may not be read is not there`() throws {
        var zone = zoneOfAlice()
        func children(of parent: String) -> [RecordSave] {
            [save("child-of-\(parent)", parent: .set(parent)), save("moved", parent: .set(parent))]
        }
        zone.run(publicRequest(&zone, by: bob, saves: [save("moved")]))
        for (parent, expected) in [
            ("note", .notPermitted), ("diary", .parentMissing), ("none", .parentMissing), ("page", nil),
        ] as [(String, FailureReason?)] {
            let request = publicRequest(&zone, by: bob, saves: children(of: parent), policy: .changedKeys)
            let result = zone.run(request)
            #expect(result.reasons == [expected, expected], "\(parent)")
            #expect(result.saves.map { $0.failure?.detail } == [nil, nil], "\(parent)")
        }
        // What nobody could hold on to, alice can delete.
        #expect(zone.run(publicRequest(&zone, by: alice, deletes: ["note", "diary"])).reasons == [nil, nil])
        #expect(zone.run(publicRequest(&zone, by: alice, deletes: ["page"])).reasons == [.stillParent])
        // A record of the same request is the user's own. So is one's own diary.
        let own = [save("mine", type: "Diary"), save("its", parent: .set("mine"))]
        #expect(zone.run(publicRequest(&zone, by: bob, saves: own)).reasons == [nil, nil])
        // Whoever loses the right keeps the child, and may change what else is in it.
        let later = publicRequest(
            &zone, by: bob, saves: [save("moved", fields(["k": 7]), parent: .set("page"))], policy: .changedKeys,
            grants: ["Wiki": .standard])
        #expect(zone.run(later).reasons == [nil])
    }

    @Test func `R-750: nobody keeps another's record from being deleted by referring to it`() throws {
        func holder(_ name: String, of target: String, parent: ParentChange = .unchanged) throws -> RecordSave {
            let reference = FieldReference(recordName: target, action: .deleteSelf)
            return save(name, try FieldMap([Field("to", .reference(reference))]), parent: parent)
        }
        var zone = zoneOfAlice()
        // Bob's: one that goes, one that has a child, and one that would go for the sake of that.
        let bobs = [
            try holder("goes", of: "note"), try holder("stays", of: "note"), save("child", parent: .set("stays")),
            try holder("stays-too", of: "stays"),
        ]
        #expect(zone.run(publicRequest(&zone, by: bob, saves: bobs)).reasons == [nil, nil, nil, nil])
        // What is the user's own to mend keeps it, as ever.
        let own = [try holder("hers", of: "note"), save("of-hers", parent: .set("hers"))]
        #expect(zone.run(publicRequest(&zone, by: alice, saves: own)).reasons == [nil, nil])
        #expect(zone.run(publicRequest(&zone, by: alice, deletes: ["note"])).reasons == [.stillParent])
        #expect(zone.run(publicRequest(&zone, by: alice, deletes: ["of-hers", "note"])).reasons == [nil, nil])
        let living = ["note", "hers", "of-hers", "goes", "stays", "child", "stays-too"].filter {
            zone.living($0) != nil
        }
        #expect(living == ["stays", "child", "stays-too"])
        #expect(zone.run(publicRequest(&zone, by: bob, deletes: ["child", "stays"])).reasons == [nil, nil])
        #expect(zone.living("stays-too") == nil)
    }

    @Test(arguments: SavePolicy.allCases)
    func `R-742: saving and deleting a record that may not be read answers as if it were not there`(
        policy: SavePolicy
    ) throws {
        var zone = zoneOfAlice()
        let before = zone.records["diary"]
        // "none" is not there, so the second answer must be the first.
        for tag in [nil, zone.tag("diary"), .foreign] as [ChangeTag?] {
            let results = ["diary", "none"].map {
                zone.run(publicRequest(&zone, by: bob, saves: [save($0, type: "Closed", tag: tag)], policy: policy))
            }
            #expect(results[0] == results[1])
            #expect(results[0].reasons?.first != .some(nil))
        }
        let stale = publicRequest(&zone, by: bob, saves: [save("diary", type: "Diary", tag: .foreign)], policy: policy)
        // A name is taken once: whoever could have it is told.
        let expected: FailureReason = policy == .ifServerRecordUnchanged ? .recordMissing : .notPermitted
        #expect(zone.run(stale).reasons == [expected])
        let new = publicRequest(&zone, by: bob, saves: [save("diary", type: "Diary")], policy: policy)
        #expect(zone.run(new).reasons == [.notPermitted])
        let deletes = publicRequest(&zone, by: bob, deletes: ["diary", "none"])
        #expect(zone.run(deletes).reasons == [nil, nil])
        #expect(zone.records["diary"] == before)
    }

    @Test func `R-742, R-157: a repeat does not show a record that the user may no longer read`() throws {
        var zone = zoneOfAlice()
        let first = publicRequest(&zone, by: bob, saves: [save("page", type: "Wiki")])
        let conflict = try #require(zone.run(first).saves.first?.failure)
        #expect(conflict.reason == .recordExists && conflict.serverRecord?.name == "page")
        let again = first.with(
            access: RecordAccess(scope: .public, user: bob, grants: ["Wiki": Self.diaries]), refusals: [])
        let repeated = try #require(zone.run(again).saves.first?.failure)
        #expect(repeated.reason == .recordMissing && repeated.serverRecord == nil)
        let blind = publicRequest(&zone, by: bob, saves: [save("page", type: "Wiki")], policy: .changedKeys)
        #expect(zone.run(blind).saves.first?.metadata?.content == zone.records["page"].map { .record($0) })
        let blindAgain = blind.with(access: again.access, refusals: [])
        #expect(zone.run(blindAgain).saves.first?.metadata?.content == .withheld)
    }

    @Test(arguments: [nil, .foreign] as [ChangeTag?])
    func `R-111, R-742: a conflict brings its record to who may read it now, at first and when it is repeated`(
        tag: ChangeTag?
    ) throws {
        // whoever may write may read, also by a grant of writing alone.
        let all: [Permissions] = [[], .read, .create, .write, [.create, .write], .all]
        func grants(_ permissions: Permissions) -> [String: Grants] { ["Page": Grants([.authenticated: permissions])] }
        for (first, later) in all.flatMap({ first in all.map { (first, $0) } }) {
            let comment: Comment = "\(first), then \(later)"
            var zone = TestZone(name: ZoneName.default)
            zone.run(publicRequest(&zone, by: alice, saves: [save("p", type: "Page")], grants: grants(.all)))
            let stored = try #require(zone.living("p"))
            let request = publicRequest(
                &zone, by: bob, saves: [save("p", type: "Page", tag: tag)], grants: grants(first))
            let answer = try #require(zone.run(request).saves.first?.failure)
            #expect(answer.reason.isConflict == first.contains(.write), comment)
            #expect(answer.serverRecord == (first.contains(.write) ? stored : nil), comment)
            func repeated(with permissions: Permissions) -> ItemFailure? {
                let access = RecordAccess(scope: .public, user: bob, grants: grants(permissions))
                return zone.run(request.with(access: access, refusals: [])).saves.first?.failure
            }
            let again = try #require(repeated(with: later))
            guard answer.reason.isConflict else {
                #expect(again == answer, comment)
                continue
            }
            guard later.isDisjoint(with: [.read, .write]) else {
                #expect(again == answer, comment)
                continue
            }
            #expect(again.reason == .recordMissing && again.serverRecord == nil, comment)
            // Nobody can tell that from a record that is gone.
            zone.run(publicRequest(&zone, by: alice, deletes: ["p"], grants: grants(.all)))
            #expect(zone.living("p") == nil)
            #expect(repeated(with: .all) == again, comment)
        }
    }

    @Test func `R-054, R-742: a save brings no record that its user may not read`() {
        var zone = TestZone(name: ZoneName.default)
        let grants = ["Letter": Grants([.authenticated: .create])]
        let send = publicRequest(
            &zone, by: bob, saves: [save("a", type: "Letter", tag: .foreign)], policy: .allKeys, grants: grants)
        #expect(zone.run(send).saves.first?.metadata?.content == .withheld)
    }

    private func publicRequest(
        _ zone: inout TestZone, by user: UserID, saves: [RecordSave] = [], deletes: [String] = [],
        policy: SavePolicy = .ifServerRecordUnchanged, grants: [String: Grants] = Self.grants
    ) -> RecordsRequest {
        let request = zone.request(saves: saves, deletes: deletes, policy: policy, atomic: true, user: user)
        return RecordsRequest(
            id: request.id, key: request.key, saves: saves, deletes: deletes, policy: policy,
            isAtomic: true, user: user, access: RecordAccess(scope: .public, user: user, grants: grants))
    }
}
