// SPDX-License-Identifier: Apache-2.0

internal import Metrics
internal import Synchronization

/// A gauge without labels.
package typealias Gauge = GaugeFamily<NoLabel>

/// How many of something there are now, for each value of a label.
package final class GaugeFamily<Label: MetricLabel>: MeasuredFamily {
    package let name: String
    private let head: String
    private let series: [String]
    private let cells: MetricCells
    /// Nil in a server.
    private let exported: [Metrics.Gauge]?

    /// - Parameters:
    ///   - name: the name in Prometheus: `tidemark_connections_open`.
    ///   - help: what an operator must know to read it.
    package init(_ name: String, _ help: String) {
        Exposition.check(name)
        self.name = name
        head = Exposition.head(name, help, type: "gauge")
        series = Label.series.map { Exposition.series(name, $0) }
        cells = MetricCells(count: series.count)
        exported = AppMetrics.each(Label.series) { Metrics.Gauge(label: name, dimensions: $0) }
        Measurements.add(self)
    }

    package func value(_ label: Label) -> Int { cells[label.rawValue] }

    package func set(_ value: Int, _ label: Label) {
        cells.set(value, at: label.rawValue)
        if let exported { exported[label.rawValue].record(value) }
    }

    /// From any thread; negative to subtract.
    package func add(_ difference: Int, _ label: Label) {
        let value = cells.add(difference, at: label.rawValue)
        if let exported { exported[label.rawValue].record(value) }
    }

    func write(to text: inout String) {
        text += head
        for (index, series) in series.enumerated() { Exposition.line(series, cells[index], .one, to: &text) }
    }
}

extension GaugeFamily<NoLabel> {
    package var value: Int { value(.none) }

    package func set(_ value: Int) { set(value, .none) }

    /// From any thread; negative to subtract.
    package func add(_ difference: Int) { add(difference, .none) }
}

/// A gauge whose value is read at a scrape. It costs nothing until then.
package final class ObservedGauge<Label: MetricLabel>: MeasuredFamily {
    private struct Readers {
        var lastNumber: UInt64 = 0
        var all: [UInt64: (place: Int, read: @Sendable () -> Int)] = [:]
    }

    package let name: String
    private let head: String
    private let series: [String]
    private let readers = Mutex(Readers())

    package init(_ name: String, _ help: String) {
        Exposition.check(name)
        self.name = name
        head = Exposition.head(name, help, type: "gauge")
        series = Label.series.map { Exposition.series(name, $0) }
        Measurements.add(self)
    }

    /// Adds a part of the value, for as long as the result lives.
    ///
    /// - Parameter read: called at each scrape, from any thread. It takes microseconds.
    package func observe(_ label: Label, _ read: @escaping @Sendable () -> Int) -> MetricObservation {
        let number = readers.withLock { readers in
            readers.lastNumber += 1
            readers.all[readers.lastNumber] = (label.rawValue, read)
            return readers.lastNumber
        }
        return MetricObservation { [self] in readers.withLock { $0.all[number] = nil } }
    }

    package func value(_ label: Label) -> Int { values[label.rawValue] }

    private var values: [Int] {
        let readers = Array(readers.withLock { $0.all }.values)
        return readers.reduce(into: Array(repeating: 0, count: series.count)) { $0[$1.place] += $1.read() }
    }

    func write(to text: inout String) {
        text += head
        for (series, value) in zip(series, values) { Exposition.line(series, value, .one, to: &text) }
    }
}

extension ObservedGauge<NoLabel> {
    package var value: Int { value(.none) }

    /// As ``observe(_:_:)``.
    package func observe(_ read: @escaping @Sendable () -> Int) -> MetricObservation { observe(.none, read) }
}

/// Keeps a part of an ``ObservedGauge``: it ends with this object.
package final class MetricObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

/// Values that stay the same as long as the process lives, as labels of a gauge that is 1: `tidemark_build_info`.
package final class InfoMetric: MeasuredFamily {
    package let name: String
    private let text: String

    package init(_ name: String, _ help: String, _ labels: KeyValuePairs<String, String>) {
        Exposition.check(name)
        precondition(labels.allSatisfy { Exposition.isLabelName($0.key) }, "a label has a name")
        self.name = name
        let series = Exposition.series(name, labels.map { ($0.key, $0.value) })
        text = Exposition.head(name, help, type: "gauge") + series + "1\n"
        Measurements.add(self)
    }

    func write(to text: inout String) { text += self.text }
}
