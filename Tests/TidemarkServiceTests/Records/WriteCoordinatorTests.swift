// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// How requests become transactions.
@Suite struct WriteCoordinatorTests {
    private let device = DeviceID(high: 2, low: 2)
    /// Makes transactions long enough that others come meanwhile.
    private let slowCommits: [FaultPoint: Fault] = [.commitSent: .delay(.milliseconds(5))]

    @Test func `requests that come while a zone is being written go together in the next transaction`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript(always: slowCommits)
        let service = fixture.server(faults: script.plan)
        let outcomes = try fixture.scheduler.simulate {
            var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
            for counter in 1...21 as ClosedRange<UInt64> {
                let request = try fixture.saving(["r\(counter)"], id: RequestID(device, counter))
                tasks.append(fixture.scheduler.run { await service.modify(request) })
                if counter == 1 { try await fixture.scheduler.sleep(for: .milliseconds(1)) }
            }
            return await tasks.values()
        }
        #expect(script.count(.commitSent) == 2)
        #expect(Set(outcomes.flatMap(\.numbers)) == Set((1...21).map { ChangeNumber($0) }), "each has its own outcome")
    }

    @Test func `one zone is in one transaction at a time, whichever event loops its requests come to`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript(always: slowCommits)
        let sharedWrites = SharedWrites()
        let services = (0..<3).map { _ in fixture.server(faults: script.plan, sharedWrites: sharedWrites) }
        let outcomes = try fixture.scheduler.simulate {
            var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
            for counter in 1...21 as ClosedRange<UInt64> {
                let request = try fixture.saving(["r\(counter)"], id: RequestID(device, counter))
                let service = services[Int(counter % 3)]
                tasks.append(fixture.scheduler.run { await service.modify(request) })
                if counter == 1 { try await fixture.scheduler.sleep(for: .milliseconds(1)) }
            }
            return await tasks.values()
        }
        #expect(script.count(.commitSent) == 2)
        #expect(Set(outcomes.flatMap(\.numbers)) == Set((1...21).map { ChangeNumber($0) }), "each has its own outcome")
    }

    @Test func `zones that are ready at the same moment share a transaction`() throws {
        let zones = (0..<20).map { "z\($0)" }
        let fixture = try ServiceFixture(zones: zones)
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        let outcomes = try fixture.scheduler.simulate {
            let parts = try zones.map { try fixture.saving(["a"], zone: $0, id: RequestID(device, 1)) }
            return await service.modifyRecords(parts, for: .account(1))
        }
        #expect(script.count(.commitSent) == 1)
        #expect(outcomes.map(\.numbers) == zones.map { _ in [1] })
    }

    @Test func `the number of transactions at one time is bounded`() throws {
        let zones = (0..<12).map { "z\($0)" }
        let fixture = try ServiceFixture(zones: zones)
        let script = FaultScript(always: slowCommits)
        let most = Log<Int>()
        let plan = script.plan
        var counting = plan
        counting.at = { point in
            let fault = plan.at(point)
            most.append(script.count(.commitSent) - script.count(.commitAnswered))
            return fault
        }
        var settings = WriteSettings()
        settings.transactionsMax = 3
        let service = fixture.server(faults: counting, settings: settings)
        try fixture.scheduler.simulate {
            var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
            for zone in zones {
                let request = try fixture.saving(["a"], zone: zone, id: RequestID(device, 1))
                tasks.append(fixture.scheduler.run { await service.modify(request) })
                try await fixture.scheduler.sleep(for: .microseconds(100))
            }
            #expect(await tasks.values().allSatisfy { $0.numbers == [1] })
        }
        #expect(most.all.max() == 3)
        #expect(script.count(.commitSent) < 12, "what waited went together")
    }

    @Test func `R-729: what has many relatives is decided elsewhere, and not together with others`() throws {
        var settings = WriteSettings()
        // Of many children three are read for the delete of their parent: that is enough to refuse it.
        settings.visitsOnLoopMax = 2
        settings.groupVisitsMax = 5
        let fixture = try ServiceFixture()
        let elsewhere = CountingExecutor(fixture.scheduler)
        let script = FaultScript(always: slowCommits)
        let service = fixture.server(
            faults: script.plan, sharedWrites: SharedWrites(settings: settings, largeGroups: elsewhere))
        let children = (0..<11).map { "child\($0)" }
        try fixture.scheduler.simulate {
            @Sendable func modify(_ counter: UInt64, _ saves: [RecordSave], deletes: [String] = []) async
                -> [FailureReason?]
            {
                let request = RecordsRequest(
                    id: RequestID(device, counter), key: fixture.key(), saves: saves, deletes: deletes,
                    policy: .allKeys, isAtomic: false, user: fixture.identity.user,
                    access: .owner(fixture.identity.user))
                guard case .success(let outcome) = await service.modify(request) else {
                    return [.serverFault]
                }
                return outcome.deletes.map { if case .failed(let failure) = $0 { failure.reason } else { nil } }
            }
            @Sendable func save(_ name: String, parent: ParentChange = .unchanged) -> RecordSave {
                RecordSave(name: name, type: "Note", tag: nil, fields: FieldMap(), parent: parent)
            }
            _ = await modify(1, [save("few"), save("many"), save("one", parent: .set("few"))])
            _ = await modify(2, children.map { save($0, parent: .set("many")) })
            #expect(await modify(3, [], deletes: ["few"]) == [.stillParent])
            #expect(elsewhere.count == 0)
            #expect(await modify(4, [], deletes: ["many"]) == [.stillParent])
            #expect(elsewhere.count > 0)
            // Two come while the zone is being written, and would go together.
            let before = script.count(.commitSent)
            let first = fixture.scheduler.run { await modify(5, [save("alone")]) }
            try await fixture.scheduler.sleep(for: .milliseconds(1))
            let others = (6...7 as ClosedRange<UInt64>).map { counter in
                fixture.scheduler.run { await modify(counter, [], deletes: ["many"]) }
            }
            _ = await first.value
            for other in others { #expect(await other.value == [.stillParent]) }
            #expect(script.count(.commitSent) == before + 3)
            #expect(await modify(8, [], deletes: ["many"] + children) == (["many"] + children).map { _ in nil })
        }
    }

    /// Saves one field of the record "a".
    private func save(
        _ counter: UInt64, _ key: String, _ value: String, to service: CloudService, _ fixture: ServiceFixture
    ) async throws {
        let fields = try FieldMap([Field(key, .string(value))])
        let save = RecordSave(name: "a", type: "Note", tag: nil, fields: fields, parent: .unchanged)
        let request = RecordsRequest(
            id: RequestID(device, counter), key: fixture.key(), saves: [save], deletes: [], policy: .changedKeys,
            isAtomic: false, user: fixture.identity.user, access: .owner(fixture.identity.user))
        let outcome = try await service.modify(request).get()
        guard case .saved = outcome.saves[0] else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test func `R-730: index values of much text are made elsewhere, also for a change of another field`() throws {
        var settings = WriteSettings()
        settings.indexedBytesOnLoopMax = 100
        let fixture = try ServiceFixture()
        let elsewhere = CountingExecutor(fixture.scheduler)
        let service = fixture.server(sharedWrites: SharedWrites(settings: settings, largeGroups: elsewhere))
        let store = MemoryStore(fixture.database)
        try fixture.scheduler.simulate {
            @Sendable func save(_ counter: UInt64, _ key: String, _ value: String) async throws {
                try await self.save(counter, key, value, to: service, fixture)
            }
            let text = String(repeating: "ж", count: 100)
            try await save(1, "text", text)
            try await save(2, "other", "x")
            #expect(elsewhere.count == 0, "nothing is marked")
            let current = try await store.schema(of: fixture.identity.container)
            var schema = current.schema
            schema.types["Note"]?.fields["text"]?.marks = .queryable
            #expect(try await store.replaceSchema(current, by: schema))
            try await save(3, "other", "y")
            let first = elsewhere.count
            #expect(first > 0, "the whole record is indexed")
            try await save(4, "other", "z")
            #expect(elsewhere.count > first, "as the cache knows it")
            try await save(5, "text", "short")
            let before = elsewhere.count
            try await save(6, "other", "a")
            #expect(elsewhere.count == before, "there is little to index")
        }
    }

    @Test func `R-723: a write of very many fields is checked and decided elsewhere, saved or stored`() throws {
        var settings = WriteSettings()
        settings.fieldBytesOnLoopMax = 1_000
        let fixture = try ServiceFixture()
        let elsewhere = CountingExecutor(fixture.scheduler)
        let service = fixture.server(sharedWrites: SharedWrites(settings: settings, largeGroups: elsewhere))
        try fixture.scheduler.simulate {
            @Sendable func save(_ counter: UInt64, _ key: String, _ value: String) async throws {
                try await self.save(counter, key, value, to: service, fixture)
            }
            try await save(1, "text", "short")
            try await save(2, "other", "x")
            #expect(elsewhere.count == 0, "there is little to decide")
            try await save(3, "text", String(repeating: "x", count: 2_000))
            let first = elsewhere.count
            #expect(first > 0, "much is saved")
            try await save(4, "other", "y")
            let second = elsewhere.count
            #expect(second > first, "much is stored")
            try await save(5, "text", "short")
            let before = elsewhere.count
            try await save(6, "other", "z")
            #expect(elsewhere.count == before, "there is little again")
        }
    }

    @Test func `I-6: a request whose SQL fails fails alone, whoever is in its group`() throws {
        for poisoned in [[7], [0], [15], [3, 4], Array(0..<16)] {
            let fixture = try ServiceFixture(zones: ["a", "b", "c"])
            let script = FaultScript(always: slowCommits)
            var plan = script.plan
            plan.rejects = { changes in changes.contains { $0.records.contains { $0.name.hasPrefix("poison") } } }
            let service = fixture.server(faults: plan)
            let outcomes = try fixture.scheduler.simulate {
                var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
                for index in 0..<16 {
                    let name = poisoned.contains(index) ? "poison\(index)" : "good\(index)"
                    let request = try fixture.saving(
                        [name], zone: ["a", "b", "c"][index % 3], id: RequestID(device, UInt64(index) + 1))
                    tasks.append(fixture.scheduler.run { await service.modify(request) })
                }
                return await tasks.values()
            }
            for (index, outcome) in outcomes.enumerated() {
                #expect(
                    outcome.reason == (poisoned.contains(index) ? .serverFault : nil), "request \(index) of \(poisoned)"
                )
            }
            let stored = try fixture.scheduler.simulate {
                try await fixture.records(in: "a").count + fixture.records(in: "b").count
                    + fixture.records(in: "c").count
            }
            #expect(stored == 16 - poisoned.count)
        }
    }

    @Test func `one device's requests to a zone keep their order, whatever goes wrong`() throws {
        for seed in 0..<60 as Range<UInt64> {
            let fixture = try ServiceFixture(seed: seed)
            let service = fixture.server(faults: fixture.randomFaults(oneIn: 6))
            let outcomes = try fixture.scheduler.simulate {
                var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
                for counter in 1...12 as ClosedRange<UInt64> {
                    let request = try fixture.saving(["r"], text: "\(counter)", id: RequestID(device, counter))
                    let isQueued = Log<Bool>()
                    tasks.append(
                        fixture.scheduler.run {
                            isQueued.append(true)
                            return await service.modify(request)
                        })
                    // A session hands them over one after another.
                    while isQueued.all.isEmpty { await fixture.scheduler.pause() }
                }
                return await tasks.values()
            }
            let numbers = outcomes.flatMap(\.numbers).compactMap(\.self)
            #expect(numbers == numbers.sorted(), "seed \(seed)")
        }
    }

    @Test func `a request that waits too long is told that its zone is busy`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let holder = fixture.scheduler.run { await fixture.holdZone(for: .seconds(60)) }
            try await fixture.scheduler.sleep(for: .milliseconds(1))
            let start = fixture.scheduler.now
            let outcome = await service.modify(try fixture.saving(["a"], id: RequestID(device, 1)))
            #expect(outcome.reason == .zoneBusy)
            #expect(fixture.scheduler.now - start < .seconds(20))
            await holder.value
        }
    }

    @Test func `a request whose time is over while it is being written is not tried again`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript(always: [.beginSent: .delay(.seconds(2)), .beginAnswered: .disconnect])
        var settings = WriteSettings()
        settings.waitMax = .seconds(1)
        settings.backoffShortest = .seconds(5)
        settings.backoffLongest = .seconds(5)
        let service = fixture.server(faults: script.plan, settings: settings)
        try fixture.scheduler.simulate {
            let start = fixture.scheduler.now
            let outcome = await service.modify(try fixture.saving(["a"], id: RequestID(device, 1)))
            #expect(outcome.reason == .storeUnavailable)
            #expect(fixture.scheduler.now - start < .seconds(3))
        }
        #expect(script.count(.beginSent) == 1)
    }

    @Test func `a server that freezes with a zone locked holds up that zone for seconds, and others briefly`() throws {
        let fixture = try ServiceFixture(zones: ["frozen", "a", "b"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let read = ZoneRead(key: fixture.key("frozen"), recordNames: [], parentNames: [], lives: [])
            let frozen = try await MemoryStore(fixture.database).beginWrite([read])
            let start = fixture.scheduler.now
            let tasks = try ["frozen", "a", "b"].map { zone in
                let request = try fixture.saving(["r"], zone: zone, id: RequestID(device, 1))
                return fixture.scheduler.run {
                    let outcome = await service.modify(request)
                    return (outcome.numbers, fixture.scheduler.now - start)
                }
            }
            var results: [([ChangeNumber?], Duration)] = []
            for task in tasks { results.append(await task.value) }
            #expect(results.map(\.0) == [[1], [1], [1]])
            #expect(results[0].1 < .seconds(8))
            #expect(results[1].1 < .seconds(3))
            #expect(results[2].1 < .seconds(3))
            await frozen.rollback()
        }
    }

    @Test func `pushes are told of what moved and by whom, after it is durable`() throws {
        let fixture = try ServiceFixture(zones: ["a", "b"])
        let notices = Log<ZoneNotice>()
        let durable = Log<Int>()
        let service = fixture.server(onMoved: { told in
            for notice in told.notices { notices.append(notice) }
            let key = fixture.key("a")
            fixture.scheduler.run {
                let store = MemoryStore(fixture.database)
                let read = try? await store.records(named: [], in: key, bytesMax: 0, sharing: .nothing)
                durable.append(Int(read?.zone?.changeNumber ?? 0))
            }
        })
        let other = DeviceID(high: 3, low: 3)
        try fixture.scheduler.simulate {
            let first = try fixture.saving(["x"], zone: "a", id: RequestID(device, 1))
            _ = await service.modify(first)
            _ = await service.modify(first)  // Answered from memory: nothing moved.
            let nothing = try fixture.saving([], deleting: ["none"], zone: "a", id: RequestID(device, 2))
            _ = await service.modify(nothing)
            _ = await service.modify(try fixture.saving(["x"], zone: "b", id: RequestID(other, 1)))
            _ = await service.modify(try fixture.saving(["x"], zone: "none", id: RequestID(other, 2)))
            try await fixture.scheduler.sleep(for: .seconds(1))
        }
        #expect(
            notices.all == [
                ZoneNotice(database: fixture.key().database, life: device, zoneName: "a"),
                ZoneNotice(database: fixture.key().database, life: other, zoneName: "b"),
            ])
        #expect(durable.all.first == 1)
    }

    @Test func `R-248: what several devices change in one transaction is one notice, which excepts none`() throws {
        let fixture = try ServiceFixture()
        let notices = Log<ZoneNotice>()
        let service = fixture.server(
            faults: FaultScript(always: slowCommits).plan,
            onMoved: { for notice in $0.notices { notices.append(notice) } })
        let devices = [device, DeviceID(high: 3, low: 3), DeviceID(high: 4, low: 4)]
        try fixture.scheduler.simulate {
            var tasks: [Task<Void, Never>] = []
            for (index, device) in devices.enumerated() {
                let request = try fixture.saving(["record\(index)"], id: RequestID(device, 1))
                tasks.append(fixture.scheduler.run { _ = await service.modify(request) })
                // The others come while the first one's is written, and go together.
                if index == 0 { try await fixture.scheduler.sleep(for: .milliseconds(1)) }
            }
            for task in tasks { await task.value }
        }
        // Told before the answers, so that nothing is left to wait for.
        #expect(notices.all.map(\.life) == [device, .nobody])
    }

    @Test func `R-248, R-355: a user who has the bits of another's device is told apart from it`() throws {
        let fixture = try ServiceFixture()
        let notices = Log<ZoneNotice>()
        let service = fixture.server(
            faults: FaultScript(always: slowCommits).plan,
            onMoved: { for notice in $0.notices { notices.append(notice) } })
        let users = [fixture.identity.user, UserID(987)]
        try fixture.scheduler.simulate {
            func save(by user: UserID, _ counter: UInt64) throws -> RecordsRequest {
                let id = RequestID(device, counter)
                let isOwner = user == fixture.identity.user
                return RecordsRequest(
                    id: id, key: fixture.key(),
                    saves: try fixture.saving(["r\(user.rawValue)-\(counter)"], id: id).saves, deletes: [],
                    policy: .allKeys, isAtomic: false, user: user,
                    access: isOwner ? RecordAccess.owner(user) : RecordAccess(scope: .public, user: user))
            }
            for user in users {
                _ = await service.modifyRecords([try save(by: user, 1)], for: .account(1))
            }
            // The last two go together, because they come while another one is written.
            var tasks: [Task<Void, Never>] = []
            for (user, counter) in [(users[0], 2), (users[0], 3), (users[1], 3)] as [(UserID, UInt64)] {
                let request = try save(by: user, counter)
                tasks.append(
                    fixture.scheduler.run {
                        _ = await service.modifyRecords([request], for: .account(1))
                    })
                if counter == 2 { try await fixture.scheduler.sleep(for: .milliseconds(1)) }
            }
            for task in tasks { await task.value }
        }
        #expect(notices.all.map(\.life) == [device, device.marked(with: users[1]), device, .nobody])
    }

    @Test func `R-155: a request over the limits is refused before anything is read`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript()
        var limits = Limits()
        limits.itemsMax = 3
        let service = fixture.server(faults: script.plan, limits: limits)
        try fixture.scheduler.simulate {
            let request = try fixture.saving(["a", "b", "c", "d"], id: RequestID(device, 1))
            let outcome = await service.modify(request)
            #expect(outcome.reason == .tooManyItems)
        }
        #expect(script.count(.beginSent) == 0)
    }

    @Test func `when it stops, what is being written ends and what waits is refused`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server(faults: FaultScript(always: slowCommits).plan)
        try fixture.scheduler.simulate {
            let requests = try (1...2).map { try fixture.saving(["r\($0)"], id: RequestID(device, UInt64($0))) }
            let first = fixture.scheduler.run { await service.modify(requests[0]) }
            try await fixture.scheduler.sleep(for: .milliseconds(1))
            let second = fixture.scheduler.run { await service.modify(requests[1]) }
            await fixture.scheduler.pause()
            try await fixture.scheduler.sleep(for: .milliseconds(1))
            await service.stop()
            #expect(await first.value.numbers == [1])
            #expect(await second.value.reason == .storeUnavailable)
            let third = try fixture.saving(["r"], id: RequestID(device, 3))
            #expect(await service.modify(third).reason == .storeUnavailable)
        }
    }

    @Test func `event loops stop writing together, when the last transaction of any of them has ended`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript(always: slowCommits)
        let sharedWrites = SharedWrites()
        let services = (0..<2).map { _ in fixture.server(faults: script.plan, sharedWrites: sharedWrites) }
        let requests = try (1...2).map { try fixture.saving(["r\($0)"], id: RequestID(device, UInt64($0))) }
        try fixture.scheduler.simulate {
            let first = fixture.scheduler.run { await services[0].modify(requests[0]) }
            try await fixture.scheduler.sleep(for: .milliseconds(1))
            let second = fixture.scheduler.run { await services[1].modify(requests[1]) }
            await fixture.scheduler.pause()
            try await fixture.scheduler.sleep(for: .milliseconds(1))
            await services[1].stop()
            #expect(script.count(.commitAnswered) == 1)
            #expect(await first.value.numbers == [1])
            #expect(await second.value.reason == .storeUnavailable)
            await services[0].stop()
        }
    }
}

/// Runs on a scheduler what it is given, and counts it.
final class CountingExecutor: TaskExecutor {
    private let scheduler: SimulationScheduler
    private let jobs = Log<Bool>()

    init(_ scheduler: SimulationScheduler) {
        self.scheduler = scheduler
    }

    var count: Int { jobs.all.count }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.append(true)
        scheduler.enqueue(job)
    }
}
