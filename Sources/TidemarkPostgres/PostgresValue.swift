// SPDX-License-Identifier: Apache-2.0

/// The value of a statement's parameter, sent in PostgreSQL's binary form.
package enum PostgresValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int2(Int16)
    case int4(Int32)
    case int8(Int64)
    case float8(Double)
    /// The text must not contain U+0000, which PostgreSQL refuses (SQLSTATE 22021).
    case text(String)
    case bytea([UInt8])
    /// 16 bytes.
    case uuid([UInt8])
    /// A `timestamptz`: milliseconds since 1970-01-01 00:00 UTC.
    case timestamp(milliseconds: Int64)
    case array(PostgresArray)

    /// The type that a statement must declare for this value; nil for null, which fits any type.
    var type: PostgresType? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int2: .int2
        case .int4: .int4
        case .int8: .int8
        case .float8: .float8
        case .text: .text
        case .bytea: .bytea
        case .uuid: .uuid
        case .timestamp: .timestamptz
        case .array(let array): array.type
        }
    }
}

/// PostgreSQL counts the time from 2000-01-01 00:00 UTC, in microseconds.
enum PostgresTime {
    private static let epochMilliseconds: Int64 = 946_684_800_000

    /// Saturates far beyond any date that PostgreSQL can store.
    static func microseconds(fromMilliseconds milliseconds: Int64) -> Int64 {
        let (since2000, underflow) = milliseconds.subtractingReportingOverflow(epochMilliseconds)
        let (result, overflow) = since2000.multipliedReportingOverflow(by: 1000)
        return underflow || overflow ? (milliseconds < 0 ? .min : .max) : result
    }

    /// Rounds down, also before 2000.
    static func milliseconds(fromMicroseconds microseconds: Int64) -> Int64 {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1000)
        return quotient + epochMilliseconds - (remainder < 0 ? 1 : 0)
    }
}
