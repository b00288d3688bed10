// SPDX-License-Identifier: Apache-2.0

import Metrics
import Synchronization
import Testing

@testable import TidemarkTelemetry

/// The back-end of an app: remembers what it is given.
private final class AppBackEnd: MetricsFactory, Sendable {
    final class Handler: CounterHandler, RecorderHandler, TimerHandler {
        let name: String
        let values = Mutex<[Int64]>([])
        init(_ name: String) { self.name = name }
        func increment(by amount: Int64) { values.withLock { $0.append(amount) } }
        func record(_ value: Int64) { values.withLock { $0.append(value) } }
        func record(_ value: Double) { values.withLock { $0.append(Int64(value)) } }
        func recordNanoseconds(_ duration: Int64) { values.withLock { $0.append(duration) } }
        func reset() {}
    }

    let handlers = Mutex<[Handler]>([])

    private func make(_ label: String, _ dimensions: [(String, String)]) -> Handler {
        let handler = Handler(([label] + dimensions.map { "\($0.0)=\($0.1)" }).joined(separator: " "))
        handlers.withLock { $0.append(handler) }
        return handler
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { make(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        make(label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { make(label, dimensions) }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    var values: [String: [Int64]] {
        let all = handlers.withLock { $0 }
        return Dictionary(all.map { ($0.name, $0.values.withLock { $0 }) }) { first, _ in first }
    }
}

/// Each in a process of its own, because a process has one back-end.
@Suite struct AppMetricsTests {
    @Test func `R-812: in an app our metrics reach the back-end that it gave to swift-metrics`() async {
        await #expect(processExitsWith: .success) {
            let app = AppBackEnd()
            MetricsSystem.bootstrap(app)
            let counter = CounterFamily<TestColor>("test_app_total", "Counted.")
            let gauge = TidemarkTelemetry.Gauge("test_app", "There.")
            let times = Histogram("test_app_seconds", "Times.", .times)
            let counts = Histogram("test_app_counts", "Counts.", .counts)
            counter.increment(.deepBlue, by: 2)
            gauge.add(5)
            gauge.add(-1)
            times.observe(.microseconds(3))
            counts.observe(9)
            precondition(counter.value(.deepBlue) == 2 && times.count == 1)
            let expected: [String: [Int64]] = [
                "test_app_total color=red": [], "test_app_total color=deep_blue": [2], "test_app": [5, 4],
                "test_app_seconds": [3_000], "test_app_counts": [9],
            ]
            precondition(app.values == expected, "\(app.values)")
        }
    }

    @Test func `R-812: in a server they are not passed on, and libraries' metrics are in the text`() async {
        await #expect(processExitsWith: .success) {
            Measurements.collectFromLibraries()
            Measurements.collectFromLibraries()
            let own = TidemarkTelemetry.Counter("test_own_total", "Counted.")
            own.increment()
            Metrics.Counter(label: "library.events").increment(by: 4)
            let text = Measurements.text
            precondition(text.contains("\nlibrary_events_total 4\n"), text)
            precondition(text.contains("\ntest_own_total 1\n"), text)
            precondition(text.components(separatedBy: "test_own_total ").count == 4, "once: HELP, TYPE and value")
        }
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
