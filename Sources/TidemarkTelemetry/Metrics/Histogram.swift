// SPDX-License-Identifier: Apache-2.0

internal import Metrics

/// The bounds of a histogram's buckets, and the unit of its values. The last bucket has no bound.
package struct MetricBuckets: Sendable {
    /// Growing.
    let bounds: [Int]
    let unit: Exposition.Unit

    /// Times of 100 µs to 30 s. A save takes one to some milliseconds, and no request more than 20 s in turns.
    package static let times = MetricBuckets(
        bounds: [
            100_000, 250_000, 500_000,
            1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
            100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
            30_000_000_000,
        ], unit: .nanoseconds)

    /// How many of something are together.
    package static let counts = MetricBuckets(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024], unit: .one)
}

/// A histogram without labels.
package typealias Histogram = HistogramFamily<NoLabel>

/// How large the values were, in buckets, for each value of a label. A value costs two atomic additions; 0 costs one.
package final class HistogramFamily<Label: MetricLabel>: MeasuredFamily {
    private enum Exported: Sendable {
        case timers([Metrics.Timer])
        case recorders([Metrics.Recorder])
    }

    /// The lines of one value of the label, up to their numbers.
    private struct Lines: Sendable {
        let buckets: [String]
        let sum: String
        let count: String
    }

    package let name: String
    private let head: String
    private let bounds: [Int]
    private let unit: Exposition.Unit
    private let lines: [Lines]
    /// For each value of the label: what fell into each bucket, then the sum.
    private let cells: MetricCells
    private let width: Int
    /// Nil in a server.
    private let exported: Exported?

    /// - Parameters:
    ///   - name: the name in Prometheus, with its base unit: `tidemark_request_seconds`.
    ///   - help: what an operator must know to read it.
    package init(_ name: String, _ help: String, _ buckets: MetricBuckets) {
        Exposition.check(name)
        self.name = name
        head = Exposition.head(name, help, type: "histogram")
        (bounds, unit) = (buckets.bounds, buckets.unit)
        width = buckets.bounds.count + 2
        let ends = buckets.bounds.map { Exposition.number($0, buckets.unit) } + ["+Inf"]
        lines = Label.series.map { labels in
            Lines(
                buckets: ends.map { Exposition.series("\(name)_bucket", labels + [("le", $0)]) },
                sum: Exposition.series("\(name)_sum", labels), count: Exposition.series("\(name)_count", labels))
        }
        cells = MetricCells(count: width * lines.count)
        exported =
            switch buckets.unit {
            case .nanoseconds:
                AppMetrics.each(Label.series) { Metrics.Timer(label: name, dimensions: $0) }.map { .timers($0) }
            case .one:
                AppMetrics.each(Label.series) { Metrics.Recorder(label: name, dimensions: $0) }.map { .recorders($0) }
            }
        Measurements.add(self)
    }

    /// From any thread.
    package func observe(_ time: Duration, _ label: Label) {
        assert(unit == .nanoseconds)
        add(max(0, time.inNanoseconds), label.rawValue)
    }

    /// From any thread.
    package func observe(_ value: Int, _ label: Label) {
        assert(unit == .one)
        add(value, label.rawValue)
    }

    private func add(_ value: Int, _ place: Int) {
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        cells.add(1, at: place * width + bucket)
        if value != 0 { cells.add(value, at: place * width + width - 1) }
        switch exported {
        case nil: break
        case .timers(let timers): timers[place].recordNanoseconds(Int64(value))
        case .recorders(let recorders): recorders[place].record(value)
        }
    }

    /// How many values there were.
    package func count(_ label: Label) -> Int {
        (0...bounds.count).reduce(0) { $0 + cells[label.rawValue * width + $1] }
    }

    func write(to text: inout String) {
        text += head
        for (place, lines) in lines.enumerated() {
            var count = 0
            for (bucket, line) in lines.buckets.enumerated() {
                count += cells[place * width + bucket]
                Exposition.line(line, count, .one, to: &text)
            }
            Exposition.line(lines.sum, cells[place * width + width - 1], unit, to: &text)
            // Not read again: it is what the last bucket says.
            Exposition.line(lines.count, count, .one, to: &text)
        }
    }
}

extension HistogramFamily<NoLabel> {
    /// From any thread.
    package func observe(_ time: Duration) { observe(time, .none) }

    /// From any thread.
    package func observe(_ value: Int) { observe(value, .none) }

    package var count: Int { count(.none) }
}
