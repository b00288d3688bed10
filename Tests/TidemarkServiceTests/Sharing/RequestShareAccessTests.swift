// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Requests for access to shares: who hears of them, and what whoever asks can learn.
@Suite struct RequestShareAccessTests {
    private func requests(_ fixture: ServiceFixture, zone: String = "notes") async throws -> [AccessRequest] {
        let read = try #require(try await MemoryStore(fixture.database).sharing(of: fixture.key(zone), .whole))
        let share = try #require(read.sharing.livingShare)
        return (read.sharing.requests[share.number] ?? [:]).values.sorted { $0.user.rawValue < $1.user.rawValue }
    }

    /// Changes what the share of a zone says of requests.
    private func answer(
        _ fixture: ServiceFixture, allowing allowed: Bool? = nil, _ answers: AccessAnswers = AccessAnswers(),
        zone: String = "notes", counter: UInt64, by service: CloudService
    ) async throws {
        let tag = try await fixture.shareTag(zone: zone)
        let save = ShareSave(tag: tag, allowsRequests: allowed, answers: answers)
        _ = try await service.modify(fixture.sharing(save, zone: zone, counter: counter)).get()
    }

    @Test func `R-972: a request moves the owner's zone, and no list of who asks`() throws {
        let fixture = try ServiceFixture()
        let moved = Mutex<[ZonesMoved]>([])
        let service = fixture.server { news in moved.withLock { $0.append(news) } }
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(.noAccess, [], counter: 1, by: service)
            try await answer(fixture, allowing: true, counter: 2, by: service)
            moved.withLock { $0 = [] }
            let secret = try await fixture.secret()
            for round in 0..<2 {
                let asked = try await service.requestAccess(toLinks: [secret], for: bob.bearer).get()
                #expect(asked.map(\.reason) == [nil])
                #expect(try await requests(fixture).map(\.user) == [bob.user])
                let notices = moved.withLock { $0 }.flatMap(\.notices)
                #expect(notices.map(\.database) == [fixture.identity.privateDatabase], "\(round)")
                #expect(notices.allSatisfy { $0.zoneName == "notes" && !$0.changesShares && $0.life == .nobody })
            }
            let marks = try await MemoryStore(fixture.database).sharedMarks(of: [bob.sharedDatabase: bob.user])
            #expect(marks[bob.sharedDatabase]?.zoneCount == 0, "nothing is in his list")
            // The owner approves, and he accepts.
            let tag = try await fixture.shareTag()
            try await fixture.share(.noAccess, [bob.invited()], tag: tag, counter: 3, by: service)
            #expect(try await requests(fixture) == [])
            let again = try await service.requestAccess(toLinks: [secret], for: bob.bearer).get()
            #expect(again.map(\.reason) == [.alreadyInvited])
            try await fixture.accept(bob, by: service)
        }
    }

    @Test func `R-316, R-972: each request that nobody hears of is answered alike, and at the same time`() throws {
        let fixture = try ServiceFixture(zones: ["open", "silent", "blocked", "ended", "notes"])
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            var links: [(String, [UInt8]?)] = [
                ("no link", nil), ("a link that nobody made", [1, 2, 3]),
                ("of one person", [UInt8](repeating: 1, count: 48)),
            ]
            var counter: UInt64 = 0
            for zone in ["open", "silent", "blocked", "ended"] {
                counter += 10
                try await fixture.share(.noAccess, [], zone: zone, counter: counter, by: service)
                links.append((zone, try await fixture.secret(zone: zone)))
                if zone != "silent" {
                    try await answer(fixture, allowing: true, zone: zone, counter: counter + 1, by: service)
                }
                if zone == "blocked" {
                    let answers = AccessAnswers(blocked: [bob.user])
                    try await answer(fixture, answers, zone: zone, counter: counter + 2, by: service)
                }
                if zone == "ended" {
                    _ = try await service.modify(fixture.sharing(nil, zone: zone, counter: counter + 3)).get()
                }
            }
            var times: Set<Duration> = []
            for (name, link) in links {
                let begin = fixture.scheduler.now
                let asked = try await service.requestAccess(toLinks: [link], for: bob.bearer).get()
                #expect(asked.map(\.reason) == [nil], "\(name)")
                times.insert(fixture.scheduler.now - begin)
            }
            // Also with all of them in one request, of which one is heard.
            let begin = fixture.scheduler.now
            let asked = try await service.requestAccess(toLinks: links.map(\.1), for: bob.bearer).get()
            #expect(asked.map(\.reason) == links.map { _ in nil })
            times.insert(fixture.scheduler.now - begin)
            #expect(times == [Limits().accessRequestStep])
            #expect(try await requests(fixture, zone: "open").map(\.user) == [bob.user])
            #expect(try await requests(fixture, zone: "blocked").map(\.isBlocked) == [true])
        }
    }

    @Test func `R-972: what is asked twice at once, at two servers, is one request`() throws {
        let fixture = try ServiceFixture()
        let services = [fixture.server(), fixture.server()]
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: services[0])
            let carol = try await fixture.user("carol", by: services[0])
            try await fixture.share(.noAccess, [], counter: 1, by: services[0])
            try await answer(fixture, allowing: true, counter: 2, by: services[0])
            let secret = try await fixture.secret()
            let asking = services.flatMap { service in
                [bob, carol].map { user in
                    fixture.scheduler.run { await service.requestAccess(toLinks: [secret], for: user.bearer) }
                }
            }
            for asked in asking { #expect(try await asked.value.get().map(\.reason) == [nil]) }
            #expect(try await requests(fixture).map(\.user) == [bob.user, carol.user])
        }
    }

    @Test func `R-972: an account asks for 20 links a minute, and is told when it may go on`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            #expect(service.delay(ofAccessRequests: 0, by: .account(1)) == nil)
            #expect(service.delay(ofAccessRequests: 20, by: .account(1)) == nil)
            let delay = try #require(service.delay(ofAccessRequests: 1, by: .account(1)))
            #expect(delay > .zero && delay <= .seconds(60))
            #expect(service.delay(ofAccessRequests: 1, by: .account(2)) == nil)
            try await fixture.scheduler.sleep(for: delay)
            #expect(service.delay(ofAccessRequests: 1, by: .account(1)) == nil)
        }
    }
}
