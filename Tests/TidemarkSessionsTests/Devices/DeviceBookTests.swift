// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFairness
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// What a server notes of its devices, and when it writes it down.
@Suite struct DeviceBookTests {
    private static func book(_ server: String = "one", devicesMax: Int = 100, perAccount: Int = 100) -> DeviceBook {
        DeviceBook(
            server: server, interval: .seconds(60), devicesMax: devicesMax, devicesPerAccountMax: perAccount)
    }

    private func account(_ name: String, in world: SessionWorld) throws -> AccountID {
        try #require(
            try world.scheduler.complete {
                await world.server.service.authenticate(
                    credentialHash: Array(name.utf8).reversed(), container: SessionWorld.container,
                    environment: .development, createsContainer: true, device: DeviceID(high: 0, low: 999),
                    deviceName: "")
            }.get()
        ).account
    }

    private func device(_ number: UInt64, of account: AccountID) -> AccountDevice {
        AccountDevice(account: account, device: DeviceID(high: 0, low: number))
    }

    private func stored(_ device: AccountDevice, in world: SessionWorld) throws -> DeviceProgress? {
        try world.scheduler.complete {
            await world.server.service.deviceProgress(of: [device])
        }.get()[device]?.progress
    }

    @Test func `R-850: a device's connection, requests and places in feeds are noted`() throws {
        let book = Self.book()
        let world = SessionWorld { $0.devices = book }
        let account = try account("alice", in: world)
        let client = try world.enter(device: 1)
        let device = device(1, of: account)
        func progress() throws -> DeviceProgress { try #require(book.progress(of: device)) }
        #expect(try progress().link?.server == "one")
        #expect(try progress().link?.endedAt == nil)

        try client.makeZone("Notes")
        try client.save("a", in: "Notes")
        #expect(try progress().requests.map(\.kind) == ["modify_zones", "modify_records"])
        #expect(try progress().requests.map(\.code) == [0, 0])
        #expect(Set(try progress().requests.map(\.mark)).count == 2)
        guard case .fetchZoneChanges(let page)? = try client.ask(.fetchZoneChanges(TestClient.zoneChanges("Notes")))
        else { throw SessionWorld.Unexpected(nil) }
        let feed = try #require(try progress().feeds.first)
        #expect(feed.told == 1 && feed.asked == nil && feed.zone != nil)

        // Its own changes are not unread, another's are.
        try client.save("b", in: "Notes")
        #expect(try #require(try progress().feeds.first).missing(upTo: 2) == 0)
        let other = try world.enter(device: 2)
        try other.save("c", in: "Notes")
        #expect(try #require(try progress().feeds.first).missing(upTo: 3) == 1)
        _ = try client.ask(.fetchZoneChanges(TestClient.zoneChanges("Notes", token: page.token)))
        #expect(try progress().feeds.map(\.told) == [3])
        #expect(try progress().feeds.map(\.asked) == [1])
        var list = WireFetchDatabaseChanges()
        list.database = .private
        _ = try client.ask(.fetchDatabaseChanges(list))
        #expect(try progress().feeds.count == 2)
        #expect(try progress().feeds.contains { $0.zone == nil })

        client.disconnect()
        #expect(try progress().link?.endedAt != nil)
    }

    @Test func `R-850: what is refused is noted: records, and an expired token again and again`() throws {
        let book = Self.book()
        let world = SessionWorld { $0.devices = book }
        let device = device(1, of: try account("alice", in: world))
        let client = try world.enter(device: 1)
        try client.makeZone("Notes")
        var bad = try client.saving("a", in: "Notes")
        bad.zones[0].saves[0].fields = [1, 2, 3]
        _ = try client.ask(.modifyRecords(bad))
        let refusal = try #require(book.progress(of: device)?.refusal)
        #expect(refusal.reason == .fieldsInvalid && refusal.count == 1)
        try client.save("a", in: "Notes")
        #expect(book.progress(of: device)?.refusal == nil, "the next send was taken")

        guard case .fetchZoneChanges(let page)? = try client.ask(.fetchZoneChanges(TestClient.zoneChanges("Notes")))
        else { throw SessionWorld.Unexpected(nil) }
        try client.deleteZone("Notes")
        try client.makeZone("Notes")
        for count in 1...3 {
            _ = try client.ask(.fetchZoneChanges(TestClient.zoneChanges("Notes", token: page.token)))
            let feeds = try #require(book.progress(of: device)?.feeds)
            #expect(feeds.map(\.expiredCount).max() == Int64(count))
        }
        #expect(book.progress(of: device)?.requests.last?.reason == .tokenExpired)
    }

    @Test func `R-850: a device that must wait is noted with the limit and the time`() throws {
        let book = Self.book()
        let world = SessionWorld { settings in
            settings.devices = book
            settings.changes = .init(room: 1, roomPerOwner: 1, waitingMax: 0, waitingPerOwnerMax: 0)
        }
        let device = device(1, of: try account("alice", in: world))
        let client = try world.enter(device: 1)
        var request = WireModifySubscriptions()
        request.database = .private
        request.saves = [TestClient.subscription()]
        for _ in 0..<2 { client.post(.modifySubscriptions(request)) }
        world.scheduler.runUntilIdle()
        let progress = try #require(book.progress(of: device))
        let throttle = try #require(progress.throttle)
        #expect(throttle.kind == "modify_subscriptions" && throttle.limit.contains("Too many changes"))
        #expect(throttle.until > throttle.at)
        #expect(progress.requests.contains { $0.reason == .tooManyRequests })
    }

    @Test func `R-850, R-261: a push that is not acknowledged is noted as missed, until the device hears again`() throws
    {
        let book = Self.book()
        let world = SessionWorld { $0.devices = book }
        let device = device(1, of: try account("alice", in: world))
        let client = world.connect()
        var hello = SessionWorld.hello("alice", device: 1)
        hello.countsPushes = true
        _ = try client.ask(.hello(hello))
        try client.makeZone("Notes")
        try client.subscribe()
        let other = try world.enter(device: 2)
        try other.save("a", in: "Notes")
        world.scheduler.runUntilIdle()
        let pushed = try #require(book.progress(of: device)?.push)
        #expect(pushed.missedCount == 0)
        world.scheduler.advance(by: .seconds(40))
        let missed = try #require(book.progress(of: device)?.push)
        #expect(missed.missedCount > 0, "it was reminded, and said nothing")
        var heard = WireClientEnvelope()
        heard.pushesHeard = client.inbox.map(\.pushesSent).max() ?? 0
        #expect(heard.pushesHeard > 0)
        client.post(heard.encoded)
        world.scheduler.runUntilIdle()
        let now = try #require(book.progress(of: device)?.push)
        #expect(now.missedCount == 0 && now.heardAt != nil)
    }

    @Test func `R-852: what has changed is written once a minute, and another server's facts are taken over`() throws {
        let (one, two) = (Self.book("one"), Self.book("two"))
        let world = SessionWorld { $0.devices = one }
        let second = world.anotherServer { $0.devices = two }
        let device = device(1, of: try account("alice", in: world))
        let client = try world.enter(device: 1)
        try client.makeZone("Notes")
        _ = try client.ask(.fetchZoneChanges(TestClient.zoneChanges("Notes")))
        #expect(try stored(device, in: world) == nil, "no request waits for it")
        world.scheduler.advance(by: .seconds(61))
        let written = try #require(try stored(device, in: world))
        #expect(written.feeds.count == 1 && written.link?.server == "one")
        client.disconnect()
        world.scheduler.advance(by: .seconds(5))

        // The same device at another server, where it asks for nothing of the zone.
        let moved = try world.enter(device: 1, server: second)
        world.scheduler.advance(by: .seconds(61))
        let both = try #require(try stored(device, in: world))
        #expect(both.link?.server == "two" && both.link?.endedAt == nil)
        #expect(both.feeds == written.feeds)
        #expect(both.requests.map(\.kind) == written.requests.map(\.kind))
        moved.disconnect()
    }

    @Test func `R-852: a server that stops waits once for a store that is away, and not with each loop`() throws {
        let book = Self.book()
        let world = SessionWorld(loopCount: 2) { $0.devices = book }
        _ = try world.enter(device: 1)
        for loop in world.loops { loop.faults.always(.callSent, .reject) }
        let (first, second) = (world.loops[0], world.loops[1])
        let before = (first.faults.count(of: .callSent), second.faults.count(of: .callSent))
        for hub in [first.hub, second.hub] {
            try world.scheduler.complete { await hub.stop(patience: .seconds(1)) }
        }
        #expect(first.faults.count(of: .callSent) > before.0)
        #expect(second.faults.count(of: .callSent) == before.1)
    }

    @Test func `R-852: a device that rests is written every 15 minutes while it is connected`() {
        let trail = DeviceTrail(of: device(1, of: AccountID(1)))
        #expect(!trail.isDue(at: .zero))
        trail.opened(DeviceLink(server: "one", since: Timestamp(milliseconds: 1), credential: CredentialID(1)))
        #expect(trail.isDue(at: .zero))
        _ = trail.takeForWriting(nil, at: .zero)
        trail.written(true)
        #expect(!trail.isDue(at: .seconds(14 * 60)))
        #expect(trail.isDue(at: .seconds(15 * 60)))
        _ = trail.takeForWriting(nil, at: .seconds(15 * 60))
        trail.written(false)
        #expect(trail.isDue(at: .seconds(15 * 60)), "the store did not take it")
        _ = trail.takeForWriting(nil, at: .seconds(15 * 60))
        // Thousands of devices may get a push.
        trail.note(isNews: false) { $0.pushed(at: Timestamp(milliseconds: 2)) }
        #expect(!trail.isDue(at: .seconds(16 * 60)))
        trail.closed(at: Timestamp(milliseconds: 3))
        #expect(trail.isDue(at: .seconds(16 * 60)))
        _ = trail.takeForWriting(nil, at: .seconds(16 * 60))
        #expect(!trail.isDue(at: .seconds(100_000)))
        #expect(!trail.isAtRest, "the store may not take it")
        trail.written(true)
        #expect(trail.isAtRest && trail.leave(at: .seconds(16 * 60)))
    }

    @Test func `R-355, R-850: when one of two devices with one identity is gone, the other one has it alone`() {
        let trail = DeviceTrail(of: device(1, of: AccountID(1)))
        func link(_ time: Int64, isDeviceTaken: Bool) -> DeviceLink {
            DeviceLink(
                server: "one", since: Timestamp(milliseconds: time), credential: CredentialID(1),
                isDeviceTaken: isDeviceTaken)
        }
        trail.opened(link(1, isDeviceTaken: false))
        trail.opened(link(2, isDeviceTaken: true))
        let kept = trail.takeForWriting(nil, at: .zero)
        trail.written(true)
        #expect(kept.link?.isDeviceTaken == true)
        trail.closed(at: Timestamp(milliseconds: 3))
        #expect(trail.isDue(at: .zero))
        // What the store has does not bring it back.
        let link = trail.takeForWriting(kept, at: .zero).link
        #expect(link?.isDeviceTaken == false && link?.endedAt == nil && link?.since == Timestamp(milliseconds: 2))
    }

    @Test func `R-851: what the store has of devices that are gone leaves, and comes back with the device`() throws {
        let book = Self.book()
        let world = SessionWorld { $0.devices = book }
        let account = try account("alice", in: world)
        let client = try world.enter(device: 1)
        let other = try world.enter(device: 2)
        try client.makeZone("Notes")
        client.disconnect()
        #expect(book.count == 2)
        world.scheduler.advance(by: .seconds(61))
        #expect(book.count == 1 && book.progress(of: device(2, of: account)) != nil, "one is still here")
        let again = try world.enter(device: 1)
        try again.save("a", in: "Notes")
        world.scheduler.advance(by: .seconds(61))
        let stored = try #require(try stored(device(1, of: account), in: world))
        #expect(stored.requests.map(\.kind) == ["modify_zones", "modify_records"])
        #expect(stored.link?.endedAt == nil && book.count == 2)
        for client in [again, other] { client.disconnect() }
    }

    @Test func `R-851: a full book takes a new account's device, for the one that was used longest ago`() {
        let book = Self.book(devicesMax: 64)
        func one(_ number: Int) -> AccountDevice { device(1, of: AccountID(Int64(number))) }
        for number in 1...64 { _ = book.trail(of: one(number), at: .zero) }
        book.use(one(1))
        #expect(book.count == 64)
        _ = book.trail(of: one(65), at: .zero)
        #expect(book.count == 64)
        #expect(book.progress(of: one(65)) != nil && book.progress(of: one(1)) != nil)
        #expect(book.progress(of: one(2)) == nil)
    }

    @Test func `R-851: a device that asks for something is in use, which the book is told once a minute`() throws {
        let book = Self.book(devicesMax: 64)
        let world = SessionWorld { $0.devices = book }
        let client = device(1, of: try account("alice", in: world))
        let connection = try world.enter(device: 1)
        try connection.makeZone("Notes")
        func other(_ number: Int) -> AccountDevice { device(1, of: AccountID(Int64(1_000 + number))) }
        let link = DeviceLink(server: "one", since: Timestamp(milliseconds: 1), credential: CredentialID(1))
        for number in 1...63 { _ = book.trail(of: other(number), opening: link, at: world.scheduler.now) }
        world.scheduler.advance(by: .seconds(61))
        #expect(book.count == 64)
        try connection.save("a", in: "Notes")
        _ = book.trail(of: other(64), opening: link, at: world.scheduler.now)
        #expect(book.progress(of: client) != nil && book.progress(of: other(1)) == nil)

        // Within the same minute the order stays.
        for number in 65...126 { _ = book.trail(of: other(number), opening: link, at: world.scheduler.now) }
        try connection.save("b", in: "Notes")
        _ = book.trail(of: other(127), opening: link, at: world.scheduler.now)
        #expect(book.progress(of: client) == nil)
    }

    @Test func `R-850, R-328: a page that is not sent, because access to the zone has ended, is not noted`() throws {
        let book = Self.book()
        let world = SessionWorld { $0.devices = book }
        let bob = device(1, of: try account("bob", in: world))
        let pair = try SharingPair(world)
        let page = try pair.bob.changes(of: pair.zone)
        let told = try #require(book.progress(of: bob)?.feeds.first { $0.zone != nil }?.told)
        let ended = try pair.alice.share("notes", .noAccess, tag: try pair.newestTag())
        #expect(ended.share.participants.map(\.role) == [.owner])
        try pair.alice.save("b", in: "notes")
        guard case .failure(let failure)? = try pair.bob.ask(ShareRequests.page(of: pair.zone, after: page.token))
        else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(failure.code == .zoneNotFound)
        #expect(book.progress(of: bob)?.feeds.first { $0.zone != nil }?.told == told)
    }

    @Test func `R-852: a server that stops writes what it knows`() throws {
        let book = Self.book()
        let world = SessionWorld { $0.devices = book }
        let device = device(1, of: try account("alice", in: world))
        let client = try world.enter(device: 1)
        try client.makeZone("Notes")
        #expect(try stored(device, in: world) == nil)
        try world.scheduler.complete { await world.server.hub.stop(patience: .seconds(5)) }
        #expect(try stored(device, in: world)?.requests.map(\.kind) == ["modify_zones"])
        #expect(try stored(device, in: world)?.link?.endedAt != nil)
        #expect(client.closeCode == 1001)
    }

    @Test func `R-851: a crowd of one account's devices takes no other account's place`() throws {
        let book = Self.book(devicesMax: 8, perAccount: 6)
        let (alice, bob) = (AccountID(1), AccountID(2))
        for number in 1...2 { _ = book.trail(of: device(UInt64(number), of: bob), at: .zero) }
        for number in 1...50 { _ = book.trail(of: device(UInt64(number), of: alice), at: .zero) }
        #expect(book.count == 8)
        for number in 1...2 { #expect(book.progress(of: device(UInt64(number), of: bob)) != nil) }
        #expect(book.progress(of: device(50, of: alice)) != nil)
        #expect(book.progress(of: device(44, of: alice)) == nil, "the one that was used longest ago gave way")
    }

    @Test func `R-851: a device that gave way and is still here has a place again after a minute`() throws {
        let book = Self.book(devicesMax: 1, perAccount: 1)
        let world = SessionWorld { $0.devices = book }
        let account = try account("alice", in: world)
        let client = try world.enter(device: 1)
        try client.makeZone("Notes")
        let other = try world.enter(device: 2)
        try client.save("a", in: "Notes")
        #expect(book.progress(of: device(1, of: account)) == nil)
        other.disconnect()
        world.scheduler.advance(by: .seconds(61))
        try client.save("b", in: "Notes")
        let back = try #require(book.progress(of: device(1, of: account)))
        #expect(back.link != nil && back.requests.count >= 3, "with what was known before")
        #expect(book.count == 1)
    }

    @Test func `R-853: what a device says that it has not sent is noted, one report in 20 seconds`() throws {
        let book = Self.book()
        let world = SessionWorld { $0.devices = book }
        let device = device(1, of: try account("alice", in: world))
        let client = world.connect()
        guard case .hello(let greeting)? = try client.ask(.hello(SessionWorld.hello("alice", device: 1))) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(greeting.wantsReports)
        func tell(_ saves: UInt32) {
            var envelope = WireClientEnvelope()
            envelope.pendingReport.saves = saves
            envelope.pendingReport.waitsFor = .waitsForQuota
            client.post(envelope.encoded)
            world.scheduler.runUntilIdle()
        }
        tell(3)
        let pending = try #require(book.progress(of: device)?.pending)
        #expect(pending.saves == 3 && pending.wait == .quota)
        tell(4)
        #expect(book.progress(of: device)?.pending?.saves == 3)
        world.scheduler.advance(by: .seconds(21))
        tell(5)
        #expect(book.progress(of: device)?.pending?.saves == 5)
        #expect(client.closeCode == nil && client.failures.isEmpty, "nothing is answered")
    }

    @Test func `R-850: a server that notes nothing asks for no reports, and nobody without an account is noted`() throws
    {
        let world = SessionWorld()
        let client = world.connect()
        guard case .hello(let greeting)? = try client.ask(.hello(SessionWorld.hello("alice", device: 1))) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(!greeting.wantsReports)
        let book = Self.book()
        let other = SessionWorld { $0.devices = book }
        _ = try account("alice", in: other)
        let nobody = other.connect()
        guard case .hello(let answer)? = try nobody.ask(.hello(SessionWorld.hello("", device: 1))) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(!answer.wantsReports)
        #expect(book.count == 0)
    }
}
