// SPDX-License-Identifier: Apache-2.0

/// Statements that are sent together, each with what its rows add to a result.
package struct Reading<Result> {
    private var steps: [(bound: BoundStatement, take: Take)] = []

    private let bytesPerTurn: Int

    private typealias Take = (inout Result, PostgresRows.SubSequence) throws(PostgresError) -> Void

    /// Rows that are decoded before others have their turn on the thread.
    private static var rowsPerTurn: Int { 500 }

    /// - Parameter bytesPerTurn: bytes of rows that are decoded before others have their turn, for rows that take long to decode.
    package init(bytesPerTurn: Int = .max) {
        self.bytesPerTurn = bytesPerTurn
    }

    /// - Parameter take: adds a row to the result. Rows come in the order of the statements.
    package mutating func add<Row>(
        _ call: Call<Row>, _ take: @escaping (inout Result, Row) throws(PostgresError) -> Void = { _, _ in }
    ) {
        steps.append(
            (
                call.bound,
                { result, rows throws(PostgresError) in
                    for row in rows { try take(&result, try call.decode(row)) }
                }
            ))
    }

    /// What is sent.
    // NB: in generic code a key path would be made anew at each use.
    package var statements: [BoundStatement] { steps.map { $0.bound } }

    /// Adds the answers to ``statements`` to a result. I-6: many rows hold up nobody else on the thread.
    package func take(_ answers: [PostgresRows], into result: inout Result) async throws(PostgresError) {
        precondition(answers.count == steps.count, "each statement has one answer")
        for (step, rows) in zip(steps, answers) {
            var start = 0
            while start < rows.count {
                if start > 0 { await Task.yield() }
                let end = turnEnd(from: start, in: rows)
                try step.take(&result, rows[start..<end])
                start = end
            }
        }
    }

    /// Where a turn ends that begins with a row. It has one row at least.
    private func turnEnd(from start: Int, in rows: PostgresRows) -> Int {
        let last = min(start + Self.rowsPerTurn, rows.count)
        guard bytesPerTurn < .max else { return last }
        var (end, bytesLeft) = (start, bytesPerTurn)
        while end < last, bytesLeft > 0 {
            bytesLeft -= rows.byteCount(ofRow: end)
            end += 1
        }
        return end
    }
}

extension PostgresConnection {
    /// Sends the statements of a reading in one round trip, and adds their answers to `result`.
    package func run<Result>(
        _ reading: Reading<Result>, into result: Result
    ) async throws(PostgresError) -> Result {
        var result = result
        try await reading.take(try await execute(reading.statements), into: &result)
        return result
    }
}
