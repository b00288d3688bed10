// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkService

/// Shares of hierarchies: what a transaction reads of them, and what participants are shown.
extension StorageConformance {
    static let hierarchies: [Scenario] = [
        Scenario("R-302: a transaction reads the share that covers each record, and all that is below one that moves") {
            store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            let share = try await zone.share("a", as: "S")
            let snapshot = try await zone.snapshot(saving: [zone.save("b", parent: .set("x"))])
            try expect(snapshot.zone?.hasHierarchies == true, "the zone says that it has hierarchies")
            try expectEqual(snapshot.hierarchies?.covers["b"]?.share, share, "what covers b")
            try expectEqual(snapshot.records["b"]?.share, share, "the record says so")
            try expectEqual(snapshot.hierarchies?.covers["x"], nil, "nothing covers x")
            let below = (snapshot.hierarchies?.below ?? []).map(\.name).sorted()
            try expectEqual(below, ["c", "d"], "all that is below b")
            try expect(snapshot.hierarchies?.below.allSatisfy { $0.cover?.share == share } == true, "and its share")
            try expectEqual(snapshot.sharing?.hierarchies.map(\.rootName), ["a"], "the shares")
            // What is below is bounded.
            let cut = try await zone.snapshot(saving: [zone.save("b", parent: .set("x"))], belowMax: 1)
            try expect(cut.hierarchies?.isCut == true && cut.hierarchies?.below.count == 1, "more than is read")
            // It has that parent already, so nothing moves.
            let kept = try await zone.snapshot(saving: [zone.save("b", parent: .set("a"))])
            try expectEqual(kept.hierarchies?.below, [], "nothing is read below what stays")
            try expectEqual(kept.hierarchies?.covers["b"]?.share, share, "and what covers it is")
            // So are relatives of which a transaction may read few (R-776).
            for (relativesMax, isCut) in [(1, true), (2, false)] {
                let few = try await zone.snapshot(
                    saving: [zone.save("b", parent: .set("x"))], relativesMax: relativesMax)
                try expectEqual(few.areRelativesCut, isCut, "of 2 below b \(relativesMax) may be read")
                try expectEqual(few.hierarchies?.below.count, relativesMax, "and are")
            }
            // A zone without shares is read as before.
            let other = try await HierarchyZone(store, "other")
            let plain = try await other.snapshot(saving: [other.save("b", parent: .set("x"))])
            try expect(
                plain.hierarchies == nil && plain.sharing == nil, "nothing is read of a zone that shares nothing")
        },
        Scenario("R-226: a participant's page has what came, what changed and what left, by their own numbers") {
            store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            let share = try await zone.share("a", as: "S")
            try await zone.accept("S")
            var number = try await zone.expectPage(of: [share], after: 0, ["S", "a", "b", "c", "d"], left: [])
            let versions = try await zone.versions(["c", "d"])
            try await zone.apply([zone.save("b", parent: .set("x"))])
            number = try await zone.expectPage(of: [share], after: number, [], left: ["b", "c", "d"])
            try await zone.apply([zone.save("b", parent: .set("a"))])
            number = try await zone.expectPage(of: [share], after: number, ["b", "c", "d"], left: [])
            try expectEqual(
                try await zone.versions(["c", "d"]), versions, "they came with b, and have no new versions")
            try await zone.apply(deleting: ["d"])
            number = try await zone.expectPage(of: [share], after: number, [], left: ["d"])
            // In pieces nothing is lost.
            var (names, after): ([String], ChangeNumber) = ([], 0)
            while true {
                let read = try await zone.page(of: [share], after: after, recordsMax: 1)
                try expect(read.events.count <= 2, "a page is no longer than was asked for, and one more")
                guard let event = read.events.first else { break }
                names.append(event.row.name)
                after = event.row.number
                if !read.hasMore { break }
            }
            try expectEqual(names.sorted(), ["S", "a", "b", "c", "d"], "one by one")
            _ = number
        },
        Scenario("R-979: with the last hierarchy the zone is one without any, and a later share covers all anew") {
            store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            _ = try await zone.share("a", as: "S")
            _ = try await zone.share("x", as: "T")
            try await zone.apply(deleting: ["S"])
            try expect(try await zone.saysHierarchies(), "one is left")
            try await zone.apply(deleting: ["T"])
            try expect(try await zone.saysHierarchies() == false, "none is left")
            let plain = try await zone.snapshot(saving: [zone.save("b", parent: .set("x"))])
            try expect(plain.hierarchies == nil && plain.sharing == nil, "it is read as one that shares nothing")
            try await zone.apply([zone.save("e", parent: .set("b")), zone.save("d", parent: .set("x"))])
            let share = try await zone.share("a", as: "S")
            try expect(try await zone.saysHierarchies(), "one is shared again")
            try await zone.accept("S")
            _ = try await zone.expectPage(of: [share], after: 0, ["S", "a", "b", "c", "e"], left: [])
        },
        Scenario("F-26, R-221: what has left a share goes with the zone's tombstones, and older tokens are expired") {
            store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            let share = try await zone.share("a", as: "S")
            try await zone.accept("S")
            let number = try await zone.expectPage(of: [share], after: 0, ["S", "a", "b", "c", "d"], left: [])
            try await zone.apply(deleting: ["d"])
            let after = try await zone.expectPage(of: [share], after: number, [], left: ["d"])
            for _ in 1...3 { try await store.second.forgetTombstones(of: zone.key.database) }
            let read = try await zone.page(of: [share], after: number)
            try expectEqual(read.events.count, 0, "nothing is told of it")
            let oldest = try require(read.zone, "the zone").oldestTokenNumber
            try expect(oldest > number && oldest <= after, "older tokens are expired, and newer ones are not")
            // What is there stays, and what leaves later is told.
            _ = try await zone.expectPage(of: [share], after: 0, ["S", "a", "b", "c"], left: [])
            try await zone.apply([zone.save("c", parent: .set("x"))])
            _ = try await zone.expectPage(of: [share], after: after, [], left: ["c"])
        },
        Scenario("R-978: a record has 21 rows in shares at most, and what is forgotten expires tokens") {
            store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            let count = ShareRecord.rowsMax + 2
            var shares: [ShareNumber] = []
            for place in 1...count {
                try await zone.apply([zone.save("root \(place)")])
                shares.append(try await zone.share("root \(place)", as: "S\(place)"))
            }
            try await zone.accept("S1")
            var numbers: [ChangeNumber] = []
            for place in 1...count {
                try await zone.apply([zone.save("x", parent: .set("root \(place)"))])
                numbers.append(try require(try await zone.page(of: shares, after: 0).zone, "the zone").changeNumber)
            }
            try await zone.apply([zone.save("x", parent: .removed)])
            let read = try await zone.page(of: shares, after: 0)
            let left = read.events.filter { $0.row.hasLeft }.map(\.row)
            try expectEqual(left.map(\.share), Array(shares.suffix(ShareRecord.rowsMax)), "those that it left last")
            let oldest = try require(read.zone, "the zone").oldestTokenNumber
            // It left each share with the move into the next one.
            try expectEqual(oldest, numbers[2], "tokens from before the last that is forgotten")
        },
        Scenario("R-306, R-783: links of all roots of a zone count together, taken and untaken") { store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            func rowCount() async throws -> Int? {
                var read = ZoneRead(key: zone.key, recordNames: [], parentNames: [], lives: [])
                read.sharing = .whole
                let transaction = try await store.first.beginWrite([read])
                await transaction.rollback()
                return transaction.snapshots.first?.sharingRowCount
            }
            _ = try await zone.share("a", as: "S")
            try expectEqual(try await rowCount(), 3, "a share, a participant and a link")
            try await zone.apply(deleting: ["S"])
            _ = try await zone.share("a", as: "S")
            try expectEqual(try await rowCount(), 5, "another share with its participant, and the same link")
            func points(_ byte: UInt8, _ root: String) async throws -> Bool {
                do throws(StorageError) {
                    let hash = Array(repeating: byte, count: 32)
                    let led = try await store.second.pointLink(secretHash: hash, to: zone.key, root: root, atMost: 2)
                    return led != nil
                } catch {
                    guard error.code == .crowded else { throw error }
                    return false
                }
            }
            try expect(try await points(1, "b"), "one link that no save has taken")
            try expect(try await points(2, "c"), "and one of another root")
            try expect(try await points(3, "x") == false, "the sum is of all roots")
            try expect(try await points(4, "a"), "a root that has a link keeps it")
        },
        Scenario("R-732, R-226: a page looks at as many rows as it has, and what is in another share has not left") {
            store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            let shares = [try await zone.share("a", as: "S"), try await zone.share("x", as: "T")]
            try await zone.accept("S")
            try await zone.accept("T")
            let number = try require(try await zone.page(of: shares, after: 0).zone, "the zone").changeNumber
            try await zone.apply([zone.save("b", parent: .set("x"))])
            _ = try await zone.expectPage(of: shares, after: number, ["b", "c", "d"], left: [])
            _ = try await zone.expectPage(of: [shares[0]], after: number, [], left: ["b", "c", "d"])
            // Wherever a page ends, what came is told before the next one begins.
            var (names, after): ([String], ChangeNumber) = ([], number)
            while true {
                let read = try await zone.page(of: shares, after: after, recordsMax: 1)
                let event = try require(read.events.first, "a page gets further")
                try expect(event.row.number > after && !event.row.hasLeft, "the record as it came")
                try expect(read.events.dropFirst().allSatisfy(\.isElsewhere), "and where it left")
                names.append(event.row.name)
                after = event.row.number
                if names.count == 3 { break }
            }
            try expectEqual(names.sorted(), ["b", "c", "d"], "one by one")
            try expect(try await zone.page(of: shares, after: after).events.isEmpty, "nothing more")
            // What does not get through in one page is no more than was asked for.
            try expect(try await zone.page(of: shares, after: number, recordsMax: 4).events.count <= 4, "few rows")
        },
        Scenario("R-321, R-225: a zone goes on in a viewer's list from one share to the next, and ends with the last") {
            store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            let share = try await zone.share("a", as: "S")
            _ = try await zone.share("x", as: "T")
            let (owner, viewer) = (try await store.alice(), try await store.bob())
            let id = try require(try await store.second.shareAccess(of: viewer.user, to: zone.key), "the zone").zone
            let shared = SharedZone(key: zone.key, zone: id, share: share, owner: owner, viewer: viewer)
            try await store.point(shared)
            var told: ChangeNumber = 0
            func expectList(_ removals: [ZoneRemovalReason?], _ what: String) async throws {
                let read = try await store.advance(shared, after: told)
                try expectEqual(read.entries.map(\.removal), removals, what)
                told = read.head
            }
            try await zone.accept("S")
            try await expectList([nil], "the first share")
            try await zone.accept("T")
            try await zone.apply(deleting: ["S"])
            try await expectList([nil], "the second one began before the first one ended")
            _ = try await zone.share("a", as: "S")
            try await zone.accept("S")
            try await zone.apply(deleting: ["T"])
            try await expectList([nil], "the first one again, before the second one ended")
            try await zone.apply(deleting: ["S"])
            _ = try await zone.share("x", as: "T")
            try await zone.accept("T")
            try await expectList([.deleted, nil], "there was no share between these")
        },
        Scenario("I-5: records, pages and queries are of the shares that the same snapshot has") { store in
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            let share = try await zone.share("a", as: "S")
            try await zone.accept("S")
            let found = try await store.second.records(
                named: ["b", "x", "S"], in: zone.key, bytesMax: .max, sharing: .access(of: [zone.bob]))
            let access = try require(
                RecordAccess(scope: .shared, user: zone.bob).sharing(found.sharing), "bob has access")
            try expectEqual(access.share?.hierarchies, [share], "through his share")
            try expectEqual(
                ["b", "x", "S"].map { name in found.records[name].map(access.mayRead) }, [true, false, true],
                "what he sees")
            // Another share has another place in the list of the zone, and the zone stays one.
            let other = try await zone.share("x", as: "T")
            try await zone.accept("T")
            let both = try await store.second.shareAccess(of: zone.bob, to: zone.key)
            let now = try require(both, "the zone")
            try expectEqual(ShareAccess(of: zone.bob, in: now.sharing).hierarchies, [share, other], "two shares")
            try await zone.apply(deleting: ["S"])
            let one = try require(try await store.second.shareAccess(of: zone.bob, to: zone.key), "the zone")
            try expectEqual(ShareAccess(of: zone.bob, in: one.sharing).hierarchies, [other], "one has ended")
            let root = try require(try await store.second.records(named: ["a"], in: zone.key).records["a"], "the root")
            try expect(root.changeNumber == one.sharing.shares[share].flatMap(\.endedNumber).map { $0 + 1 }, "R-326")
        },
        Scenario("R-301: what a query finds says of which share it is the root, as what is fetched does") { store in
            try await store.learnNotes(in: try await store.alice())
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            try await zone.apply([zone.save("r", parent: .set("x"))])
            _ = try await zone.share("a", as: "S")
            _ = try await zone.share("r", as: "R")
            let other = try await HierarchyZone(store, "other")
            var filled = other
            try await filled.fill()
            func shares(inZone zoneName: String?) async throws -> [String: String?] {
                let query = Query(recordType: "Note", zoneName: zoneName)
                let page = QueryPageQuery(database: zone.key.database, query: query, recordsMax: 50, bytesMax: .max)
                let matches = try await store.second.queryPage(page, for: WorkTurn(of: .nobody)).matches
                return Dictionary(
                    matches.map { ("\($0.zoneName) \($0.record.name)", $0.record.shareName) }, uniquingKeysWith: { $1 })
            }
            func named(_ found: [String: String?]) -> [String: String] { found.compactMapValues { $0 } }
            let found = try await shares(inZone: "notes")
            try expectEqual(found.count, 6, "all of the zone")
            try expectEqual(named(found), ["notes a": "S", "notes r": "R"], "the roots of one zone")
            let all = try await shares(inZone: nil)
            try expectEqual(all.count, 11, "all of both zones")
            try expectEqual(named(all), ["notes a": "S", "notes r": "R"], "and of all zones")
            try await zone.apply(deleting: ["S"])
            try expectEqual(named(try await shares(inZone: "notes")), ["notes r": "R"], "one has ended")
            try await zone.apply(deleting: ["R"])
            try expectEqual(named(try await shares(inZone: "notes")), [:], "all have ended")
        },
        Scenario("R-981: no condition and no order of a query tells a root's own parent") { store in
            try await store.learnNotes(in: try await store.alice())
            var zone = try await HierarchyZone(store, "notes")
            try await zone.fill()
            try await zone.apply([zone.save("r", parent: .set("x")), zone.save("s", parent: .set("r"))])
            let shares = [try await zone.share("a", as: "S"), try await zone.share("r", as: "R")]
            try await zone.accept("S")
            try await zone.accept("R")
            func names(
                _ predicate: QueryPredicate, of shares: [ShareNumber]?, by sorts: [QuerySort] = []
            ) async throws -> [String] {
                let query = Query(recordType: "Note", zoneName: zone.key.name, predicate: predicate, sorts: sorts)
                var page = QueryPageQuery(
                    database: zone.key.database, query: query, recordsMax: 10, bytesMax: .max,
                    sharing: shares == nil ? .nothing : .access(of: [zone.bob]))
                page.hierarchies = shares
                let read = try await store.second.queryPage(page, for: WorkTurn(of: .nobody))
                return read.matches.map(\.record.name)
            }
            func parent(_ comparison: QueryComparison, _ name: String) -> QueryPredicate {
                .compare(.system(.parent), comparison, .reference(QueryReference(recordName: name)))
            }
            try expectEqual(try await names(parent(.equal, "x"), of: nil), ["r"], "what the owner finds")
            try expectEqual(try await names(parent(.equal, "x"), of: shares), [], "below what bob does not see")
            try expectEqual(try await names(parent(.equal, "r"), of: shares), ["s"], "below a root")
            try expectEqual(
                try await names(parent(.notEqual, "x"), of: shares).sorted(), ["a", "b", "c", "d", "r", "s"],
                "not below it")
            try expectEqual(
                try await names(.isPresent(.system(.parent), false), of: shares).sorted(), ["a", "r"],
                "without a parent")
            try expectEqual(
                try await names(.isPresent(.system(.parent), true), of: shares).sorted(), ["b", "c", "d", "s"],
                "with one")
            let order = [QuerySort(.system(.parent))]
            try expectEqual(
                try await names(.always(true), of: shares, by: order), ["a", "r", "b", "c", "d", "s"],
                "roots come first, as records without a parent")
            try expectEqual(
                try await names(.always(true), of: nil, by: order), ["a", "x", "b", "c", "d", "s", "r"],
                "the owner has them by their parents")
        },
    ]
}

/// A zone of alice of which hierarchies are shared with bob: a > b > c, b > d; and x.
struct HierarchyZone: Sendable {
    let store: StorageFixture
    let key: ZoneKey
    let alice: UserID
    let bob: UserID
    private var counter: UInt64 = 0

    init(_ store: StorageFixture, _ name: String) async throws {
        self.store = store
        let owner = try await store.alice()
        alice = owner.user
        bob = try await store.bob().user
        key = try require(try await store.createZones(name, in: owner.privateDatabase).first, "a zone").key
    }

    private static let limits = Limits()

    func save(_ name: String, parent: ParentChange = .unchanged) -> RecordSave {
        RecordSave(name: name, type: "Note", tag: nil, fields: FieldMap(), parent: parent)
    }

    mutating func fill() async throws {
        try await apply([
            save("a"), save("b", parent: .set("a")), save("c", parent: .set("b")), save("d", parent: .set("b")),
            save("x"),
        ])
    }

    /// Of the URL of a share.
    func secret(of name: String) -> [UInt8] { Array(name.utf8) + StorageConformance.secret }

    /// - Parameter secret: of the URL that the root has; nil: it was never shared.
    mutating func share(_ root: String, as name: String, secret: [UInt8]? = nil) async throws -> ShareNumber {
        let guest = ParticipantSave(id: StorageConformance.participant(1), person: .user(bob), permission: .readWrite)
        let said = ShareSave(recordName: name, rootName: root, tag: nil, participants: [guest])
        let save = RecordSave(
            name: name, type: Share.recordType, tag: nil, fields: FieldMap(), parent: .unchanged, share: said,
            freshSecret: self.secret(of: name))
        try await apply([save, self.save(root)])
        let sharing = try require(try await store.second.sharing(of: key, .whole), "the zone").sharing
        let share = try require(sharing.livingShare(named: name), "the share lives")
        try expectEqual(share.rootName, root, "its root")
        try expectEqual(share.rootSecret, secret ?? self.secret(of: name), "its secret")
        return share.number
    }

    func accept(_ name: String) async throws {
        let visitor = ShareVisitor(user: bob, shareName: name)
        let action = ShareAction.accept(visitor, as: StorageConformance.participant(2))
        let transaction = try await store.first.beginWrite([action.read(of: key)])
        let snapshot = try require(transaction.snapshots.first, "a snapshot a read")
        let plan = action.plan(
            on: snapshot, store: transaction.store, now: StorageFixture.now, limits: Self.limits)
        guard case .success(let accepted) = plan, let changes = accepted.changes else {
            await transaction.rollback()
            throw StorageConformanceFailure(description: "broken: bob is invited: \(plan)")
        }
        try await transaction.commit([changes])
    }

    /// The owner's request.
    mutating func apply(_ saves: [RecordSave] = [], deleting deletes: [String] = []) async throws {
        counter += 1
        let request = request(saves, deletes, counter)
        let transaction = try await store.first.beginWrite([request.read(within: Self.limits)])
        let overlay = ZoneOverlay(snapshot: transaction.snapshots[0], store: transaction.store, limits: Self.limits)
        let outcome = try overlay.apply(request, now: StorageFixture.now).get()
        let failed = outcome.saves.contains { if case .failed = $0 { true } else { false } }
        guard !failed, let changes = overlay.changes else {
            await transaction.rollback()
            throw StorageConformanceFailure(description: "broken: the request is carried out: \(outcome)")
        }
        try await transaction.commit([changes])
    }

    private func request(_ saves: [RecordSave], _ deletes: [String], _ counter: UInt64) -> RecordsRequest {
        let id = RequestID(
            device: DeviceID(high: 5, low: 5), life: nil, counter: counter, nonce: 0, lowestUnanswered: 1,
            isRepeated: false, epoch: 0)
        return RecordsRequest(
            id: id, key: key, saves: saves, deletes: deletes, policy: .changedKeys, isAtomic: false, user: alice,
            access: .owner(alice))
    }

    /// What a transaction reads for a request.
    func snapshot(
        saving saves: [RecordSave], belowMax: Int? = nil, relativesMax: Int = .max
    ) async throws -> ZoneSnapshot {
        var read = request(saves, [], 99).read(within: Self.limits)
        if let belowMax { read.belowMax = belowMax }
        read.relativesMax = relativesMax
        let transaction = try await store.second.beginWrite([read])
        await transaction.rollback()
        return try require(transaction.snapshots.first, "a snapshot a read")
    }

    /// Whether the zone says that hierarchies of it are shared.
    func saysHierarchies() async throws -> Bool {
        try require(try await snapshot(saving: [save("a")]).zone, "the zone").hasHierarchies
    }

    func versions(_ names: [String]) async throws -> [ChangeNumber?] {
        let found = try await store.second.records(named: names, in: key)
        return names.map { found.records[$0]?.changeNumber }
    }

    func page(
        of shares: [ShareNumber], after number: ChangeNumber, recordsMax: Int = 100
    ) async throws -> ZonePageRead {
        let zone = try require(try await store.second.shareAccess(of: bob, to: key), "the zone").zone
        var query = key.page(for: bob, after: .init(zone: zone, number: number), recordsMax: recordsMax)
        query.hierarchies = shares
        return try await store.second.zonePage(query).value
    }

    /// - Returns: the zone's number.
    func expectPage(
        of shares: [ShareNumber], after number: ChangeNumber, _ names: [String], left: [String]
    ) async throws -> ChangeNumber {
        let read = try await page(of: shares, after: number)
        let numbers = read.events.map(\.row.number)
        try expectEqual(numbers, numbers.sorted(), "the numbers grow")
        try expectEqual(read.events.filter { !$0.row.hasLeft }.map(\.row.name).sorted(), names, "what is there")
        try expectEqual(read.events.compactMap(\.record).map(\.name).sorted(), names, "with its records")
        let ends = read.events.filter { $0.row.hasLeft && !$0.isElsewhere }
        try expectEqual(ends.map(\.row.name).sorted(), left, "what has left")
        try expect(read.events.allSatisfy { $0.row.hasLeft || $0.record?.share == $0.row.share }, "whose they are")
        return try require(read.zone, "the zone").changeNumber
    }
}
