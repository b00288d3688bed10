// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What a request that saves records does before it comes to the queue of writes: links are made, and access is looked at.
@Suite struct ShareLinksPartsTests {
    /// One work at a time.
    private func gate(_ fixture: ServiceFixture) -> FairGate {
        let bounds = FairBounds(room: 1, roomPerOwner: 1, waitingMax: 8, waitingPerOwnerMax: 8)
        return FairGate(bounds, patience: .seconds(60), scheduler: fixture.scheduler)
    }

    private func noted(_ text: String) throws -> FieldMap { try FieldMap([Field("text", .string(text))]) }

    /// A save of a note by a user who is not the owner.
    private func saving(
        _ name: String, text: String = "text", by user: Identity, counter: UInt64, _ fixture: ServiceFixture
    ) throws -> RecordsRequest {
        let own = try fixture.saving([name], text: text, id: RequestID(DeviceID(high: 0, low: 2), counter))
        return RecordsRequest(
            id: own.id, key: own.key, saves: own.saves, deletes: [], policy: own.policy, isAtomic: false,
            user: user.user, access: user.sharedAccess)
    }

    private func reasons(_ outcome: Result<RecordsOutcome, FailureReason>) -> [FailureReason?] {
        switch outcome {
        case .failure(let reason): [reason]
        case .success(let outcome):
            outcome.saves.map { if case .failed(let failure) = $0 { failure.reason } else { nil } }
                + outcome.deletes.map { if case .failed(let failure) = $0 { failure.reason } else { nil } }
        }
    }

    @Test func `R-306, R-711: a share waits for its owner's turn before it has a link, and other saves do not`() throws
    {
        let fixture = try ServiceFixture(zones: ["notes", "other"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let gate = self.gate(fixture)
            let ticket = try await gate.enter(.account(9))
            let share = fixture.sharing(ShareSave(tag: nil, publicPermission: .readOnly), counter: 1)
            let note = try fixture.saving(["a"], zone: "other", id: RequestID(DeviceID(high: 0, low: 1), 1))
            let (left, asker) = (Asker(), Asker())
            let gates = SharingGates(changes: gate)
            let modifying = fixture.scheduler.run {
                await service.modifyRecords([share, note], for: .account(1), askedBy: asker, at: gates)
            }
            let unasked = fixture.scheduler.run {
                await service.modifyRecords([share], for: .account(1), askedBy: left, at: gates)
            }
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(gate.waitingCount == 2)
            #expect(try await fixture.records(in: "other").map(\.name) == ["a"])
            left.leave()
            gate.leave(ticket)
            #expect(await modifying.value.map(reasons) == [[nil], [nil]])
            #expect(await unasked.value.map(reasons) == [[.storeUnavailable]])
            #expect(try await fixture.secret().count == 16)
        }
    }

    @Test func `R-306: the link of a share leads to its zone, also if that was made anew before the save`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        let slow = fixture.server(faults: FaultScript(first: [.beginSent: [.delay(.seconds(2))]]).plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            let share = fixture.sharing(ShareSave(tag: nil, publicPermission: .readOnly), counter: 1)
            let sharing = fixture.scheduler.run { await slow.modifyRecords([share], for: .account(1)) }
            try await fixture.scheduler.sleep(for: .seconds(1))
            let device = DeviceID(high: 0, low: 5)
            let steps: [(saves: [String], deletes: [String])] = [([], ["notes"]), (["notes"], [])]
            for (index, (saves, deletes)) in steps.enumerated() {
                let request = ZonesRequest(id: RequestID(device, UInt64(index) + 1), saves: saves, deletes: deletes)
                let database = fixture.identity.privateDatabase
                _ = try await service.modifyZones(in: database, request, for: .account(1)).get()
            }
            #expect(await sharing.value.map(reasons) == [[nil]])
            let secret = try await fixture.secret()
            let accepted = await service.acceptShares(ofLinks: [secret], for: bob.bearer)
            #expect(try accepted.get().reasons == [nil])
        }
    }

    @Test func `R-309, R-314: the users whom a share invites are looked up once the other parts are queued`() throws {
        let fixture = try ServiceFixture(zones: ["notes", "other"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            let unknown = ParticipantSave(id: bob.invited().id, person: nil)
            let share = fixture.sharing(ShareSave(tag: nil, participants: [unknown]), counter: 1)
            let known = fixture.sharing(ShareSave(tag: nil, participants: [bob.invited()]), counter: 1)
            let note = try fixture.saving(["a"], zone: "other", id: RequestID(DeviceID(high: 0, low: 1), 1))
            let outcomes = await service.modifyRecords([share, note], for: .account(1)) {
                // Others are written while this waits.
                try? await fixture.scheduler.sleep(for: .seconds(1))
                let isWritten = try? await fixture.records(in: "other").map(\.name) == ["a"]
                return isWritten == true ? .success([known, note]) : .failure(.serverFault)
            }
            #expect(outcomes.map(reasons) == [[nil], [nil]])
            try await fixture.accept(bob, by: service)
            let refused = await service.modifyRecords([known, note], for: .account(1)) {
                .failure(.tooManyParticipants)
            }
            #expect(refused.map(reasons) == [[.tooManyParticipants], [nil]])
        }
    }

    @Test func `I-5, R-316: a stranger waits for nobody in a zone of another, and learns nothing by waiting`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        let slow = fixture.server(faults: FaultScript(first: [.beginLocked: [.delay(.seconds(5))]]).plan)
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(.noAccess, [carol.invited()], counter: 1, by: service)
            let writing = fixture.scheduler.run { [key = fixture.key()] in
                let save = RecordSave(name: "x", type: "Note", tag: nil, fields: FieldMap(), parent: .unchanged)
                return await slow.modify(
                    RecordsRequest(
                        id: RequestID(DeviceID(high: 0, low: 1), 2), key: key, saves: [save], deletes: [],
                        policy: .allKeys, isAtomic: false, user: fixture.identity.user,
                        access: .owner(fixture.identity.user)))
            }
            try await fixture.scheduler.sleep(for: .seconds(1))
            let start = fixture.scheduler.now
            let save = try saving("b", by: bob, counter: 1, fixture)
            let decline = RecordsRequest(
                id: RequestID(DeviceID(high: 0, low: 2), 2), key: fixture.key(), saves: save.saves,
                deletes: [Share.zoneWideName], policy: .allKeys, isAtomic: false, user: bob.user,
                access: bob.sharedAccess)
            #expect(reasons(await service.modify(save)) == [.zoneNotFound])
            #expect(reasons(await service.modify(decline)) == [.zoneNotFound, nil])
            #expect(await service.leaveZones([fixture.key()], for: bob.bearer).map(\.reason) == [nil])
            // Who is only invited has nothing to leave either.
            #expect(await service.leaveZones([fixture.key()], for: carol.bearer).map(\.reason) == [nil])
            #expect(fixture.scheduler.now < start + .seconds(1))
            #expect(reasons(await writing.value) == [nil])
            // The invitation is there, and ends by the delete of the CKShare record.
            let declined = try saving("c", by: carol, counter: 1, fixture)
            let ending = RecordsRequest(
                id: declined.id, key: fixture.key(), saves: [], deletes: [Share.zoneWideName],
                policy: .allKeys, isAtomic: false, user: carol.user, access: carol.sharedAccess)
            #expect(reasons(await service.modify(ending)) == [nil])
            let secret = try await fixture.secret()
            let accepted = await service.acceptShares(ofLinks: [secret], for: carol.bearer)
            #expect(try accepted.get().reasons == [.shareUnknown])
        }
    }

    @Test func `R-711: a participant's saves come in their order, also while access is looked at`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        let slow = fixture.server(faults: FaultScript(first: [.callSent: [.delay(.seconds(2))]]).plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            let requests = try [1, 2].map {
                try saving("x", text: "\($0)", by: bob, counter: $0, fixture)
            }
            let first = fixture.scheduler.run { await slow.modify(requests[0]) }
            try await fixture.scheduler.sleep(for: .seconds(1))
            let second = fixture.scheduler.run { await slow.modify(requests[1]) }
            let (one, two) = (await first.value, await second.value)
            #expect(reasons(one) == [nil] && reasons(two) == [nil])
            let saved = try await fixture.records().first { $0.name == "x" }
            #expect(try saved?.fields == noted("2"))
        }
    }

    @Test func `R-012, R-329: what a request of the same group lets a participant save is in the schema`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript(first: [.commitSent: [.none, .none, .delay(.seconds(2))]])
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(.noAccess, [bob.invited(.readOnly)], counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            let tag = try await fixture.shareTag()
            // While this is written, the others come together into the next transaction.
            let holding = fixture.scheduler.run { [fixture] in
                let request = try? fixture.saving(["a"], id: RequestID(DeviceID(high: 0, low: 3), 1))
                if let request { _ = await service.modify(request) }
            }
            try await fixture.scheduler.sleep(for: .seconds(1))
            let raising = fixture.sharing(
                ShareSave(tag: tag, participants: [bob.invited(.readWrite)]), counter: 2)
            let raised = fixture.scheduler.run { await service.modify(raising) }
            try await fixture.scheduler.sleep(for: .milliseconds(100))
            let new = RecordSave(name: "b", type: "Task", tag: nil, fields: try noted("new"), parent: .unchanged)
            let request = RecordsRequest(
                id: RequestID(DeviceID(high: 0, low: 2), 1), key: fixture.key(), saves: [new], deletes: [],
                policy: .allKeys, isAtomic: false, user: bob.user, access: bob.sharedAccess)
            #expect(reasons(await service.modify(request)) == [nil])
            #expect(reasons(await raised.value) == [nil])
            await holding.value
            #expect(script.count(.commitSent) == 4, "the two were one group")
            let schema = try await MemoryStore(fixture.database).schema(of: fixture.identity.container)
            #expect(schema.schema.types["Task"]?.fields["text"] != nil)
        }
    }

    @Test func `R-727: those who accept one share wait for each other without a connection`() throws {
        let fixture = try ServiceFixture(zones: ["notes", "other"])
        let service = fixture.server()
        let delays = [Fault](repeating: .delay(.seconds(1)), count: 3)
        let script = FaultScript(first: [.beginLocked: delays])
        // Event loops of one process.
        let shared = SharedWrites()
        let loops = (1...3).map { _ in fixture.server(faults: script.plan, sharedWrites: shared) }
        try fixture.scheduler.simulate {
            var people: [Identity] = []
            for name in ["bob", "carol", "dave"] { people.append(try await fixture.user(name, by: service)) }
            try await fixture.share(counter: 1, by: service)
            try await fixture.share(zone: "other", counter: 2, by: service)
            let (link, other) = (try await fixture.secret(), try await fixture.secret(zone: "other"))
            let accepting = [link, link, other].enumerated().map { index, link in
                fixture.scheduler.run { [bearer = people[index].bearer] in
                    await loops[index].acceptShares(ofLinks: [link], for: bearer)
                }
            }
            try await fixture.scheduler.sleep(for: .milliseconds(500))
            #expect(script.count(.beginSent) == 2, "one in each zone")
            for accepted in accepting { #expect(try await accepted.value.get().reasons == [nil]) }
            #expect(script.count(.beginSent) == 3)
        }
    }

    @Test func `R-727: acceptances hold one connection of an event loop, and take turns by account`() throws {
        let fixture = try ServiceFixture(zones: ["a", "b", "c"])
        let service = fixture.server()
        let script = FaultScript(first: [.beginLocked: [Fault](repeating: .delay(.seconds(1)), count: 3)])
        let slow = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            var links: [[UInt8]?] = []
            for (index, zone) in ["a", "b", "c"].enumerated() {
                try await fixture.share(zone: zone, counter: UInt64(index) + 1, by: service)
                links.append(try await fixture.secret(zone: zone))
            }
            let ends = Log<String>()
            @Sendable func accept(_ link: [UInt8]?, _ user: Identity, _ account: Int64, _ title: String) async {
                let turn = WorkTurn(of: .account(account))
                let accepted = await slow.acceptShares(ofLinks: [link], for: user.bearer, in: turn)
                ends.append((try? accepted.get().reasons) == [nil] ? title : "\(accepted)")
            }
            var accepting: [Task<Void, Never>] = []
            for (link, title) in zip(links, ["bob's first", "bob's second", "carol's"]) {
                let (user, account): (Identity, Int64) = title == "carol's" ? (carol, 3) : (bob, 2)
                accepting.append(fixture.scheduler.run { await accept(link, user, account, title) })
                try await fixture.scheduler.sleep(for: .milliseconds(100))
            }
            #expect(script.count(.beginSent) == 1)
            for accepted in accepting { await accepted.value }
            #expect(ends.all == ["bob's first", "carol's", "bob's second"])
            #expect(script.count(.beginSent) == 3)
        }
    }

    @Test func `R-711: each acceptance takes its owner's turn anew`() throws {
        let fixture = try ServiceFixture(zones: ["a", "b", "c"])
        let service = fixture.server()
        let delays = [Fault](repeating: .delay(.seconds(1)), count: 3)
        let slow = fixture.server(faults: FaultScript(first: [.beginSent: delays]).plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            var links: [[UInt8]?] = []
            for (index, zone) in ["a", "b", "c"].enumerated() {
                try await fixture.share(zone: zone, counter: UInt64(index) + 1, by: service)
                links.append(try await fixture.secret(zone: zone))
            }
            let gate = self.gate(fixture)
            let accepting = fixture.scheduler.run { [links] in
                await slow.acceptShares(ofLinks: links, for: bob.bearer, in: WorkTurn(of: .account(2), at: gate))
            }
            try await fixture.scheduler.sleep(for: .milliseconds(500))
            // The first one waits for its transaction, and leaves its place meanwhile.
            let ticket = try await gate.enter(.account(3))
            try await fixture.scheduler.sleep(for: .seconds(5))
            let zones = try await service.sharedZonesPage(of: bob.sharedDatabase, for: bob.user, after: nil).get()
            #expect(zones.zones.map(\.key.name) == ["a"], "one was accepted")
            gate.leave(ticket)
            #expect(try await accepting.value.get().reasons == [nil, nil, nil])
        }
    }

    @Test func `R-317, R-318: an edit after an acceptance is not answered by a look that was begun before it`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        // The first look is answered late.
        let slow = fixture.server(faults: FaultScript(first: [.callAnswered: [.delay(.seconds(2))]]).plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            let (early, late) = (
                try saving("early", by: bob, counter: 1, fixture), try saving("late", by: bob, counter: 2, fixture)
            )
            let first = fixture.scheduler.run { await slow.modifyRecords([early], for: .account(2)) }
            try await fixture.scheduler.sleep(for: .seconds(1))
            try await fixture.accept(bob, by: service)
            let second = fixture.scheduler.run { await slow.modifyRecords([late], for: .account(2)) }
            #expect(await first.value.map(reasons) == [[.zoneNotFound]])
            #expect(await second.value.map(reasons) == [[nil]])
            #expect(try await fixture.records().map(\.name).contains("late"))
        }
    }
}
