// SPDX-License-Identifier: Apache-2.0

internal import Metrics
internal import Synchronization

/// Counts how often something has happened since the process began. Declare it as a `static let` in the file `…Metrics.swift` of the target.
package final class Counter: Sendable {
    package let name: String
    private let count = Atomic<Int>(0)
    private let exported: Metrics.Counter

    /// - Parameter name: Lower case with underscores. It ends with what is counted: `transport_accepted_connections`.
    package init(_ name: String) {
        self.name = name
        exported = Metrics.Counter(label: "tidemark_\(name)")
        Measurements.all.withLock { $0[name] = .counter(self) }
    }

    package var value: Int { count.load(ordering: .relaxed) }

    /// From any thread; `amount` must not be negative.
    package func increment(by amount: Int = 1) {
        count.wrappingAdd(amount, ordering: .relaxed)
        exported.increment(by: amount)
    }
}

/// How many of something there are now.
package final class Gauge: Sendable {
    package let name: String
    private let amount = Atomic<Int>(0)
    private let exported: Metrics.Gauge

    /// - Parameter name: Lower case with underscores. It ends with what is measured: `transport_open_connections`.
    package init(_ name: String) {
        self.name = name
        exported = Metrics.Gauge(label: "tidemark_\(name)")
        Measurements.all.withLock { $0[name] = .gauge(self) }
    }

    package var value: Int { amount.load(ordering: .relaxed) }

    package func set(_ value: Int) {
        amount.store(value, ordering: .relaxed)
        exported.record(value)
    }

    /// From any thread; negative to subtract.
    package func add(_ difference: Int) {
        exported.record(amount.wrappingAdd(difference, ordering: .relaxed).newValue)
    }
}

/// All counters and gauges of the process.
package enum Measurements {
    fileprivate enum Measurement: Sendable {
        case counter(Counter)
        case gauge(Gauge)
    }

    /// By name. The latest of a name counts.
    fileprivate static let all = Mutex<[String: Measurement]>([:])

    /// Their values in the text format of Prometheus, sorted by name.
    package static var text: String {
        let sorted = all.withLock { $0 }.sorted { $0.key < $1.key }
        return sorted.map { name, measurement in
            switch measurement {
            case .counter(let counter): "# TYPE tidemark_\(name) counter\ntidemark_\(name) \(counter.value)\n"
            case .gauge(let gauge): "# TYPE tidemark_\(name) gauge\ntidemark_\(name) \(gauge.value)\n"
            }
        }.joined()
    }
}
