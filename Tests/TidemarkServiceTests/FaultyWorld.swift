// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

extension ServiceFixture {
    /// At each point, once in so many times: a delay, a lost connection, or a commit that comes late.
    func randomFaults(oneIn count: UInt64) -> FaultPlan {
        FaultPlan(at: { [scheduler] _ in
            guard scheduler.randomBits() % count == 0 else { return .none }
            let delay = Duration.microseconds(Int64(scheduler.randomBits() % 20_000))
            switch scheduler.randomBits() % 4 {
            case 0, 1: return .delay(delay)
            case 2: return .disconnect
            default: return .commitLate(after: delay)
            }
        })
    }

    /// Keeps the zone locked by one transaction after another, as a very busy server would.
    func holdZone(_ zone: String = "notes", for duration: Duration) async {
        let end = scheduler.now + duration
        let read = ZoneRead(key: key(zone), recordNames: [], parentNames: [], lives: [])
        let store = MemoryStore(database)
        var held = try? await store.beginWrite([read])
        while scheduler.now < end {
            // The next one queues before this one ends, so that nobody else is first in the queue for long.
            let next = scheduler.run { try? await store.beginWrite([read]) }
            try? await scheduler.sleep(for: .milliseconds(1_900))
            await held?.rollback()
            held = await next.value
        }
        await held?.rollback()
    }
}

extension [Task<Result<RecordsOutcome, FailureReason>, Never>] {
    func values() async -> [Result<RecordsOutcome, FailureReason>] {
        var values: [Result<RecordsOutcome, FailureReason>] = []
        for task in self { values.append(await task.value) }
        return values
    }
}
