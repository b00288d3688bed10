// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// R-157 and I-1: whatever is lost on the way, a request is applied once, and its outcome is the first one's.
@Suite struct WriteCoordinatorRepeatTests {
    private let device = DeviceID(high: 2, low: 2)

    @Test(arguments: [
        [FaultPoint.commitSent: [Fault.disconnect]],
        [.commitSent: [.disconnect, .disconnect]],
        [.commitAnswered: [.disconnect]],
        [.commitAnswered: [.disconnect], .beginSent: [.none, .disconnect]],
        [.commitSent: [.commitLate(after: .milliseconds(500))]],
        [.commitSent: [.commitLate(after: .milliseconds(1))]],
        [.commitSent: [.commitLate(after: .seconds(3))]],
        [.beginSent: [.disconnect]],
        [.beginLocked: [.disconnect, .disconnect]],
        [.beginAnswered: [.disconnect]],
    ])
    func `I-1: when an answer of the store is lost, the request is applied once and answered`(
        _ faults: [FaultPoint: [Fault]]
    ) throws {
        for seed in 0..<10 as Range<UInt64> {
            let fixture = try ServiceFixture(seed: seed)
            let service = fixture.server(faults: FaultScript(first: faults).plan)
            try fixture.scheduler.simulate {
                // As clients of old name it, and as they do now: nothing says that it was sent before.
                let id = RequestID(
                    device: device, counter: 1, nonce: seed, lowestUnanswered: 1, epoch: seed == 0 ? 0 : 1)
                let request = try fixture.saving(["a", "b"], id: id, isAtomic: true)
                let outcome = await service.modify(request)
                #expect(outcome.numbers == [1, 2], "seed \(seed)")
                #expect(try await fixture.records().map(\.changeNumber) == [1, 2])
            }
        }
    }

    @Test(arguments: [FaultPoint.commitSent, .commitAnswered, .beginSent, .beginLocked])
    func `a store that stays away makes the request fail in bounded time, as undecided`(_ point: FaultPoint) throws {
        let fixture = try ServiceFixture()
        let service = fixture.server(faults: FaultScript(always: [point: .disconnect]).plan)
        try fixture.scheduler.simulate {
            let request = try fixture.saving(["a"], id: RequestID(device, 1))
            let outcome = await service.modify(request)
            // With the answer lost each time, the second attempt finds the outcome of the first in the zone's memory, and
            // has nothing to commit.
            #expect(point == .commitAnswered ? outcome.numbers == [1] : outcome.reason == .storeUnavailable)
            #expect(fixture.scheduler.now < .seconds(10))
        }
    }

    @Test func `R-157: a request that is repeated five times on two servers is applied once`() throws {
        for seed in 0..<100 as Range<UInt64> {
            let fixture = try ServiceFixture(seed: seed)
            let servers = (0..<2).map { _ in fixture.server(faults: fixture.randomFaults(oneIn: 8)) }
            try fixture.scheduler.simulate {
                let request = try fixture.saving(["a"], id: RequestID(device, 1), policy: .ifServerRecordUnchanged)
                var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
                for index in 0..<5 {
                    let delay = Duration.microseconds(Int64(fixture.scheduler.randomBits() % 3_000))
                    tasks.append(
                        fixture.scheduler.run {
                            try? await fixture.scheduler.sleep(for: delay)
                            return await servers[index % 2].modify(request)
                        })
                }
                let outcomes = await tasks.values()
                // A second application would find the record there, or give it another number.
                for outcome in outcomes where outcome.reason == nil {
                    #expect(outcome.numbers == [1], "seed \(seed)")
                }
                #expect(outcomes.contains { $0.numbers == [1] }, "seed \(seed)")
                #expect(try await fixture.records().count == 1, "seed \(seed)")
            }
        }
    }

    @Test func `R-157: a failure is remembered as well`() throws {
        let fixture = try ServiceFixture()
        let servers = [fixture.server(), fixture.server()]
        try fixture.scheduler.simulate {
            let store = try await MemoryStore(fixture.database).incarnation()
            let fields = try fixture.saving(["a"], id: RequestID(device, 1)).saves[0].fields
            let tag = ChangeTag.version(store: store, zone: ZoneID(1), number: 1)
            let update = RecordsRequest(
                id: RequestID(device, 1), key: fixture.key(),
                saves: [RecordSave(name: "a", type: "Note", tag: tag, fields: fields, parent: .unchanged)], deletes: [],
                policy: .ifServerRecordUnchanged, isAtomic: true, user: fixture.identity.user,
                access: .owner(fixture.identity.user))
            let first = await servers[0].modify(update)
            // Somebody creates the record: decided again, the request would not fail in the same way.
            _ = await servers[0].modify(try fixture.saving(["a"], id: RequestID(DeviceID(high: 3, low: 3), 1)))
            let second = await servers[1].modify(update)
            #expect(first == .success(RecordsOutcome(saves: [.failed(ItemFailure(.recordMissing))], deletes: [])))
            #expect(first == second)
        }
    }

    @Test func `R-157: what the device no longer waits for is refused when it comes again`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let first = try fixture.saving(["a"], id: RequestID(device, 1))
            _ = await service.modify(first)
            _ = await service.modify(try fixture.saving(["b"], id: RequestID(device, 2, lowest: 2)))
            #expect(await service.modify(first).reason == .requestForgotten)
        }
    }

    /// A repeat may have been decided by another server, and forgotten, while the first sending lay in the queue of one that
    /// was suspended, or in a socket that it reads when it has woken up.
    @Test(arguments: [false, true])
    func `R-157: what has lain in a suspended server for days is not decided`(_ laidInSocket: Bool) throws {
        let fixture = try ServiceFixture()
        let delays = [Fault](repeating: .delay(.seconds(5)), count: laidInSocket ? 0 : 2)
        let server = fixture.server(faults: FaultScript(first: [.beginSent: delays]).plan)
        let database = fixture.key().database
        let records = try fixture.saving(["a"], id: RequestID(device, 1))
        let zones = ZonesRequest(id: RequestID(device, 2), saves: ["new"], deletes: [])
        let later = try fixture.saving(["b"], id: RequestID(device, 3))
        try fixture.scheduler.simulate {
            _ = await server.standing()
            if laidInSocket {
                try await fixture.passEpochs()
                // It hears of the epoch before it comes to the socket.
                _ = await server.standing()
            }
            let saving = fixture.scheduler.run { await server.modify(records) }
            let creation = fixture.scheduler.run { await server.modifyZones(in: database, zones, for: .account(1)) }
            if !laidInSocket {
                try await fixture.scheduler.sleep(for: .seconds(1))
                try await fixture.passEpochs()
            }
            #expect(await saving.value.reason == .requestForgotten)
            #expect(await creation.value.reason == .requestForgotten)
            #expect(try await fixture.records().isEmpty)
            // What comes from now on is new, however old the connection is on which it comes.
            try await fixture.scheduler.sleep(for: .seconds(60))
            #expect(await server.modify(later).numbers == [1])
        }
    }

    @Test func `a retried zone deletion does not hit the zone that was created again`() throws {
        for seed in 0..<30 as Range<UInt64> {
            let fixture = try ServiceFixture(seed: seed)
            let servers = (0..<2).map { _ in fixture.server(faults: fixture.randomFaults(oneIn: 10)) }
            try fixture.scheduler.simulate {
                let database = fixture.key().database
                let deletion = ZonesRequest(id: RequestID(device, 1), saves: [], deletes: ["notes"])
                let creation = ZonesRequest(id: RequestID(device, 2), saves: ["notes"], deletes: [])
                let first = await servers[0].modifyZones(in: database, deletion, for: .account(1))
                guard case .success = first else { return }
                let second = await servers[1].modifyZones(in: database, creation, for: .account(1))
                guard case .success = second else { return }
                let repeated = await servers[Int(seed % 2)].modifyZones(in: database, deletion, for: .account(1))
                if case .success(let outcome) = repeated { #expect(first == .success(outcome)) }
                let zones = try await MemoryStore(fixture.database).zones(named: ["notes"], in: database)
                #expect(zones.map(\.key.name) == ["notes"], "seed \(seed)")
            }
        }
    }
}
