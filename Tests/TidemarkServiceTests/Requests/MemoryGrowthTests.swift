// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What is remembered of requests is bounded by account, and nothing of it is forgotten too early.
@Suite struct MemoryGrowthTests {
    private let owner = WorkOwner.account(1)
    private let fixture: ServiceFixture
    private let service: CloudService

    init() throws {
        fixture = try ServiceFixture()
        var limits = Limits()
        limits.requestMemoryBytesPerAccountMax = 3_000
        service = fixture.server(limits: limits)
    }

    /// A save by a process of its own, unless it is said which one.
    private func save(
        life: UInt64, counter: UInt64 = 1, isRepeated: Bool = false, by owner: WorkOwner
    ) async throws -> FailureReason? {
        let id = RequestID(
            device: DeviceID(high: 9, low: life), counter: counter, lowestUnanswered: counter,
            isRepeated: isRepeated, epoch: 1)
        let request = try fixture.saving(["a"], id: id)
        return await service.modifyRecords([request], for: owner)[0].reason
    }

    private func saveZone(life: UInt64, by owner: WorkOwner) async -> FailureReason? {
        let request = ZonesRequest(id: RequestID(DeviceID(high: 9, low: life), 1), saves: ["more"], deletes: [])
        return await service.modifyZones(in: fixture.key().database, request, for: owner).reason
    }

    @Test func `R-754: who lets too much be remembered waits for the next epoch, and nobody else does`() throws {
        try fixture.scheduler.simulate {
            var savedCount: UInt64 = 0
            while savedCount < 100, try await save(life: savedCount, by: owner) == nil { savedCount += 1 }
            #expect((5...15).contains(savedCount))
            #expect(try await save(life: 0, counter: 2, by: owner) == .tooManyRequests)
            #expect(await saveZone(life: 1_000, by: owner) == .tooManyRequests)
            #expect(try await save(life: 2_000, by: .account(2)) == nil)
            #expect(await saveZone(life: 2_001, by: .account(2)) == nil)

            let store = MemoryStore(fixture.database)
            _ = try await store.advanceMemoryEpoch(after: .zero, keeping: Limits().memoryEpochsKept)
            _ = await service.standing()
            // Nothing was forgotten: the outcome of the first save is still its own.
            #expect(try await save(life: 0, isRepeated: true, by: owner) == nil)
            #expect(try await save(life: 3_000, by: owner) == nil)
            #expect(await saveZone(life: 3_001, by: owner) == nil)
        }
    }

    @Test func `R-754: requests for zones are remembered and counted as well`() throws {
        try fixture.scheduler.simulate {
            var savedCount: UInt64 = 0
            while savedCount < 100, await saveZone(life: savedCount, by: owner) == nil { savedCount += 1 }
            #expect((5...15).contains(savedCount))
            let refusal = try await save(life: 1_000, by: owner)
            #expect(refusal == .tooManyRequests)
        }
    }

    @Test func `R-754: a process that hears its answers never waits, however many requests it sends`() throws {
        try fixture.scheduler.simulate {
            for counter in UInt64(1)...500 {
                let refusal = try await save(life: 1, counter: counter, by: owner)
                #expect(refusal == nil)
            }
        }
    }
    @Test func `R-754, R-157: who may only read lets little be remembered in the owner's zone`() throws {
        var limits = Limits()
        limits.requestMemoryBytesPerParticipantMax = 3_000
        let service = fixture.server(limits: limits)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(.noAccess, [bob.invited(.readOnly)], counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            func refused(life: UInt64) async throws -> FailureReason? {
                let id = RequestID(
                    device: DeviceID(high: 9, low: life), counter: 1, lowestUnanswered: 1, epoch: 1)
                let own = try fixture.saving(["x"], id: id)
                let request = RecordsRequest(
                    id: id, key: own.key, saves: own.saves, deletes: [], policy: own.policy, isAtomic: false,
                    user: bob.user, access: bob.sharedAccess)
                return await service.modifyRecords([request], for: .account(2))[0].reason
            }
            var count: UInt64 = 0
            while count < 100, try await refused(life: count) == nil { count += 1 }
            #expect((5...15).contains(count))
            #expect(try await refused(life: 1_000) == .tooManyRequests)
            // What the account does in zones of its own goes on.
            let id = RequestID(device: DeviceID(high: 9, low: 2_000), counter: 1, lowestUnanswered: 1, epoch: 1)
            let own = try fixture.saving(["a"], id: id)
            #expect(await service.modifyRecords([own], for: .account(2))[0].reason == nil)
        }
    }
}
