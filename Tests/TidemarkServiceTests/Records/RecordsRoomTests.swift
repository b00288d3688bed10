// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkService

/// Memory for the records that come with outcomes.
@Suite struct RecordsRoomTests {
    /// Has so many bytes for each owner.
    private final class OwnersBudget: RecordsBudget {
        private let bytesMax: Int
        private let taken = Mutex<[WorkOwner: Int]>([:])

        init(bytesMax: Int) { self.bytesMax = bytesMax }

        func bytes(of owner: WorkOwner) -> Int { taken.withLock { $0[owner] ?? 0 } }

        func takeForRecords(_ byteCount: Int, of owner: WorkOwner) -> Bool {
            taken.withLock { taken in
                guard taken[owner, default: 0] + byteCount <= bytesMax else { return false }
                taken[owner, default: 0] += byteCount
                return true
            }
        }

        func giveBackForRecords(_ byteCount: Int, of owner: WorkOwner) {
            taken.withLock { $0[owner, default: 0] -= byteCount }
        }
    }

    /// The outcome of saves that are all conflicts with records of about so many bytes.
    private func conflicts(_ names: [String], bytes: Int) throws -> RecordsOutcome {
        let fixture = try ServiceFixture()
        let text = String(repeating: "x", count: bytes)
        let device = DeviceID(high: 2, low: 2)
        return try fixture.scheduler.simulate {
            let server = fixture.server()
            _ = try await server.modify(fixture.saving(names, text: text, id: RequestID(device, 1))).get()
            return try await server.modify(
                fixture.saving(names, id: RequestID(device, 2), policy: .ifServerRecordUnchanged)
            ).get()
        }
    }

    private func shown(_ outcome: RecordsOutcome) -> [Bool] { outcome.saves.map { $0.record != nil } }

    @Test func `R-716, R-722: the first records come, the others are left out, and the room is free after that`()
        async throws
    {
        let outcome = try conflicts(["a", "b", "c"], bytes: 1_000)
        #expect(shown(outcome) == [true, true, true])
        for (ofRequest, ofOwner) in [(2_500, 10_000), (10_000, 2_500)] {
            let budget = OwnersBudget(bytesMax: ofOwner)
            let room = RecordsRoom(of: .account(1), in: budget, bytesMax: ofRequest)
            let waiters = OutcomeWaiters(Answer(), room: room)
            waiters.give(.success(outcome))
            let given = try await waiters.answer.value().get()
            #expect(shown(given) == [true, true, false])
            // All else is told.
            let reasons = given.saves.map { save -> FailureReason? in
                if case .failed(let failure) = save { failure.reason } else { nil }
            }
            #expect(reasons == [.recordExists, .recordExists, .recordExists])
            #expect((2_000...2_500).contains(budget.bytes(of: .account(1))))
            room.leave()
            room.leave()
            #expect(budget.bytes(of: .account(1)) == 0)
        }
    }

    @Test func `R-157, R-722: who repeats a request keeps its records for as long, so they count for both`()
        async throws
    {
        let outcome = try conflicts(["a", "b", "c"], bytes: 1_000)
        let budget = OwnersBudget(bytesMax: 100_000)
        let first = RecordsRoom(of: .account(1), in: budget, bytesMax: 10_000)
        let repeated = RecordsRoom(of: .account(1), in: budget, bytesMax: 2_500)
        var waiters = OutcomeWaiters(Answer(), room: first)
        waiters.join(repeated)
        waiters.give(.success(outcome))
        #expect(shown(try await waiters.answer.value().get()) == [true, true, false])
        first.leave()
        #expect(budget.bytes(of: .account(1)) > 2_000)
        repeated.leave()
        #expect(budget.bytes(of: .account(1)) == 0)
    }

    @Test func `R-722: a repeat that comes while the first request waits has room of its own`() throws {
        let fixture = try ServiceFixture()
        let device = DeviceID(high: 2, low: 2)
        let budget = OwnersBudget(bytesMax: 100_000)
        let rooms = (1...2).map { _ in RecordsRoom(of: .account(1), in: budget, bytesMax: 10_000) }
        try fixture.scheduler.simulate {
            let server = fixture.server()
            _ = try await server.modify(
                fixture.saving(["a"], text: String(repeating: "x", count: 1_000), id: RequestID(device, 1))
            ).get()
            let request = try fixture.saving(["a"], id: RequestID(device, 2), policy: .ifServerRecordUnchanged)
            let asked = rooms.map { room in
                fixture.scheduler.run { await server.modifyRecords([request], for: .account(1), room: room) }
            }
            for task in asked {
                let outcome = try #require(await task.value.first).get()
                #expect(outcome.saves.allSatisfy { $0.record != nil })
            }
            for room in rooms {
                #expect(budget.bytes(of: .account(1)) > 1_000)
                room.leave()
            }
            #expect(budget.bytes(of: .account(1)) == 0)
        }
    }
}
