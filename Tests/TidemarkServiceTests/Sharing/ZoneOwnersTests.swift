// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// How the owners are found whom requests name.
@Suite struct ZoneOwnersTests {
    private static let nobody = "_" + String(repeating: "0", count: 32)

    private func gate(_ fixture: ServiceFixture) -> FairGate {
        let bounds = FairBounds(room: 1, roomPerOwner: 1, waitingMax: 8, waitingPerOwnerMax: 8)
        return FairGate(bounds, patience: .seconds(60), scheduler: fixture.scheduler)
    }

    @Test func `R-711, R-225: all names of a request are looked up at once, in a turn of who asks`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            let names: Set = [fixture.identity.userRecordName, bob.userRecordName, Self.nobody]
            let gate = self.gate(fixture)
            let ticket = try await gate.enter(.account(9))
            let (asker, order, before) = (Asker(), OwnersOrder(), script.count(.callSent))
            @Sendable func look(_ names: Set<String>, at order: OwnersOrder) async -> Int? {
                let look = OwnersLook(in: WorkTurn(of: .account(1), at: gate), askedBy: asker, after: order)
                let found = await service.zoneOwners(named: names, in: ServiceFixture.container, at: look)
                return try? found.get().count
            }
            let looking = fixture.scheduler.run { await look(names, at: order) }
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(gate.waitingCount == 1 && script.count(.callSent) == before)
            gate.leave(ticket)
            #expect(await looking.value == 2)
            #expect(script.count(.callSent) == before + 1)
            // What is known needs no turn.
            let other = try await gate.enter(.account(9))
            #expect(await look([bob.userRecordName], at: order) == 1)
            #expect(script.count(.callSent) == before + 1)
            // Whoever has left needs no answer.
            let leaving = fixture.scheduler.run { await look([Self.nobody], at: order) }
            try await fixture.scheduler.sleep(for: .seconds(1))
            asker.leave()
            gate.leave(other)
            #expect(await leaving.value == nil)
            #expect(script.count(.callSent) == before + 1)
        }
    }

    @Test func `R-711: a request whose owners are known waits for an earlier one that looks`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let known = fixture.identity.userRecordName
            _ = try await service.zoneOwners(named: [known], in: ServiceFixture.container).get()
            let gate = self.gate(fixture)
            let ticket = try await gate.enter(.account(9))
            let (order, ends) = (OwnersOrder(), Log<String>())
            @Sendable func look(_ name: String, _ title: String, at order: OwnersOrder) async {
                let look = OwnersLook(in: WorkTurn(of: .account(1), at: gate), askedBy: Asker(), after: order)
                _ = await service.zoneOwners(named: [name], in: ServiceFixture.container, at: look)
                ends.append(title)
            }
            let first = fixture.scheduler.run { await look(Self.nobody, "first", at: order) }
            try await fixture.scheduler.sleep(for: .seconds(1))
            let second = fixture.scheduler.run { await look(known, "second", at: order) }
            let other = fixture.scheduler.run { await look(known, "another connection", at: OwnersOrder()) }
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(ends.all == ["another connection"])
            gate.leave(ticket)
            for task in [first, second, other] { await task.value }
            #expect(ends.all == ["another connection", "first", "second"])
        }
    }

    @Test func `R-711: if no turn comes for a look, none of those behind it waits for one`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let gate = self.gate(fixture)
            let ticket = try await gate.enter(.account(9))
            let (order, start) = (OwnersOrder(), fixture.scheduler.now)
            @Sendable func look() async -> FailureReason? {
                let look = OwnersLook(in: WorkTurn(of: .account(1), at: gate), askedBy: Asker(), after: order)
                return await service.zoneOwners(named: [Self.nobody], in: ServiceFixture.container, at: look).reason
            }
            let tasks = (1...3).map { _ in fixture.scheduler.run { await look() } }
            for task in tasks { #expect(await task.value == .tooManyRequests) }
            #expect(fixture.scheduler.now < start + .seconds(90))
            gate.leave(ticket)
        }
    }
}
