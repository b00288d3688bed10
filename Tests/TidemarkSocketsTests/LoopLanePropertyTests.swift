// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkSockets

/// What holds of the turns of lanes in any history. A history that fails prints its seed; `TIDEMARK_TEST_SEED` makes
/// it the first.
@Suite struct LoopLanePropertyTests {
    /// Runs a body with many seeds, until one fails.
    private func withSeeds(_ count: Int, _ body: (SeededRandom, EventLoop) throws -> Void) throws {
        let first = SeededRandom().seed
        print("lanes: TIDEMARK_TEST_SEED=\(first)")
        let loop = try EventLoop(name: "lanes")
        defer { loop.stop() }
        for seed in (0..<UInt64(count)).map({ first &+ $0 }) { try body(SeededRandom(seed: seed), loop) }
    }

    @Test func `R-778: in any history each piece of work is done once, in its lane's order, after a bounded wait`()
        throws
    {
        try withSeeds(40) { random, loop in
            var history = LaneHistory(random, on: loop)
            for _ in 0..<400 {
                history.step()
                try #require(history.complaint == nil)
            }
            history.drain()
            try #require(history.complaint == nil)
        }
    }

    @Test func `R-778: lanes that always have work get equal time, whatever others do and however long pieces are`()
        throws
    {
        try withSeeds(20) { random, loop in
            var history = LaneHistory(random, on: loop)
            let busy = history.busyLanes
            for _ in 0..<800 {
                history.fill(busy)
                history.step()
                try #require(history.complaint == nil)
            }
            let times = busy.map { history.time(of: $0) }
            let difference = (times.max() ?? 0) - (times.min() ?? 0)
            #expect(
                difference <= 2 * LoopLane.turn + LaneHistory.pieceMax, "\(times), TIDEMARK_TEST_SEED=\(random.seed)")
            #expect(times.allSatisfy { $0 > 0 }, "TIDEMARK_TEST_SEED=\(random.seed)")
            history.drain()
            try #require(history.complaint == nil)
        }
    }

    /// An account that asks for one thing after the other owes what a thing took beyond its turn. While it thinks, the others
    /// work, and it has left them turns of its own.
    @Test(arguments: [true, false])
    func `R-778: a lane without work has its turns too, and owes less after each`(_ isPaid: Bool) throws {
        let loop = try EventLoop(name: "lanes")
        defer { loop.stop() }
        let collector = JobCollector()
        let (busy, asker) = ((0..<4).map { _ in LoopLane(loop) }, LoopLane(loop))
        var turns = LaneTurns()
        func add(to lane: LoopLane) throws {
            Task(executorPreference: collector) {}
            let job = collector.take()
            turns.add(try #require(job), to: lane)
        }
        /// Whose piece came next. It took so many turns.
        func work(_ turnCount: Int64) throws -> LoopLane {
            let next = turns.next()
            let (job, lane) = try #require(next)
            job.runSynchronously(on: collector.asUnownedTaskExecutor())
            if !turns.isEmpty { lane.charge(turnCount * LoopLane.turn) }
            return lane
        }
        for lane in busy { for _ in 0..<20 { try add(to: lane) } }
        try add(to: asker)
        var worker = try work(8)
        try #require(worker === asker)
        // Each of the four has a turn while it pays for one. One turn more, because the last is not over.
        for _ in 0..<(isPaid ? 9 : 6) * busy.count {
            worker = try work(1)
            try #require(worker !== asker)
        }
        try add(to: asker)
        worker = try work(1)
        #expect((worker === asker) == isPaid)
        while let (job, _) = turns.next() { job.runSynchronously(on: collector.asUnownedTaskExecutor()) }
    }

    @Test func `R-778: a lane pays for the work of a processor, and not for the wait for one`() {
        let turn = LoopLane.turn
        var times = LaneTimes(processor: 1_000)
        func worked(in time: Int64, until processor: Int64) -> Int64 { times.worked(in: time, processor: processor) }
        #expect(worked(in: turn, until: 0) == turn, "a short piece counts as it is")
        #expect(worked(in: 50 * turn, until: 1_000 + turn + 3 * turn) == 3 * turn)
        #expect(worked(in: 2 * turn, until: 1_000 + 6 * turn) == 2 * turn, "from the last reading on")
        #expect(worked(in: 2 * turn, until: 1_000 + 10 * turn) == 2 * turn, "never more than it took")
        #expect(worked(in: 2 * turn, until: 1_000) == 0)
        var alone = LaneTimes(processor: nil)
        let lonely = alone.worked(in: 50 * turn, processor: 0)
        #expect(lonely == 50 * turn)
    }
}

/// Lanes whose work comes and is done at random, on the thread of the test. Each piece says how long it takes.
private struct LaneHistory {
    /// The longest piece. It is shorter than what a lane can owe. Nanoseconds.
    static let pieceMax = 40 * LoopLane.turn

    private struct Piece: Equatable, Sendable {
        let lane: Int
        let number: Int
        let time: Int64
    }

    private struct Owner {
        let lane: LoopLane
        /// Those that wait.
        var pieces: [Piece] = []
        /// How long its pieces have taken in all.
        var time: Int64 = 0
        /// How long each of the others may work before the next piece, and how long they have.
        var patience: Int64 = 0
        var othersTimes: [Int: Int64] = [:]

        /// It waits from now on. Each time that it is passed over it has one turn less to make up for. Meanwhile each other
        /// lane has as many turns, one before them, and goes beyond the last one by a piece.
        mutating func waits() {
            patience = (lane.used / LoopLane.turn + 2) * LoopLane.turn + LaneHistory.pieceMax
            othersTimes = [:]
        }
    }

    private var random: SeededRandom
    private let collector = JobCollector()
    /// The piece that was done last.
    private let done = Locked<Piece?>(nil)
    private var turns = LaneTurns()
    private var owners: [Owner]
    private var pieceCount = 0
    /// What does not hold.
    private(set) var complaint: String?

    init(_ random: SeededRandom, on loop: EventLoop) {
        var random = random
        let count = random.pick([1, 2, 3, 5, 9])
        owners = (0..<count).map { _ in Owner(lane: LoopLane(loop)) }
        self.random = random
    }

    /// Two of the lanes, if there are two.
    var busyLanes: [Int] { Array(owners.indices.prefix(2)) }

    func time(of lane: Int) -> Int64 { owners[lane].time }

    /// Lets lanes have more work than one step does.
    mutating func fill(_ lanes: [Int]) {
        for lane in lanes { while owners[lane].pieces.count < 6 { add(to: lane) } }
    }

    /// Some work comes, and some is done.
    mutating func step() {
        let lane = random.below(owners.count)
        if random.oneIn(2) {
            for _ in 0...random.below(5) where owners[lane].pieces.count < 40 { add(to: lane) }
        }
        for _ in 0...random.below(3) { work() }
    }

    mutating func drain() {
        let left = owners.reduce(0) { $0 + $1.pieces.count }
        for _ in 0..<left { work() }
        if !turns.isEmpty || turns.next() != nil { complain("there is work that never came") }
    }

    private mutating func complain(_ what: String) {
        complaint = complaint ?? "\(what), TIDEMARK_TEST_SEED=\(random.seed)"
    }

    private mutating func add(to lane: Int) {
        let longest = random.pick([1_000, LoopLane.turn / 4, LoopLane.turn, Self.pieceMax])
        let piece = Piece(lane: lane, number: pieceCount, time: Int64.random(in: 1...longest, using: &random))
        pieceCount += 1
        Task(executorPreference: collector) { [done] in done.update { $0 = piece } }
        guard let job = collector.take() else { return complain("no job was made") }
        if owners[lane].pieces.isEmpty { owners[lane].waits() }
        owners[lane].pieces.append(piece)
        turns.add(job, to: owners[lane].lane)
    }

    /// Does the next piece, as a loop does.
    private mutating func work() {
        guard let (job, lane) = turns.next() else {
            if owners.contains(where: { !$0.pieces.isEmpty }) { complain("work waits, and none is next") }
            return
        }
        done.update { $0 = nil }
        job.runSynchronously(on: collector.asUnownedTaskExecutor())
        guard let index = owners.firstIndex(where: { $0.lane === lane }), let piece = owners[index].pieces.first,
            done.value == piece
        else { return complain("this was not the lane's next piece: \(String(describing: done.value))") }
        if !turns.isEmpty { lane.charge(piece.time) }
        owners[index].pieces.removeFirst()
        owners[index].time += piece.time
        if !owners[index].pieces.isEmpty { owners[index].waits() }
        for other in owners.indices where other != index && !owners[other].pieces.isEmpty {
            owners[other].othersTimes[index, default: 0] += piece.time
            let time = owners[other].othersTimes[index, default: 0]
            if time > owners[other].patience { complain("lane \(other) has waited for \(time) ns of lane \(index)") }
        }
    }
}

/// Makes real jobs, and leaves them to the caller.
private final class JobCollector: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.update { $0.append(job) }
    }

    /// The one job that was made since the last call.
    func take() -> UnownedJob? {
        var taken: UnownedJob?
        jobs.update { taken = $0.popLast() }
        return taken
    }
}
