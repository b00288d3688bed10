// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Whoever waits to change shares keeps nobody out who need not wait.
@Suite struct ShareTurnsTests {
    /// Two works at a time.
    private func gate(_ fixture: ServiceFixture) -> FairGate {
        let bounds = FairBounds(room: 2, roomPerOwner: 1, waitingMax: 8, waitingPerOwnerMax: 8)
        return FairGate(bounds, patience: .seconds(60), scheduler: fixture.scheduler)
    }

    /// Services on event loops of one process. The first transactions take so long.
    private func loops(_ count: Int, _ fixture: ServiceFixture, _ times: Duration...) -> [CloudService] {
        let (shared, script) = (SharedWrites(), FaultScript(first: [.beginSent: times.map { .delay($0) }]))
        return (0..<count).map { _ in fixture.server(faults: script.plan, sharedWrites: shared) }
    }

    private func people(
        _ names: String..., in fixture: ServiceFixture, by service: CloudService
    ) async throws -> [Identity] {
        var people: [Identity] = []
        for name in names { people.append(try await fixture.user(name, by: service)) }
        return people
    }

    @Test func `R-711, R-727: acceptances that wait keep no place from changes that need not wait`() throws {
        let fixture = try ServiceFixture(zones: ["a", "b"])
        let service = fixture.server()
        let slow = self.loops(1, fixture, .seconds(4))[0]
        try fixture.scheduler.simulate {
            let people = try await self.people("bob", "carol", "dave", in: fixture, by: service)
            try await fixture.share(zone: "a", counter: 1, by: service)
            try await fixture.share(zone: "b", counter: 2, by: service)
            let (a, b) = (try await fixture.secret(zone: "a"), try await fixture.secret(zone: "b"))
            let gate = self.gate(fixture)
            // One has the connection, one waits for the zone, and one for the connection.
            let accepting = zip(people, [a, a, b]).enumerated().map { index, acceptance in
                fixture.scheduler.run { [bearer = acceptance.0.bearer] in
                    await slow.acceptShares(
                        ofLinks: [acceptance.1], for: bearer, in: WorkTurn(of: .account(Int64(index) + 2), at: gate))
                }
            }
            try await fixture.scheduler.sleep(for: .seconds(1))
            let start = fixture.scheduler.now
            let tickets = [try await gate.enter(.account(8)), try await gate.enter(.account(9))]
            #expect(fixture.scheduler.now == start)
            for ticket in tickets { gate.leave(ticket) }
            for accepted in accepting { #expect(try await accepted.value.get().reasons == [nil]) }
        }
    }

    @Test func `R-725, R-727: who has left is passed over when the turn in a zone comes`() throws {
        let fixture = try ServiceFixture(zones: ["notes", "other"])
        let service = fixture.server()
        let loops = self.loops(3, fixture, .seconds(2), .seconds(8))
        try fixture.scheduler.simulate {
            let people = try await self.people("bob", "carol", "dave", "erin", in: fixture, by: service)
            try await fixture.share(counter: 1, by: service)
            try await fixture.share(zone: "other", counter: 2, by: service)
            let (link, other) = (try await fixture.secret(), try await fixture.secret(zone: "other"))
            let (asker, start) = (Asker(), fixture.scheduler.now)
            @Sendable func accept(
                _ link: [UInt8], _ person: Int, at loop: Int, askedBy asker: Asker = Asker()
            ) async throws -> Task<[FailureReason?], Never> {
                let (service, bearer) = (loops[loop], people[person].bearer)
                let accepting = fixture.scheduler.run { () async -> [FailureReason?] in
                    let turn = WorkTurn(of: .account(Int64(person) + 2))
                    let accepted = await service.acceptShares(
                        ofLinks: [link], for: bearer, askedBy: asker, in: turn)
                    return (try? accepted.get().reasons) ?? []
                }
                try await fixture.scheduler.sleep(for: .milliseconds(100))
                return accepting
            }
            let first = try await accept(link, 0, at: 0)
            let slow = try await accept(other, 1, at: 1)
            // Its loop has no connection for it before `slow` has ended.
            let leaving = try await accept(link, 2, at: 1, askedBy: asker)
            let next = try await accept(link, 3, at: 2)
            asker.leave()
            #expect(await first.value == [nil])
            #expect(await leaving.value == [.storeUnavailable])
            #expect(await next.value == [nil])
            #expect(fixture.scheduler.now < start + .seconds(6))
            #expect(await slow.value == [nil])
        }
    }

    @Test func `R-711, R-727: accounts take turns in a zone, and nobody waits for it too long`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        let loops = self.loops(4, fixture, .seconds(6), .seconds(3), .seconds(30))
        try fixture.scheduler.simulate {
            let people = try await self.people("bob", "carol", in: fixture, by: service)
            try await fixture.share(counter: 1, by: service)
            let link = try await fixture.secret()
            let (ends, start) = (Log<String>(), fixture.scheduler.now)
            var accepting: [Task<Void, Never>] = []
            let titles = ["bob's first", "bob's second", "bob's third", "carol's"]
            for (index, title) in titles.enumerated() {
                let bearer = people[title == "carol's" ? 1 : 0].bearer
                accepting.append(
                    fixture.scheduler.run { () async -> Void in
                        let turn = WorkTurn(of: .account(title == "carol's" ? 3 : 2))
                        let accepted = await loops[index].acceptShares(ofLinks: [link], for: bearer, in: turn)
                        let reasons = (try? accepted.get().reasons) ?? []
                        ends.append(reasons == [nil] ? title : "\(title): \(reasons)")
                    })
                try await fixture.scheduler.sleep(for: .milliseconds(100))
            }
            // Bob's second begins after nine seconds. His third has waited for ten before that ends.
            await accepting[2].value
            #expect(fixture.scheduler.now < start + .seconds(12))
            for accepted in accepting { await accepted.value }
            #expect(ends.all.prefix(2) == ["bob's first", "carol's"])
            #expect(ends.all.count == 4 && ends.all.last == "bob's second")
            #expect(ends.all.contains { $0.hasPrefix("bob's third: ") && $0.contains("tooManyRequests") })
        }
    }
}
