// SPDX-License-Identifier: Apache-2.0

internal import Metrics

/// A counter without labels.
package typealias Counter = CounterFamily<NoLabel>

/// Counts how often something has happened since the process began, for each value of a label. Declare it as a property
/// of the type in the target's file `…Metrics.swift`.
package final class CounterFamily<Label: MetricLabel>: MeasuredFamily {
    package let name: String
    private let head: String
    private let unit: Exposition.Unit
    private let series: [String]
    private let cells: MetricCells
    /// Nil in a server.
    private let exported: [Metrics.Counter]?

    /// - Parameters:
    ///   - name: the name in Prometheus: `tidemark_connections_accepted_total`.
    ///   - help: what an operator must know to read it.
    package convenience init(_ name: String, _ help: String) {
        self.init(name, help, unit: .one)
    }

    init(_ name: String, _ help: String, unit: Exposition.Unit) {
        Exposition.check(name, isCounter: true)
        self.name = name
        self.unit = unit
        head = Exposition.head(name, help, type: "counter")
        series = Label.series.map { Exposition.series(name, $0) }
        cells = MetricCells(count: series.count)
        exported = AppMetrics.each(Label.series) { Metrics.Counter(label: name, dimensions: $0) }
        Measurements.add(self)
    }

    package func value(_ label: Label) -> Int { cells[label.rawValue] }

    /// From any thread; `amount` must not be negative.
    package func increment(_ label: Label, by amount: Int = 1) {
        cells.add(amount, at: label.rawValue)
        if let exported { exported[label.rawValue].increment(by: amount) }
    }

    func set(_ value: Int, _ label: Label) { cells.set(value, at: label.rawValue) }

    func write(to text: inout String) {
        text += head
        for (index, series) in series.enumerated() { Exposition.line(series, cells[index], unit, to: &text) }
    }
}

extension CounterFamily<NoLabel> {
    package var value: Int { value(.none) }

    /// From any thread; `amount` must not be negative.
    package func increment(by amount: Int = 1) { increment(.none, by: amount) }
}

/// A counter of seconds that somebody else counts, such as the kernel.
package final class SecondsCounter: Sendable {
    private let counter: Counter

    package init(_ name: String, _ help: String) {
        counter = Counter(name, help, unit: .nanoseconds)
    }

    /// So much it is now.
    package func advance(to time: Duration) { counter.set(time.inNanoseconds, .none) }
}

/// A counter with two labels.
package final class CounterGrid<Row: MetricLabel, Column: MetricLabel>: MeasuredFamily {
    package let name: String
    private let head: String
    private let series: [String]
    private let columnCount: Int
    private let cells: MetricCells
    private let exported: [Metrics.Counter]?

    package init(_ name: String, _ help: String) {
        Exposition.check(name, isCounter: true)
        self.name = name
        head = Exposition.head(name, help, type: "counter")
        let labels = Row.series.flatMap { row in Column.series.map { row + $0 } }
        series = labels.map { Exposition.series(name, $0) }
        columnCount = Column.series.count
        cells = MetricCells(count: series.count)
        exported = AppMetrics.each(labels) { Metrics.Counter(label: name, dimensions: $0) }
        Measurements.add(self)
    }

    package func value(_ row: Row, _ column: Column) -> Int { cells[place(row, column)] }

    /// From any thread.
    package func increment(_ row: Row, _ column: Column) {
        let place = place(row, column)
        cells.add(1, at: place)
        if let exported { exported[place].increment() }
    }

    private func place(_ row: Row, _ column: Column) -> Int { row.rawValue * columnCount + column.rawValue }

    func write(to text: inout String) {
        text += head
        for (index, series) in series.enumerated() { Exposition.line(series, cells[index], .one, to: &text) }
    }
}
