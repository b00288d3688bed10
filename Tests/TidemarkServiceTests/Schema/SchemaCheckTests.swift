// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct SchemaCheckTests {
    private static func save(_ name: String, _ fields: [Field], type: String = "Note") throws -> RecordSave {
        RecordSave(name: name, type: type, tag: nil, fields: try FieldMap(fields), parent: .unchanged)
    }

    private static func request(
        _ saves: [RecordSave], _ fixture: ServiceFixture, counter: UInt64, isAtomic: Bool = false, device: UInt64 = 1
    ) -> RecordsRequest {
        RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: device), counter), key: fixture.key(), saves: saves, deletes: [],
            policy: .allKeys, isAtomic: isAtomic, user: fixture.identity.user, access: .owner(fixture.identity.user))
    }

    private static func failures(_ result: Result<RecordsOutcome, FailureReason>) throws -> [ItemFailure?] {
        try result.get().saves.map { if case .failed(let failure) = $0 { failure } else { nil } }
    }

    @Test func `R-062: the first save fixes a key's type, also for other servers`() throws {
        let fixture = try ServiceFixture()
        let (first, second) = (fixture.server(), fixture.server())
        try fixture.scheduler.simulate {
            let number = try Self.save("a", [Field("key", .int64(1))])
            let text = try Self.save("b", [Field("key", .string("x"))])
            let good = await first.modify(Self.request([number], fixture, counter: 1))
            let bad = await second.modify(Self.request([text, number], fixture, counter: 1, device: 2))
            #expect(try Self.failures(good) == [nil])
            let failures = try Self.failures(bad)
            #expect(failures.map(\.?.reason) == [.fieldTypeDiffers, nil])
            #expect(
                failures[0]?.detail?.contains("'key' of record type 'Note': it holds INT64, the save has STRING")
                    == true)
        }
    }

    @Test func `R-067: the first save fixes a key's space`() throws {
        let fixture = try ServiceFixture()
        try fixture.scheduler.simulate {
            let server = fixture.server()
            let plain = try Self.save("a", [Field("key", .int64(1))])
            let sealed = SealedValue(
                keyID: Array(repeating: 1, count: 16), nonce: Array(repeating: 1, count: 12),
                ciphertext: Array(repeating: 1, count: 16))
            let encrypted = try Self.save("b", [Field("key", .bytes(sealed.bytes), isEncrypted: true)])
            let outcome = await server.modify(Self.request([plain, encrypted], fixture, counter: 1))
            #expect(try Self.failures(outcome).map(\.?.reason) == [nil, .fieldSpaceDiffers])
        }
    }

    @Test func `R-151, R-157: a save that does not fit fails its batch, and again when it is repeated`() throws {
        let fixture = try ServiceFixture()
        let server = fixture.server()
        try fixture.scheduler.simulate {
            let saves = [
                try Self.save("a", [Field("key", .int64(1))]), try Self.save("b", [Field("key", .string("x"))]),
                try Self.save("c", [Field("other", .int64(1))]),
            ]
            let request = Self.request(saves, fixture, counter: 1, isAtomic: true)
            for server in [server, server, fixture.server()] {
                let failures = try Self.failures(await server.modify(request))
                #expect(failures.map(\.?.reason) == [.batchFailed, .fieldTypeDiffers, .batchFailed])
                #expect(failures[1]?.detail != nil)
            }
            #expect(try await fixture.records().isEmpty)
        }
    }

    @Test func `R-157: what was saved before the schema changed is still told as saved`() throws {
        let fixture = try ServiceFixture()
        try fixture.scheduler.simulate {
            let store = MemoryStore(fixture.database)
            let server = fixture.server()
            let request = Self.request([try Self.save("a", [Field("key", .int64(1))])], fixture, counter: 1)
            let first = await server.modify(request)
            let schema = try await store.schema(of: fixture.identity.container)
            let other = Schema(types: [
                "Note": RecordTypeSchema(fields: ["key": FieldSchema(SchemaFieldType(.string))])
            ])
            #expect(try await store.replaceSchema(schema, by: other))
            #expect(try await server.modify(request).get() == first.get())
            let next = await server.modify(
                Self.request([try Self.save("b", [Field("key", .int64(1))])], fixture, counter: 2))
            // The operator's change is seen by the very next transaction, without a notice.
            #expect(try Self.failures(next).map(\.?.reason) == [.fieldTypeDiffers])
        }
    }

    @Test func `a save of what is known takes one statement and no further step`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript()
        let server = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            for counter in 1...3 as ClosedRange<UInt64> {
                let save = try Self.save("a", [Field("key", .int64(Int64(counter)))])
                _ = try await server.modify(Self.request([save], fixture, counter: counter)).get()
                // The first gets to know the schema, and teaches it.
                #expect(script.count(.callSent) == 2)
                #expect(script.count(.beginSent) == 3)
                #expect(script.count(.commitSent) == Int(counter))
            }
        }
    }

    @Test func `a save that fails in any case teaches nothing`() throws {
        let fixture = try ServiceFixture()
        try fixture.scheduler.simulate {
            let saves = [
                try Self.save("_bad", [Field("key", .int64(1))]), try Self.save("a", [], type: "no type"),
                RecordSave(
                    name: "b", type: "Other", tag: nil, fields: FieldMap(), parent: .unchanged,
                    fieldsFailure: .fieldsInvalid),
            ]
            _ = await fixture.server().modify(Self.request(saves, fixture, counter: 1))
            let schema = try await MemoryStore(fixture.database).schema(of: fixture.identity.container)
            #expect(schema.schema == Schema())
        }
    }

    @Test func `R-007, R-008, R-012: a save that roles refuse teaches nothing`() throws {
        let fixture = try ServiceFixture()
        let server = fixture.server()
        try fixture.scheduler.simulate {
            let store = MemoryStore(fixture.database)
            func save(_ saves: [RecordSave], by user: UserID, counter: UInt64) async throws -> [FailureReason?] {
                let request = RecordsRequest(
                    id: RequestID(DeviceID(high: 0, low: 1), counter), key: fixture.key(), saves: saves, deletes: [],
                    policy: .allKeys, isAtomic: false, user: user, access: RecordAccess(scope: .public, user: user))
                return try Self.failures(await server.modify(request)).map(\.?.reason)
            }
            let (creator, other) = (fixture.identity.user, UserID(987))
            #expect(try await save([Self.save("a", [Field("key", .int64(1))])], by: creator, counter: 1) == [nil])
            let learned = try await store.schema(of: fixture.identity.container)
            var schema = learned.schema
            schema.types["Closed"] = RecordTypeSchema(grants: Grants([.world: .read]))
            #expect(try await store.replaceSchema(learned, by: schema))
            let saves = [
                try Self.save("a", [Field("new", .int64(1))]),
                try Self.save("b", [Field("new", .int64(1))], type: "Closed"),
            ]
            #expect(try await save(saves, by: other, counter: 2) == [.notPermitted, .createNotPermitted])
            #expect(try await store.schema(of: fixture.identity.container).schema == schema)
            #expect(try await save([saves[0]], by: creator, counter: 3) == [nil])
            let fields = try await store.schema(of: fixture.identity.container).schema.types["Note"]?.fields
            #expect(fields?.keys.sorted() == ["key", "new"])
        }
    }

    @Test func `R-752: one user leaves room in the schema for what others teach`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.schemaEntriesPerUserMax = 3
        // Those of two event loops.
        let sharedWrites = SharedWrites()
        let servers = (0..<2).map { [limits] _ in fixture.server(limits: limits, sharedWrites: sharedWrites) }
        try fixture.scheduler.simulate {
            func save(_ keys: [String], by user: UserID, counter: UInt64) async throws -> [FailureReason?] {
                let saves = try keys.map { try Self.save($0, [Field($0, .int64(1))]) }
                let request = RecordsRequest(
                    id: RequestID(DeviceID(high: 0, low: 1), counter), key: fixture.key(), saves: saves, deletes: [],
                    policy: .allKeys, isAtomic: false, user: user, access: .owner(user))
                let server = servers[Int(counter % 2)]
                return try Self.failures(await server.modify(request)).map(\.?.reason)
            }
            let (one, other) = (fixture.identity.user, UserID(987))
            // With the type itself there are three.
            let first = try await save(["a", "b", "c"], by: one, counter: 1)
            #expect(first == [nil, nil, .schemaFull])
            #expect(try await save(["c", "a"], by: one, counter: 2) == [.schemaFull, nil])
            #expect(try await save(["c"], by: other, counter: 3) == [nil])
            // What is known is free for everybody, also where it was learned by another loop.
            #expect(try await save(["c"], by: one, counter: 4) == [nil])
        }
    }

    @Test func `R-752: an account teaches no more with the users that it has in many containers`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.schemaEntriesPerUserMax = 3
        limits.schemaEntriesPerAccountMax = 5
        let server = fixture.server(limits: limits)
        try fixture.scheduler.simulate {
            func save(_ keys: [String], user: Int64, of account: Int64, counter: UInt64) async throws
                -> [FailureReason?]
            {
                let saves = try keys.map { try Self.save($0, [Field($0, .int64(1))], type: "Type\(user)") }
                let request = RecordsRequest(
                    id: RequestID(DeviceID(high: 0, low: 1), counter), key: fixture.key(), saves: saves, deletes: [],
                    policy: .allKeys, isAtomic: false, user: UserID(user), access: .owner(UserID(user)))
                let outcomes = await server.modifyRecords([request], for: .account(account))
                return try Self.failures(outcomes[0]).map(\.?.reason)
            }
            let first = try await save(["a", "b"], user: 1, of: 7, counter: 1)
            #expect(first == [nil, nil])
            // One request of its own counts together too.
            #expect(try await save(["c", "d"], user: 2, of: 7, counter: 2) == [nil, .schemaFull])
            #expect(try await save(["e"], user: 3, of: 7, counter: 3) == [.schemaFull])
            #expect(try await save(["e", "f"], user: 3, of: 8, counter: 4) == [nil, nil])
        }
    }

    @Test func `a schema has a largest size`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.schemaEntriesMax = 3
        let server = fixture.server(limits: limits)
        try fixture.scheduler.simulate {
            let saves = [
                try Self.save("a", [Field("one", .int64(1))]),
                try Self.save("b", [Field("two", .int64(1)), Field("three", .int64(1))]),
                try Self.save("c", [Field("two", .int64(1))]), try Self.save("d", [Field("four", .int64(1))]),
            ]
            let outcome = await server.modify(Self.request(saves, fixture, counter: 1))
            let failures = try Self.failures(outcome)
            #expect(failures.map(\.?.reason) == [nil, .schemaFull, nil, .schemaFull])
            for failure in failures.compactMap(\.self) {
                #expect(
                    failure.detail?.contains("cannot have more types and fields (3): nothing new of 'Note'") == true)
            }
        }
    }

    @Test func `R-062: two servers that teach different types at once end with one winner, whatever goes wrong`() throws
    {
        for seed in 0..<60 as Range<UInt64> {
            let fixture = try ServiceFixture(seed: seed)
            let values: [FieldValue] = [.int64(1), .string("x"), .double(1), .strings(["x"])]
            let faults: [FaultPoint: [Fault]] = [
                .callAnswered: [.none, seed % 3 == 0 ? .disconnect : .none],
                .commitAnswered: [seed % 4 == 0 ? .disconnect : .none],
            ]
            let ends = try fixture.scheduler.simulate {
                await withTaskGroup(of: String.self) { group in
                    for (index, value) in values.enumerated() {
                        let server = fixture.server(faults: FaultScript(first: faults).plan)
                        group.addTask {
                            guard let save = try? Self.save("r\(index)", [Field("key", value)]) else { return "" }
                            let request = Self.request([save], fixture, counter: 1, device: UInt64(index) + 2)
                            let result = await server.modify(request)
                            guard let failures = try? Self.failures(result) else { return "refused" }
                            return failures.first??.reason == .fieldTypeDiffers ? "does not fit" : "saved"
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(ends.sorted() == ["does not fit", "does not fit", "does not fit", "saved"], "seed \(seed)")
        }
    }
}
