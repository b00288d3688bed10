// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// A device that edits and fetches at random, repeats what was not answered, and dies now and then. It accuses the
/// service in the history of everything that must not be.
final class SimulatedDevice: @unchecked Sendable {
    /// A place in the feeds to which somebody may come back at any time.
    struct Bookmark {
        var databaseToken: [UInt8] = []
        /// The life of the store that it was last told of.
        var store: StoreIncarnation?
        var views: [String: ZoneView] = [:]
        /// During a first fetch of the database feed: the zones that it has listed so far. Ends of zones are not told
        /// without a token, so in the end what was not listed is gone.
        var listed: Set<String>?
        /// Whether it may have something that its tokens do not know of.
        var isReturning = false

        /// As when a process dies between records and their token: it comes back without tokens, but not without records.
        mutating func loseTokens() {
            databaseToken = []
            listed = nil
            for name in views.keys { views[name]?.token = [] }
            isReturning = true
        }
    }

    let world: SimulatedWorld
    /// Unique, where `id` is the same as that of copies.
    let number: Int
    let id: DeviceID
    /// Whose it is; nil: the owner's of the zones.
    let guest: Identity?
    let computer: SimulatedComputer
    var bookmark = Bookmark()
    /// Every bookmark that it ever had.
    private(set) var bookmarks: [Bookmark] = []
    /// The connection over which it fetches, and the connection's number.
    private var connection: (server: SimulatedServer, number: UInt64)?
    /// What names its requests until the process ends.
    private var life: DeviceID
    private var counter: UInt64 = 0
    /// The store's memory epoch, as the device has heard of it.
    private var epoch: Int64 = 1
    /// The life of the store that the epoch is of.
    private var epochStore = StoreIncarnation(1)
    /// Whether a copy of the running machine lives the same life.
    private var sharesLife = false
    /// Requests that it still waits for.
    private var unanswered: Set<RequestID> = []
    /// Of each page that it asks for, fewer than so many; 0 leaves it to the server.
    var pageRecordsMax = 5
    var requestCount = 0
    var textCount = 0

    init(_ world: SimulatedWorld, number: Int, guest: Identity? = nil) {
        self.world = world
        self.number = number
        self.guest = guest
        id = DeviceID(high: 7, low: UInt64(number))
        computer = world.makeComputer()
        life = id
        beginLife()
    }

    /// Another one that takes itself for the same.
    ///
    /// - Parameter isRunning: whether the machine is copied while it runs, with all that is in its memory; else what it has
    ///   written down by now.
    init(copyOf original: SimulatedDevice, number: Int, isRunning: Bool) {
        (world, id, guest) = (original.world, original.id, original.guest)
        self.number = number
        (bookmark, bookmarks) = (original.bookmark, original.bookmarks)
        (epoch, epochStore) = (original.epoch, original.epochStore)
        computer = world.makeComputer()
        (life, counter) = (original.life, original.counter)
        if isRunning {
            (sharesLife, original.sharesLife) = (true, true)
        } else {
            beginLife()
        }
    }

    func live(stepCount: Int) async {
        for _ in 0..<stepCount {
            await world.scheduler.pass(world.delay())
            guard world.sharing == nil else {
                await stepWithShares()
                continue
            }
            switch world.below(20) {
            case 0...4: await edit()
            case 5...8: await editAtOnce()
            case 9: await edit(isLarge: true)
            case 10...16: await sync()
            case 17: await editZone()
            default: restart()
            }
        }
    }

    /// Several requests under way together.
    func editAtOnce() async {
        let edits = (0..<(2 + world.below(3))).map { _ in world.scheduler.run { await self.edit() } }
        for edit in edits { await edit.value }
    }

    /// The process dies: what it waited for is forgotten, what it had written down is not.
    func restart() {
        beginLife()
        if world.oneIn(3) { bookmark.loseTokens() }
    }

    private func beginLife() {
        switch world.planted {
        case .reusedRequestID: counter = counter > 0 ? counter - 1 : 0
        case .counterFromClock: counter = UInt64(clamping: computer.wallClockMilliseconds) << 10
        default:
            life = DeviceID(high: world.scheduler.randomBits(), low: world.scheduler.randomBits())
            (counter, sharesLife) = (0, false)
        }
    }

    var tellsEnds: Bool { bookmark.isReturning && world.planted != .returnUnknown }

    /// The number of the connection to a server. One to another server is a new one.
    func connection(to server: SimulatedServer) -> UInt64 {
        if let connection, connection.server === server { return connection.number }
        world.connectionCount += 1
        connection = (server, world.connectionCount)
        return world.connectionCount
    }

    func keepBookmark() {
        bookmarks.append(bookmark)
    }

    // MARK: Requests that change something

    func nextRequestID() -> RequestID {
        counter += 1
        // The servers were down: it has to say `Hello` again, and hears of other epochs.
        if epochStore != world.history.store { (epoch, epochStore) = (0, world.history.store) }
        let waiting = unanswered.lazy.filter { [life] in $0.life == life }.map(\.counter)
        let new = RequestID(
            device: id, life: life, counter: counter,
            nonce: world.planted == .reusedRequestID ? 0 : world.scheduler.randomBits(),
            lowestUnanswered: waiting.min() ?? counter, isRepeated: world.planted == .reusedRequestID, epoch: epoch)
        unanswered.insert(new)
        return new
    }

    /// As from the answer to each `Hello`.
    func learnEpoch() async {
        guard world.oneIn(3), case .success(let standing)? = await world.send({ await $0.standing() }) else { return }
        if epochStore == standing.incarnation { epoch = max(epoch, standing.memoryEpoch) }
    }

    /// Sends a request until it is answered, or it is given up.
    ///
    /// - Parameters:
    ///   - judge: is given each answer, and the history's length when that sending began.
    ///   - request: is given the name to send it under.
    func insist<Outcome: Sendable>(
        on id: RequestID, judgedBy judge: ((Result<Outcome, FailureReason>, Int) -> Void)? = nil,
        _ request: @escaping @Sendable (CloudService, RequestID) async -> Result<Outcome, FailureReason>
    ) async -> Result<Outcome, FailureReason>? {
        defer { unanswered.remove(id) }
        let store = world.history.store
        var last: Result<Outcome, FailureReason>?
        for attempt in 0..<6 {
            // What was asked in a life that has ended cannot be asked for any more.
            guard id.life == life else { return nil }
            let name = attempt == 0 ? id : id.repeated
            let (askedAt, askedStore) = (world.history.length, world.history.store)
            last = await world.send(mayDouble: attempt > 0) { await request($0, name) }
            if let last, askedStore == world.history.store { judge?(last, askedAt) }
            switch last {
            case .success: return last
            case .failure(.requestForgotten):
                if store == world.history.store { await judgeForgotten(name) }
                if sharesLife || !name.isRepeated, name.life == life { beginLife() }
                return nil
            case .failure(.requestInvalid): world.history.accuse("a request that was good is invalid")
            case .failure, nil: await world.scheduler.pass(world.delay())
            }
            if world.oneIn(8) { return last }
        }
        return last
    }

    /// only after the store has begun some epochs; a first sending only if they began while it was under way, which
    /// an epoch that the device knew before says.
    private func judgeForgotten(_ id: RequestID) async {
        // Of several that are under way in a life that is shared, the first one ends it.
        guard !sharesLife, id.life == life else { return }
        let store = world.history.store
        let age = await world.memoryEpoch - id.epoch
        if store == world.history.store, age < world.limits.memoryEpochsKept {
            world.history.accuse("R-157: a request that is waited for is forgotten")
        }
    }
}

extension RequestID {
    fileprivate var repeated: RequestID {
        RequestID(
            device: device, life: life, counter: counter, nonce: nonce, lowestUnanswered: lowestUnanswered,
            isRepeated: true, epoch: epoch)
    }
}
