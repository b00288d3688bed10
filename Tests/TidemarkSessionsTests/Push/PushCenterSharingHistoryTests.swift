// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Random histories of Bob's devices at two servers, one of which has two event loops: they come and go while lists and
/// subscriptions are read, notices come late, and reads are slow or fail. `TIDEMARK_TEST_SEED` replays one.
@Suite struct PushCenterSharingHistoryTests {
    @Test func `I-4, R-334: in any history who lacks changes is told, and hears of the next at once`() throws {
        let first = SeededRandom().seed
        print("pushes of shared databases: TIDEMARK_TEST_SEED=\(first)")
        var checked = SharedPushHistory.Checked()
        for number in 0..<40 as Range<UInt64> {
            var history = try SharedPushHistory(SeededRandom(seed: first &+ number))
            for _ in 0..<60 { try history.step() }
            try history.calmDown()
            try history.judge(&checked)
        }
        #expect(checked.changedCount > 0 && checked.endedCount > 0 && checked.pushCount > 0, "\(checked)")
    }
}

/// A device that fetches when it is pushed to, and otherwise never.
private final class PushedDevice {
    let number: UInt64
    let server: SessionWorld.Server
    /// Nil: it is not connected.
    private(set) var client: TestClient?
    private(set) var token: [UInt8] = []
    private var hello: UInt64?
    private var isRefused = false
    private var fetch: UInt64?
    private var mustFetch = false
    private(set) var pushCount = 0
    /// Zones that its fetches told of.
    private(set) var (changedCount, endedCount) = (0, 0)

    init(_ number: UInt64, at server: SessionWorld.Server) {
        (self.number, self.server) = (number, server)
    }

    func connect(in world: SessionWorld) {
        let new = world.connect(to: server)
        hello = new.post(.hello(SessionWorld.hello("bob", device: number)))
        (client, isRefused, fetch, mustFetch) = (new, false, nil, false)
    }

    func disconnect() {
        client?.disconnect()
        client = nil
    }

    /// Takes in what has come.
    func poll() {
        guard let client else { return }
        let inbox = client.inbox
        client.forgetInbox()
        for message in inbox { take(message) }
        if isRefused || client.closeCode != nil {
            disconnect()
        } else if mustFetch, fetch == nil {
            mustFetch = false
            fetch = client.post(ShareRequests.sharedFeed(after: token))
        }
    }

    /// NB: a message without an answer is a reminder of a push, which came.
    private func take(_ message: WireServerEnvelope) {
        if case .push? = message.answer {
            pushCount += 1
            mustFetch = true
        }
        if case .failure? = message.answer, message.id == hello { isRefused = true }
        guard message.id != 0, message.id == fetch else { return }
        fetch = nil
        guard case .fetchDatabaseChanges(let page)? = message.answer else {
            // The store failed. A device asks again.
            return mustFetch = true
        }
        token = page.token
        changedCount += page.changed.count
        endedCount += page.ended.count
        if page.moreComing { mustFetch = true }
    }
}

private struct SharedPushHistory {
    /// How much there was to be checked.
    struct Checked {
        /// Zones that devices were told of as changed or as gone, because they fetched when they were pushed to.
        var (changedCount, endedCount) = (0, 0)
        /// Pushes that had to come at once.
        var pushCount = 0
    }

    private static let zones = ["a", "b"]

    private var random: SeededRandom
    private let world = SessionWorld(loopCount: 2)
    private let second: SessionWorld.Server
    private let alice: TestClient
    private let links: [String: String]
    /// The first one makes Bob's changes.
    private let devices: [PushedDevice]
    private var isSubscribed = false
    private var isOpen: [String: Bool] = [:]
    private var steps: [String] = []

    init(_ random: SeededRandom) throws {
        self.random = random
        second = world.anotherServer()
        alice = try world.enter("alice", device: 1)
        var links: [String: String] = [:]
        for zone in Self.zones {
            try alice.makeZone(zone)
            links[zone] = try alice.share(zone, .readWrite).share.link
            isOpen[zone] = true
        }
        self.links = links
        devices = zip([world.loops[0], world.loops[1], second, second], UInt64(1)...).map { PushedDevice($1, at: $0) }
        for device in devices { device.connect(in: world) }
        world.scheduler.runUntilIdle()
    }

    private var note: String { "TIDEMARK_TEST_SEED=\(random.seed)\n\(steps.joined(separator: "\n"))" }

    // MARK: Steps

    mutating func step() throws {
        let zone = random.pick(Self.zones)
        switch random.below(12) {
        case 0, 1: try edit(zone)
        case 2: try changeShare(of: zone)
        case 3, 4: try join(zone)
        case 5: try leave()
        case 6, 7: try subscribe(random.oneIn(2))
        case 8, 9: comeOrGo(random.pick(devices))
        default: disturb()
        }
        pass(random.pick([.zero, .milliseconds(1), .milliseconds(50), .seconds(1), .seconds(4)]))
    }

    private mutating func pass(_ duration: Duration) {
        steps.append("pass \(duration)")
        world.scheduler.advance(by: duration)
        for device in devices { device.poll() }
    }

    private mutating func edit(_ zone: String) throws {
        steps.append("edit \(zone)")
        try alice.save("note \(random.below(5))", in: zone, text: "\(random.next())")
    }

    /// Ends everybody's access to a zone, or lets everybody accept again.
    private mutating func changeShare(of zone: String) throws {
        let answer = try alice.ask(ShareRequests.shareRecord(of: TestClient.zone(zone)))
        guard case .fetchRecords(let fetched)? = answer, case .record(let record)? = fetched.results.first?.result
        else { throw SessionWorld.Unexpected(answer) }
        let opens = isOpen[zone] == false
        steps.append("\(opens ? "open" : "close") \(zone)")
        try alice.share(zone, opens ? .readWrite : .noAccess, tag: record.tag)
        isOpen[zone] = opens
    }

    private mutating func join(_ zone: String) throws {
        guard let client = devices[0].client, let link = links[zone] else { return }
        steps.append("join \(zone)")
        // It is refused while the share is closed.
        _ = try client.accept(link)
    }

    private mutating func leave() throws {
        guard let client = devices[0].client, let zone = try zonesShown(to: client).randomElement(using: &random) else {
            return
        }
        steps.append("leave \(zone.name)")
        try client.leave(zone)
    }

    private func zonesShown(to client: TestClient) throws -> [WireZoneID] {
        let answer = try client.ask(ShareRequests.sharedZones())
        guard case .fetchZones(let zones)? = answer else { throw SessionWorld.Unexpected(answer) }
        return zones.zones.compactMap { if case .zone(let zone)? = $0.result { zone.id } else { nil } }
    }

    private mutating func subscribe(_ saves: Bool) throws {
        guard let client = devices[0].client else { return }
        steps.append(saves ? "subscribe" : "unsubscribe")
        isSubscribed = saves
        if saves { return try client.subscribeToShared() }
        var request = WireModifySubscriptions()
        (request.database, request.deletes) = (.shared, ["shared"])
        let answer = try client.ask(.modifySubscriptions(request))
        guard case .modifySubscriptions? = answer else { throw SessionWorld.Unexpected(answer) }
    }

    private mutating func comeOrGo(_ device: PushedDevice) {
        if device.client == nil {
            steps.append("device \(device.number) comes")
            device.connect(in: world)
            world.scheduler.runUntilIdle()
        } else {
            steps.append("device \(device.number) goes")
            device.disconnect()
        }
    }

    /// Slow or failing reads where Bob only listens, and late notices from where he acts. None is lost: a subscription that
    /// nobody tells of is not found by a sweep.
    private mutating func disturb() {
        let (point, delay) = (random.pick([FaultPoint.callSent, .callAnswered]), Duration.seconds(1 + random.below(4)))
        switch random.below(5) {
        case 0:
            steps.append("notices \(delay)")
            world.loops[0].faults.always(.notice, .delay(delay))
        case 1:
            steps.append("loop: \(point) \(delay)")
            world.loops[1].faults.always(point, .delay(delay), after: random.below(6))
        case 2:
            steps.append("server: \(point) \(delay)")
            second.faults.always(point, .delay(delay), after: random.below(6))
        case 3:
            steps.append("server: \(point) fails")
            second.faults.always(point, random.pick([.reject, .disconnect]), after: random.below(6))
        default: allIsWell()
        }
    }

    private mutating func allIsWell() {
        steps.append("all is well")
        for point in [FaultPoint.callSent, .callAnswered, .notice] {
            for server in world.loops + [second] { server.faults.always(point, .none) }
        }
    }

    // MARK: The end

    /// Longer than three sweeps, and shorter than it takes until each list is read again whatever happened.
    mutating func calmDown() throws {
        allIsWell()
        // A `Hello` that was under way can still be refused. Then the device comes again.
        for wait in [Duration.zero, .seconds(5), .zero] {
            pass(wait)
            for device in devices where device.client == nil { comeOrGo(device) }
        }
        pass(.zero)
        if !isSubscribed { try subscribe(true) }
        for _ in 0..<45 { pass(.seconds(1)) }
    }

    mutating func judge(_ checked: inout Checked) throws {
        for device in devices {
            checked.changedCount += device.changedCount
            checked.endedCount += device.endedCount
            let client = try #require(device.client, "\(note)")
            let missed = try client.sharedChanges(token: device.token)
            #expect(missed.changed.isEmpty && missed.ended.isEmpty, "device \(device.number) was not told, \(note)")
        }
        let maker = try #require(devices[0].client, "\(note)")
        for zone in try zonesShown(to: maker) {
            let before = devices.map(\.pushCount)
            try edit(zone.name)
            pass(.milliseconds(200))
            for (device, count) in zip(devices, before) {
                checked.pushCount += 1
                #expect(device.pushCount > count, "device \(device.number) is told late, \(note)")
            }
        }
    }
}
