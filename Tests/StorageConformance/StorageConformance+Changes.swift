// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let zoneFeed: [Scenario] = [
        Scenario("R-208, R-210, R-702: a page has what changed past the token, oldest change first, each record once") {
            store in
            let database = try await store.alice().privateDatabase
            let zone = try require(try await store.createZones("a", in: database).first, "a zone")
            try await store.write([RecordDraft("x"), RecordDraft("y")], in: zone.key)
            try await store.write([RecordDraft("x"), RecordDraft("z", isDeleted: true)], in: zone.key)
            for (after, numbers) in [(0, [2, 3, 4]), (2, [3, 4]), (3, [4]), (4, [])] as [(ChangeNumber, [ChangeNumber])]
            {
                let page = try await store.second.zonePage(
                    zone.key.page(after: .init(zone: zone.id, number: after)))
                try expectEqual(page.records.map(\.changeNumber), numbers, "what is past \(after)")
                try expectEqual(page.zone?.changeNumber, 4, "the zone of the same snapshot")
                try expect(!page.hasMore, "no more")
            }
        },
        Scenario("R-214: a page is cut by records and by bytes, and has at least one") { store in
            let database = try await store.alice().privateDatabase
            let zone = try require(try await store.createZones("a", in: database).first, "a zone")
            try await store.write(
                (0..<5).map { RecordDraft("r\($0)", text: String(repeating: "x", count: 100)) }, in: zone.key)
            for (records, bytes) in [(2, 1_000_000), (100, 150), (1, 1), (100, 1)] {
                var number: ChangeNumber = 0
                var seen: [ChangeNumber] = []
                for _ in 0..<6 {
                    let page = try await store.first.zonePage(
                        zone.key.page(
                            after: .init(zone: zone.id, number: number), recordsMax: records, bytesMax: bytes))
                    try expect(!page.records.isEmpty, "there is always one")
                    // The rules cut the page, and know from one record too many that there is more.
                    seen.append(page.records[0].changeNumber)
                    number = page.records[0].changeNumber
                    try expectEqual(
                        page.records.last?.changeNumber == 5, !page.hasMore, "more unless the last one is in")
                    if number == 5 { break }
                }
                try expectEqual(seen, [1, 2, 3, 4, 5], "nothing is left out")
            }
        },
        Scenario("R-211: a first page has tombstones only of what the device itself created") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("a", in: database).first, "a zone").key
            let mine = DeviceID(high: 7, low: 7)
            try await store.write(
                [
                    RecordDraft("mine", isDeleted: true, device: mine), RecordDraft("other", isDeleted: true),
                    RecordDraft("living"),
                ],
                in: key)
            for (device, names) in [(mine, ["mine", "living"]), (DeviceID(high: 8, low: 8), ["living"])] {
                try expectEqual(
                    try await store.second.zonePage(key.page(device: device)).records.map(\.name), names, "as is due")
                try expectEqual(
                    try await store.second.zonePage(key.page(device: device, tellsEnds: true)).records.map(\.name),
                    ["mine", "other", "living"], "all, for who has been here before")
            }
        },
        Scenario("R-732, I-3: a first fetch passes over tombstones in steps, and skips and repeats nothing") { store in
            let database = try await store.alice().privateDatabase
            let device = DeviceID(high: 7, low: 7)
            for (round, passedMax) in [0, 1, 5, 13, 5_000].enumerated() {
                let key = try require(try await store.createZones("z\(round)", in: database).first, "a zone").key
                for step in 0..<4 {
                    try await store.write((0..<9).map { RecordDraft("gone \(step) \($0)", isDeleted: true) }, in: key)
                    try await store.write(["a", "b", "c"].map { RecordDraft("\($0) \(step)") }, in: key)
                }
                try await store.write([RecordDraft("mine", isDeleted: true, device: device)], in: key)
                try await store.write((0..<9).map { RecordDraft("gone 4 \($0)", isDeleted: true) }, in: key)
                var reader = FirstFetch(key: key, device: device, passedMax: passedMax)
                try await reader.readPage(from: store.second)
                // News, in the middle of the fetch.
                try await store.write([RecordDraft("late", isDeleted: true)], in: key)
                for _ in 0..<60 where !reader.isAtEnd { try await reader.readPage(from: store.second) }
                let living = (0..<4).flatMap { step in ["a", "b", "c"].map { "\($0) \(step)" } }
                try expectEqual(reader.names, living + ["-mine", "-late"], "all that is due, once, in order")
                try expect(reader.isAtEnd, "the end is reached")
                try expectEqual(
                    reader.emptyPageCount > 0, passedMax < 9, "pages end among tombstones if there are too many")
            }
        },
        Scenario("R-222: a device finds its own mark with a zone's changes, the last one that it gave") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("a", "b", in: database).map(\.key)
            let devices = [DeviceID(high: 7, low: 7), DeviceID(high: 8, low: 8)]
            func give(_ tokens: [DeviceID: [UInt8]]) async throws { try await store.give(tokens, in: keys[0]) }
            func marks(_ key: ZoneKey, _ after: ZonePageQuery.Position? = nil) async throws -> [[UInt8]] {
                try await store.marks(of: devices, in: key, after: after)
            }
            try expectEqual(try await marks(keys[0]), [[], []], "none at first")
            try await give([devices[0]: [1, 0, 2]])
            try await give([devices[0]: [3], devices[1]: [4]])
            try expectEqual(try await marks(keys[0]), [[3], [4]], "the last of each device")
            let zone = try require(try await store.second.records(named: [], in: keys[0]).zone, "a zone")
            try expectEqual(
                try await marks(keys[0], .init(zone: zone.id, number: 0)), [[3], [4]], "with a token as well")
            try expectEqual(try await marks(keys[1]), [[], []], "none in another zone")
            try await store.changeZones(in: database, remove: ["a"])
            try await store.createZones("a", in: database)
            try expectEqual(try await marks(keys[0]), [[], []], "a new incarnation knows none")
        },
        Scenario("R-733: a database keeps the marks that came last, of all devices and zones together") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("a", "b", in: database).map(\.key)
            let others = try await store.createZones("a", in: try await store.bob().privateDatabase).map(\.key)
            let devices = (UInt64(1)...4).map { DeviceID(high: 7, low: $0) }
            func marks() async throws -> [[[UInt8]]] {
                var marks: [[[UInt8]]] = []
                for key in keys { marks.append(try await store.marks(of: devices, in: key)) }
                return marks
            }
            try await store.give([devices[0]: [9]], in: others[0], keeping: 3)
            try await store.give([devices[0]: [1], devices[1]: [2]], in: keys[0], keeping: 3)
            try await store.give([devices[2]: [3]], in: keys[1], keeping: 3)
            try await store.give([devices[0]: [4]], in: keys[0], keeping: 3)
            try expectEqual(
                try await marks(), [[[4], [2], [], []], [[], [], [3], []]], "whoever gives another takes no more room")
            try await store.give([devices[3]: [5]], in: keys[1], keeping: 3)
            try expectEqual(
                try await marks(), [[[4], [], [], []], [[], [], [3], [5]]], "the one that came first is forgotten")
            let newcomers = (UInt64(1)...20).map { DeviceID(high: 8, low: $0) }
            for (number, device) in newcomers.enumerated() {
                try await store.give([device: [6]], in: keys[number % 2], keeping: 3)
            }
            var kept: [DeviceID] = []
            for key in keys {
                let marks = try await store.marks(of: newcomers, in: key)
                kept += zip(newcomers, marks).compactMap { $1 == [6] ? $0 : nil }
            }
            try expectEqual(kept.sorted(), Array(newcomers.suffix(3)), "however many devices come")
            try expect(try await marks().joined().allSatisfy(\.isEmpty), "in place of the older ones")
            try expectEqual(try await store.marks(of: devices, in: others[0])[0], [9], "another database's stay")
            try await store.give([devices[1]: [7]], in: keys[0], keeping: 3)
            try expectEqual(try await marks()[0], [[], [7], [], []], "whoever comes back has a mark again")
        },
        Scenario("R-733: participants' marks have bounds of their own, and take no place of the owner's") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("a", in: database).first, "a zone").key
            let own = (UInt64(1)...2).map { DeviceID(high: 7, low: $0) }
            let bobs = (UInt64(1)...5).map { DeviceID(high: 8, low: $0) }
            let (carols, bob, carol) = (DeviceID(high: 9, low: 1), UserID(1_001), UserID(1_002))
            try await store.give([own[0]: [1]], in: key, keeping: 1)
            for device in bobs {
                try await store.give([device: [2]], of: [device: bob], in: key, keeping: 1, ofParticipant: 3)
            }
            try await store.give([carols: [3]], of: [carols: carol], in: key, keeping: 1, ofParticipant: 3)
            try expectEqual(
                try await store.marks(of: bobs + [own[0], carols], in: key), [[], [], [2], [2], [2], [1], [3]],
                "bob has forgotten his own alone")
            try await store.give([own[1]: [4]], in: key, keeping: 1, ofParticipant: 3)
            try expectEqual(
                try await store.marks(of: own + [bobs[4], carols], in: key), [[], [4], [2], [3]],
                "the owner's takes the place of the owner's")
        },
        Scenario("I-2, R-213, R-700: who pages a zone by three while two servers write to it misses nothing") { store in
            let database = try await store.alice().privateDatabase
            let zone = try require(try await store.createZones("a", in: database).first, "a zone")
            let writers = [store.first, store.second].enumerated().map { number, storage in
                store.scheduler.runThrowing {
                    for round in 0..<12 {
                        // Some of its own, one that both change, and one that appears and disappears.
                        let drafts = [
                            RecordDraft("new \(number) \(round)"), RecordDraft("both", text: "\(number) \(round)"),
                            RecordDraft("gone \(number)", isDeleted: round.isMultiple(of: 2)),
                        ]
                        try await store.write(drafts, in: zone.key, on: storage)
                    }
                }
            }
            let readers = [store.first, store.second].map { storage in
                store.scheduler.runThrowing {
                    var copy = ZoneCopy(zone)
                    for _ in 0..<30 { try await copy.readPage(from: storage) }
                    return copy
                }
            }
            for writer in writers { try await writer.value }
            let all = try await store.second.zonePage(zone.key.page(after: .init(zone: zone.id, number: 0)))
            try expectEqual(all.records.count, 2 * 12 + 1 + 2, "each record once")
            try expectEqual(all.zone?.changeNumber, 2 * 12 * 3, "a number for each change")
            for reader in readers {
                var copy = try await reader.value
                for _ in 0..<30 { try await copy.readPage(from: store.first) }
                try expectEqual(copy.number, 2 * 12 * 3, "the end")
                try expectEqual(
                    copy.records, Dictionary(all.records.map { ($0.name, $0) }) { $1 }, "what is there in the end")
            }
        },
        Scenario("a page of a zone that is missing says why") { store in
            let database = try await store.alice().privateDatabase
            let key = ZoneKey(database: database, name: "a")
            let never = try await store.first.zonePage(key.page())
            try expect(never.zone == nil && never.lastRemoval == nil && never.records.isEmpty, "there never was one")
            try await store.createZones("a", in: database)
            try await store.write([RecordDraft("x")], in: key)
            try await store.changeZones(in: database, remove: ["a"])
            let gone = try await store.second.zonePage(key.page())
            try expect(gone.zone == nil && gone.records.isEmpty, "it is gone")
            try expectEqual(gone.lastRemoval, .deleted, "it was deleted")
        },
    ]

    static let databaseFeed: [Scenario] = [
        Scenario("R-203, R-703: the feed gives a number to each zone that moved, and lists it once") { store in
            let database = try await store.alice().privateDatabase
            let zones = try await store.createZones("a", "b", in: database)
            let unread = try await store.second.databaseFeed(of: database, after: nil, entriesMax: 10)
            try expectEqual(unread.unnumbered.map(\.zone), zones.map(\.id), "nobody has numbered it yet")
            try expectEqual(unread.unnumbered.map(\.key), zones.map(\.key), "by name")
            try expect(unread.entries.isEmpty && unread.head == 0, "nothing has a number")
            let advanced = try await store.second.advanceDatabaseFeed(of: database, after: nil, entriesMax: 10)
            let read = try await store.first.databaseFeed(of: database, after: nil, entriesMax: 10)
            try expectEqual(advanced.value, read.value, "what is told when the numbers are given is what is there then")
            try expect(read.unnumbered.isEmpty && !read.hasMore, "it is up to date")
            try expectEqual(read.entries.map(\.zone), zones.map(\.id), "both zones, without the default zone (R-202)")
            try expectEqual(read.entries.map(\.number), [1, 2], "numbers grow by one")
            try expectEqual(read.head, 2, "the newest")
            for _ in 0..<2 { try await store.write([RecordDraft("x")], in: zones[0].key) }
            let news = try await store.second.databaseFeed(of: database, after: 2, entriesMax: 10)
            try expectEqual(
                news.unnumbered,
                [
                    DatabaseFeedEntry(
                        number: nil, zone: zones[0].id, key: zones[0].key, changeNumber: 2, removal: nil)
                ], "what moved, and how far")
            try expect(news.entries.isEmpty, "it has no new number yet")
            try await store.first.advanceDatabaseFeed(of: database)
            let next = try await store.second.databaseFeed(of: database, after: 2, entriesMax: 10)
            try expectEqual(next.entries.map { [$0.number, $0.zone.rawValue] }, [[3, zones[0].id.rawValue]], "once")
            let all = try await store.second.databaseFeed(of: database, after: 0, entriesMax: 10)
            try expectEqual(all.entries.map(\.number), [2, 3], "only the newest state of each")
            try expectEqual(all.entries.map(\.changeNumber), [0, 2], "each with its zone's own number")
        },
        Scenario("a feed that is up to date stays so, and its head does not move") { store in
            let database = try await store.alice().privateDatabase
            try await store.createZones("a", in: database)
            for _ in 0..<3 { try await store.first.advanceDatabaseFeed(of: database) }
            try await store.write([RecordDraft("x")], in: ZoneKey(database: database, name: ZoneName.default))
            let read = try await store.second.databaseFeed(of: database, after: 1, entriesMax: 10)
            try expect(read.unnumbered.isEmpty, "up to date")
            try expectEqual(read.head, 1, "one zone, one number")
        },
        Scenario("R-205, R-207: ends are entries, but not for who comes without a token (R-204)") { store in
            let database = try await store.alice().privateDatabase
            let zones = try await store.createZones("a", "b", in: database)
            try await store.first.advanceDatabaseFeed(of: database)
            try await store.changeZones(in: database, remove: ["a"])
            try await store.changeZones(in: database, create: ["a"])
            let news = try await store.second.databaseFeed(of: database, after: 2, entriesMax: 10)
            try expectEqual(
                news.unnumbered.sorted { $0.zone < $1.zone }.map(\.removal), [.deleted, nil], "an end is news")
            try await store.second.advanceDatabaseFeed(of: database)
            let read = try await store.second.databaseFeed(of: database, after: 2, entriesMax: 10)
            try expectEqual(read.entries.map(\.removal), [.deleted, nil], "the end, and the new incarnation")
            try expectEqual(read.entries.map(\.key.name), ["a", "a"], "of the same name")
            try expectEqual(read.entries.first?.zone, zones[0].id, "the old one ended")
            let first = try await store.first.databaseFeed(of: database, after: nil, entriesMax: 10)
            try expectEqual(first.entries.map(\.removal), [nil, nil], "living zones only")
        },
        Scenario("R-203: a page of the feed is cut, and only the last one has what has no number yet") { store in
            let database = try await store.alice().privateDatabase
            let zones = try await store.createZones("a", "b", "c", in: database)
            try await store.first.advanceDatabaseFeed(of: database)
            try await store.write([RecordDraft("x")], in: zones[0].key)
            for (after, numbers, hasMore) in [
                (nil, [1, 2], true), (1, [2, 3], false), (2, [3], false), (3, [], false),
            ]
                as [(ChangeNumber?, [ChangeNumber], Bool)]
            {
                let read = try await store.second.databaseFeed(of: database, after: after, entriesMax: 2)
                try expectEqual(Array(read.entries.map(\.number).prefix(2)), numbers, "past \(after ?? -1)")
                try expectEqual(read.hasMore, hasMore, "whether there is more")
                try expectEqual(read.unnumbered.map(\.zone), hasMore ? [] : [zones[0].id], "what moved since")
            }
        },
        Scenario("I-2, R-700: the reader waits for no writer, and what that commits later is news again") { store in
            let database = try await store.alice().privateDatabase
            let zone = try require(try await store.createZones("a", in: database).first, "a zone")
            try await store.first.advanceDatabaseFeed(of: database)
            let transaction = try await store.first.beginWrite([zone.key.read()])
            try await store.second.advanceDatabaseFeed(of: database)
            let changes = transaction.snapshots.first?.changes([RecordDraft("x")])
            try await transaction.commit([try require(changes, "the zone lives")])
            let news = try await store.second.databaseFeed(of: database, after: 1, entriesMax: 9)
            try expectEqual(news.unnumbered.map(\.zone), [zone.id], "the write is news")
            try await store.second.advanceDatabaseFeed(of: database)
            let read = try await store.second.databaseFeed(of: database, after: 1, entriesMax: 9)
            try expectEqual(read.entries.map(\.zone), [zone.id], "and is listed")
        },
        Scenario("of many zones without a number, one more is read than can be told of") { store in
            let database = try await store.alice().privateDatabase
            let names = (0..<FeedPosition.aheadMax + 3).map { "z\($0)" }
            for name in names { try await store.createZones(name, in: database) }
            let zones = Set(try await store.first.zones(in: database).map(\.id))
            let read = try await store.second.databaseFeed(of: database, after: nil, entriesMax: 100)
            try expectEqual(Set(read.unnumbered.map(\.zone)).count, FeedPosition.aheadMax + 1, "each once")
            try expect(zones.isSuperset(of: read.unnumbered.map(\.zone)), "no others")
        },
        Scenario("I-2: a zone's page that is read with the feed shows all that the feed tells of") { store in
            let database = try await store.alice().privateDatabase
            let zone = try require(try await store.createZones("a", in: database).first, "a zone")
            let writer = store.scheduler.runThrowing {
                for round in 0..<40 { try await store.write([RecordDraft("r\(round)")], in: zone.key) }
            }
            let reader = store.scheduler.runThrowing {
                for round in 0..<60 {
                    if round.isMultiple(of: 7) { try await store.first.advanceDatabaseFeed(of: database) }
                    let (feed, page) = try await store.second.databaseFeed(
                        of: database, after: 0, entriesMax: 9, then: zone.key.page(recordsMax: 100))
                    let told = (feed.entries + feed.unnumbered).map(\.changeNumber).max() ?? 0
                    let shown = try require(page, "a page")
                    try expect(try require(shown.zone, "the zone").changeNumber >= told, "the page is not older")
                    try expect(shown.records.count >= Int(told), "and has every record")
                    try expectEqual(shown.store, feed.store, "of the same store")
                }
            }
            try await writer.value
            try await reader.value
            try await store.write([RecordDraft("last")], in: zone.key)
            let strange = try await store.second.databaseFeed(
                of: database, after: 0, entriesMax: 9, then: ZoneKey(database: database, name: "b").page())
            try expect(try require(strange.page, "an answer").zone == nil, "a zone that is not there")
            try expect(!strange.feed.unnumbered.isEmpty, "does not keep the feed from being told")
        },
        Scenario("I-2: readers on two servers among writers never give a number twice, and skip nothing") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("a", "b", "c", in: database).map(\.key)
            let writers = keys.map { key in
                store.scheduler.runThrowing {
                    for round in 0..<10 { try await store.write([RecordDraft("r\(round)")], in: key) }
                }
            }
            let readers = [store.first, store.second].map { storage in
                store.scheduler.runThrowing { try await storage.readFeed(of: database, rounds: 15) }
            }
            for writer in writers { try await writer.value }
            for reader in readers { try await reader.value }
            try await store.first.advanceDatabaseFeed(of: database)
            let read = try await store.second.databaseFeed(of: database, after: 0, entriesMax: 9)
            try expectEqual(Set(read.entries.map(\.key)), Set(keys), "every zone")
            try expectEqual(Set(read.entries.map(\.number)).count, 3, "each with a number of its own")
        },
    ]
}

/// A device that fetches a zone from the beginning, three records at a time.
private struct FirstFetch: Sendable {
    let key: ZoneKey
    let device: DeviceID
    private let limits: Limits
    private var token: [UInt8] = []
    private var number: ChangeNumber = 0
    private var batches: Set<ChangeNumber> = []
    /// The names of records, and after a minus those of deletions.
    private(set) var names: [String] = []
    private(set) var emptyPageCount = 0
    private(set) var isAtEnd = false

    init(key: ZoneKey, device: DeviceID, passedMax: Int) {
        self.key = key
        self.device = device
        var limits = Limits()
        limits.tombstonesPassedMax = passedMax
        self.limits = limits
    }

    mutating func readPage(from storage: any Storage) async throws {
        let store = try await storage.incarnation()
        let query = try ZonePageQuery.make(
            key: key, token: token, limit: 3, device: device, reader: nil, store: store, limits: limits
        ).get()
        let read = try await storage.zonePage(query)
        let page = try ZonePage.make(of: read.value, for: query, store: store).get()
        let position = try require(
            try ChangeToken.position(in: key, viewer: nil, from: page.token.bytes, store: store).get(), "a position")
        try expect(position.number > number, "each page gets further")
        let batches = Set(page.entries.map(\.batchEnd))
        try expect(self.batches.isDisjoint(with: batches), "a batch that fits is on one page")
        (token, number, isAtEnd) = (page.token.bytes, position.number, !page.moreComing)
        self.batches.formUnion(batches)
        names += page.entries.map { $0.isDeleted ? "-\($0.name)" : $0.name }
        if page.entries.isEmpty { emptyPageCount += 1 }
    }
}

/// A reader's copy of a zone, page by page.
private struct ZoneCopy: Sendable {
    private let zone: ZoneState
    private(set) var number: ChangeNumber = 0
    private(set) var records: [String: RecordState] = [:]

    init(_ zone: ZoneState) {
        self.zone = zone
    }

    mutating func readPage(from storage: any Storage) async throws {
        let page = try await storage.zonePage(
            zone.key.page(after: .init(zone: zone.id, number: number), recordsMax: 3))
        for record in page.records.prefix(3) {
            try expect(record.changeNumber > number, "oldest change first, past the token")
            number = record.changeNumber
            records[record.name] = record
        }
        // The token of a last page is the zone's number. Nothing that is written later may be behind it.
        if !page.hasMore, page.records.count <= 3 { number = page.zone?.changeNumber ?? number }
    }
}

extension Storage {
    func advanceDatabaseFeed(of viewer: DatabaseID) async throws(StorageError) {
        _ = try await advanceDatabaseFeed(of: viewer, after: nil, entriesMax: 0)
    }

    /// Reads from token to token. Checks after each page that every zone's newest state is behind the token or in it.
    fileprivate func readFeed(of viewer: DatabaseID, rounds: Int) async throws {
        var token: ChangeNumber = 0
        var given: [ChangeNumber: ZoneID] = [:]
        for _ in 0..<rounds {
            try await advanceDatabaseFeed(of: viewer)
            let read = try await databaseFeed(of: viewer, after: token, entriesMax: 9)
            for entry in read.entries {
                let number = try require(entry.number, "a number")
                try expect(number > token, "numbers past the token")
                try expect(given[number] == nil, "a number is given once")
                given[number] = entry.zone
            }
            try expect(read.head >= token, "the head never falls")
            token = read.head
        }
    }
}

extension StorageFixture {
    /// A write that brings devices' own marks and nothing else.
    fileprivate func give(
        _ tokens: [DeviceID: [UInt8]], of users: [DeviceID: UserID] = [:], in key: ZoneKey,
        keeping countMax: Int = Limits().clientTokensMax, ofParticipant participantMax: Int = 0
    ) async throws {
        let transaction = try await first.beginWrite([key.read()])
        let zone = try require(transaction.snapshots[0].zone, "the zone lives")
        try await transaction.commit([
            ZoneChanges(
                database: key.database, zone: zone.id, changeNumber: zone.changeNumber, records: [], memories: [:],
                clientTokens: tokens, tokenUsers: users, clientTokensMax: countMax,
                participantTokensMax: participantMax)
        ])
    }

    /// What each device finds with the zone's changes.
    fileprivate func marks(
        of devices: [DeviceID], in key: ZoneKey, after position: ZonePageQuery.Position? = nil
    ) async throws -> [[UInt8]] {
        var marks: [[UInt8]] = []
        for device in devices {
            marks.append(try await second.zonePage(key.page(after: position, device: device)).clientToken)
        }
        return marks
    }
}
