// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkService

extension WriteQueue {
    /// Asked by somebody who stays.
    mutating func admit(
        _ request: RecordsRequest, for owner: WorkOwner, at loop: Int, now: Duration
    ) -> Admission {
        admit(request, for: owner, askedBy: Asker(), at: loop, now: now)
    }

    /// Nil ends the worker.
    mutating func nextEntries(at loop: Int, isFirst: Bool) -> [Entry]? {
        let group = nextGroup(at: loop, isFirst: isFirst)
        return group.entries.isEmpty ? nil : group.entries
    }
}

/// what nobody waits for any more is not begun.
@Suite struct AskerTests {
    private let owner = WorkOwner.account(1)

    private func request(_ counter: UInt64) -> RecordsRequest {
        RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: 1), counter), key: ZoneKey(database: DatabaseID(1), name: "a"),
            saves: [RecordSave(name: "r", type: "T", tag: nil, fields: FieldMap(), parent: .unchanged)], deletes: [],
            policy: .allKeys, isAtomic: true, user: UserID(1), access: .owner(UserID(1)))
    }

    private func makeQueue() -> WriteQueue {
        var queue = WriteQueue(settings: WriteSettings())
        _ = queue.addLoop()
        return queue
    }

    @Test func `R-725: a request whose asker has left leaves the queue, and gives its room back`() {
        var queue = makeQueue()
        let (gone, here) = (Asker(), Asker())
        for (counter, asker) in [(1, gone), (2, here), (3, gone)] as [(UInt64, Asker)] {
            _ = queue.admit(request(counter), for: owner, askedBy: asker, at: 0, now: .zero)
        }
        gone.leave()
        _ = queue.startsWorker(at: 0)
        let group = queue.nextGroup(at: 0, isFirst: true)
        #expect(group.entries.map(\.request.id.counter) == [2])
        #expect(group.unasked.map(\.ticket) == [0, 2])
        queue.leave(group.entries)
        queue.endGroup(group.entries, at: 0)
        #expect(queue.nextGroup(at: 0, isFirst: false).entries.isEmpty)
        #expect(queue.isIdle)
        // It is not here any more: whoever comes back with it begins anew.
        #expect(queue.admit(request(1), for: owner, at: 0, now: .zero) == .queued(3))
    }

    @Test func `R-725: no later request of one who has left stays behind for its return`() {
        var settings = WriteSettings()
        settings.groupItemsMax = 1
        var queue = WriteQueue(settings: settings)
        _ = queue.addLoop()
        let (gone, here) = (Asker(), Asker())
        for (counter, asker) in [(1, gone), (2, here), (3, here), (4, gone)] as [(UInt64, Asker)] {
            _ = queue.admit(request(counter), for: owner, askedBy: asker, at: 0, now: .zero)
        }
        gone.leave()
        _ = queue.startsWorker(at: 0)
        let group = queue.nextGroup(at: 0, isFirst: true)
        #expect(group.entries.map(\.request.id.counter) == [2])
        // Otherwise the fourth would be joined, and be carried out before the first.
        #expect(group.unasked.map(\.ticket) == [0, 3])
    }

    @Test func `R-725: a zone of which nobody waits for anything goes on with the next request`() {
        var queue = makeQueue()
        let gone = Asker()
        _ = queue.admit(request(1), for: owner, askedBy: gone, at: 0, now: .zero)
        gone.leave()
        _ = queue.startsWorker(at: 0)
        let none = queue.nextGroup(at: 0, isFirst: true)
        #expect(none.entries.isEmpty && none.unasked.map(\.ticket) == [0] && queue.isIdle)
        _ = queue.admit(request(2), for: owner, at: 0, now: .zero)
        #expect(queue.startsWorker(at: 0) == true)
        #expect(queue.nextGroup(at: 0, isFirst: true).entries.map(\.request.id.counter) == [2])
    }

    @Test(arguments: [false, true])
    func `R-725, R-157: a request that is joined is carried out as long as one of its askers is here`(_ isHere: Bool) {
        var queue = makeQueue()
        let (first, second) = (Asker(), Asker())
        #expect(queue.admit(request(1), for: owner, askedBy: first, at: 0, now: .zero) == .queued(0))
        #expect(queue.admit(request(1), for: owner, askedBy: second, at: 0, now: .zero) == .joined(0))
        first.leave()
        if !isHere { second.leave() }
        _ = queue.startsWorker(at: 0)
        let group = queue.nextGroup(at: 0, isFirst: true)
        #expect(group.entries.map(\.ticket) == (isHere ? [0] : []))
        #expect(group.unasked.map(\.ticket) == (isHere ? [] : [0]))
    }

    @Test func `R-725: what has failed is not tried again for somebody who has left`() {
        var queue = makeQueue()
        let asker = Asker()
        _ = queue.admit(request(1), for: owner, askedBy: asker, at: 0, now: .zero)
        _ = queue.startsWorker(at: 0)
        let group = queue.nextGroup(at: 0, isFirst: true).entries
        #expect(group.count == 1)
        asker.leave()
        guard
            case .later(_, let wakes) = queue.recover(
                from: .commitUnknown, part: group, rest: [], now: .zero, randomBits: { 0 })
        else {
            Issue.record("not later")
            return
        }
        queue.endGroup(group, at: 0)
        for wake in wakes { queue.wake(wake.key) }
        let next = queue.nextGroup(at: 0, isFirst: false)
        #expect(next.entries.isEmpty)
        #expect(next.unasked == [.init(ticket: 0, reason: .storeUnavailable)], "it may have been written")
    }

    /// The server that loses its store at first; what came to it while its device was there; then what the device did
    /// through another server, after it was started again.
    private func outlive<Outcome: Sendable>(
        _ fixture: ServiceFixture, losing point: FaultPoint,
        early: @escaping @Sendable (CloudService, Asker) async -> Outcome,
        late: @escaping @Sendable (CloudService) async throws -> Void
    ) throws -> Outcome {
        let script = FaultScript(first: [point: [.disconnect]])
        let (slow, other) = (fixture.server(faults: script.plan), fixture.server())
        return try fixture.scheduler.simulate {
            let asker = Asker()
            let waiting = fixture.scheduler.run { await early(slow, asker) }
            while script.count(point) == 0 { try await fixture.scheduler.sleep(for: .milliseconds(1)) }
            asker.leave()
            try await late(other)
            return await waiting.value
        }
    }

    @Test func `R-725: a save of a process that has ended does not bring back what its successor deleted`() throws {
        let fixture = try ServiceFixture()
        let (dead, successor) = (DeviceID(high: 2, low: 2), DeviceID(high: 3, low: 3))
        let save = try fixture.saving(["draft"], id: RequestID(dead, 1), policy: .ifServerRecordUnchanged)
        let again = try fixture.saving(["draft"], id: RequestID(successor, 1), policy: .ifServerRecordUnchanged)
        let delete = try fixture.saving([], deleting: ["draft"], id: RequestID(successor, 2))
        let outcome = try outlive(fixture, losing: .beginSent) { service, asker in
            await service.modifyRecords([save], for: .account(1), askedBy: asker)[0]
        } late: { service in
            #expect(await service.modify(again).numbers == [1])
            _ = await service.modify(delete)
        }
        #expect(outcome.reason == .storeUnavailable)
        let records = try fixture.scheduler.simulate { try await fixture.records() }
        #expect(records.count { !$0.isDeleted } == 0)
    }

    @Test func `R-725: a zone's deletion by a process that has ended does not end the zone that was made since`() throws
    {
        let fixture = try ServiceFixture()
        let (dead, successor) = (DeviceID(high: 2, low: 2), DeviceID(high: 3, low: 3))
        let database = fixture.key().database
        let outcome = try outlive(fixture, losing: .beginSent) { service, asker in
            await service.modifyZones(
                in: database, ZonesRequest(id: RequestID(dead, 1), saves: [], deletes: ["notes"]), for: .account(1),
                askedBy: asker)
        } late: { service in
            for (counter, saves, deletes) in [(1, [], ["notes"]), (2, ["notes"], [])] as [(UInt64, [String], [String])]
            {
                let request = ZonesRequest(id: RequestID(successor, counter), saves: saves, deletes: deletes)
                _ = try await service.modifyZones(in: database, request, for: .account(1)).get()
            }
        }
        #expect(outcome.reason == .storeUnavailable)
        let found = try fixture.scheduler.simulate {
            await fixture.server().zones([fixture.key()])
        }
        #expect(try found.get()[0].map(\.key.name) == .success("notes"))
    }

    @Test func `R-725: a subscription is not deleted late by a process that has ended`() throws {
        let fixture = try ServiceFixture()
        let user = fixture.identity.user
        let subscription = Subscription(
            id: "a", scope: .private, kind: .database, recordType: nil, notificationInfo: [])
        let outcome = try outlive(fixture, losing: .callSent) { service, asker in
            await service.modifySubscriptions(saves: [], deletes: ["a"], scope: .private, of: user, askedBy: asker)
        } late: { service in
            _ = await service.modifySubscriptions(saves: [subscription], deletes: [], scope: .private, of: user)
        }
        #expect(try outcome.get().deletes.map(\.reason) == [.storeUnavailable])
        let found = try fixture.scheduler.simulate { await fixture.server().subscriptions(in: .private, of: user) }
        #expect(found == .success([subscription]))
    }
}
