// SPDX-License-Identifier: Apache-2.0

/// Records by name and by queries, among 100,000 indexed ones: requests of 32 devices, each with one under way. The
/// reference is the same SQL on 32 connections of libpq that discard the results.
enum ReadsBenchmark: Benchmark {
    static let name = "reads"
    private static let pageRecordCount = 200

    static func run(_ bench: Bench) throws -> [Row] {
        let stage = try ItemStage(bench, itemCount: bench.isQuick ? 10_000 : 100_000)
        defer { stage.stop() }
        let page = pageRecordCount
        return [
            row("read-1", try stage.compare(records: 1)),
            row("read-200", try stage.compare(records: page)),
            row(
                "query-indexed",
                try stage.compare(records: Item.groupSize, limit: page) {
                    .ofGroup(.random(in: 0..<$0 / Item.groupSize))
                }),
            row(
                "query-sorted-200",
                try stage.compare(records: page, limit: page) { .from(number: .random(in: 0..<$0 - page)) }),
        ]
    }

    private static func row(_ name: String, _ pair: Comparison) -> Row {
        Row(name, unit: "answers per second", pair, goal: .atLeast(0.5))
    }
}
