// SPDX-License-Identifier: Apache-2.0

/// Statements that are sent together, each with what its rows add to a result.
package struct Reading<Result> {
    private var steps: [(bound: BoundStatement, take: Take)] = []

    private typealias Take = (inout Result, PostgresRows.SubSequence) throws(PostgresError) -> Void

    /// Rows that are decoded before others have their turn on the thread.
    private static var rowsPerTurn: Int { 500 }

    package init() {}

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
            for start in stride(from: 0, to: rows.count, by: Self.rowsPerTurn) {
                if start > 0 { await Task.yield() }
                try step.take(&result, rows[start..<min(start + Self.rowsPerTurn, rows.count)])
            }
        }
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
