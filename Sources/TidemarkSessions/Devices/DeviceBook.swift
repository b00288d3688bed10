// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService

/// What one server knows of devices, for operators who ask why sync is stuck. The hubs of one process share it.
///
/// It is bounded. What the store has of devices that are gone leaves first. Then an account with as many devices as
/// one may have loses the one that it used longest ago. If there are too many in all, the account that has most loses one. If
/// no account has many, the one goes that was used longest ago of all.
///
/// No request waits for the store. What has changed is written in one statement for many devices, at most once in an
/// ``interval``, and when an operator asks.
package final class DeviceBook: Sendable {
    private struct State {
        var trails: FairCache<AccountDevice, DeviceTrail>
        /// When writing last began.
        var writtenAt: Duration?
        var questions = DeviceQuestions()
        var isWriting = false
        /// Those who write next, one after the other.
        var writers: [CheckedContinuation<Void, Never>] = []
        /// The server stops, and the store has not taken what is known.
        var hasGivenUp = false
    }

    /// This server, as operators know it: its host and process.
    package let server: String
    /// How often what has changed is written.
    package let interval: Duration
    private let devicesPerAccountMax: Int
    private let state: Mutex<State>

    /// How many devices one statement writes. To put them together takes about a millisecond.
    private static let devicesPerStatement = 128
    /// Each time, somebody else was first. A device has seldom been at more servers in the last minute.
    private static let attemptsMax = 5

    /// - Parameters:
    ///   - devicesMax: how many are known, each with up to 3 KiB.
    ///   - devicesPerAccountMax: of one account. As many are listed of it (`Limits.devicesMax`).
    package init(
        server: String, interval: Duration = .seconds(60), devicesMax: Int = 8_192, devicesPerAccountMax: Int = 1_000
    ) {
        self.server = server
        self.interval = interval
        self.devicesPerAccountMax = devicesPerAccountMax
        state = Mutex(State(trails: FairCache(roomMax: devicesMax)))
    }

    /// How many devices are known here.
    package var count: Int { state.withLock { $0.trails.count } }

    /// What is known of a device; nil: nothing.
    package func progress(of device: AccountDevice) -> DeviceProgress? {
        state.withLock { $0.trails.value(of: device) }?.progress
    }

    /// Where to note what happens to a device, which counts as used now.
    ///
    /// - Parameter link: a connection that the device has from now on.
    func trail(of device: AccountDevice, opening link: DeviceLink? = nil, at now: Duration) -> DeviceTrail {
        let (trail, gaveWay) = state.withLock { state -> (DeviceTrail, [DeviceTrail]) in
            let (trail, gaveWay) = place(of: device, in: &state)
            // With the lock, so that a trail does not leave between being found and being opened.
            if let link { trail.opened(link) }
            return (trail, gaveWay)
        }
        for other in gaveWay { other.forget(at: now) }
        return trail
    }

    private func place(of device: AccountDevice, in state: inout State) -> (DeviceTrail, gaveWay: [DeviceTrail]) {
        if let trail = state.trails.use(device) { return (trail, []) }
        let (trail, owner) = (DeviceTrail(of: device), WorkOwner.account(device.account.rawValue))
        var gaveWay: [DeviceTrail] = []
        if state.trails.room(of: owner) >= devicesPerAccountMax, let oldest = state.trails.takeOldest(of: owner) {
            gaveWay.append(oldest)
        }
        gaveWay += state.trails.keep(trail, as: device, room: 1, of: owner)
        return (trail, gaveWay)
    }

    /// The device asks for something, so others give way before it.
    func use(_ device: AccountDevice) { _ = state.withLock { $0.trails.use(device) } }

    /// Writes what has changed to the store, unless that was done lately.
    ///
    /// - Parameter isLast: the server stops, so it is written now.
    func write(by service: CloudService, at now: Duration, isLast: Bool = false) async {
        let isDue = state.withLock { state in
            // Each hub of the process comes at each interval.
            if !isLast, let writtenAt = state.writtenAt, now - writtenAt < interval / 2 { return false }
            state.writtenAt = now
            return true
        }
        guard isDue else { return }
        await beginWriting()
        defer { endWriting() }
        let (all, hasGivenUp) = state.withLock { ($0.trails.values, $0.hasGivenUp) }
        // Each hub of a process that stops comes here. They write one after the other, so a store that is away is waited for once.
        guard !isLast || !hasGivenUp else { return }
        guard await write(all.filter { $0.isDue(at: now) }, by: service, at: now) else {
            if isLast { state.withLock { $0.hasGivenUp = true } }
            return
        }
        for trail in all where trail.isAtRest { leave(trail, at: now) }
    }

    /// - Returns: whether the store has all of it.
    private func write(_ due: [DeviceTrail], by service: CloudService, at now: Duration) async -> Bool {
        for start in stride(from: 0, to: due.count, by: Self.devicesPerStatement) {
            let some = due[start..<min(start + Self.devicesPerStatement, due.count)]
            let left = await keep(Array(some), by: service, at: now)
            left.forEach { $0.written(false) }
            guard left.isEmpty else { return false }
        }
        return true
    }

    /// When an operator asks, all servers write at the same moment. Whoever comes later takes over what another one has
    /// written, and writes again.
    ///
    /// - Returns: those that the store does not have.
    private func keep(_ trails: [DeviceTrail], by service: CloudService, at now: Duration) async -> [DeviceTrail] {
        var left = trails
        // Those of which nothing was there to read, and which were not kept.
        var absent: Set<AccountDevice> = []
        for _ in 0..<Self.attemptsMax where !left.isEmpty {
            // Another server may know what this one does not.
            guard case .success(let noted) = await service.deviceProgress(of: left.map(\.of)) else { break }
            // If there is still nothing, the store does not list the device.
            for trail in left where absent.contains(trail.of) && noted[trail.of] == nil { trail.written(true) }
            left.removeAll { absent.contains($0.of) && noted[$0.of] == nil }
            guard !left.isEmpty else { break }
            var progress: [AccountDevice: DeviceProgress] = [:]
            for trail in left { progress[trail.of] = trail.takeForWriting(noted[trail.of]?.progress, at: now) }
            guard let kept = await service.keepProgress(progress, over: noted.mapValues(\.notedAt)) else { break }
            for trail in left where kept.contains(trail.of) { trail.written(true) }
            left.removeAll { kept.contains($0.of) }
            absent = Set(left.lazy.map(\.of).filter { noted[$0] == nil })
        }
        return left
    }

    /// One writing at a time: of two at once, the one with older facts might come last.
    private func beginWriting() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isWriting { state.writers.append(continuation) }
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFree { continuation.resume() }
        }
    }

    private func endWriting() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isWriting = !state.writers.isEmpty
            return state.isWriting ? state.writers.removeFirst() : nil
        }
        next?.resume()
    }

    // MARK: Questions of operators

    /// An operator asks. What is known now is written, and then the answer is posted.
    ///
    /// - Parameter since: when this server began.
    func heard(
        _ question: DeviceQuestion, by service: CloudService, on scheduler: any Scheduler, since: Timestamp
    ) {
        let delay = state.withLock { $0.questions.ask(question, at: scheduler.now) }
        if let delay { answer(after: delay, by: service, on: scheduler, since: since) }
    }

    private func answer(
        after delay: Duration, by service: CloudService, on scheduler: any Scheduler, since: Timestamp
    ) {
        _ = scheduler.schedule(after: delay) { [weak self] in
            scheduler.run { [weak self] in
                guard let self else { return }
                await answer(by: service, on: scheduler, since: since)
                let next = state.withLock { $0.questions.ended(at: scheduler.now) }
                if let next { answer(after: next, by: service, on: scheduler, since: since) }
            }
        }
    }

    private func answer(by service: CloudService, on scheduler: any Scheduler, since: Timestamp) async {
        await beginWriting()
        let now = scheduler.now
        // Who asked before this moment gets this answer, so the facts are taken after it.
        let (questions, all) = state.withLock { ($0.questions.begin(at: now), $0.trails.values) }
        let wishes = DeviceWishes(questions)
        let due = all.filter { trail in wishes.wish(of: trail.of.account).map { trail.isDue(for: $0) } ?? false }
        let isWritten = await write(due, by: service, at: now)
        endWriting()
        // Without an answer the operator is told that what this server has noted is old.
        guard isWritten else { return }
        let answers = questions.map { DeviceAnswer(question: $0.number, server: server, serverSince: since) }
        _ = await service.post(answers.map { .devicesWritten($0) })
    }

    /// The store has what is known of a device that is gone. If the device comes back, its next writing takes that over.
    private func leave(_ trail: DeviceTrail, at now: Duration) {
        _ = state.withLock { state -> DeviceTrail? in
            // Another trail may have its place, or a connection may have come.
            guard state.trails.value(of: trail.of) === trail, trail.leave(at: now) else { return nil }
            return state.trails.take(trail.of)?.value
        }
    }
}
