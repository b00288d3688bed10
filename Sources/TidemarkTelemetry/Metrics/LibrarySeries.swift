// SPDX-License-Identifier: Apache-2.0

internal import Metrics
internal import Synchronization

/// The values of one metric of a library, with its labels.
final class LibrarySeries: Sendable {
    /// The kind of a metric in Prometheus.
    enum Kind: Sendable {
        case counter, gauge
        /// A number and a sum of any values, whose buckets nobody knows.
        case summary
        /// A histogram of times.
        case times

        var type: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .summary: "summary"
            case .times: "histogram"
            }
        }

        /// How a name ends, by Prometheus' conventions.
        var ending: String {
            switch self {
            case .counter: "_total"
            case .gauge, .summary: ""
            case .times: "_seconds"
            }
        }

        /// The names of the lines of a metric.
        func lineNames(_ name: String) -> Set<String> {
            switch self {
            case .counter, .gauge: [name]
            case .summary: [name, "\(name)_sum", "\(name)_count"]
            case .times: [name, "\(name)_bucket", "\(name)_sum", "\(name)_count"]
            }
        }
    }

    private struct Values {
        var sum = 0.0
        var count = 0
        /// The count of each bucket of ``MetricBuckets/times``, and of longer times.
        var buckets: [Int]
    }

    private let kind: Kind
    private let values: Mutex<Values>
    /// Counts each value instead of keeping it.
    private let dropped: LibrarySeries?

    init(_ kind: Kind, dropped: LibrarySeries? = nil) {
        self.kind = kind
        self.dropped = dropped
        let bucketCount = kind == .times ? MetricBuckets.times.bounds.count + 1 : 0
        values = Mutex(Values(buckets: Array(repeating: 0, count: bucketCount)))
    }

    /// One that keeps nothing.
    static func dropping(_ dropped: LibrarySeries) -> LibrarySeries { LibrarySeries(.counter, dropped: dropped) }

    func add(_ value: Double) {
        if let dropped { return dropped.add(1) }
        values.withLock { values in
            values.sum += value
            values.count += 1
        }
    }

    func set(_ value: Double) {
        if let dropped { return dropped.add(1) }
        values.withLock { $0.sum = value }
    }

    func reset() {
        if dropped == nil { values.withLock { $0.sum = 0 } }
    }

    /// - Parameter labels: as they are written, without the brackets.
    func write(_ name: String, _ labels: String, to text: inout String) {
        let values = values.withLock { $0 }
        func line(_ name: String, _ labels: String, _ value: String) {
            text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
        }
        switch kind {
        case .counter, .gauge: return line(name, labels, Exposition.number(values.sum))
        case .summary: break
        case .times:
            let ends = MetricBuckets.times.bounds.map { Exposition.number($0, .nanoseconds) } + ["+Inf"]
            var count = 0
            for (end, bucket) in zip(ends, values.buckets) {
                count += bucket
                line("\(name)_bucket", labels.isEmpty ? "le=\"\(end)\"" : "\(labels),le=\"\(end)\"", String(count))
            }
        }
        line("\(name)_sum", labels, Exposition.number(values.sum))
        line("\(name)_count", labels, String(values.count))
    }
}

extension LibrarySeries: CounterHandler, FloatingPointCounterHandler {
    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
}

extension LibrarySeries: RecorderHandler {
    func record(_ value: Int64) { add(Double(value)) }
    func record(_ value: Double) { add(value) }
}

extension LibrarySeries: TimerHandler {
    func recordNanoseconds(_ duration: Int64) {
        if let dropped { return dropped.add(1) }
        let bounds = MetricBuckets.times.bounds
        let bucket = bounds.firstIndex { duration <= $0 } ?? bounds.count
        values.withLock { values in
            values.sum += Double(duration) / 1e9
            values.count += 1
            values.buckets[bucket] += 1
        }
    }
}

/// A series whose value is set: to record is to set.
final class LibraryGauge: MeterHandler, RecorderHandler {
    let series: LibrarySeries

    init(_ series: LibrarySeries) { self.series = series }

    func set(_ value: Int64) { series.set(Double(value)) }
    func set(_ value: Double) { series.set(value) }
    func increment(by amount: Double) { series.add(amount) }
    func decrement(by amount: Double) { series.add(-amount) }
    func record(_ value: Int64) { series.set(Double(value)) }
    func record(_ value: Double) { series.set(value) }
}
