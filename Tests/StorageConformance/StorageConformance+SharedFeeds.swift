// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// The feeds and marks of shared databases: what a viewer is told of zones that others own.
extension StorageConformance {
    static let sharedFeeds: [Scenario] = [
        Scenario("R-225, R-318: a zone is in a viewer's feed from the acceptance to the end, by its owner's key") {
            store in
            let zone = try await store.shareZone("notes")
            func state(_ number: ChangeNumber?, _ changeNumber: ChangeNumber) -> DatabaseFeedEntry {
                DatabaseFeedEntry(
                    number: number, zone: zone.zone, key: zone.key, changeNumber: changeNumber, removal: nil)
            }
            let begin = try require(try await store.accept(zone), "an acceptance")
            try expectEqual(try await store.feed(zone).unnumbered, [state(nil, begin)], "at once")
            let advanced = try await store.advance(zone)
            try expectEqual(advanced, try await store.feed(zone), "what is told when numbers are given")
            try expectEqual(advanced.entries, [state(1, begin)], "with a number")
            try expect(advanced.unnumbered.isEmpty && advanced.head == 1, "it is up to date")
            try await store.write([RecordDraft("x")], in: zone.key)
            try expectEqual(try await store.feed(zone, after: 1).unnumbered, [state(nil, begin + 1)], "what moved")
            try expectEqual(try await store.advance(zone, after: 1).entries, [state(2, begin + 1)], "once")
            let own = try await store.second.databaseFeed(of: zone.viewer.privateDatabase, after: nil, entriesMax: 9)
            try expect(own.unnumbered.isEmpty && own.entries.isEmpty, "it is not in the viewer's private database")
            let owners = try await store.second.databaseFeed(
                of: zone.owner.privateDatabase, after: nil, entriesMax: 9)
            try expectEqual(owners.unnumbered, [state(nil, begin + 1)], "it is in the owner's, as ever")
            let other = try await store.second.databaseFeed(of: zone.owner.sharedDatabase, after: nil, entriesMax: 9)
            try expect(other.unnumbered.isEmpty && other.entries.isEmpty, "R-322: and there alone")
        },
        Scenario("I-5, R-225: the page that comes with the list has what the list says, and is empty without access") {
            store in
            let zone = try await store.shareZone("notes")
            try await store.point(zone)
            let invited = try await ListWithPage(of: zone, on: store.second)
            try expect(invited.page.zone == nil && invited.page.records.isEmpty, "nothing for who has not accepted")
            let writer = store.scheduler.runThrowing {
                for round in 0..<8 {
                    try await store.accept(zone)
                    try await store.write([RecordDraft("r\(round)")], in: zone.key)
                    try await store.leave(zone)
                }
                try await store.accept(zone)
            }
            let readers = [store.first, store.second].map { storage in
                store.scheduler.runThrowing {
                    for _ in 0..<20 { try await ListWithPage(of: zone, on: storage).expectTogether() }
                }
            }
            try await writer.value
            for reader in readers { try await reader.value }
            let last = try await ListWithPage(of: zone, on: store.second)
            try last.expectTogether()
            let names = (0..<8).map { "r\($0)" } + [Share.zoneWideName]
            try expectEqual(last.page.records.map(\.name).sorted(), names.sorted(), "all of it")
        },
        Scenario(
            "R-205, R-225, R-327, I-2: an end is told once as a deletion, however access ended, even of what had no number yet"
        ) {
            store in
            for isNumbered in [false, true] {
                for how in SharingEnd.allCases {
                    let zone = try await store.shareZone("\(how) \(isNumbered)")
                    let promise = "\(how), \(isNumbered)"
                    var copy = ViewerCopy(list: zone.list)
                    let begin = try require(try await store.accept(zone), "an acceptance")
                    if isNumbered { try await store.advance(zone) }
                    try await copy.readAll(from: store.second)
                    try expectEqual(copy.zones, [zone.zone: begin], "\(promise): it is told of")
                    let token = copy.number
                    try await store.end(zone, how)
                    let hidden = try await store.feed(zone, after: 0)
                    let living = (hidden.entries + hidden.unnumbered).filter { $0.removal == nil }
                    try expectEqual(living, [], "\(promise), I-5: nothing but the end is told of it")
                    try await copy.readAll(from: store.second)
                    try expectEqual(copy.zones, [:], "\(promise): the end is told")
                    let ends = try await store.feed(zone, after: token)
                    try expectEqual(ends.entries.map(\.removal), [.deleted], "\(promise): as a deletion")
                    try expectEqual(ends.entries.map(\.key), [zone.key], "\(promise): by the owner's key")
                    try await store.goOn(zone)
                    let later = try await store.advance(zone, after: ends.head)
                    try expectEqual(later.entries, [], "\(promise): once, whatever becomes of the zone")
                    try expectEqual(later.head, ends.head, "\(promise): no other number")
                    let first = try await store.feed(zone)
                    try expect(first.entries.isEmpty && first.unnumbered.isEmpty, "R-204: living zones alone")
                }
            }
        },
        Scenario("R-225, I-2: a device has a zone exactly while its user has access, whenever it asks") { store in
            // Of each story: the user accepts, leaves, or is invited again (what ended lives, and grants nothing yet);
            // the device reads.
            for (story, isThere) in [
                ("ar", true), ("alr", false), ("arlir", false), ("arlrarlr", false), ("arlrarlir", false),
                ("arlrar", true), ("arlar", true), ("alirar", true), ("arlarlr", false), ("arliarlr", false),
            ] {
                let zone = try await store.shareZone(story)
                var copy = ViewerCopy(list: zone.list)
                for step in story {
                    switch step {
                    case "a": try await store.accept(zone)
                    case "l": try await store.leave(zone)
                    case "i": try await store.inviteAgain(zone)
                    default: try await copy.readAll(from: store.second)
                    }
                }
                try expectEqual(copy.zones[zone.zone] != nil, isThere, "after \(story)")
            }
        },
        Scenario("R-225, I-2: a zone that is shared again is news, also if nobody heard of the end") { store in
            for isTold in [false, true] {
                for how in [SharingEnd.leaves, .stops] {
                    let zone = try await store.shareZone("\(how) \(isTold)")
                    try await store.accept(zone)
                    let head = try await store.advance(zone).head
                    try await store.end(zone, how)
                    if isTold { try await store.advance(zone) }
                    if how == .stops { _ = try await store.beginShare(in: zone.key) }
                    let begin = try require(try await store.accept(zone), "another acceptance")
                    let promise = "\(how), \(isTold ? "told" : "not told")"
                    let news = try await store.feed(zone, after: head).unnumbered
                    try expectEqual(news.map(\.removal), [nil], "\(promise): it lives")
                    try expectEqual(news.map(\.changeNumber), [begin], "\(promise): as it is now")
                    try expect(try await store.feed(zone, after: head).mustNumber, "\(promise): with a number alone")
                    let entries = try await store.advance(zone, after: head).entries
                    try expectEqual(entries.map(\.number), [head + 1, head + 2], "\(promise): each with a number")
                    try expectEqual(entries.map(\.zone), [zone.zone, zone.zone], "\(promise): two entries")
                    try expectEqual(entries.map(\.removal), [.deleted, nil], "\(promise): the end, then the zone")
                    try expectEqual(try await store.feed(zone, after: head + 1).entries.map(\.removal), [nil], promise)
                    try await store.end(zone, .leaves)
                    try await store.advance(zone)
                }
            }
        },
        Scenario("R-225, I-2: access that ends and begins again is told of as an end and a zone, however it is read") {
            store in
            // Of each story, as above; the zone may move, too. One device reads within the story, another one after it.
            for pageMax in [1, 2, 9] {
                for (story, endCount) in [
                    ("la", 1), ("lia", 1), ("lam", 1), ("lra", 1), ("lalra", 1), ("lralra", 1), ("larmlam", 2),
                ] {
                    let promise = "after \(story), on pages of \(pageMax)"
                    let zone = try await store.shareZone("\(story) \(pageMax)")
                    let other = try await store.shareZone("other \(story) \(pageMax)")
                    for zone in [zone, other] { try await store.accept(zone) }
                    var early = ViewerCopy(list: zone.list, pageMax: pageMax)
                    var late = early
                    try await early.readAll(from: store.first)
                    try await late.readAll(from: store.second)
                    try await store.write([RecordDraft("x")], in: other.key)
                    try await store.advance(zone)
                    for (index, step) in story.enumerated() {
                        switch step {
                        case "a": try await store.accept(zone)
                        case "l": try await store.leave(zone)
                        case "i": try await store.inviteAgain(zone)
                        case "m": try await store.write([RecordDraft("r\(index)")], in: zone.key)
                        default: try await early.readAll(from: store.second)
                        }
                    }
                    try await store.advance(zone)
                    // The zone moves while the late device is between two pages.
                    _ = try await late.readPage(from: store.second)
                    try await store.write([RecordDraft("last")], in: zone.key)
                    try await store.advance(zone)
                    for _ in 0..<2 {
                        try await early.readAll(from: store.first)
                        try await late.readAll(from: store.second)
                    }
                    var new = ViewerCopy(list: zone.list, pageMax: pageMax)
                    try await new.readAll(from: store.first)
                    let listed = try await store.second.sharedZones(
                        of: zone.list, for: zone.viewer.user, after: nil, zonesMax: 9)
                    let expected = Dictionary(listed.map { ($0.id, $0.changeNumber) }) { first, _ in first }
                    for copy in [early, late, new] { try expectEqual(copy.zones, expected, promise) }
                    try expectEqual(early.ends, [zone.zone: endCount], "\(promise): who read within it")
                    try expectEqual(late.ends, [zone.zone: 1], "\(promise): who read after it")
                    // A later page goes on from a number, as any fetch with a token.
                    if pageMax == 9 { try expectEqual(new.ends, [:], "\(promise), R-204: who has no token") }
                    try await store.changeZones(in: zone.key.database, remove: [zone.key.name, other.key.name])
                    try await store.advance(zone)
                }
            }
        },
        Scenario("R-225: whoever comes with an old token is told of the end before the zone, wherever pages are cut") {
            store in
            for pageMax in [1, 2, 9] {
                let zone = try await store.shareZone("notes \(pageMax)")
                let other = try await store.shareZone("other \(pageMax)")
                // The token of before its user had access to either zone.
                var late = ViewerCopy(list: zone.list, pageMax: pageMax)
                try await late.readAll(from: store.first)
                let token = late.number
                for zone in [zone, other] {
                    try await store.accept(zone)
                    try await store.advance(zone)
                }
                try await store.leave(zone)
                try await store.accept(zone)
                // The feed has the zone as it was before the end, and nobody has read since.
                for after in [token, nil] {
                    let read = try await store.second.databaseFeed(of: zone.list, after: after, entriesMax: 1)
                    try expectEqual(read.value.entries.map(\.zone), [other.zone], "after \(after ?? -1)")
                }
                var isEndTold = false
                for _ in 0..<9 {
                    let isMore = try await late.readPage(from: store.second)
                    isEndTold = isEndTold || late.ends[zone.zone] == 1
                    let isEarly = late.zones[zone.zone] != nil && !isEndTold
                    try expect(!isEarly, "pages of \(pageMax): the zone is not told before its end")
                    if !isMore { break }
                }
                try expect(isEndTold, "pages of \(pageMax): the end")
                try expectEqual(Set(late.zones.keys), [zone.zone, other.zone], "pages of \(pageMax): what is there")
                try await store.changeZones(in: zone.key.database, remove: [zone.key.name, other.key.name])
                try await store.advance(zone)
            }
        },
        Scenario("R-317: a viewer's list before the acceptance shows nothing, and no advance takes it away") { store in
            for before in ["nothing", "an end that was told", "an end that nobody heard of"] {
                let zone = try await store.shareZone(before)
                if before != "nothing" {
                    try await store.accept(zone)
                    try await store.advance(zone)
                    try await store.leave(zone)
                    if before == "an end that was told" { try await store.advance(zone) }
                }
                try await store.point(zone)
                let early = try await store.feed(zone, after: 0)
                let states = (early.entries + early.unnumbered).filter { $0.zone == zone.zone }
                try expectEqual(states.contains { $0.removal == nil }, false, "after \(before): it is not there")
                if before == "nothing" { try expectEqual(states, [], "nor was it") }
                // What the devices of the viewer do meanwhile.
                for _ in 0..<2 { try await store.advance(zone) }
                let head = try await store.advance(zone).head
                let begin = try require(try await store.join(zone), "an acceptance")
                let news = try await store.feed(zone, after: head).unnumbered
                try expectEqual(news.map(\.zone), [zone.zone], "after \(before): it is there")
                try expectEqual(news.map(\.changeNumber), [begin], "after \(before): as it is now")
                let listed = try await store.second.sharedZones(
                    of: zone.list, for: zone.viewer.user, after: nil, zonesMax: 9)
                try expectEqual(listed.map(\.id), [zone.zone], "after \(before): it is in the list")
                try await store.changeZones(in: zone.key.database, remove: [before])
                try await store.advance(zone)
            }
        },
        Scenario("R-203: a page of a viewer's feed is cut, and only the last one has what has no number yet") { store in
            var zones: [SharedZone] = []
            for name in ["a", "b", "c", "d"] { zones.append(try await store.shareZone(name)) }
            for zone in zones[..<3] { try await store.accept(zone) }
            try await store.advance(zones[0])
            try await store.accept(zones[3])
            for (after, numbers, hasMore) in [
                (nil, [1, 2], true), (1, [2, 3], false), (2, [3], false), (3, [], false),
            ]
                as [(ChangeNumber?, [ChangeNumber], Bool)]
            {
                let read = try await store.second.databaseFeed(of: zones[0].list, after: after, entriesMax: 2)
                try expectEqual(Array(read.entries.map(\.number).prefix(2)), numbers, "past \(after ?? -1)")
                try expectEqual(read.hasMore, hasMore, "whether there is more")
                try expectEqual(read.unnumbered.map(\.zone), hasMore ? [] : [zones[3].zone], "who came since")
            }
        },
        Scenario("R-753, I-2: a viewer is told of an end, or is too late, also if the owner's store forgets the zone") {
            store in
            for isNumbered in [false, true] {
                let zone = try await store.shareZone("notes \(isNumbered)")
                try await store.accept(zone)
                let token = try await store.advance(zone).head
                try await store.changeZones(in: zone.key.database, remove: [zone.key.name])
                if isNumbered { try await store.advance(zone) }
                try await store.first.forgetEndedZones(of: zone.key.database, keeping: 0)
                let read = try await store.advance(zone, after: token)
                let isTold = read.entries.contains { $0.zone == zone.zone && $0.removal != nil }
                try expect(isTold || read.oldestToken > token, "nobody keeps a zone that is gone: \(read)")
                try expect(!read.entries.contains { $0.removal == nil }, "it is not there")
            }
        },
        Scenario("R-700: a viewer's reader waits for no owner, and what that commits later is news again") { store in
            let zone = try await store.shareZone("notes")
            try await store.accept(zone)
            let transaction = try await store.first.beginWrite([zone.key.read()])
            let head = try await store.advance(zone).head
            let changes = transaction.snapshots.first?.changes([RecordDraft("x")])
            try await transaction.commit([try require(changes, "the zone lives")])
            try expectEqual(try await store.feed(zone, after: head).unnumbered.map(\.zone), [zone.zone], "it is news")
        },
        Scenario("I-4, I-5: the mark of a shared database is of the zones that its user sees, and of their numbers") {
            store in
            let (zone, other) = (try await store.shareZone("a"), try await store.shareZone("b"))
            let none = try await store.mark(of: zone)
            try expectEqual(none.zoneCount, 0, "the list is empty")
            try await store.point(zone)
            let pointed = ChangeMark(value: none.value, zoneCount: 1)
            try expectEqual(try await store.mark(of: zone), pointed, "R-739: the list's zones are read, and not told")
            var values = [none.value]
            for step in 0..<6 {
                switch step {
                case 0: try await store.join(zone)
                case 1:
                    try await store.leave(zone)
                    try expectEqual(try await store.mark(of: zone).value, none.value, "nothing is there any more")
                    // Another zone with the number that the first one had.
                    try await store.accept(other)
                case 2: try await store.write([RecordDraft("x")], in: other.key)
                case 3: try await store.accept(zone)
                case 4: try await store.endShare(in: other.key)
                default: try await store.write([RecordDraft("x")], in: zone.key)
                }
                values.append(try await store.mark(of: zone).value)
            }
            try expectEqual(Set(values).count, values.count, "all are different: \(values)")
            try await store.write([RecordDraft("y")], in: other.key)
            let marks = try await store.first.sharedMarks(
                of: [zone.list: zone.viewer.user, zone.owner.sharedDatabase: zone.owner.user])
            try expectEqual(marks.count, 2, "one each")
            try expectEqual(marks[zone.list]?.value, values.last, "what the user does not see moves nothing")
            try expectEqual(marks[zone.owner.sharedDatabase], none, "R-322: the owner's list is empty")
            try await store.changeZones(in: zone.key.database, remove: ["a"])
            try expectEqual(try await store.mark(of: zone).value, none.value, "the last zone has ended")
            try expectEqual(try await store.first.sharedMarks(of: [:]), [:], "no list")
        },
        Scenario("F-6, I-2: viewers on two servers have what is shared, whatever begins and ends, and skip nothing") {
            store in
            var zones: [SharedZone] = []
            for name in ["a", "b", "c"] { zones.append(try await store.shareZone(name)) }
            let (shared, list, user) = (zones, zones[0].list, zones[0].viewer.user)
            let seed = store.scheduler.randomBits()
            let writer = store.scheduler.runThrowing { try await store.live(in: shared, seed: seed) }
            let readers = [store.first, store.second].map { storage in
                store.scheduler.runThrowing {
                    var copy = ViewerCopy(list: list)
                    for _ in 0..<40 { _ = try await copy.readPage(from: storage) }
                    return copy
                }
            }
            try await writer.value
            let listed = try await store.second.sharedZones(of: list, for: user, after: nil, zonesMax: 9)
            let expected = Dictionary(listed.map { ($0.id, $0.changeNumber) }) { first, _ in first }
            for reader in readers {
                var copy = try await reader.value
                try await copy.readAll(from: store.second)
                try expectEqual(copy.zones, expected, "seed \(seed)")
            }
            _ = try await store.first.advanceDatabaseFeed(of: list, after: nil, entriesMax: 9)
            let count = try await store.mark(of: zones[0]).zoneCount
            try expect(count <= zones.count, "R-770: zones that ended are not in the list any more, seed \(seed)")
        },
    ]
}

/// How a viewer's access ends.
private enum SharingEnd: CaseIterable {
    case leaves, stops, isDeleted, isPurged
}

/// What a device has heard of the zones of a shared database, a few at a time.
private struct ViewerCopy: Sendable {
    let list: DatabaseID
    let pageMax: Int
    /// The newest change of each zone that the device was told of.
    private(set) var zones: [ZoneID: ChangeNumber] = [:]
    /// How many ends of each zone it was told of.
    private(set) var ends: [ZoneID: Int] = [:]
    private var after: FeedPosition?

    /// That of the token.
    var number: ChangeNumber { after?.number ?? 0 }

    init(list: DatabaseID, pageMax: Int = 2) {
        self.list = list
        self.pageMax = pageMax
    }

    /// Reads until there is no more.
    mutating func readAll(from storage: any Storage) async throws {
        for _ in 0..<20 {
            guard try await readPage(from: storage) else { return }
        }
        throw StorageConformanceFailure(description: "a feed of few zones has no end")
    }

    /// Reads as a server does for a device.
    ///
    /// - Returns: whether there is more.
    mutating func readPage(from storage: any Storage) async throws -> Bool {
        var read = try await storage.databaseFeed(of: list, after: after?.number, entriesMax: pageMax)
        if read.value.needsNumbers(entriesMax: pageMax) {
            read = try await storage.advanceDatabaseFeed(of: list, after: after?.number, entriesMax: pageMax)
        }
        let page = try DatabasePage.make(
            of: read.value, viewer: list, after: after, entriesMax: pageMax, store: read.store
        ).get()
        for end in page.ended {
            zones[end.zone] = nil
            ends[end.zone, default: 0] += 1
        }
        for entry in page.changed { zones[entry.zone] = entry.changeNumber }
        guard case .database(_, _, let position) = page.token else { return false }
        try expect(position.number >= number, "a token never goes back")
        after = position
        return page.moreComing
    }
}

/// A viewer's feed, and a page of a zone that was read with it.
private struct ListWithPage: Sendable {
    let list: DatabaseFeedRead
    let page: ZonePageRead
    private let zone: SharedZone

    init(of zone: SharedZone, on storage: any Storage) async throws {
        let query = zone.key.page(for: zone.viewer.user)
        let read = try await storage.databaseFeed(of: zone.list, after: nil, entriesMax: 9, then: query)
        list = read.feed.value
        page = try require(read.page, "a page").value
        self.zone = zone
    }

    /// Whoever reads drops a page without access.
    func expectTogether() throws {
        guard page.sharing?.admits(zone.viewer.user) == true, let shown = page.zone else { return }
        let told = (list.entries + list.unnumbered).filter { $0.zone == zone.zone && $0.removal == nil }
        let newest = told.map(\.changeNumber).max() ?? 0
        try expect(shown.changeNumber >= newest, "the page ends at \(shown.changeNumber), the list at \(newest)")
    }
}

extension StorageFixture {
    /// What a viewer's feed has for one who comes with a token.
    fileprivate func feed(_ zone: SharedZone, after: ChangeNumber? = nil) async throws -> DatabaseFeedRead {
        try await second.databaseFeed(of: zone.list, after: after, entriesMax: 9).value
    }

    @discardableResult
    func advance(_ zone: SharedZone, after: ChangeNumber? = nil) async throws -> DatabaseFeedRead {
        try await second.advanceDatabaseFeed(of: zone.list, after: after, entriesMax: 9).value
    }

    fileprivate func mark(of zone: SharedZone) async throws -> ChangeMark {
        let marks = try await second.sharedMarks(of: [zone.list: zone.viewer.user])
        return try require(marks[zone.list], "each list has a mark")
    }

    fileprivate func end(_ zone: SharedZone, _ how: SharingEnd) async throws {
        switch how {
        case .leaves: try await leave(zone)
        case .stops: try await endShare(in: zone.key)
        case .isDeleted: try await changeZones(in: zone.key.database, remove: [zone.key.name])
        case .isPurged: try await changeZones(in: zone.key.database, remove: [zone.key.name], reason: .purged)
        }
    }

    /// What the owner does with a zone, or with its name, when the viewer is gone.
    fileprivate func goOn(_ zone: SharedZone) async throws {
        let living = try await first.zones(named: [zone.key.name], in: zone.key.database)
        if living.isEmpty { try await changeZones(in: zone.key.database, create: [zone.key.name]) }
        try await write([RecordDraft("later")], in: zone.key)
    }

    /// Begins and ends access to zones at random, writes in them, and makes them anew.
    fileprivate func live(in zones: [SharedZone], seed: UInt64) async throws {
        var chance = StepRandom(state: seed)
        for round in 0..<60 {
            let zone = zones[Int.random(in: zones.indices, using: &chance)]
            switch Int.random(in: 0..<8, using: &chance) {
            case 0, 1: try await accept(zone, on: round.isMultiple(of: 2) ? first : second)
            case 2, 3: try await leave(zone)
            case 4: try await write([RecordDraft("r\(round)")], in: zone.key)
            case 5: try await inviteAgain(zone)
            case 6:
                try await changeZones(in: zone.key.database, remove: [zone.key.name])
                try await changeZones(in: zone.key.database, create: [zone.key.name])
                _ = try await beginShare(in: zone.key)
            default: try await point(zone)
            }
        }
    }
}
