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

/// Each reason for which a group is not written from the cache, and what becomes of the cache and of the group.
@Suite struct CacheMissTests {
    /// A coordinator whose cache can be looked into, beside another server on the same database.
    private final class Bench: Sendable {
        let fixture: ServiceFixture
        let shared = SharedWrites()
        let coordinator: WriteCoordinator
        let another: CloudService
        let rejections = Rejections()
        private let counter = Mutex<UInt64>(0)

        init() throws {
            fixture = try ServiceFixture()
            another = fixture.server()
            let storage = MemoryStore(fixture.database, faults: rejections.plan)
            coordinator = WriteCoordinator(
                storage: storage, scheduler: fixture.scheduler, limits: Limits(), shared: shared,
                schemas: SchemaCache(storage: storage, shared: shared), onMoved: { _ in })
        }

        /// A request with a number of its own that saves records with one field, whatever is there.
        func saving(
            _ names: [String], field: String = "text", clientToken: [UInt8] = []
        ) throws -> RecordsRequest {
            let number = counter.withLock { counter in
                counter += 1
                return counter
            }
            let fields = try FieldMap([Field(field, .string("\(number)"))])
            return RecordsRequest(
                id: RequestID(DeviceID(high: 2, low: 2), number), key: fixture.key(),
                saves: names.map { RecordSave(name: $0, type: "Note", tag: nil, fields: fields, parent: .unchanged) },
                deletes: [], policy: .allKeys, isAtomic: false, user: fixture.identity.user,
                access: .owner(fixture.identity.user), clientToken: clientToken)
        }

        @discardableResult
        func write(_ request: RecordsRequest) async throws -> RecordsOutcome {
            try await coordinator.submit(request, for: .account(1), askedBy: Asker(), cause: nil)
                .value().get()
        }

        /// The same request reaches the other server, as it would after a cut.
        func writeElsewhere(_ request: RecordsRequest) async throws {
            _ = try await another.modify(request).get()
        }

        /// The reason; nil if the request was written from the cache.
        func miss(of request: RecordsRequest) async throws -> CacheMiss? {
            let entry = WriteQueue.Entry(
                ticket: 0, key: fixture.key(), owner: .account(1), asker: Asker(), request: request, itemCount: 1,
                byteCount: 1, deadline: .seconds(10), arrivalEpoch: nil)
            let reads = GroupDecision.reads(of: [entry], keys: [entry.key], limits: Limits())
            switch try await coordinator.writeKnown([entry], keys: [entry.key], reads) {
            case .success: return nil
            case .failure(let miss): return miss
            }
        }

        /// Whether the cache has the zone and trusts what it knows of it.
        var knowsZone: Bool {
            let read = ZoneRead(key: fixture.key(), recordNames: [], parentNames: [], lives: [])
            return shared.knownZones.withLock { $0.knowledge(for: [read]) } != nil
        }

        /// A zone that this server has not seen from its beginning, with what another has written in it.
        func knowPartly() async throws {
            try await writeElsewhere(saving(["theirs", "theirs 2"]))
            for _ in 1...2 { try await write(saving(["mine"])) }
        }

        /// Brings about the reason.
        ///
        /// - Returns: the request that meets it.
        func prepare(_ miss: CacheMiss) async throws -> RecordsRequest {
            let isPartial = [.recordsUnknown, .zoneMoved].contains(miss)
            if isPartial { try await knowPartly() } else if miss != .zoneUnknown { try await write(saving(["mine"])) }
            let request = try saving(
                isPartial ? ["theirs", "theirs 2"] : ["mine"], field: miss == .schemaUnknown ? "new" : "text",
                clientToken: miss == .notPlain ? [1] : [])
            switch miss {
            case .zoneUnknown, .schemaUnknown, .notPlain: return request
            case .recordsUnknown: return try saving(["theirs"])
            case .zoneMoved, .outdated: try await writeElsewhere(request)
            case .nothingToWrite: try await write(request)
            // Once when the test asks, and once more when the request is written.
            case .rejected: rejections.count.withLock { $0 = 2 }
            }
            return request
        }
    }

    /// Rejects some commits.
    private final class Rejections: Sendable {
        let count = Mutex(0)

        var plan: FaultPlan {
            FaultPlan(at: { point in
                guard point == .commitSent else { return .none }
                return self.count.withLock { count in
                    defer { count = max(0, count - 1) }
                    return count > 0 ? .reject : .none
                }
            })
        }
    }

    @Test(arguments: CacheMiss.allCases)
    func `what cannot be written from the cache is not, and then is in a transaction`(miss: CacheMiss) throws {
        let bench = try Bench()
        try bench.fixture.scheduler.simulate {
            let request = try await bench.prepare(miss)
            let before = try await bench.fixture.records()
            #expect(bench.knowsZone == (miss != .zoneUnknown))
            #expect(try await bench.miss(of: request) == miss)
            #expect(try await bench.fixture.records() == before)

            let outcome = try await bench.write(request)
            let saved = outcome.saves.compactMap {
                if case .saved(let metadata) = $0 { metadata.changeNumber } else { nil }
            }
            #expect(saved.count == request.saves.count)
            let numbers = try await bench.fixture.records().filter { request.saves.map(\.name).contains($0.name) }
            #expect(numbers.map(\.changeNumber) == saved, "each was written once, by whichever server")
            // A cache that is wrong, or may be, is given up. Otherwise the next save would be tried from it in vain.
            let isGivenUp = [.zoneMoved, .outdated, .rejected].contains(miss)
            #expect(bench.knowsZone == !isGivenUp)
            #expect(bench.fixture.database.complaints == [])
        }
    }

    @Test func `what can be written from the cache has no reason`() throws {
        let bench = try Bench()
        try bench.fixture.scheduler.simulate {
            try await bench.write(bench.saving(["mine"]))
            #expect(try await bench.miss(of: bench.saving(["mine", "new"])) == nil)
            #expect(try await bench.fixture.records().map(\.changeNumber) == [2, 3])
            #expect(bench.knowsZone)
        }
        let partial = try Bench()
        try partial.fixture.scheduler.simulate {
            try await partial.knowPartly()
            #expect(try await partial.miss(of: partial.saving(["theirs", "theirs 2"])) == nil, "they are read first")
            #expect(try await partial.miss(of: partial.saving(["theirs"])) == nil, "and known from then on")
        }
    }
}
