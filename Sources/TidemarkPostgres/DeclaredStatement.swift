// SPDX-License-Identifier: Apache-2.0

/// A statement that describes itself: its SQL, where its parameters come from, and what its rows are.
///
///     let zones = DeclaredStatement<DatabaseID, (id: ZoneID, name: String)>(
///         .read, "zones", "SELECT id, name FROM zone WHERE database_id = \(\.self)"
///     ) { row throws(PostgresError) in (try row["id"], try row["name"]) }
///
/// NB: a class, because a statement has many parts, and each use would copy them.
package final class DeclaredStatement<Input, Row>: Sendable {
    let statement: Statement
    private let values: [PartReader]
    let decode: Call<Row>.Decoder

    /// - Parameters:
    ///   - effect: what it means to run it outside a transaction.
    ///   - name: as for ``Statement``.
    ///   - decode: reads a row by the names of its columns.
    package init(
        _ effect: Statement.Effect, _ name: String, _ sql: SQL<Input>,
        row decode: @escaping @Sendable (PostgresRow) throws(PostgresError) -> Row
    ) {
        let (text, parameters) = sql.numbered
        let paths = parameters.map(\.path)
        statement = Statement(
            effect, name, text, parameters.map(\.type), names: { paths.map { ParameterName.word(of: $0) } })
        values = parameters.map(\.value)
        self.decode = decode
    }

    /// A statement whose rows are at most counted.
    package convenience init(_ effect: Statement.Effect, _ name: String, _ sql: SQL<Input>) where Row == Void {
        self.init(effect, name, sql) { _ in }
    }

    /// A statement whose rows have one column.
    package convenience init(_ effect: Statement.Effect, _ name: String, _ sql: SQL<Input>) where Row: PostgresColumn {
        self.init(effect, name, sql) { row throws(PostgresError) in try Row.read(row, 0) }
    }

    package func callAsFunction(_ input: Input) -> Call<Row> {
        withUnsafePointer(to: input) { input in
            Call(bound: statement.bind(values.map { $0(UnsafeRawPointer(input)) }), decode: decode)
        }
    }

    package func callAsFunction() -> Call<Row> where Input == Void { self(()) }
}

/// A statement with its parameters, ready to be sent, and the decoder of its rows.
package struct Call<Row>: Sendable {
    typealias Decoder = @Sendable (PostgresRow) throws(PostgresError) -> Row

    package let bound: BoundStatement
    let decode: Decoder

    /// Passes each row of an answer to `body`.
    package func decode(
        _ rows: PostgresRows, _ body: (Row) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        for row in rows { try body(try decode(row)) }
    }
}

extension Call where Row == Void {
    package static var begin: Call { Call(bound: .begin) { _ in } }
    package static var beginSnapshot: Call { Call(bound: .beginSnapshot) { _ in } }
    package static var commit: Call { Call(bound: .commit) { _ in } }
}

/// What a statement returned.
package struct StatementAnswer<Row> {
    package let rows: [Row]
    /// How many rows an INSERT, UPDATE or DELETE has changed, or a SELECT has returned.
    package let affectedCount: Int

    init(_ rows: PostgresRows, of call: Call<Row>) throws(PostgresError) {
        var decoded: [Row] = []
        decoded.reserveCapacity(rows.count)
        for row in rows { decoded.append(try call.decode(row)) }
        self.rows = decoded
        affectedCount = rows.affectedCount
    }

    package var isEmpty: Bool { rows.isEmpty }
}

extension PostgresConnection {
    /// As ``execute(_:timeout:)``: each call has its answer in its place.
    package func run<each Row>(_ calls: repeat Call<each Row>) async throws(PostgresError) -> (
        repeat StatementAnswer<each Row>
    ) {
        var batch: [BoundStatement] = []
        repeat batch.append((each calls).bound)
        var answers = try await execute(batch)[...]
        return (repeat try StatementAnswer(answers.removeFirst(), of: each calls))
    }
}

extension PostgresPool {
    /// As ``execute(_:timeout:isLong:)``: each call has its answer in its place.
    package func run<each Row>(isLong: Bool = false, _ calls: repeat Call<each Row>) async throws(PostgresError) -> (
        repeat StatementAnswer<each Row>
    ) {
        var batch: [BoundStatement] = []
        repeat batch.append((each calls).bound)
        var answers = try await execute(batch, isLong: isLong)[...]
        return (repeat try StatementAnswer(answers.removeFirst(), of: each calls))
    }
}
