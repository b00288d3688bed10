// SPDX-License-Identifier: Apache-2.0

import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkPostgres

/// How PostgreSQL runs a query that a connection has often run before: it has settled by then on one plan for all values, or
/// on a new one each time.
enum KeptPlan {
    /// PostgreSQL decides after five.
    private static let runCount = 7

    /// - Parameters:
    ///   - before: with which values it has been run, if not with its own.
    ///   - runs: whether the plan is carried out, so that it says how many rows each step had.
    static func of(
        _ sent: PostgresStorage.SentStatement, after before: PostgresStorage.SentStatement? = nil,
        in fixture: QueryFixture, runs: Bool = false
    ) async throws -> String {
        let pool = try PostgresPool(
            url: fixture.url, connections: 1, loop: fixture.loop,
            sessionSettings: sent.settings.map { ($0.name, $0.value) })
        let types = sent.statement.types.map(name).joined(separator: ", ")
        let (first, last) = (explain(before ?? sent, runs: runs), explain(sent, runs: runs))
        let lines = try await pool.withConnection { connection in
            let prepare = Statement(
                .write, "prepare", "PREPARE kept (\(types)) AS \(sent.statement.sql)", isPrepared: false)
            _ = try await connection.execute([prepare()])
            for _ in 1..<runCount { _ = try await connection.execute([first()]) }
            return try await connection.execute([last()])[0].map { try $0.string(0) }
        }
        await pool.stop()
        return lines.joined(separator: "\n")
    }

    private static func explain(_ sent: PostgresStorage.SentStatement, runs: Bool) -> Statement {
        let values = sent.statement.values.map(literal).joined(separator: ", ")
        return Statement(
            .read, "explain", "EXPLAIN \(runs ? "(ANALYZE, TIMING OFF) " : "")EXECUTE kept (\(values))",
            isPrepared: false)
    }

    private static func name(_ type: PostgresType) -> String {
        switch type {
        case .int8: "bigint"
        case .textArray: "text[]"
        case .float8: "double precision"
        case .timestamptz: "timestamptz"
        default: "text"
        }
    }

    private static func literal(_ value: PostgresValue) -> String {
        switch value {
        case .int8(let number): "\(number)"
        case .float8(let number): "\(number)"
        case .text(let text): "'\(text.replacing("'", with: "''"))'"
        case .array(let array): "ARRAY[\(texts(of: array).map(literal).joined(separator: ","))]"
        case .timestamp(let milliseconds): "to_timestamp(\(milliseconds) / 1000.0)"
        default: "NULL"
        }
    }

    private static func texts(of array: PostgresArray) -> [PostgresValue] {
        var bytes: [UInt8] = []
        array.encode(into: &bytes)
        let texts = bytes.withUnsafeBytes { decodeTextArray($0) }
        return (texts ?? []).map { $0.map { .text($0) } ?? .null }
    }
}
