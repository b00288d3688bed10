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

    @Test func `R-293: rows that take long to decode are cut by their bytes, and all of them come`() async throws {
        let texts = DeclaredStatement<Void, String>(
            .read, "texts", "SELECT repeat('x', g * 1000) FROM generate_series(1, 20) g")
        let turns = try await withPool { pool in
            try await pool.loop.runThrowing {
                // How many turns of other work there were before each row.
                let otherTurns = Mutex(0)
                let others = pool.loop.run {
                    while !Task.isCancelled {
                        otherTurns.withLock { $0 += 1 }
                        await Task.yield()
                    }
                }
                defer { others.cancel() }
                var reading = Reading<[(Int, Int)]>(bytesPerTurn: 20_000)
                reading.add(texts()) { rows, text in rows.append((text.utf8.count, otherTurns.withLock { $0 })) }
                var rows: [(Int, Int)] = []
                try await reading.take(try await pool.execute(reading.statements), into: &rows)
                return rows
            }.value
        }
        #expect(turns.map(\.0) == (1...20).map { $0 * 1_000 })
        let byTurn = Dictionary(grouping: turns, by: \.1).mapValues { $0.reduce(0) { $0 + $1.0 } }
        // No turn has more than the bytes and one row, and so there are many.
        #expect(byTurn.values.allSatisfy { $0 < 40_000 } && byTurn.count >= 6, "\(byTurn)")
    }
}
