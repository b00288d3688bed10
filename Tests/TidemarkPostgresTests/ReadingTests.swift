// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkPostgres
import TidemarkScheduling

@Suite struct ReadingTests {
    private struct Found: Sendable {
        var sum: Int64 = 0
        /// The row at which other work of the thread had been done.
        var othersDoneAt: Int64?
    }

    @Test func `I-6: many rows hold up nobody else on the thread`() async throws {
        let numbers = DeclaredStatement<Void, Int64>(
            .read, "numbers", "SELECT g::int8 FROM generate_series(1, 3000) g")
        let found = try await withPool { pool in
            try await pool.loop.runThrowing {
                let isOtherDone = Mutex(false)
                var reading = Reading<Found>()
                reading.add(numbers()) { found, number in
                    if number == 1 { pool.loop.run { isOtherDone.withLock { $0 = true } } }
                    if found.othersDoneAt == nil, isOtherDone.withLock(\.self) { found.othersDoneAt = number }
                    found.sum += number
                }
                var found = Found()
                try await reading.take(try await pool.execute(reading.statements), into: &found)
                return found
            }.value
        }
        #expect(found.sum == 3_000 * 3_001 / 2)
        #expect(found.othersDoneAt == 501)
    }
}
