// SPDX-License-Identifier: Apache-2.0

/// What is sent for a statement, for programs that send the same by other means (`tidemark-bench`).
extension BoundStatement {
    package var sql: String { statement.sql }

    /// The types of the parameters.
    package var types: [PostgresType] { statement.parameterTypes }

    /// Each parameter in PostgreSQL's binary form; nil for null.
    package var encodedValues: [[UInt8]?] {
        var encoder = ParameterEncoder()
        encoder.encode(values)
        return encoder.ranges.map { range in range.map { Array(encoder.bytes[$0]) } }
    }
}
