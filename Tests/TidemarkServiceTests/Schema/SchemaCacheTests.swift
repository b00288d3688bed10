// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkService

/// What a server remembers of schemas is bounded, however many containers there are (I-7).
@Suite struct SchemaCacheTests {
    private let fixture: ServiceFixture

    init() throws { fixture = try ServiceFixture() }

    /// Alice in so many containers.
    private func identities(_ count: Int) async throws -> [Identity] {
        let service = fixture.server()
        var identities: [Identity] = []
        for number in 0..<count {
            let identity = try await service.authenticate(
                credentialHash: fixture.credentialHash, container: "iCloud.test\(number)", environment: .development,
                createsContainer: true, device: DeviceID(high: 0, low: 1), deviceName: "test"
            ).get()
            identities.append(try #require(identity))
        }
        return identities
    }

    private static func snapshot(_ identity: Identity) -> ZoneSnapshot {
        ZoneSnapshot(
            key: ZoneKey(database: identity.privateDatabase, name: ZoneName.default),
            schema: SchemaStamp(container: identity.container, version: 1))
    }

    @Test func `I-7: schemas of many containers are forgotten, and the one in use stays`() throws {
        try fixture.scheduler.simulate {
            let store = MemoryStore(fixture.database)
            let cache = SchemaCache(storage: store, shared: SharedWrites(), bytesMax: 2_000)
            let identities = try await identities(50)
            let snapshots = identities.map(Self.snapshot)
            for identity in identities {
                _ = try await cache.load(identity.container)
                #expect(cache.known(for: [Self.snapshot(identity)]).count == 1)
                #expect(cache.known(for: [snapshots[0]]).count == 1)
            }
            #expect((2...10).contains(cache.known(for: snapshots).count))
        }
    }

    @Test func `R-752: a lesson is added to what is remembered, and a schema of another version is read whole`() throws
    {
        try fixture.scheduler.simulate {
            let store = MemoryStore(fixture.database)
            let cache = SchemaCache(storage: store, shared: SharedWrites())
            let container = try await identities(1)[0].container
            let text = FieldSchema(SchemaFieldType(.string))
            func teach(_ type: String) async throws -> [String] {
                let lesson = SchemaLesson(fields: [type: ["text": text]])
                let found = try await cache.catchUp(with: .teaches([container: lesson], teachers: [:]))
                let types = try #require(found[container]).schema.schema.types
                #expect(types[type]?.fields == ["text": text])
                return types.keys.sorted()
            }
            #expect(try await teach("A") == ["A"], "nothing was remembered")
            _ = try await store.learn(SchemaLesson(fields: ["Elsewhere": [:]]), in: container)
            #expect(try await teach("B") == ["A", "B"], "the rest was not read")
            let current = try await store.schema(of: container)
            #expect(try await store.replaceSchema(current, by: current.schema))
            #expect(try await teach("C") == ["A", "B", "C", "Elsewhere"], "an operator has changed the schema")
        }
    }

    @Test func `R-752: a schema that has learned equals one that was read`() async {
        func entryCount(_ lesson: SchemaLesson) -> Int {
            lesson.fields.values.reduce(lesson.fields.count) { $0 + $1.count }
        }
        var random = SeededRandom()
        let element = [SchemaFieldType.Element.string, .int64, .bytes]
        for _ in 0..<200 {
            let marked = FieldSchema(SchemaFieldType(.string), marks: .all)
            let grants = Grants([.world: .read])
            var whole = Schema(types: ["A": RecordTypeSchema(fields: ["a": marked], grants: grants)])
            let container = ContainerID(1)
            func read() async -> KnownSchema {
                await KnownSchema(ContainerSchema(container: container, version: 1, isFrozen: false, schema: whole))
            }
            var learned = await read()
            for _ in 0..<Int.random(in: 1...10, using: &random) {
                var lesson = SchemaLesson()
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    var fields: [String: FieldSchema] = [:]
                    for key in ["a", "b", "bb", "c"] where Bool.random(using: &random) {
                        let type = SchemaFieldType(element.randomElement(using: &random) ?? .string)
                        fields[key] = FieldSchema(type, isEncrypted: Bool.random(using: &random))
                    }
                    let type = ["A", "B", "C"].randomElement(using: &random) ?? "A"
                    let added = SchemaLesson(fields: [type: fields])
                    let count = entryCount(lesson)
                    let expected = count + lesson.newEntryCount(of: added)
                    lesson.merge(added)
                    #expect(entryCount(lesson) == expected, "seed \(random.seed)")
                }
                whole = whole.learning(lesson)
                learned.learn(whole.part(of: lesson))
            }
            let known = await read()
            #expect(learned.schema == known.schema && learned.grants == known.grants, "seed \(random.seed)")
            #expect(learned.shapes == known.shapes, "seed \(random.seed)")
            #expect(
                learned.entryCount == known.entryCount && learned.byteCount == known.byteCount,
                "seed \(random.seed)")
            let entryCount = whole.types.values.reduce(whole.types.count) { $0 + $1.fields.count }
            #expect(known.entryCount == entryCount, "seed \(random.seed)")
        }
    }

    @Test func `a group of more containers than a server remembers is written`() throws {
        let script = FaultScript()
        try fixture.scheduler.simulate {
            let store = MemoryStore(fixture.database, faults: script.plan)
            var settings = WriteSettings()
            settings.transactionsMax = 1
            let shared = SharedWrites(settings: settings)
            let coordinator = WriteCoordinator(
                storage: store, scheduler: fixture.scheduler, limits: Limits(), shared: shared,
                schemas: SchemaCache(storage: store, shared: shared, bytesMax: 0), onMoved: { _ in })
            let identities = try await identities(9)
            for counter in UInt64(1)...2 {
                let answers = try identities.map { identity in
                    let fields = try FieldMap([Field("text", .string("\(counter)"))])
                    let save = RecordSave(name: "a", type: "Note", tag: nil, fields: fields, parent: .unchanged)
                    let request = RecordsRequest(
                        id: RequestID(DeviceID(high: 0, low: 1), counter),
                        key: ZoneKey(database: identity.privateDatabase, name: ZoneName.default), saves: [save],
                        deletes: [], policy: .allKeys, isAtomic: false, user: identity.user,
                        access: .owner(identity.user))
                    return coordinator.submit(request, for: .account(1), askedBy: Asker(), cause: nil)
                }
                for answer in answers {
                    let outcome = await answer.value()
                    #expect(outcome.numbers.compactMap(\.self).count == 1, "\(outcome)")
                }
            }
            // The first request may go alone; the others are one group each time.
            #expect(script.count(.commitSent) <= 4)
        }
    }
}
