// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// A mistake in the wiring of the machines, to see that a history shows it.
enum FeedMistake: CaseIterable {
    /// A device that is told of changes that nobody brought goes on with what pushes bring.
    case gapIgnored
    /// As above, after a cut.
    case cutIgnored
    /// A page's token counts before the app has the page.
    case tokenBeforePage
    /// Pushes of a new connection are counted on from those of the last.
    case numbersKeptAtReconnect
    /// What a push brings goes to the app, wherever the device is.
    case pushTakenUnseen
}

/// One history: a server, two devices that follow its feeds, writers here and at another server, and channels that lose,
/// repeat and reorder pushes, and are cut.
///
/// The machines of both sides are the real ones, and so are the rules of pages. Answers are not lost while a connection
/// lives: TCP would have to lose all that follows. The same seed makes the same history.
struct FeedHistory {
    private typealias Device = FeedDevice

    /// A device and the server's end of its connection.
    private struct Peer {
        var device: Device
        var session = DevicePushMachine()
        /// Nil: not connected.
        var number: UInt64?
        /// What the server has read and not answered yet.
        var read: (feed: DatabasePage?, zone: ZonePage?, follows: Bool)?
        var toServer: [Device.ToServer] = []
        var toDevice: [Device.ToDevice] = []

        var isAtRest: Bool { toServer.isEmpty && toDevice.isEmpty && read == nil && device.isAtRest }
    }

    private static let patience: Duration = .seconds(10)
    private static let writer = DeviceID(high: 9, low: 9)

    private var random: SeededRandom
    private var store = FeedStore()
    private var peers: [Peer]
    private var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .zero)
    private var now: Duration = .zero
    private var connectionCount: UInt64 = 0
    /// Up to where each device has to come by itself: what others than it changed.
    private var wanted: [[ChangeNumber]]
    /// Whether notices of the other server are lost.
    private let losesNotices: Bool

    init(seed: UInt64, mistake: FeedMistake? = nil) {
        random = SeededRandom(seed: seed)
        losesNotices = Bool.random(using: &random)
        peers = (1...2).map { Peer(device: Device(identity: DeviceID(high: $0, low: 1), mistake: mistake)) }
        wanted = peers.map { _ in [0, 0] }
    }

    var broughtCount: Int { peers.reduce(0) { $0 + $1.device.broughtCount } }
    var gapCount: Int { peers.reduce(0) { $0 + $1.device.gapCount } }

    private mutating func chance(_ count: UInt64) -> Bool { random.next() % count == 0 }
    private mutating func any(_ count: Int) -> Int { Int(truncatingIfNeeded: random.next() % UInt64(count)) }

    /// - Returns: what went wrong first; nil: nothing.
    mutating func run(stepCount: Int = 40) throws -> String? {
        for index in peers.indices { connect(index) }
        try drain()
        for _ in 0..<stepCount {
            now += .milliseconds(50)
            try step(any(peers.count))
            if let violation { return violation }
        }
        return try settle()
    }

    // NB: peers are looked at in place. Copies would take most of a history's time.

    private var violation: String? {
        for index in peers.indices where peers[index].device.violation != nil { return peers[index].device.violation }
        return nil
    }

    private var isAtRest: Bool { peers.indices.allSatisfy { peers[$0].isAtRest } }

    private mutating func step(_ index: Int) throws {
        switch any(24) {
        case 0...5: commit(by: nil)
        case 6: commit(by: index)
        case 7: commitElsewhere()
        case 8: interrupt(index)
        case 9: if losesNotices, chance(2) { sweep() } else { passTime() }
        case 10: deliverToDevice(index, isLossy: true)
        case 11: stepDevice(index, isSmooth: false)
        default:
            // The device goes on for a while, so that it is mostly where a commit begins.
            for _ in 0..<any(16) where !peers[index].isAtRest {
                stepDevice(index, isSmooth: false)
                deliverToDevice(index, isLossy: true)
                try deliverToServer(index)
            }
        }
    }

    /// A connection is cut or comes back, or a process ends.
    private mutating func interrupt(_ index: Int) {
        if chance(4) { restart(index) } else { cut(index) }
        // Soon, or at another step. An engine goes on at once.
        guard chance(2), peers[index].number == nil else { return }
        connect(index)
        for _ in 0..<any(3) { stepDevice(index, isSmooth: false) }
    }

    /// Nothing gets lost any more: everything comes to rest, without a device asking of its own accord.
    private mutating func settle() throws -> String? {
        for index in peers.indices where peers[index].number == nil { connect(index) }
        // The first sweep may find the database busy, the second one asks what that hid.
        for _ in 0..<(losesNotices ? 3 : 1) {
            try drain()
            now += .seconds(20)
            remind()
            try drain()
            // Only a lost notice needs it: it would hide that a lost push was not noticed.
            if losesNotices { sweep() }
            try drain()
        }
        if let violation { return violation }
        guard isAtRest else { return "the devices do not come to rest" }
        for (index, peer) in peers.enumerated() where zip(peer.device.numbers, wanted[index]).contains(where: <) {
            return "device \(index) has \(peer.device.numbers) of \(wanted[index])"
        }
        return nil
    }

    private mutating func drain() throws {
        for _ in 0..<200 where !isAtRest {
            for index in peers.indices {
                try deliverToServer(index)
                deliverToDevice(index, isLossy: false)
                stepDevice(index, isSmooth: true)
            }
        }
    }

    // MARK: Connections

    private mutating func connect(_ index: Int) {
        connectionCount += 1
        peers[index].number = connectionCount
        peers[index].session = DevicePushMachine()
        peers[index].session.greeted(countsPushes: true)
        if let again = peers[index].device.connected(store) { peers[index].toServer.append(again) }
        if watch.isEmpty { watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: now) }
        watch.join(connectionCount, peers[index].device.identity)
        watch.starts(at: store.mark)
        push(to: [connectionCount], [], nil)
    }

    private mutating func cut(_ index: Int) {
        guard let number = peers[index].number else { return connect(index) }
        watch.leave(number)
        (peers[index].number, peers[index].read, peers[index].toServer, peers[index].toDevice) = (nil, nil, [], [])
        peers[index].device.disconnected()
    }

    private mutating func restart(_ index: Int) {
        if peers[index].number != nil { cut(index) }
        peers[index].device.restart()
    }

    // MARK: The device

    private mutating func stepDevice(_ index: Int, isSmooth: Bool) {
        // An engine waits for a connection.
        guard peers[index].number != nil else { return }
        let (takesPushes, fails) = (isSmooth || !chance(12), !isSmooth && chance(8))
        let question = peers[index].device.step(
            store, at: now, takesPushes: takesPushes, fails: fails, isOtherPreferred: chance(8))
        if let question { peers[index].toServer.append(question) }
    }

    private mutating func deliverToDevice(_ index: Int, isLossy: Bool) {
        guard !peers[index].toDevice.isEmpty else { return }
        let position = isLossy && chance(6) ? any(min(3, peers[index].toDevice.count)) : 0
        let message = peers[index].toDevice[position]
        switch message {
        case .push, .reminder:
            let isRepeated = isLossy && chance(8)
            if !isRepeated { peers[index].toDevice.remove(at: position) }
            if isLossy, !isRepeated, chance(8) { return }
        case .feedAnswer, .zoneAnswer: peers[index].toDevice.remove(at: position)
        }
        let hearsFirst = !isLossy || chance(2)
        let reply = peers[index].device.receive(message, store, at: now, hearsFirst: hearsFirst)
        if let reply, !isLossy || !chance(4) { peers[index].toServer.append(reply) }
    }

    // MARK: The server

    /// Reads for a request, or answers what was read: others may commit between the two.
    private mutating func deliverToServer(_ index: Int) throws {
        let device = peers[index].device.identity
        if let read = peers[index].read {
            peers[index].read = nil
            if let page = read.feed { peers[index].session.answered(page, follows: read.follows) }
            if let page = read.zone { peers[index].session.answered(page) }
            let count = peers[index].session.countForAnswer ?? 0
            if let page = read.feed {
                peers[index].toDevice.append(.feedAnswer(.init(page, then: read.zone), pushes: count))
            } else if let page = read.zone {
                peers[index].toDevice.append(.zoneAnswer(.init(page), pushes: count))
            }
            return
        }
        guard !peers[index].toServer.isEmpty else { return }
        switch peers[index].toServer.removeFirst() {
        case .acknowledgement(let count): acknowledged(count, by: index)
        case .feed(let token, let then, let follows, let count):
            acknowledged(count, by: index)
            let zonePage = try then.map { try store.zonePage($0.zone, after: $0.token, recordsMax: 2, for: device) }
            peers[index].read = (try store.databasePage(after: token), zonePage, follows)
        case .zone(let zone, let token, let count):
            acknowledged(count, by: index)
            peers[index].read = (nil, try store.zonePage(zone, after: token, recordsMax: 2, for: device), false)
        }
    }

    private mutating func acknowledged(_ count: UInt64, by index: Int) {
        if count > 0 { peers[index].session.acknowledged(count, at: now) }
    }

    private mutating func write(by index: Int?) -> (zone: Int, life: DeviceID, news: ZoneNews) {
        let zone = any(2)
        let names = ["x", "y", "z"].prefix(1 + any(3))
        let life = index.map { peers[$0].device.identity } ?? Self.writer
        let news = store.commit(Array(names), in: zone, by: life)
        for other in wanted.indices where other != index { wanted[other][zone] = news.changeNumber }
        return (zone, life, news)
    }

    /// - Parameter index: the device that writes; nil: one that follows nothing.
    private mutating func commit(by index: Int?) {
        let (zone, life, news) = write(by: index)
        watch.moved(FeedStore.names[zone], by: life)
        watch.grew(by: news.changeNumber - news.before.changeNumber)
        pushMoved(chance(8) ? nil : news)
    }

    private mutating func commitElsewhere() {
        let (zone, life, _) = write(by: nil)
        if losesNotices, chance(2) { return }
        watch.moved(FeedStore.names[zone], by: life)
        watch.grew(by: nil)
        pushMoved(nil)
    }

    private mutating func pushMoved(_ news: ZoneNews?) {
        for (sessions, names) in watch.takeMoved() { push(to: sessions, names, names.count == 1 ? news : nil) }
    }

    private mutating func sweep() {
        let peers = peers
        let told = watch.swept(store.mark) { number in
            peers.first { $0.number == number }?.session.reliesOnPushes ?? false
        }
        push(to: told, [], nil)
    }

    private mutating func push(to sessions: [UInt64], _ names: [String], _ news: ZoneNews?) {
        for index in peers.indices where peers[index].number.map(sessions.contains) ?? false {
            var push = WirePush()
            push.zones = names.map { name in
                var zone = WireZoneID()
                zone.name = name
                return zone
            }
            let (device, isReading) = (peers[index].device.identity, !chance(10))
            let pages = news.flatMap {
                peers[index].session.committed($0, of: FeedStore.viewer, for: device, isReading: isReading)
            }
            if let pages {
                push.changes.databaseToken = FeedToken.bytes(pages.databaseToken)
                push.changes.zone = push.zones[0]
                push.changes.zoneToken = FeedToken.bytes(pages.zoneToken)
                push.changes.answer = WireFetchDatabaseChangesAnswer(pages.database, then: pages.zone)
            }
            let number = peers[index].session.pushed(at: now) ?? 0
            peers[index].toDevice.append(.push(push, number: number))
        }
    }

    private mutating func passTime() {
        now += .milliseconds(500 * (1 + any(24)))
        remind()
    }

    private mutating func remind() {
        for index in peers.indices where peers[index].number != nil {
            guard case .send(let count, _) = peers[index].session.remind(at: now, after: Self.patience) else {
                continue
            }
            peers[index].toDevice.append(.reminder(count))
        }
    }
}
