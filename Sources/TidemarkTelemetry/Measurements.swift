// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// All metrics of the process: ours, and those of libraries that use swift-metrics.
package enum Measurements {
    /// By name. The latest of a name counts.
    private static let all = Mutex<[String: any MeasuredFamily]>([:])

    static func add(_ family: some MeasuredFamily) {
        all.withLock { $0[family.name] = family }
    }

    /// Their values in the text format of Prometheus (version 0.0.4), sorted by name. Those of libraries come last.
    ///
    /// The text has more than a thousand lines: make it for a scrape, and not on an event loop of devices.
    package static var text: String {
        let sorted = all.withLock { $0 }.sorted { $0.key < $1.key }
        var text = ""
        text.reserveCapacity(131_072)
        for (_, family) in sorted { family.write(to: &text) }
        LibraryMetrics.shared.write(to: &text)
        return text
    }

    /// From now on ``text`` has the metrics of libraries that use swift-metrics. For programs, at start, before they use
    /// such a library. Only the first call counts.
    package static func collectFromLibraries() { LibraryMetrics.collect() }
}

/// A metric with all its series.
protocol MeasuredFamily: AnyObject, Sendable {
    var name: String { get }
    func write(to text: inout String)
}
