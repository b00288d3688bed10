// SPDX-License-Identifier: Apache-2.0

internal import Metrics

/// Passes our metrics on to the back-end that an app has given to swift-metrics.
///
/// A server has none: its metrics are read as text. Then nothing is passed on, which would cost more than counting.
/// Whether there is a back-end is found out when a metric is made, with its first use. So an app gives it before it uses
/// the library.
enum AppMetrics {
    private static var isWanted: Bool {
        let factory = MetricsSystem.factory
        return !(factory is NOOPMetricsHandler) && !(factory is LibraryMetrics)
    }

    /// The object at the back-end for each series; nil if there is none.
    static func each<Exported>(
        _ series: [[(name: String, value: String)]], _ make: ([(String, String)]) -> Exported
    ) -> [Exported]? {
        guard isWanted else { return nil }
        return series.map { labels in make(labels.map { ($0.name, $0.value) }) }
    }
}
