// SPDX-License-Identifier: Apache-2.0

/// The value of an attribute of a span.
enum TraceValue: Sendable, Equatable {
    case text(String)
    case number(Int64)
    case decimal(Double)
    case flag(Bool)
}

/// The name of a trace: 16 bytes, never all 0.
struct TraceName: Sendable, Hashable {
    let high: UInt64
    let low: UInt64
}

/// A span that has ended, as it waits for its sending.
struct FinishedSpan: Sendable, Equatable {
    /// As OTLP numbers them.
    enum Kind: Int, Sendable {
        case `internal` = 1
        case server, client, producer, consumer
    }

    /// As OTLP numbers them.
    enum Status: Int, Sendable {
        case unset, ok, error
    }

    let trace: TraceName
    /// Never 0.
    let id: UInt64
    /// Nil for the first span of a trace.
    let parent: UInt64?
    let name: String
    let kind: Kind
    /// Nanoseconds since 1970.
    let start: UInt64
    let end: UInt64
    /// By name.
    let attributes: [String: TraceValue]
    let status: Status

    /// About as many bytes as it takes when it is sent.
    var byteCount: Int {
        attributes.reduce(250 + name.utf8.count) { sum, attribute in
            guard case .text(let text) = attribute.value else { return sum + 60 + attribute.key.utf8.count }
            return sum + 40 + attribute.key.utf8.count + text.utf8.count
        }
    }
}
