// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkShares
import TidemarkTestKit

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
                        id: RequestID(DeviceID(high: 0, low: 1), counter), zoneName: ZoneName.default, saves: [save],
                        deletes: [], policy: .allKeys, isAtomic: false, user: identity.user)
                    return coordinator.submit(
                        request, in: identity.privateDatabase, for: .account(1), askedBy: Asker())
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
