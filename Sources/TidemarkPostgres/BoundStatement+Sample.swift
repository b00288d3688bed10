// SPDX-License-Identifier: Apache-2.0

/// A statement as it is sent, for who sends the same by other means (`tidemark-bench`).
extension BoundStatement {
    package var sql: String { statement.sql }

    /// Of each parameter.
    package var types: [PostgresType] { statement.parameterTypes }

    /// Each parameter in PostgreSQL's binary form; nil for null.
    package var encodedValues: [[UInt8]?] {
        var encoder = ParameterEncoder()
        encoder.encode(values)
        return encoder.ranges.map { range in range.map { Array(encoder.bytes[$0]) } }
    }
}
