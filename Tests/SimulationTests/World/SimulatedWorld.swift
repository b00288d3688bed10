// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Several servers on one database, and the network between them and the devices, with all that goes wrong there.
///
/// One thread runs all of it, and every choice comes from the scheduler's seed.
final class SimulatedWorld: @unchecked Sendable {
    let scheduler: SimulationScheduler
    let database: MemoryDatabase
    let planted: PlantedFault?
    private(set) var servers: [SimulatedServer] = []
    private(set) var identity: Identity?
    var history: History
    /// Whom the owner's zones may be shared with; nobody in most histories.
    var guests: [Identity] = []
    /// In histories with guests.
    var sharing: SharingJudge?
    /// How many connections devices have made to fetch.
    var connectionCount: UInt64 = 0
    var limits = Limits()
    /// From now on nothing goes wrong any more.
    private(set) var isCalm = false
    /// Once in so many points something goes wrong; each run is of another weather.
    private let faultsOneIn: Int
    private let cutsOneIn: Int
    /// Between so many steps each mishap happens to somebody, on average; never if it is not named.
    let stepsPerMishap: [Mishap: Int]
    private var victims: [Mishap: [() -> Void]] = [:]
    /// Whether computers sleep for hours and days in this run.
    let hasLongNights: Bool
    var computers: [SimulatedComputer] = []
    /// The newest one.
    var backup: (store: MemoryBackup, history: History.Backup, sharing: SharingJudge?)?
    var restoreCount = 0
    /// While accounts are made the store is not restored: they would be gone.
    var isAdmitting = false
    /// Whether everybody waits for those who sleep: meanwhile nobody falls asleep.
    var isNight = false

    /// What may happen to somebody between any two steps.
    enum Mishap: CaseIterable {
        case death, clockJump, sleep, copy, forgetting, backup, restore
    }

    static let zoneNames = ["a", "b", "c"]
    static let recordNames = ["r0", "r1", "r2", "r3", "r4"]

    /// - Parameter isRestored: whether the store may be restored.
    init(seed: UInt64, planted: PlantedFault?, clients: History.Clients, isRestored: Bool = true) {
        history = History(of: clients)
        scheduler = SimulationScheduler(seed: seed)
        database = MemoryDatabase(scheduler: scheduler)
        self.planted = planted
        faultsOneIn = [12, 30, 80, 200, 1_000_000][Int(scheduler.randomBits() % 5)]
        cutsOneIn = [15, 60, 250, 1_000_000][Int(scheduler.randomBits() % 4)]
        stepsPerMishap = Self.weather(scheduler).merging(isRestored ? Self.restores(seed) : [:]) {
            _, new in new
        }
        hasLongNights = scheduler.randomBits() % 5 == 0
        database.observe { [unowned self] commit in
            history.record(commit)
            for violation in sharing?.record(commit, at: history.length) ?? [] { history.accuse(violation) }
            note(commit.brief)
        }
    }

    private static func weather(_ dice: SimulationScheduler) -> [Mishap: Int] {
        func one(of steps: [Int?]) -> Int? { steps[Int(dice.randomBits() % UInt64(steps.count))] }
        var weather: [Mishap: Int] = [:]
        weather[.death] = one(of: [200, 800, 3_000, nil])
        weather[.clockJump] = one(of: [300, 2_000, nil])
        weather[.sleep] = one(of: [500, 2_000, nil])
        weather[.copy] = one(of: [1_000, 4_000, nil])
        weather[.forgetting] = one(of: [500, 2_000, nil])
        return weather
    }

    /// In one run of four the store is restored: without a throw of the dice, so that other histories are what they were.
    private static func restores(_ seed: UInt64) -> [Mishap: Int] {
        switch seed % 16 {
        case 3, 11, 13: return [.backup: 400, .restore: 1_000]
        case 7: return [.backup: 400, .restore: 4_000]
        default: return [:]
        }
    }

    /// The account, its zones, and the servers.
    func prepare(serverCount: Int, zones names: [String] = SimulatedWorld.zoneNames) async throws {
        let store = MemoryStore(database)
        database.issueCredential(hash: [1], account: "alice")
        identity = try await store.identity(
            credentialHash: [1], container: "iCloud.test", environment: .development, containersMax: .max,
            now: Timestamp(milliseconds: scheduler.wallClockMilliseconds))
        let device = DeviceID(high: 0, low: 1)
        let zones = try await store.beginZonesWrite(in: viewer, names: names, life: device)
        try await zones.commit(
            ZonesChanges(created: names, removed: [], life: device, memory: RequestMemory()),
            now: Timestamp(milliseconds: scheduler.wallClockMilliseconds))
        servers = (0..<serverCount).map { _ in SimulatedServer(self) }
        for server in servers {
            await server.start()
            mayMeet(.death) { [unowned self] in crash(server) }
            mayMeet(.sleep) { [unowned self] in freeze(server) }
        }
        mayMeet(.clockJump) { [unowned self] in setWallClock(of: oneOf(computers)) }
        mayMeet(.forgetting) { [unowned self] in forgetOutcomes() }
        backUp()
        mayMeet(.backup) { [unowned self] in backUp() }
        mayMeet(.restore) { [unowned self] in restore() }
        for mishap in Mishap.allCases { expect(mishap) }
    }

    var viewer: DatabaseID { identity?.privateDatabase ?? DatabaseID(0) }

    func key(_ zone: String) -> ZoneKey { ZoneKey(database: viewer, name: zone) }

    // MARK: Dice

    func below(_ bound: Int) -> Int { Int(scheduler.randomBits() % UInt64(bound)) }

    func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    func oneOf<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

    /// Each with a chance of one half.
    func some<Value>(of values: [Value]) -> [Value] { values.filter { _ in oneIn(2) } }

    /// Mostly short, sometimes long.
    func delay() -> Duration {
        switch below(10) {
        case 0: .milliseconds(Int64(below(4_000)))
        case 1, 2: .milliseconds(Int64(below(100)))
        default: .microseconds(Int64(below(3_000)))
        }
    }

    /// As in a network that works.
    func shortDelay() -> Duration { .microseconds(Int64(50 + below(isCalm || !oneIn(20) ? 2_000 : 300_000))) }

    /// Whether the planted fault has shown: then there is nothing more to find out, and some make storms that take long.
    var isFaultSeen: Bool { planted != nil && !history.violations.isEmpty }

    // MARK: What goes wrong

    /// From now on `happen` may be called between any two steps.
    func mayMeet(_ mishap: Mishap, _ happen: @escaping () -> Void) {
        victims[mishap, default: []].append(happen)
    }

    private func expect(_ mishap: Mishap) {
        guard let steps = stepsPerMishap[mishap] else { return }
        scheduler.interrupt(afterSteps: 1 + below(2 * steps)) { [unowned self] in
            guard !isCalm else { return }
            if let victims = victims[mishap] { oneOf(victims)() }
            expect(mishap)
        }
    }

    func faults(of server: SimulatedServer) -> FaultPlan {
        FaultPlan(
            at: { [unowned self] _ in
                guard !isCalm, oneIn(faultsOneIn) else { return .none }
                switch below(12) {
                case 0...4: return .delay(delay())
                case 5...7: return .disconnect
                case 8, 9: return .commitLate(after: delay())
                case 10: return .delay(.seconds(7))
                default: return .crash
                }
            },
            onCrash: { [unowned self, unowned server] in crash(server) })
    }

    private func crash(_ server: SimulatedServer) {
        guard server.isUp else { return }
        note("a server dies")
        server.crash()
        let pause = delay()
        scheduler.run {
            await self.scheduler.pass(pause)
            if !server.isUp { await server.start() }
        }
    }

    /// As a machine whose disk or host does not answer for a while.
    private func freeze(_ server: SimulatedServer) {
        guard server.isUp, !server.computer.isAsleep else { return }
        let pause = Duration.milliseconds(below(15_000))
        note("a server freezes for \(pause)")
        server.computer.fallAsleep()
        _ = scheduler.schedule(after: pause) { server.computer.wakeUp() }
    }

    /// The store begins an epoch, or so many that nothing is remembered that is older than that (R-157): as when every server
    /// is suspended for days, whatever is in its queues.
    private func forgetOutcomes() {
        let count = oneIn(2) ? 1 : limits.memoryEpochsKept + 1
        scheduler.run { [self] in
            for _ in 0..<count {
                _ = try? await MemoryStore(database).advanceMemoryEpoch(
                    after: .zero, keeping: limits.memoryEpochsKept)
            }
        }
    }

    var memoryEpoch: Int64 {
        get async { (try? await MemoryStore(database).standing().memoryEpoch) ?? 0 }
    }

    /// Through nights nobody looks often: days of looking every ten seconds would take long.
    var sweepInterval: Duration { hasLongNights ? .seconds(3_600) : .seconds(10) }

    /// Ends all faults, and waits until what is under way has ended and every server is up.
    func calmDown() async {
        if oneIn(2) { await waitForSleepers() }
        isCalm = true
        for computer in computers { computer.wakeUp() }
        await scheduler.pass(.seconds(30))
        for server in servers where !server.isUp { await server.start() }
        for server in servers { server.listenAgain() }
    }

    // MARK: For whoever replays a seed

    private static let isTraced = ProcessInfo.processInfo.environment["TIDEMARK_TRACE"] != nil

    /// Prints what happened when, if `TIDEMARK_TRACE` is set.
    func note(_ event: @autoclosure () -> String) {
        if Self.isTraced { print("\(scheduler.now) \(event())") }
    }

    // MARK: The network

    /// Sends a request to some server, and waits for the answer for a while. It may get lost on either way, and it may
    /// arrive twice.
    func send<Value: Sendable>(
        to server: SimulatedServer? = nil, mayDouble: Bool = true,
        _ request: @escaping @Sendable (CloudService) async -> Value
    ) async -> Value? {
        let server = server ?? oneOf(servers)
        if isCalm { return await server.call(request) }
        if oneIn(15) { return nil }
        if mayDouble, oneIn(15) {
            let other = oneOf(servers)
            let pause = delay()
            scheduler.run {
                await self.scheduler.pass(pause)
                _ = await other.call(request)
            }
        }
        let isAnswerLost = oneIn(12)
        let patience = oneIn(4) ? delay() : .seconds(20)
        let answer = await scheduler.firstAnswer(within: patience) { await server.call(request) }
        return isAnswerLost ? nil : answer
    }
}

extension SimulatedWorld: MemoryNetwork {
    var timers: any Scheduler { scheduler }
    var spacing: Duration { .nanoseconds(1) }
    func connectDelay() -> Duration { delay() }
    func messageDelay() -> Duration { shortDelay() }
    func breaksConnection() -> Bool { !isCalm && oneIn(cutsOneIn) }
    func connectionCut() { note("a connection breaks") }
}

extension MemoryCommit {
    fileprivate var brief: String {
        switch self {
        case .zoneCreated(let zone): "zone \(zone.key.name) begins"
        case .zoneEnded(let zone): "zone \(zone.key.name) ends"
        case .records(let changes):
            "zone \(changes.zone) at \(changes.changeNumber): "
                + changes.records.map { "\($0.name) = \($0.isDeleted ? "deleted" : $0.text ?? "")" }
                .joined(separator: "; ")
        }
    }
}
