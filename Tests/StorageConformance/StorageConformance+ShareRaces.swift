// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService

/// Access that begins or ends while others read and write.
extension StorageConformance {
    static let shareRaces: [Scenario] = [
        Scenario("F-2, I-5, R-328: access and data are of one snapshot, however often access changes") { store in
            let zone = try await store.shareZone("notes")
            try await store.learnNotes(in: zone.owner)
            let writer = store.scheduler.runThrowing {
                var intervals: [Range<ChangeNumber>] = []
                for round in 0..<12 {
                    let begin = try require(try await store.accept(zone), "an acceptance")
                    try await store.write([RecordDraft("in \(round)")], in: zone.key)
                    let end = try require(try await store.leave(zone), "an end")
                    try await store.write([RecordDraft("out \(round)")], in: zone.key)
                    intervals.append(begin..<end)
                }
                return intervals
            }
            let readers = [store.first, store.second].map { storage in
                store.scheduler.runThrowing {
                    var sights: [ZoneSight] = []
                    for round in 0..<30 { sights.append(try await ZoneSight(of: zone, on: storage, round)) }
                    return sights
                }
            }
            let intervals = try await writer.value
            for reader in readers {
                for sight in try await reader.value { try sight.expectAllowed(in: intervals) }
            }
            // A server that has read that there is no access reads nothing of the zone any more.
            for storage in [store.first, store.second] {
                for round in 0..<3 {
                    try await ZoneSight(of: zone, on: storage, round).expectAllowed(in: intervals)
                    try await ZoneSight(of: zone, on: storage, round).expectNothing()
                }
            }
        },
        Scenario("F-1, R-328: what was decided before access began or ended is not written by what is known") { store in
            let zone = try await store.shareZone("notes")
            for step in ["accepts", "leaves", "accepts again", "share ends"] {
                let (snapshot, moment) = try await store.moment(zone.key)
                switch step {
                case "leaves": try await store.leave(zone, on: store.second)
                case "share ends": try await store.endShare(in: zone.key)
                default: try await store.accept(zone, on: store.second)
                }
                for drafts in [[RecordDraft("x")], [RecordDraft("x"), RecordDraft("y")]] {
                    let changes = try require(snapshot.changes(drafts), "the zone lives")
                    try await expectError(.outdated, "somebody \(step)") {
                        try await store.first.commit([changes], at: [moment])
                    }
                }
            }
            let found = try await store.second.records(named: ["x", "y"], in: zone.key)
            try expectEqual(found.records, [:], "nothing was written")
        },
        Scenario("lock first, look after: who waited for the zone finds its shares as they are now") { store in
            let zone = try await store.shareZone("notes")
            try await store.accept(zone)
            var whole = zone.key.read(records: [Share.zoneWideName])
            whole.sharing = .whole
            let transaction = try await store.first.beginWrite([whole])
            let snapshot = try require(transaction.snapshots.first, "a snapshot")
            let number = zone.share.rawValue + 2
            let end = try require(
                ShareVisitor(user: zone.viewer.user).declining(in: snapshot.sharing, at: number), "bob takes part")
            let waiting = store.scheduler.runThrowing {
                var read = zone.key.read(records: ["a"])
                read.sharing = zone.access
                let transaction = try await store.second.beginWrite([read])
                await transaction.rollback()
                return transaction.snapshots.first
            }
            try await store.passTime()
            let changes = snapshot.changes([end], names: [Share.zoneWideName])
            try await transaction.commit([try require(changes, "the zone lives")])
            let seen = try require(try await waiting.value, "a snapshot")
            try expectEqual(seen.zone?.changeNumber, number, "the zone as it is now")
            let sharing = try require(seen.sharing, "its shares")
            try expect(!sharing.admits(zone.viewer.user), "and bob takes no part")
        },
        Scenario("R-317: of two acceptances at once one is a change, and there is one participant") { store in
            let zone = try await store.shareZone("notes")
            for round in 0..<4 {
                let accepts = [store.first, store.second].map { storage in
                    store.scheduler.runThrowing { try await store.accept(zone, on: storage) }
                }
                var numbers: [ChangeNumber] = []
                for accept in accepts {
                    if let number = try await accept.value { numbers.append(number) }
                }
                try expectEqual(numbers.count, 1, "one of them came first")
                let sharing = try require(try await store.second.sharing(of: zone.key, .whole), "the zone").sharing
                try expectEqual(sharing.begin(of: zone.viewer.user), numbers.first, "with its number")
                let rows = sharing.participants[zone.share] ?? [:]
                try expectEqual(rows.count, 1, "one row in round \(round)")
                let leaves = [store.first, store.second].map { storage in
                    store.scheduler.runThrowing { try await store.leave(zone, on: storage) }
                }
                var endCount = 0
                for leave in leaves {
                    if try await leave.value != nil { endCount += 1 }
                }
                try expectEqual(endCount, 1, "and one leaves")
            }
        },
        Scenario("R-326: a share that ends while somebody accepts lets nobody in") { store in
            let zone = try await store.shareZone("notes")
            let accept = store.scheduler.runThrowing { try await store.accept(zone, on: store.second) }
            let end = try require(try await store.endShare(in: zone.key), "an end")
            let begin = try await accept.value
            try expect(begin.map { $0 < end } ?? true, "nobody joins what has ended")
            let sharing = try require(try await store.second.sharing(of: zone.key, zone.access), "the zone").sharing
            try expect(!sharing.admits(zone.viewer.user), "and nobody is in")
            let listed = try await store.second.sharedZones(
                of: zone.list, for: zone.viewer.user, after: nil, zonesMax: 9)
            try expectEqual(listed, [], "the list grants nothing")
        },
        Scenario("F-24, R-158: who accepts, leaves, writes, lists or ends zones never waits in a circle") { store in
            let zone = try await store.shareZone("notes")
            let other = try require(
                try await store.createZones("other", in: zone.owner.privateDatabase).first, "a zone"
            ).key
            // With a quota, writers lock their database, too.
            for quota in [StorageQuota(), StorageQuota(privateBytes: 1_000_000)] {
                try expect(try await store.first.setQuota(quota, of: StorageConformance.container), "chosen")
                let steps = LockingStep.all(store, zone, other)
                // Each step on one server beside each on the other, in both orders: a circle would end with an error.
                for first in steps {
                    for second in steps {
                        let running = [(store.first, first), (store.second, second)].map { storage, step in
                            store.scheduler.runThrowing { for _ in 0..<2 { try await step(storage) } }
                        }
                        for step in running { try await step.value }
                        let read = try require(try await store.first.sharing(of: zone.key, .whole), "the zone")
                        if read.sharing.livingShare == nil { _ = try await store.beginShare(in: zone.key) }
                    }
                }
            }
            let found = try await store.second.records(named: [], in: zone.key)
            try expect(found.zone.map { $0.id != zone.zone } ?? false, "the zone was made anew")
        },
    ]
}

/// What locks rows of a shared zone, and writes there. Whoever waits for the zone while it is made anew finds none.
private enum LockingStep {
    typealias Step = @Sendable (any Storage) async throws -> Void

    static func all(_ store: StorageFixture, _ zone: SharedZone, _ other: ZoneKey) -> [Step] {
        [
            { _ = try await store.accept(zone, on: $0, whichMayEnd: true) },
            { _ = try await store.leave(zone, on: $0, whichMayEnd: true) },
            { try await write(["x"], in: [zone.key], on: $0) },
            { try await write(["x", "y"], in: [other, zone.key], on: $0) },
            { try await makeAnew([other.name, zone.key.name], in: zone.owner.privateDatabase, on: $0) },
            { _ = try await $0.advanceDatabaseFeed(of: zone.list, after: 0, entriesMax: 9) },
        ]
    }

    private static func write(_ names: [String], in zones: [ZoneKey], on storage: any Storage) async throws {
        let transaction = try await storage.beginWrite(zones.map { $0.read(records: names) })
        let changes = transaction.snapshots.compactMap { $0.changes(names.map { RecordDraft($0) }) }
        guard !changes.isEmpty else { return await transaction.rollback() }
        try await transaction.commit(changes)
    }

    private static func makeAnew(_ names: [String], in database: DatabaseID, on storage: any Storage) async throws {
        let life = DeviceID(high: 1, low: 1)
        let transaction = try await storage.beginZonesWrite(in: database, names: names, life: life)
        let removed = names.compactMap { transaction.snapshot.zones[$0]?.id }
        let changes = ZonesChanges(created: names, removed: removed, life: life, memory: RequestMemory())
        try await transaction.commit(changes, now: StorageFixture.now)
    }
}

/// What one read showed of a shared zone.
private struct ZoneSight: Sendable {
    /// From which change on the viewer had access; nil if they had none.
    let begin: ChangeNumber?
    /// The newest change of which there was something.
    let newest: ChangeNumber
    /// Whether that was the zone's newest change.
    let isExact: Bool
    let name: String

    init(of zone: SharedZone, on storage: any Storage, _ round: Int) async throws {
        let user = zone.viewer.user
        let page: ZonePageRead?
        let sharing: ZoneSharing?
        switch round % 5 {
        case 0:
            name = "page"
            let read = try await storage.zonePage(zone.key.page(for: user)).value
            page = read
            sharing = read.sharing
        case 1:
            name = "records"
            let names = (0..<12).flatMap { ["in \($0)", "out \($0)"] }
            let read = try await storage.records(
                named: names, in: zone.key, bytesMax: 1_000_000, sharing: zone.access)
            page = ZonePageRead(read)
            sharing = read.sharing
        case 2:
            name = "page with the list"
            let query = zone.key.page(for: user)
            let read = try await storage.databaseFeed(of: zone.list, after: nil, entriesMax: 9, then: query).page
            page = read?.value
            sharing = read?.value.sharing
        case 3:
            name = "shares"
            let read = try await storage.sharing(of: zone.key, zone.access)
            page = ZonePageRead(zone: read?.zone, lastRemoval: nil, records: [], hasMore: false)
            sharing = read?.sharing
        default:
            name = "query"
            let query = QueryPageQuery(
                database: zone.key.database, query: Query(recordType: "Note", zoneName: zone.key.name),
                recordsMax: 100, bytesMax: 1_000_000, sharing: zone.access)
            let read = try await storage.queryPage(query, for: WorkTurn(of: .nobody)).value
            page = ZonePageRead(zone: nil, lastRemoval: nil, records: read.matches.map(\.record), hasMore: false)
            sharing = read.sharing
        }
        begin = try require(sharing, "\(name): the shares").begin(of: user)
        let shown = try require(page, "\(name): an answer")
        isExact = shown.zone != nil
        newest = max(shown.zone?.changeNumber ?? 0, shown.records.map(\.changeNumber).max() ?? 0)
    }

    /// - Parameter intervals: all in which the viewer had access.
    func expectAllowed(in intervals: [Range<ChangeNumber>]) throws {
        let promise = "\(name): access since \(begin ?? 0), and something of change \(newest)"
        guard let begin else {
            // A query shows no number of the zone. Whoever reads the access with it drops what was found.
            if name == "query" { return }
            // Nothing was given, or the zone as it was without access: then whoever reads drops it.
            let inside = intervals.contains { $0.contains(newest) }
            return try expect(isExact ? !inside : newest == 0, promise)
        }
        let interval = try require(intervals.first { $0.lowerBound == begin }, promise)
        try expect(newest < interval.upperBound, promise)
        if isExact { try expect(newest >= begin, promise) }
    }

    /// Neither access, nor the zone, nor a record.
    func expectNothing() throws {
        try expect(begin == nil && !isExact && newest == 0, "\(name): something of change \(newest)")
    }
}

extension ZonePageRead {
    /// The records of a look-up, as if they were a page.
    fileprivate init(_ snapshot: ZoneSnapshot) {
        self.init(zone: snapshot.zone, lastRemoval: nil, records: Array(snapshot.records.values), hasMore: false)
    }
}
