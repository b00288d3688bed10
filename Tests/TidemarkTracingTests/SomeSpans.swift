// SPDX-License-Identifier: Apache-2.0

@testable import TidemarkTracing

extension FinishedSpan {
    /// A span that is told from others by its number.
    static func some(
        _ number: UInt64, named name: String = "fetch_zones", attributes: [String: TraceValue] = [:]
    ) -> FinishedSpan {
        FinishedSpan(
            trace: TraceName(high: 1, low: number), id: number, parent: nil, name: name, kind: .server, start: number,
            end: number + 1, attributes: attributes, status: .unset)
    }
}
