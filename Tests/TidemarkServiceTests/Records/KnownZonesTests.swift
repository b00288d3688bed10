// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkService

/// A server that knows a zone writes in it without a question, and never believes what it knows (design: *What decides
/// correctness*).
@Suite struct KnownZonesTests {
    private let device = DeviceID(high: 2, low: 2)
    private let other = DeviceID(high: 3, low: 3)

    private func save(
        _ names: [String], text: String = "text", counter: UInt64, _ fixture: ServiceFixture, _ service: CloudService,
        device: DeviceID? = nil
    ) async throws -> Result<RecordsOutcome, FailureReason> {
        let request = try fixture.saving(names, text: text, id: RequestID(device ?? self.device, counter))
        return await service.modify(request)
    }

    @Test func `who saw a zone from its beginning asks once, and then writes in one round trip`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            // The first teaches the schema; what was never there is known not to be.
            for counter in 1...10 as ClosedRange<UInt64> {
                let names = ["r\(counter)", "r\(counter + 1)"]
                let outcome = try await save(names, text: "\(counter)", counter: counter, fixture, service)
                #expect(outcome.numbers == [ChangeNumber(2 * counter - 1), ChangeNumber(2 * counter)])
                if counter == 1 { #expect(script.count(.beginAnswered) <= 3) }
            }
            let begun = script.count(.beginSent)
            _ = try await save(["r1", "new"], counter: 11, fixture, service)
            #expect(script.count(.beginSent) == begun)
            #expect(script.count(.beginSent) <= 3 && script.count(.commitSent) == 11)
            let records = try await fixture.records()
            #expect(records.map(\.name) == (2...11).map { "r\($0)" } + ["r1", "new"])
            #expect(records.map(\.changeNumber) == [3, 5, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22])
        }
    }

    @Test func `what one event loop has seen of a zone, the others know`() throws {
        let fixture = try ServiceFixture()
        let (script, other) = (FaultScript(), FaultScript())
        let sharedWrites = SharedWrites()
        let services = [script, other].map { fixture.server(faults: $0.plan, sharedWrites: sharedWrites) }
        try fixture.scheduler.simulate {
            _ = try await save(["a"], counter: 1, fixture, services[0])
            // Each learns the schema by itself.
            _ = try await save(["b"], counter: 2, fixture, services[1])
            let begun = (script.count(.beginSent), other.count(.beginSent))
            for counter in 3...10 as ClosedRange<UInt64> {
                let outcome = try await save(["a", "b"], counter: counter, fixture, services[Int(counter % 2)])
                #expect(outcome.reason == nil)
            }
            #expect((script.count(.beginSent), other.count(.beginSent)) == begun)
            #expect(script.count(.commitSent) == 5 && other.count(.commitSent) == 5)
        }
    }

    @Test
    func `who comes later knows what it has written twice, and reads other records without a lock, but a single one`()
        throws
    {
        let fixture = try ServiceFixture()
        let script = FaultScript()
        let (earlier, service) = (fixture.server(), fixture.server(faults: script.plan))
        try fixture.scheduler.simulate {
            _ = try await save(["a", "b", "c", "d"], counter: 1, fixture, earlier, device: other)
            var asked: [Int] = []
            func begun(_ names: [String], counter: UInt64) async throws {
                let before = script.count(.beginAnswered)
                #expect(try await save(names, counter: counter, fixture, service).reason == nil)
                asked.append(script.count(.beginAnswered) - before)
            }
            // Its first looks up the schema as well.
            let requests = [["a"], ["a"], ["a"], ["a", "b"], ["a", "b"], ["c", "d"], ["c"], ["new"], ["new", "a"]]
            for (counter, names) in requests.enumerated() {
                try await begun(names, counter: UInt64(counter) + 1)
            }
            #expect(asked.dropFirst() == [1, 0, 1, 0, 0, 1, 1, 0])
            let before = script.count(.beginAnswered)
            _ = try await save(["a"], counter: 1, fixture, service, device: DeviceID(high: 4, low: 4))
            #expect(
                script.count(.beginAnswered) == before + 1, "what is remembered of a device it has to ask for, once")
            _ = try await save(["a"], counter: 2, fixture, service, device: DeviceID(high: 4, low: 4))
            #expect(script.count(.beginAnswered) == before + 1)
        }
    }

    @Test func `servers that write in turn ask each time, and none writes by what is not so any more`() throws {
        let fixture = try ServiceFixture()
        let scripts = [FaultScript(), FaultScript()]
        let servers = scripts.map { fixture.server(faults: $0.plan) }
        try fixture.scheduler.simulate {
            for counter in 1...20 as ClosedRange<UInt64> {
                let outcome = try await save(
                    ["r"], text: "\(counter)", counter: counter, fixture, servers[Int(counter % 2)])
                #expect(outcome.numbers == [ChangeNumber(counter)])
            }
        }
        // But for the one who was there first and alone, none tries what cannot be.
        let attempts = scripts.map { $0.count(.commitSent) }
        #expect(attempts.reduce(0, +) == 21 && scripts.map { $0.count(.commitAnswered) } == [10, 10])
    }

    @Test func `R-092: a conflict with what another server wrote is found, with its record`() throws {
        let fixture = try ServiceFixture()
        let servers = [fixture.server(), fixture.server()]
        try fixture.scheduler.simulate {
            let database = fixture.key().database
            for counter in 1...3 as ClosedRange<UInt64> {
                _ = try await save(["r"], text: "mine \(counter)", counter: counter, fixture, servers[0])
            }
            let mine = try #require(try await fixture.records().first)
            _ = try await save(["r"], text: "theirs", counter: 1, fixture, servers[1], device: other)
            let store = try await MemoryStore(fixture.database).incarnation()
            let zone = try #require(
                try await MemoryStore(fixture.database).zones(named: ["notes"], in: database).first)
            let update = RecordsRequest(
                id: RequestID(device, 4), key: fixture.key(),
                saves: [
                    RecordSave(
                        name: "r", type: "Note", tag: .version(store: store, zone: zone.id, number: mine.changeNumber),
                        fields: mine.fields, parent: .unchanged)
                ], deletes: [], policy: .ifServerRecordUnchanged, isAtomic: true, user: fixture.identity.user,
                access: .owner(fixture.identity.user))
            guard case .failed(let failure) = try await servers[0].modify(update).get().saves.first else {
                Issue.record("it was overwritten")
                return
            }
            #expect(failure.reason == .recordChanged)
            #expect(failure.serverRecord == (try await fixture.records().first))
            #expect(failure.serverRecord?.changeNumber == 4)
        }
    }

    @Test func `R-090: a record that is saved as new takes one round trip in a zone that is not known whole`()
        throws
    {
        let fixture = try ServiceFixture(zones: ["notes", "more"])
        let script = FaultScript()
        let (another, service) = (fixture.server(), fixture.server(faults: script.plan))
        try fixture.scheduler.simulate {
            var counter: UInt64 = 0
            func request(
                _ names: [String], in zone: String = "notes", policy: SavePolicy = .ifServerRecordUnchanged
            ) throws -> RecordsRequest {
                counter += 1
                return try fixture.saving(
                    names, zone: zone, text: "\(counter)", id: RequestID(device, counter), policy: policy)
            }
            for zone in ["notes", "more"] {
                _ = await another.modify(try fixture.saving(["theirs"], zone: zone, id: RequestID(other, 1)))
                for _ in 1...2 {
                    _ = await service.modify(try request(["mine"], in: zone, policy: .allKeys))
                }
            }
            let begun = script.count(.beginSent)
            #expect(await service.modify(try request(["a", "b"])).numbers == [4, 5])
            // One transaction of two zones.
            let both = await service.modifyRecords(
                [try request(["c"]), try request(["c"], in: "more")], for: .account(1))
            #expect(both.map(\.numbers) == [[6], [4]])
            #expect(script.count(.beginSent) == begun)
            let taken = try await service.modify(try request(["d", "theirs"])).get()
            #expect(taken.reasons == [nil, .recordExists])
            #expect(script.count(.beginSent) == begun + 1)
            #expect(try await fixture.records().map(\.name) == ["theirs", "mine", "a", "b", "c", "d"])
            #expect(fixture.database.complaints == [])
        }
    }

    /// The request's own policy decides by the record as it is when it is written, whenever another server comes between.
    @Test(arguments: [nil, .callSent, .callAnswered, .commitSent] as [FaultPoint?])
    func `R-094: what another server writes while unknown records are read is found`(point: FaultPoint?) throws {
        let fixture = try ServiceFixture()
        let slow = Mutex<FaultPoint?>(nil)
        let faults = FaultPlan(at: { reached in
            guard slow.withLock({ $0 }) == reached else { return .none }
            slow.withLock { $0 = nil }
            return .delay(.seconds(1))
        })
        let (another, service) = (fixture.server(), fixture.server(faults: faults))
        @Sendable func request(
            _ name: String, _ fields: [Field], tag: ChangeTag? = nil, beside new: [String] = [], id: RequestID,
            policy: SavePolicy = .allKeys
        ) throws -> RecordsRequest {
            let save = RecordSave(
                name: name, type: "Note", tag: tag, fields: try FieldMap(fields), parent: .unchanged)
            let others = new.map {
                RecordSave(name: $0, type: "Note", tag: nil, fields: FieldMap(), parent: .unchanged)
            }
            return RecordsRequest(
                id: id, key: fixture.key(), saves: [save] + others, deletes: [], policy: policy, isAtomic: true,
                user: fixture.identity.user, access: .owner(fixture.identity.user))
        }
        try fixture.scheduler.simulate {
            let database = fixture.key().database
            let first = try request(
                "b", [Field("kept", .string("kept")), Field("text", .string("theirs"))], id: RequestID(other, 1))
            _ = await another.modify(first)
            for counter in 1...2 as ClosedRange<UInt64> {
                _ = try await save(["a"], text: "\(counter)", counter: counter, fixture, service)
            }
            let old = try #require(try await fixture.records().first { $0.name == "b" })
            let zone = try await MemoryStore(fixture.database).zones(named: ["notes"], in: database).first
            let tag = ChangeTag.version(
                store: try await MemoryStore(fixture.database).incarnation(), zone: try #require(zone).id,
                number: old.changeNumber)
            let update = try request(
                "b", [Field("text", .string("mine"))], tag: tag, beside: ["c"], id: RequestID(device, 3),
                policy: .ifServerRecordUnchanged)
            slow.withLock { $0 = point }
            let answer = fixture.scheduler.run { await service.modify(update) }
            if point != nil {
                while slow.withLock({ $0 }) != nil { try await fixture.scheduler.sleep(for: .milliseconds(1)) }
                _ = try await save(["b"], text: "newer", counter: 2, fixture, another, device: other)
            }
            let between = try await fixture.records().first { $0.name == "b" }
            let outcome = try await answer.value.get()
            let now = try #require(try await fixture.records().first { $0.name == "b" })
            #expect(now.changeNumber == 4)
            if point == nil {
                #expect(outcome.reasons == [nil, nil])
                let merged = try FieldMap([Field("kept", .string("kept")), Field("text", .string("mine"))])
                #expect(now.fields == merged)
                #expect(now.createdAt == old.createdAt && now.createdByDevice == other)
            } else {
                #expect(outcome.reasons == [.recordChanged, .batchFailed])
                #expect(now == between && now.modifiedBy == fixture.identity.user)
            }
            #expect(fixture.database.complaints == [])
        }
    }

    @Test func `R-132: what another server deleted and forgot is not known any more`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            _ = try await save(["r", "s"], counter: 1, fixture, service)
            let deletion = try fixture.saving(["s"], deleting: ["r"], id: RequestID(device, 2))
            _ = await service.modify(deletion)
            _ = try await save(["s"], counter: 3, fixture, service)
            fixture.database.compact()
            #expect(try await save(["r"], counter: 4, fixture, service).numbers == [4])
            #expect(fixture.database.complaints == [])
            #expect(try await fixture.records().map(\.createdAt).count == 2)
        }
    }

    @Test func `R-105: a zone that was deleted, and one that was made in its place, are not the one that was known`()
        throws
    {
        let fixture = try ServiceFixture()
        let (service, another) = (fixture.server(), fixture.server())
        try fixture.scheduler.simulate {
            let database = fixture.key().database
            for counter in 1...2 as ClosedRange<UInt64> {
                _ = try await save(["r"], counter: counter, fixture, service)
            }
            let deletion = ZonesRequest(id: RequestID(other, 1), saves: [], deletes: ["notes"])
            _ = try await another.modifyZones(in: database, deletion, for: .account(1)).get()
            let gone = try await save(["r"], counter: 3, fixture, service).get()
            #expect(
                gone.reasons == [.zoneNotFound])
            let creation = ZonesRequest(id: RequestID(other, 2), saves: ["notes"], deletes: [])
            _ = try await another.modifyZones(in: database, creation, for: .account(1)).get()
            #expect(try await save(["r"], counter: 4, fixture, service).numbers == [1])
        }
    }

    @Test func `R-011: a quota that is set later holds for the next save`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            for counter in 1...2 as ClosedRange<UInt64> {
                _ = try await save(["r"], counter: counter, fixture, service)
            }
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            #expect(fixture.database.setQuota(StorageQuota(privateBytes: 1), of: container))
            let full = try await save(["more"], counter: 3, fixture, service).get()
            #expect(
                full.reasons == [.quotaExceeded]
            )
        }
    }

    @Test func `R-157: a failure that another server has told is told again by the one that did not hear of it`() throws
    {
        let fixture = try ServiceFixture()
        let servers = [fixture.server(), fixture.server()]
        try fixture.scheduler.simulate {
            for counter in 1...3 as ClosedRange<UInt64> {
                _ = try await save(["r"], counter: counter, fixture, servers[0])
            }
            let creation = try fixture.saving(["r"], id: RequestID(device, 4), policy: .ifServerRecordUnchanged)
            let first = await servers[1].modify(creation)
            // By what the first server knows, the record that was in the way is gone: it would be created now.
            let deletion = try fixture.saving([], deleting: ["r"], id: RequestID(other, 1))
            _ = await servers[0].modify(deletion)
            let again = try await servers[0].modify(creation).get()
            #expect(try first.get().reasons == [.recordExists])
            // What is in the way is looked up again, and is gone.
            #expect(again.reasons == [.recordMissing])
            #expect(try await fixture.records().filter { !$0.isDeleted } == [])
        }
    }

    @Test func `I-1: two servers in random turns, with every fault, lose and double nothing`() throws {
        for seed in 0..<60 as Range<UInt64> {
            let fixture = try ServiceFixture(seed: seed)
            let servers = (0..<2).map { _ in fixture.server(faults: fixture.randomFaults(oneIn: 12)) }
            try fixture.scheduler.simulate {
                // Each device adds a record by each request; a number that comes twice would be a change that is lost.
                let writers = (0..<4).map { index in
                    fixture.scheduler.run { () -> [ChangeNumber] in
                        var numbers: [ChangeNumber] = []
                        for counter in 1...15 as ClosedRange<UInt64> {
                            let device = DeviceID(high: 9, low: UInt64(index))
                            guard
                                let request = try? fixture.saving(
                                    ["w\(index)-\(counter)"], id: RequestID(device, counter))
                            else { break }
                            for attempt in 0..<20 {
                                let server = servers[
                                    Int(fixture.scheduler.randomBits() % 8) == 0 ? (index + attempt + 1) % 2 : index % 2
                                ]
                                let outcome = await server.modify(request)
                                guard outcome.reason == nil else { continue }
                                numbers += outcome.numbers.compactMap(\.self)
                                break
                            }
                        }
                        return numbers
                    }
                }
                var numbers: [ChangeNumber] = []
                for writer in writers { numbers += await writer.value }
                #expect(numbers.count == 60 && Set(numbers).count == 60, "seed \(seed)")
                let records = try await fixture.records()
                #expect(records.count == 60, "seed \(seed)")
                #expect(fixture.database.complaints == [], "seed \(seed)")
            }
        }
    }

    // MARK: Room

    private func snapshot(_ key: ZoneKey, id: Int64, writeNumber: Int64 = 0) -> ZoneSnapshot {
        var snapshot = ZoneSnapshot(
            key: key, zone: ZoneState(id: ZoneID(id), key: key, createdAt: Timestamp(milliseconds: 1)),
            schema: SchemaStamp(container: ContainerID(1), version: 1))
        snapshot.zone?.changeNumber = writeNumber
        snapshot.writeNumber = writeNumber
        return snapshot
    }

    private func written(_ records: [RecordState], in zone: Int64, upTo number: ChangeNumber = 1) -> ZoneChanges {
        ZoneChanges(
            database: DatabaseID(1), zone: ZoneID(zone), changeNumber: number, records: records, memories: [:],
            clientTokensMax: Limits().clientTokensMax)
    }

    private func record(_ name: String, number: ChangeNumber, byteCount: Int) throws -> RecordState {
        RecordState(
            name: name, type: "Note", fields: try FieldMap([Field("d", .bytes(Array(repeating: 1, count: byteCount)))]),
            changeNumber: number, isDeleted: false, parent: nil, createdAt: Timestamp(milliseconds: 1),
            createdBy: UserID(1), createdByDevice: device, modifiedAt: Timestamp(milliseconds: 1),
            modifiedBy: UserID(1),
            batchEnd: number)
    }

    @Test func `I-7: what is known is bounded, and what is in use stays known`() throws {
        let store = StoreIncarnation(1)
        func key(_ index: Int) -> ZoneKey { ZoneKey(database: DatabaseID(1), name: "z\(index)") }
        func read(_ index: Int) -> ZoneRead {
            ZoneRead(key: key(index), recordNames: ["r"], parentNames: [], lives: [])
        }
        var zones = KnownZones(bytesMax: 100_000)
        for index in 0..<1_000 {
            let changes = written([try record("r", number: 1, byteCount: 1_000)], in: Int64(index))
            _ = zones.learn(
                [read(index)], [snapshot(key(index), id: Int64(index))], [changes], of: [.account(1)], in: store)
            #expect(zones.knowledge(for: [read(index)])?.hasUnknown == false, "just written")
            #expect(zones.knowledge(for: [read(0)])?.snapshots[0].records["r"]?.changeNumber == 1, "always in use")
        }
        let known = (0..<1_000).count { zones.knowledge(for: [read($0)]) != nil }
        #expect((20...80).contains(known), "\(known) of 1,300 bytes each")
        _ = zones.forget((0..<1_000).map(key))
        #expect((0..<1_000).allSatisfy { zones.knowledge(for: [read($0)]) == nil })
        // One zone alone never takes most of the room; where there is none, nothing is known.
        for (bytesMax, byteCount, unknownNames) in [(100_000, 30_000, ["r"]), (0, 1, nil)] as [(Int, Int, [String]?)] {
            var zones = KnownZones(bytesMax: bytesMax)
            let changes = written([try record("r", number: 1, byteCount: byteCount)], in: 1)
            _ = zones.learn([read(1)], [snapshot(key(1), id: 1)], [changes], of: [.account(1)], in: store)
            #expect(zones.knowledge(for: [read(1)])?.moments[0].absentNames == unknownNames)
        }
    }

    @Test func `R-780: an account that writes in very many zones drives out its own, and nobody else's`() throws {
        let store = StoreIncarnation(1)
        func key(_ index: Int, of account: Int64) -> ZoneKey {
            ZoneKey(database: DatabaseID(account), name: "z\(index)")
        }
        func read(_ index: Int, of account: Int64) -> ZoneRead {
            ZoneRead(key: key(index, of: account), recordNames: ["r"], parentNames: [], lives: [])
        }
        var zones = KnownZones(bytesMax: 1_000_000)
        func write(_ index: Int, of account: Int64) throws {
            let changes = written([try record("r", number: 1, byteCount: 1_000)], in: Int64(index))
            let stored = snapshot(key(index, of: account), id: Int64(index))
            _ = zones.learn([read(index, of: account)], [stored], [changes], of: [.account(account)], in: store)
        }
        // Those of the flood fill the room before anybody else comes, and come again and again.
        for index in 0..<2_000 { try write(index, of: 1) }
        for account in 2...6 as ClosedRange<Int64> {
            for index in 0..<10 { try write(index, of: account) }
        }
        for index in 2_000..<4_000 { try write(index, of: 1) }
        func knownCount(_ account: Int64, _ count: Int) -> Int {
            (0..<count).count { zones.knowledge(for: [read($0, of: account)]) != nil }
        }
        #expect((2...6).map { knownCount($0, 10) } == [10, 10, 10, 10, 10])
        let ofFlood = knownCount(1, 4_000)
        #expect((300...700).contains(ofFlood), "\(ofFlood), and it has all that is left")
    }

    @Test func `what was written is followed, unless all was forgotten while it was`() throws {
        let keys = (1...2).map { ZoneKey(database: DatabaseID(1), name: "z\($0)") }
        let reads = keys.map { ZoneRead(key: $0, recordNames: ["r"], parentNames: [], lives: []) }
        func changes(_ number: ChangeNumber) throws -> [ZoneChanges] {
            try (1...2).map { id in
                written([try record("r", number: number, byteCount: 10)], in: id, upTo: number)
            }
        }
        for isLost in [false, true] {
            var zones = KnownZones(bytesMax: 100_000)
            _ = zones.learn(
                reads, keys.enumerated().map { snapshot($1, id: Int64($0 + 1)) }, try changes(1),
                of: [.account(1), .account(2)], in: StoreIncarnation(1))
            var followed = zones.lend(keys)
            #expect(zones.knowledge(for: reads) == nil)
            if isLost { _ = zones.forgetAll() }
            followed.follow(try changes(2))
            _ = zones.takeBack(followed)
            let known = zones.knowledge(for: reads)
            #expect(known?.snapshots.map { $0.records["r"]?.changeNumber } == (isLost ? nil : [2, 2]))
            #expect(known?.moments.map(\.writeNumber) == (isLost ? nil : [2, 2]))
        }
    }

    @Test func `only plain reads are known: what references, assets, keys and roles ask for is asked for`() throws {
        let key = ZoneKey(database: DatabaseID(1), name: "z")
        var zones = KnownZones(bytesMax: 100_000)
        let plain = ZoneRead(key: key, recordNames: ["r"], parentNames: [], lives: [device])
        let changes = written([try record("r", number: 1, byteCount: 10)], in: 1)
        _ = zones.learn([plain], [snapshot(key, id: 1)], [changes], of: [.account(1)], in: StoreIncarnation(1))
        #expect(zones.knowledge(for: [plain]) != nil)
        var keyed = ZoneRead(key: key, recordNames: ["r"], parentNames: [], lives: [], needsZoneKeys: true)
        keyed.namedZoneKeyIDs = [[1, 2, 3]]
        let others = [
            ZoneRead(key: key, recordNames: ["r"], parentNames: ["r"], lives: []),
            ZoneRead(key: key, recordNames: ["r"], parentNames: [], newParentNames: ["r"], lives: []),
            ZoneRead(key: key, recordNames: ["r"], parentNames: [], referenceTargets: ["r"], lives: []),
            keyed,
            ZoneRead(key: key, recordNames: [], parentNames: [], lives: [], users: [UserID(1)]),
            ZoneRead(
                key: key, recordNames: [], parentNames: [], lives: [],
                assets: [FieldAsset(sha256: Array(repeating: 1, count: 32), byteCount: 1)]),
        ]
        for read in others { #expect(zones.knowledge(for: [read]) == nil) }
        // a key that the zone has been seen to have it has as long as it lives.
        var current = snapshot(key, id: 1, writeNumber: 1)
        current.zoneKeyIDs = [[1, 2, 3]]
        let next = written([], in: 1, upTo: 2)
        _ = zones.learn([keyed], [current], [next], of: [.account(1)], in: StoreIncarnation(1))
        #expect(zones.knowledge(for: [keyed])?.snapshots.first?.zoneKeyIDs == [[1, 2, 3]])
    }
}

extension RecordsOutcome {
    /// Why saves failed; nil where they did not.
    fileprivate var reasons: [FailureReason?] {
        saves.map { if case .failed(let failure) = $0 { failure.reason } else { nil } }
    }
}
