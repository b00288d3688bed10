// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Shares of hierarchies: what covers what, who may do what, and what ends with what.
struct HierarchiesTests {
    private static let carol = UserID(3)
    private var zone = TestZone.ofHierarchies()

    /// Two trees: a > b > c, and x > y; and l alone.
    init() {
        zone.ask(alice, save("a"), save("x"), save("l"))
        zone.ask(alice, save("b", parent: .set("a")), save("y", parent: .set("x")))
        zone.ask(alice, save("c", parent: .set("b")))
    }

    @Test mutating func `R-977: several hierarchies of a zone are shared, each with its own root, up to a limit`() {
        zone.limits.hierarchiesMax = 2
        #expect(zone.share("a", as: "S") == [nil, nil])
        #expect(zone.share("x", as: "T") == [nil, nil])
        #expect(zone.share("l", as: "U") == [.tooManyHierarchies, .batchFailed])
        #expect(zone.sharing.rootShareNames == ["a": "S", "x": "T"])
        #expect(zone.ask(alice, deleting: ["S"]) == [nil])
        #expect(zone.share("l", as: "U") == [nil, nil])
        #expect(zone.sharing.rootShareNames == ["l": "U", "x": "T"])
    }

    @Test mutating func `R-999: no share of a hierarchy is made beside an older server, and those there are served`() {
        #expect(zone.share("a", as: "S", with: bob) == [nil, nil])
        zone.limits.servesHierarchies = false
        let before = zone.records["x"]?.changeNumber
        #expect(zone.share("x", as: "T") == [.hierarchiesUnavailable, .batchFailed])
        #expect(zone.records["x"]?.changeNumber == before && zone.living("T") == nil && zone.cover(of: "y") == nil)
        // The share that is there changes, its records are kept right, and it ends.
        #expect(zone.ask(alice, hierarchySave("S", root: "a", tag: zone.tag("S"), public: .readOnly)) == [nil])
        #expect(zone.ask(alice, save("n", parent: .set("c"))) == [nil])
        #expect(zone.cover(of: "n") != nil && zone.wronglyCovered == [])
        zone.limits.servesHierarchies = true
        #expect(zone.share("x", as: "T", with: bob) == [nil, nil])
    }

    @Test mutating func `R-999: a hierarchy that could not be shared a moment ago has no link, and is tried again`() {
        func first(_ secret: [UInt8]) -> RecordSave {
            let said = ShareSave(recordName: "S", rootName: "a", tag: nil)
            return RecordSave(
                name: "S", type: Share.recordType, tag: nil, fields: FieldMap(), parent: .unchanged, share: said,
                freshSecret: secret)
        }
        let again = zone.saveAgain("a")
        #expect(zone.ask(alice, first([]), again) == [.hierarchiesUnavailable, .batchFailed])
        #expect(zone.ask(alice, first([1]), again) == [nil, nil])
    }

    @Test mutating func `R-301: the first save has the root, which gets a new version with its share`() {
        let before = zone.records["a"]?.changeNumber
        #expect(zone.ask(alice, hierarchySave("S", root: "a")) == [.shareRootMissing])
        #expect(zone.ask(alice, hierarchySave("S", root: nil), zone.saveAgain("a")) == [.shareRootMissing, nil])
        #expect(zone.share("a", as: "S", with: bob) == [nil, nil])
        #expect(zone.records["a"]?.changeNumber != before)
        #expect(zone.sharing.hierarchies.map(\.rootName) == ["a"])
        #expect(zone.wronglyCovered == [])
        #expect(["a", "b", "c", "S"].allSatisfy { zone.cover(of: $0) != nil } && zone.cover(of: "x") == nil)
        // A later save of the share alone, with the same root, another one, or none.
        let tag = zone.tag("S")
        #expect(zone.ask(alice, hierarchySave("S", root: "x", tag: tag, public: .readOnly)) == [.shareRootMissing])
        #expect(zone.ask(alice, hierarchySave("S", root: "a", tag: tag, public: .readOnly)) == [nil])
        #expect(zone.ask(alice, hierarchySave("S", root: nil, tag: zone.tag("S"), public: .noAccess)) == [nil])
    }

    @Test mutating func `R-301, R-982: root and share are saved together or not at all`() {
        let stale = zone.tag("a")
        zone.ask(alice, save("a", tag: stale, fields(["k": 2])))
        let old = RecordSave(name: "a", type: "Item", tag: stale, fields: fields(["k": 3]), parent: .unchanged)
        #expect(zone.ask(alice, hierarchySave("S", root: "a"), old) == [.batchFailed, .recordChanged])
        #expect(zone.sharing.hierarchies.isEmpty && zone.living("S") == nil)
        #expect(
            zone.ask(alice, save("n"), hierarchySave("T", root: "n", tag: stale)) == [.batchFailed, .recordMissing])
        #expect(zone.living("n") == nil)
    }

    @Test mutating func `R-303: a record is in one share: not above, not below, not twice`() {
        #expect(zone.share("b", as: "S", with: bob) == [nil, nil])
        #expect(zone.share("a", as: "T") == [.alreadyShared, .batchFailed])
        #expect(zone.share("c", as: "T") == [.alreadyShared, .batchFailed])
        #expect(zone.share("b", as: "T") == [.alreadyShared, .batchFailed])
        #expect(zone.share("y", as: "T", with: bob) == [nil, nil])
        // A root, or something with a root below it, under another share.
        for name in ["b", "a"] {
            #expect(zone.ask(alice, zone.saveAgain(name, parent: .set("y")), policy: .changedKeys) == [.alreadyShared])
        }
        #expect(zone.ask(alice, zone.saveAgain("b", parent: .removed), policy: .changedKeys) == [nil])
        #expect(zone.wronglyCovered == [])
        // Two shares in one request, one above the other: the later gives way.
        let both = zone.ask(
            alice, save("m"), save("n", parent: .set("m")), hierarchySave("M", root: "m"), hierarchySave("N", root: "n")
        )
        #expect(both == [nil, .batchFailed, nil, .alreadyShared])
    }

    @Test mutating func `R-304: a zone is shared as a whole or in parts`() {
        zone.share("a", as: "S")
        #expect(zone.share() == [.zoneHasHierarchies])
        #expect(zone.ask(alice, deleting: ["S"]) == [nil])
        #expect(zone.share() == [nil])
        #expect(zone.share("x", as: "T") == [.zoneIsShared, .batchFailed])
    }

    @Test mutating func `R-304: one request shares a zone as a whole or in parts: the later gives way`() {
        let whole = shareSave()
        #expect(
            zone.ask(alice, whole, hierarchySave("S", root: "a"), zone.saveAgain("a"), policy: .changedKeys)
                == [nil, .zoneIsShared, .batchFailed])
        #expect(zone.sharing.hierarchies.isEmpty && zone.sharing.livingShare != nil)
        #expect(zone.ask(alice, deleting: [Share.zoneWideName]) == [nil])
        #expect(
            zone.ask(alice, hierarchySave("S", root: "a"), zone.saveAgain("a"), shareSave(), policy: .changedKeys)
                == [nil, nil, .zoneHasHierarchies])
        #expect(zone.sharing.livingShare == nil && zone.wronglyCovered == [])
    }

    @Test mutating func `R-303: the shares of one request count together`() {
        zone.limits.hierarchiesMax = 1
        let answer = zone.ask(
            alice, hierarchySave("S", root: "a"), hierarchySave("T", root: "x"), zone.saveAgain("a"),
            zone.saveAgain("x"), policy: .changedKeys)
        #expect(answer == [nil, .tooManyHierarchies, nil, .batchFailed])
        #expect(zone.sharing.hierarchies.map(\.rootName) == ["a"])
    }

    @Test mutating func `R-303: of three roots in one chain the first save stays, whatever is between`() {
        let answer = zone.ask(
            alice, hierarchySave("A", root: "a"), hierarchySave("C", root: "c"), hierarchySave("B", root: "b"),
            zone.saveAgain("a"), zone.saveAgain("b"), zone.saveAgain("c"), policy: .changedKeys)
        #expect(answer == [nil, .alreadyShared, .alreadyShared, nil, .batchFailed, .batchFailed])
        #expect(zone.wronglyCovered == [])
    }

    @Test(arguments: [SharePermission.readOnly, .readWrite])
    mutating func `R-323: what a participant may do depends on the record's place`(permission: SharePermission) {
        zone.ask(
            alice, hierarchySave("S", root: "a", [guest(bob, permission)]), zone.saveAgain("a"), policy: .changedKeys)
        zone.accept(bob, shareNamed: "S")
        zone.share("x", as: "T", with: Self.carol)
        let mine: Permissions = permission == .readWrite ? .all : .read
        for name in ["a", "b", "c"] {
            #expect(zone.permissions(of: bob, on: name) == mine)
            #expect(zone.permissions(of: Self.carol, on: name) == [])
            #expect(zone.permissions(of: alice, on: name) == .all)
        }
        for name in ["x", "y", "T", "l"] { #expect(zone.permissions(of: bob, on: name) == []) }
        #expect(zone.permissions(of: bob, on: "S") == .read)
        #expect(zone.permissions(of: Self.carol, on: "l") == [])
    }

    @Test mutating func `R-323: a participant's new records have a parent in a share that allows it`() {
        zone.share("a", as: "S", with: bob)
        zone.share("x", as: "T", with: Self.carol)
        #expect(zone.ask(bob, save("n", parent: .set("b"))) == [nil])
        #expect(zone.records["n"]?.createdBy == bob && zone.cover(of: "n")?.share == zone.cover(of: "b")?.share)
        #expect(zone.ask(bob, save("m")) == [.createNotPermitted])
        #expect(zone.ask(bob, save("m", parent: .set("y"))) == [.parentMissing])
        #expect(zone.ask(bob, save("m", parent: .set("none"))) == [.parentMissing])
        #expect(zone.ask(bob, save("m", parent: .set("l"))) == [.parentMissing])
        // A folder and what is in it, in any order.
        #expect(zone.ask(bob, save("q", parent: .set("p")), save("p", parent: .set("c"))) == [nil, nil])
        // A chain that ends nowhere.
        #expect(zone.ask(bob, save("s", parent: .set("r")), save("r")) == [.createNotPermitted, .createNotPermitted])
        #expect(zone.wronglyCovered == [])
        // A name that somebody else's record has.
        #expect(zone.ask(bob, save("l", parent: .set("b"))) == [.notPermitted])
    }

    @Test mutating func `R-323: a participant moves nothing out, and no root`() {
        zone.share("a", as: "S", with: bob)
        zone.share("x", as: "T", with: bob, Self.carol)
        #expect(zone.ask(bob, zone.saveAgain("c", parent: .removed), policy: .changedKeys) == [.notPermitted])
        #expect(zone.ask(bob, zone.saveAgain("a", parent: .set("y")), policy: .changedKeys) == [.notPermitted])
        #expect(zone.ask(bob, zone.saveAgain("c", parent: .set("l")), policy: .changedKeys) == [.parentMissing])
        #expect(zone.ask(bob, zone.saveAgain("c", parent: .set("y")), policy: .changedKeys) == [nil])
        #expect(zone.permissions(of: Self.carol, on: "c") == .all)
        #expect(zone.wronglyCovered == [])
    }

    @Test mutating func `R-138, R-325: a participant deletes no root, and what they do not see is not there`() {
        zone.share("a", as: "S", with: bob)
        #expect(zone.ask(bob, deleting: ["a"]) == [.notPermitted])
        #expect(zone.ask(bob, deleting: ["x", "l"]) == [nil, nil])
        #expect(zone.living("x") != nil && zone.living("l") != nil)
        #expect(zone.ask(bob, deleting: ["c"]) == [nil])
        #expect(zone.living("c") == nil && zone.wronglyCovered == [])
    }

    @Test mutating func `R-326, R-327: root and CKShare record follow each other`() {
        zone.share("x", as: "T", with: bob)
        let version = zone.records["x"]?.changeNumber ?? 0
        #expect(zone.ask(alice, deleting: ["T"]) == [nil])
        #expect(zone.sharing.hierarchies.isEmpty && zone.living("y") != nil)
        #expect(zone.records["x"].map { $0.changeNumber > version } == true)
        zone.share("l", as: "L", with: bob)
        #expect(zone.ask(alice, deleting: ["l"]) == [nil])
        #expect(zone.living("L") == nil && zone.sharing.hierarchies.isEmpty)
        #expect(zone.ask(bob, save("n")) == [.zoneNotFound])
    }

    @Test mutating func `R-330: who leaves one share of several stays in the others`() {
        zone.share("a", as: "S", with: bob)
        zone.share("x", as: "T", with: bob)
        #expect(zone.ask(bob, deleting: ["S"]) == [nil])
        #expect(zone.permissions(of: bob, on: "b") == [] && zone.permissions(of: bob, on: "y") == .all)
        #expect(zone.living("S") != nil && zone.living("a") != nil)
        zone.act(.leave(bob))
        #expect(zone.ask(bob, save("n", parent: .set("y"))) == [.zoneNotFound])
        #expect(zone.sharing.hierarchies.count == 2)
    }

    @Test mutating func `R-729: the shares that a write looks at count, and what is below what moves`() {
        func counts(_ save: RecordSave) -> [Int] {
            let request = zone.request(saves: [save], policy: .changedKeys)
            let read = request.read(within: zone.limits)
            let snapshot = zone.snapshot(for: read)
            return [snapshot.shareRowCount, snapshot.relativeCount(of: read)]
        }
        let (other, move) = (zone.saveAgain("y"), zone.saveAgain("b", parent: .removed))
        #expect(counts(other) == [0, 0] && counts(move) == [0, 0])
        zone.share("a", as: "S", with: bob)
        #expect(counts(other) == [1, 0] && counts(move) == [1, 1])
        zone.share("x", as: "T", with: bob)
        #expect(counts(other) == [2, 0] && counts(move) == [2, 1])
        // Whoever changes a share looks at all people.
        #expect(counts(hierarchySave("S", root: nil, tag: zone.tag("S")))[0] > 2)
    }

    @Test mutating func `F-7, R-978: moves beyond the limit change nothing`() {
        zone.limits.shareSubtreeMax = 2
        zone.share("x", as: "T", with: bob)
        #expect(zone.share("a", as: "S") == [.hierarchyTooLarge, .batchFailed])
        let before = zone.zone?.changeNumber
        #expect(zone.ask(alice, zone.saveAgain("a", parent: .set("y")), policy: .changedKeys) == [.hierarchyTooLarge])
        #expect(zone.zone?.changeNumber == before && zone.wronglyCovered == [])
        #expect(zone.ask(alice, zone.saveAgain("b", parent: .set("y")), policy: .changedKeys) == [nil])
        #expect(zone.wronglyCovered == [] && zone.permissions(of: bob, on: "c") == .all)
    }

    @Test
    mutating func
        `R-226, R-981: what comes into view is a modification with its own version, what leaves is a deletion`()
        throws
    {
        zone.share("x", as: "T", with: bob)
        let first = try zone.page(for: bob).get()
        #expect(Set(first.entries.map(\.name)) == ["x", "y", "T"] && !first.moreComing)
        #expect(first.entries.first { $0.name == "x" }?.shareName == "T")
        let versions = zone.records.mapValues(\.changeNumber)
        zone.ask(alice, zone.saveAgain("b", parent: .set("y")), policy: .changedKeys)
        let second = try zone.page(for: bob, after: first.token.bytes).get()
        #expect(Set(second.entries.map(\.name)) == ["b", "c"] && second.entries.allSatisfy { !$0.isDeleted })
        #expect(second.entries.first { $0.name == "c" }?.changeNumber == versions["c"])
        zone.ask(alice, zone.saveAgain("b", parent: .set("a")), policy: .changedKeys)
        let third = try zone.page(for: bob, after: second.token.bytes).get()
        #expect(Set(third.entries.map(\.name)) == ["b", "c"])
        #expect(third.entries.allSatisfy { $0.isDeleted && $0.type == "Item" && $0.fields == FieldMap() })
        #expect(try zone.page(for: bob, after: third.token.bytes).get().entries.isEmpty)
        // Of what happens elsewhere nothing is told.
        zone.ask(alice, save("secret", parent: .set("a")))
        #expect(try zone.page(for: bob, after: third.token.bytes).get().entries.isEmpty)
    }

    @Test mutating func `R-979: a token is good for the shares for which it was given`() throws {
        zone.share("x", as: "T", with: bob)
        let token = try zone.page(for: bob).get().token.bytes
        #expect(ChangeToken(bytes: token)?.bytes == token)
        zone.share("a", as: "S", with: bob)
        #expect(zone.page(for: bob, after: token) == .failure(.tokenExpired))
        let all = try zone.page(for: bob).get()
        #expect(Set(all.entries.map(\.name)) == ["x", "y", "T", "a", "b", "c", "S"])
        zone.ask(bob, deleting: ["T"])
        #expect(zone.page(for: bob, after: all.token.bytes) == .failure(.tokenExpired))
        zone.act(.leave(bob))
        #expect(zone.page(for: bob, after: all.token.bytes) == .failure(.zoneNotFound))
        #expect(zone.page(for: Self.carol) == .failure(.zoneNotFound))
    }

    @Test mutating func `R-979: with the last hierarchy the zone is one without any, and tokens expire`() throws {
        #expect(zone.zone?.hasHierarchies == false)
        zone.share("a", as: "S", with: bob)
        zone.share("x", as: "T", with: bob)
        let token = try zone.page(for: bob).get().token.bytes
        zone.ask(alice, deleting: ["S"])
        #expect(zone.zone?.hasHierarchies == true)
        // The root takes its share along.
        zone.ask(alice, deleting: ["y", "x"])
        #expect(zone.zone?.hasHierarchies == false && zone.page(for: bob, after: token) == .failure(.zoneNotFound))
        // What is saved now has no rows of the shares that have ended.
        let rows = zone.shareRecords
        zone.ask(alice, save("n", parent: .set("c")))
        zone.ask(alice, zone.saveAgain("c", parent: .removed), policy: .changedKeys)
        #expect(zone.shareRecords == rows)
        zone.share("a", as: "S", with: bob)
        #expect(zone.zone?.hasHierarchies == true && zone.wronglyCovered == [])
        #expect(zone.page(for: bob, after: token) == .failure(.tokenExpired))
        #expect(Set(try zone.page(for: bob).get().entries.map(\.name)) == ["a", "b", "S"])
        zone.act(.end)
        #expect(zone.zone?.hasHierarchies == false)
        #expect(zone.share(with: [guest(bob)]) == [nil] && zone.accept(bob) == nil)
        #expect(zone.page(for: bob, after: token) == .failure(.tokenExpired))
        #expect(try zone.page(for: bob).get().entries.contains { $0.name == "c" })
    }

    @Test mutating func `R-979, R-981: who leaves a share and joins it again hears of nothing between`() throws {
        zone.share("a", as: "S", with: bob)
        zone.share("x", as: "T", with: bob)
        let token = try zone.page(for: bob).get().token.bytes
        zone.ask(bob, deleting: ["S"])
        // It comes under the share that he has left, and leaves it.
        zone.ask(alice, save("secret", parent: .set("b")))
        zone.ask(alice, deleting: ["secret"])
        zone.ask(alice, deleting: ["c"])
        zone.share(with: bob, again: "S")
        zone.accept(bob, shareNamed: "S")
        #expect(zone.permissions(of: bob, on: "b") == .all)
        // The shares are the same as before, and what he takes part in is not.
        #expect(zone.page(for: bob, after: token) == .failure(.tokenExpired))
        for tellsEnds in [false, true] {
            let all = try zone.page(for: bob, tellsEnds: tellsEnds).get()
            #expect(Set(all.entries.map(\.name)) == ["a", "b", "S", "x", "y", "T"])
        }
    }

    @Test mutating func `R-981: a fetch that asks for all ends tells those that the user could have seen`() throws {
        zone.share("x", as: "T", with: Self.carol)
        zone.ask(alice, save("early", parent: .set("y")))
        zone.ask(alice, deleting: ["early"])
        zone.share(with: bob, again: "T")
        zone.accept(bob, shareNamed: "T")
        zone.ask(alice, save("late", parent: .set("y")))
        zone.ask(alice, deleting: ["late"])
        func ends(_ user: UserID, _ tellsEnds: Bool) throws -> [String] {
            var (names, token): ([String], [UInt8]) = ([], [])
            while true {
                let page = try zone.page(for: user, after: token, limit: 1, tellsEnds: tellsEnds).get()
                names += page.entries.filter(\.isDeleted).map(\.name)
                token = page.token.bytes
                if !page.moreComing { return names }
            }
        }
        #expect(try ends(bob, true) == ["late"] && ends(Self.carol, true) == ["early", "late"])
        #expect(try ends(bob, false) == [] && ends(Self.carol, false) == [])
    }

    @Test mutating func `R-323, R-981: a root's own parent stays, and no guess of it succeeds`() {
        zone.ask(alice, save("r", parent: .set("l")))
        zone.share("r", as: "R", with: bob)
        for guess in ["l", "x", "none"] {
            #expect(zone.ask(bob, zone.saveAgain("r", parent: .set(guess)), policy: .changedKeys) == [.notPermitted])
        }
        let edit = RecordSave(
            name: "r", type: "Item", tag: zone.tag("r"), fields: fields(["k": 7]), parent: .removed)
        #expect(zone.ask(bob, edit) == [nil])
        #expect(zone.records["r"]?.parent == "l" && zone.records["r"]?.fields["k"] != nil)
        #expect(zone.ask(bob, zone.saveAgain("r"), policy: .changedKeys) == [nil])
        #expect(zone.records["r"]?.parent == "l" && zone.wronglyCovered == [])
        // The owner moves it.
        #expect(zone.ask(alice, zone.saveAgain("r", parent: .removed), policy: .changedKeys) == [nil])
        #expect(zone.records["r"]?.parent == nil)
    }

    @Test mutating func `R-983: a participant's delete takes no root along, but all else`() throws {
        let reference = Field("to", .reference(FieldReference(recordName: "c", action: .deleteSelf)))
        zone.ask(alice, save("h", try FieldMap([reference])), save("i", try FieldMap([reference])))
        zone.share("a", as: "S", with: bob)
        zone.share("h", as: "H", with: Self.carol)
        #expect(zone.ask(bob, deleting: ["c"]) == [nil])
        #expect(zone.living("c") == nil && zone.living("i") == nil)
        #expect(zone.living("h") != nil && zone.permissions(of: Self.carol, on: "h") == .all)
        #expect(zone.wronglyCovered == [])
    }

    @Test
    mutating func `R-078, R-079, R-133: a reference to what one does not see is saved as one to nothing, and counts`()
        throws
    {
        func referring(to target: String) throws -> FieldMap {
            try FieldMap([Field("to", .reference(FieldReference(recordName: target, action: .deleteSelf)))])
        }
        let (hidden, missing) = (try referring(to: "l"), try referring(to: "none"))
        zone.share("a", as: "S", with: bob)
        // The answer does not tell which of the two is there.
        #expect(zone.ask(bob, save("m", hidden, parent: .set("b"))) == [nil])
        #expect(zone.ask(bob, save("n", missing, parent: .set("b"))) == [nil])
        zone.limits.referencesMax = 1
        for target in [hidden, missing] {
            #expect(zone.ask(bob, save("o", target, parent: .set("b"))) == [.tooManyReferences])
            #expect(zone.ask(alice, save("o", target)) == [.tooManyReferences])
        }
        #expect(zone.ask(alice, deleting: ["l"]) == [nil])
        #expect(zone.living("m") == nil && zone.living("n") != nil && zone.wronglyCovered == [])
    }

    @Test
    mutating func `F-26, R-221: once it is forgotten what left a share, older tokens expire, and a new fetch is whole`()
        throws
    {
        zone.share("a", as: "S", with: bob)
        let old = try zone.page(for: bob).get().token.bytes
        zone.ask(alice, zone.saveAgain("b", parent: .removed), policy: .changedKeys)
        let told = try zone.page(for: bob, after: old).get()
        #expect(Set(told.entries.map(\.name)) == ["b", "c"] && told.entries.allSatisfy(\.isDeleted))
        // As an operator's compaction does.
        for share in Array(zone.shareRecords.keys) {
            zone.shareRecords[share] = zone.shareRecords[share]?.filter { !$0.value.hasLeft }
        }
        let number = zone.zone?.changeNumber ?? 0
        zone.zone?.oldestTokenNumber = number
        #expect(zone.page(for: bob, after: old) == .failure(.tokenExpired))
        let all = try zone.page(for: bob).get()
        #expect(Set(all.entries.map(\.name)) == ["a", "S"] && !all.moreComing)
        #expect(all.entries.allSatisfy { !$0.isDeleted })
        // A token that is not older goes on.
        zone.ask(alice, save("d", parent: .set("a")))
        #expect(try zone.page(for: bob, after: told.token.bytes).get().entries.map(\.name) == ["d"])
    }

    @Test mutating func `R-984: an operator ends all shares of a zone`() {
        zone.share("a", as: "S", with: bob)
        zone.share("x", as: "T", with: bob)
        let versions = [zone.records["a"]?.changeNumber ?? 0, zone.records["x"]?.changeNumber ?? 0]
        zone.act(.end)
        #expect(zone.sharing.livingShares.isEmpty && zone.living("S") == nil && zone.living("T") == nil)
        #expect(["a", "x"].compactMap { zone.records[$0]?.changeNumber }.min() ?? 0 > versions.max() ?? 0)
        #expect(zone.permissions(of: bob, on: "b") == [] && zone.wronglyCovered == [])
    }
}
