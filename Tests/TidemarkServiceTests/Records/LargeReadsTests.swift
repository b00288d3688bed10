// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkService

/// Write transactions that read much.
@Suite struct LargeReadsTests {
    @Test func `R-737: what is large waits for its owner's place, and other owners' requests to the zone pass it`() {
        var workers = QueueWorkers()
        let first = workers.admit(zone: "mine", account: 1, stored: 400)
        workers.runSmall()
        #expect(workers.large == [first])
        let large = workers.admit(zone: "common", account: 1, stored: 400)
        workers.runSmall()
        let behind = workers.admit(zone: "common", account: 1, stored: 0)
        let others = [
            workers.admit(zone: "common", account: 2, stored: 0), workers.admit(zone: "mine 2", account: 1, stored: 0),
        ]
        workers.runSmall()
        #expect(workers.large == [first], "an owner has one place")
        #expect(workers.written == others)
        let second = workers.admit(zone: "common", account: 2, stored: 400)
        workers.runSmall()
        #expect(workers.large == [first, second], "another has one too")
        workers.drain()
        #expect(workers.written.filter { [large, behind].contains($0) } == [large, behind])
        #expect(workers.queue.isIdle && workers.outcomes.count == 6)
    }

    @Test func `R-737: whoever waits for places in many zones does not keep others from theirs`() {
        var workers = QueueWorkers(placesMax: 1)
        let greedy = (0..<20).map { workers.admit(zone: "\($0)", account: 1, stored: 400) }
        workers.runSmall()
        #expect(workers.large == [greedy[0]])
        let other = workers.admit(zone: "other", account: 2, stored: 400)
        workers.runSmall()
        workers.endLarge()
        workers.runSmall()
        #expect(workers.large == [other], "owners take turns")
        workers.drain()
        #expect(workers.written.count == 21)
    }

    @Test func `R-737: a request whose time is over while it waits for a place is refused, and leaves nothing`() {
        for stops in [false, true] {
            var workers = QueueWorkers()
            let first = workers.admit(zone: "a", account: 1, stored: 400)
            let second = workers.admit(zone: "b", account: 1, stored: 400)
            workers.runSmall()
            #expect(workers.large == [first])
            let refusals = stops ? workers.queue.stop() : workers.queue.expire(now: .seconds(60), at: 0)
            #expect(refusals == [.init(ticket: second, reason: stops ? .storeUnavailable : .zoneBusy)])
            workers.drain()
            #expect(workers.queue.isIdle && workers.written == [first])
        }
    }

    @Test func `R-737: what waits behind a large request goes when that request's time is over`() {
        var workers = QueueWorkers(loops: 2)
        let first = workers.admit(zone: "mine", account: 1, stored: 400)
        workers.runSmall()
        let large = workers.admit(zone: "common", account: 1, stored: 400, at: 1)
        workers.runSmall()
        workers.pass(.seconds(1))
        let behind = workers.admit(zone: "common", account: 1, stored: 0, at: 1)
        workers.runSmall()
        #expect(workers.large == [first] && workers.written.isEmpty)
        workers.pass(.milliseconds(9_500))
        workers.runSmall()
        #expect(workers.outcomes[large] == false && workers.written == [behind])
        workers.drain()
        #expect(workers.queue.isIdle && workers.written == [behind, first])
    }

    @Test func `R-737: what is large is tried again after a failure, with its turn for a place`() {
        var workers = QueueWorkers(placesMax: 1)
        let first = workers.admit(zone: "a", account: 1, stored: 400)
        workers.runSmall()
        let second = workers.admit(zone: "b", account: 2, stored: 400)
        workers.runSmall()
        #expect(workers.large == [first])
        workers.endLarge(fails: true)
        workers.runSmall()
        #expect(workers.large == [second], "nobody has a place while a zone rests")
        workers.drain()
        #expect(workers.written == [second, first])
    }

    /// Requests of three owners to four zones come to two event loops, small and large. Transactions fail, askers
    /// leave, and time passes.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func `R-737: in any history places are shared, requests keep their order, and none is lost`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var workers = QueueWorkers(placesMax: 2, loops: 2)
        var askers: [Asker] = []
        for _ in 0..<300 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<7:
                let asker = Asker()
                askers.append(asker)
                _ = workers.admit(
                    zone: "\(Int.random(in: 0..<4, using: &random))", account: Int64.random(in: 1...3, using: &random),
                    stored: random.pick([0, 30, 60, 100, 150, 400]),
                    at: Int.random(in: 0...1, using: &random), asker: asker)
            case 7..<17: workers.step(fails: Int.random(in: 0..<8, using: &random) == 0, using: &random)
            case 17: workers.wake(using: &random)
            case 18: askers.randomElement(using: &random)?.leave()
            default: workers.pass(.milliseconds(Int64.random(in: 0..<2_000, using: &random)))
            }
            #expect(workers.complaints == [], "seed \(seed)")
        }
        workers.drain()
        #expect(workers.complaints == [], "seed \(seed)")
        #expect(workers.queue.isIdle, "seed \(seed): something waits for ever")
        #expect(workers.outcomes.count == askers.count, "seed \(seed)")
        let last = (11...13 as ClosedRange<Int64>).map { workers.admit(zone: "\($0)", account: $0, stored: 400) }
        workers.runSmall()
        #expect(workers.large == Array(last[..<2]), "seed \(seed): all places are free again")
    }

    /// A small change of large records in six zones, by one account at almost the same time. A commit takes 5 ms.
    @Test(arguments: [0, 1 << 20])
    func `R-737: one account's large changes go one at a time, and others' saves, also large ones, beside them`(
        _ knownBytesMax: Int
    ) throws {
        let zones = (0..<6).map { "z\($0)" }
        let fixture = try ServiceFixture(zones: zones + ["other"])
        let scheduler = fixture.scheduler
        let script = FaultScript(always: [.commitSent: .delay(.milliseconds(5))])
        let underWay = Log<Int>()
        var plan = script.plan
        plan.at = { [plan] point in
            let fault = plan.at(point)
            underWay.append(script.count(.commitSent) - script.count(.commitAnswered))
            return fault
        }
        var settings = WriteSettings()
        settings.storedBytesFree = 200
        settings.knownBytesMax = knownBytesMax
        let shared = SharedWrites(settings: settings)
        let quick = fixture.server(sharedWrites: shared)
        let service = fixture.server(faults: plan, sharedWrites: shared)

        @Sendable func change(_ request: RecordsRequest, of account: Int64) async {
            let outcome = await service.modifyRecords([request], for: .account(account))[0]
            #expect(!outcome.numbers.isEmpty && !outcome.numbers.contains(nil))
        }
        func request(_ zone: String, of account: Int64, _ names: [String]) throws -> RecordsRequest {
            let id = RequestID(DeviceID(high: 2, low: UInt64(account)), 1)
            return try fixture.saving(names, zone: zone, text: "few", id: id)
        }
        let large = try zones.map { try request($0, of: 1, ["a", "b", "c"]) }
        // A small one in a zone that waits, and a large one.
        let others = [try request(zones[5], of: 2, ["new"]), try request("other", of: 3, ["a", "b", "c"])]

        try scheduler.simulate {
            let text = String(repeating: "x", count: 200)
            for zone in zones + ["other"] {
                let id = RequestID(DeviceID(high: 3, low: 3), 1)
                let request = try fixture.saving(["a", "b", "c"], zone: zone, text: text, id: id)
                _ = try await quick.modify(request).get()
            }
            let start = scheduler.now
            var tasks: [Task<Void, Never>] = []
            for request in large {
                tasks.append(scheduler.run { await change(request, of: 1) })
                try await scheduler.sleep(for: .microseconds(100))
            }
            let times = Log<Duration>()
            for (request, account) in zip(others, [2, 3] as [Int64]) {
                tasks.append(
                    scheduler.run {
                        await change(request, of: account)
                        times.append(scheduler.now - start)
                    })
            }
            for task in tasks { await task.value }
            #expect(times.all.count == 2 && times.all.allSatisfy { $0 < .milliseconds(15) }, "\(times.all)")
            #expect(scheduler.now - start >= .milliseconds(30), "the six go one after another")
        }
        let most = underWay.all.max() ?? 0
        #expect((2...3).contains(most), "one of each account: \(most)")
    }
}

/// A ``WriteQueue`` and its workers on event loops, as ``WriteCoordinator``s drive them. A transaction may read 100
/// stored bytes without a place. The requests bring none.
private struct QueueWorkers {
    private struct Worker {
        let loop: Int
        let group: [WriteQueue.Entry]
        var parts: [[WriteQueue.Entry]]

        var isLarge: Bool { group[0].largeRead != nil }
    }

    private struct Lane: Hashable {
        let zone: ZoneKey
        let owner: WorkOwner
    }

    private let settings: WriteSettings
    var queue: WriteQueue
    private var workers: [Worker] = []
    private var starting: [Int] = []
    private var wakes: [(loop: Int, key: ZoneKey)] = []
    private var stored: [WriteQueue.Ticket: Int] = [:]
    private var lastWritten: [Lane: WriteQueue.Ticket] = [:]
    private var now = Duration.zero
    /// Of each request, whether it was written.
    private(set) var outcomes: [WriteQueue.Ticket: Bool] = [:]
    private(set) var written: [WriteQueue.Ticket] = []
    private(set) var complaints: [String] = []

    init(placesMax: Int = 3, loops: Int = 1) {
        var settings = WriteSettings()
        settings.storedBytesFree = 100
        settings.largeReadsMax = placesMax
        self.settings = settings
        queue = WriteQueue(settings: settings)
        for _ in 0..<loops { _ = queue.addLoop() }
    }

    /// Requests that are in transactions with places.
    var large: [WriteQueue.Ticket] { workers.filter(\.isLarge).map { $0.group[0].ticket }.sorted() }

    mutating func admit(
        zone: String, account: Int64, stored bytes: Int, at loop: Int = 0, asker: Asker = Asker()
    ) -> WriteQueue.Ticket {
        let request = RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: UInt64(account)), UInt64(stored.count)),
            key: ZoneKey(database: DatabaseID(1), name: zone),
            saves: [RecordSave(name: "r", type: "T", tag: nil, fields: FieldMap(), parent: .unchanged)], deletes: [],
            policy: .allKeys, isAtomic: false, user: UserID(account), access: .owner(UserID(account)))
        let admission = queue.admit(
            request, for: .account(account), askedBy: asker, at: loop, now: now)
        guard case .queued(let ticket) = admission else {
            complaints.append("\(admission)")
            return 0
        }
        stored[ticket] = bytes
        start(at: loop)
        return ticket
    }

    private mutating func start(at loop: Int) {
        if queue.startsWorker(at: loop) { starting.append(loop) }
    }

    private mutating func begin(at loop: Int, isFirst: Bool) {
        let group = queue.nextGroup(at: loop, isFirst: isFirst)
        start(at: loop)
        refuse(group.unasked)
        if !group.entries.isEmpty { workers.append(Worker(loop: loop, group: group.entries, parts: [group.entries])) }
        check()
    }

    private mutating func refuse(_ refusals: [WriteQueue.RefusedRequest]) {
        for refusal in refusals { note(refusal.ticket, isWritten: false) }
    }

    private mutating func note(_ ticket: WriteQueue.Ticket, isWritten: Bool) {
        if outcomes.updateValue(isWritten, forKey: ticket) != nil { complaints.append("\(ticket) has two outcomes") }
    }

    /// One transaction of a worker.
    ///
    /// - Parameter isOver: whether what is left of the group goes back after it.
    private mutating func run(_ index: Int, fails: Bool = false, isOver: Bool = false) {
        var worker = workers.remove(at: index)
        let part = worker.parts.removeFirst()
        let bytes = part.map { stored[$0.ticket] ?? 0 }
        if fails {
            let recovery = queue.recover(
                from: .unavailable, part: part, rest: worker.parts, now: now, randomBits: { 0 })
            if case .later(let refusals, let later) = recovery {
                refuse(refusals)
                wakes += later.map { (loop: worker.loop, key: $0.key) }
            }
            worker.parts = []
        } else if !worker.isLarge, bytes.reduce(0, +) > settings.storedBytesMax(bringing: 0) {
            let division = queue.divide(part, storedBytes: bytes, rest: worker.parts, now: now)
            refuse(division.refusals)
            worker.parts = division.parts
        } else {
            queue.leave(part)
            for entry in part { write(entry) }
            if isOver {
                refuse(queue.putBack(Array(worker.parts.joined()), now: now))
                worker.parts = []
            }
        }
        guard worker.parts.isEmpty else { return workers.append(worker) }
        queue.endGroup(worker.group, at: worker.loop)
        begin(at: worker.loop, isFirst: false)
    }

    private mutating func write(_ entry: WriteQueue.Entry) {
        note(entry.ticket, isWritten: true)
        written.append(entry.ticket)
        let last = lastWritten.updateValue(entry.ticket, forKey: Lane(zone: entry.key, owner: entry.owner))
        if let last, last > entry.ticket { complaints.append("\(entry.ticket) after \(last)") }
    }

    private mutating func check() {
        let large = workers.filter(\.isLarge)
        if large.count > settings.largeReadsMax { complaints.append("\(large.count) places") }
        if Set(large.map { $0.group[0].owner }).count < large.count { complaints.append("an owner has two places") }
        if large.contains(where: { $0.group.count > 1 }) { complaints.append("a large request is not alone") }
        let zones = workers.flatMap { Set($0.group.map(\.key)) }
        if Set(zones).count < zones.count { complaints.append("a zone is in two transactions") }
    }

    /// Any of what may happen next, at random.
    mutating func step(fails: Bool, using random: inout SeededRandom) {
        let choice = Int.random(in: 0..<max(1, starting.count + workers.count), using: &random)
        if choice < starting.count {
            begin(at: starting.remove(at: choice), isFirst: true)
        } else if choice - starting.count < workers.count {
            run(choice - starting.count, fails: fails, isOver: Bool.random(using: &random))
        }
    }

    mutating func wake(using random: inout SeededRandom) {
        guard !wakes.isEmpty else { return }
        wake(at: Int.random(in: 0..<wakes.count, using: &random))
    }

    private mutating func wake(at index: Int) {
        let wake = wakes.remove(at: index)
        queue.wake(wake.key)
        start(at: wake.loop)
    }

    mutating func pass(_ time: Duration) {
        now += time
        refuse(queue.expire(now: now, at: 0))
        start(at: 0)
    }

    /// Runs everything but what has a place.
    mutating func runSmall() {
        while !starting.isEmpty || workers.contains(where: { !$0.isLarge }) {
            while !starting.isEmpty { begin(at: starting.removeFirst(), isFirst: true) }
            if let index = workers.firstIndex(where: { !$0.isLarge }) { run(index) }
        }
    }

    /// Ends the transactions that have places now.
    mutating func endLarge(fails: Bool = false) {
        for _ in 0..<workers.count(where: \.isLarge) {
            if let index = workers.firstIndex(where: \.isLarge) { run(index, fails: fails) }
        }
    }

    /// Until nothing is under way.
    mutating func drain() {
        for _ in 0..<10_000 {
            runSmall()
            if !workers.isEmpty {
                run(0)
            } else if !wakes.isEmpty {
                wake(at: 0)
            } else {
                return
            }
        }
        complaints.append("it does not end")
    }
}
