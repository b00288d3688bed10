// SPDX-License-Identifier: Apache-2.0

import Metrics
import Testing
import TidemarkTestSupport

@testable import TidemarkTelemetry

/// What libraries measure by swift-metrics.
@Suite struct LibraryMetricsTests {
    private static let droppedName = "tidemark_library_metrics_dropped_total"

    private func scrape(_ metrics: LibraryMetrics) throws -> MetricsScrape {
        var text = ""
        metrics.write(to: &text)
        return try MetricsScrape(text)
    }

    @Test func `R-813: each kind of metric of a library is shown, named as Prometheus wants it`() throws {
        let library = LibraryMetrics()
        let path = [("path", "/a\"b\\\n"), ("le", "x")]
        Metrics.Counter(label: "http.requests", dimensions: path, factory: library).increment(by: 3)
        Metrics.FloatingPointCounter(label: "energy_total", factory: library).increment(by: 1.5)
        let meter = Metrics.Meter(label: "1st-queue", factory: library)
        meter.set(4)
        meter.decrement(by: 0.5)
        Metrics.Gauge(label: "level", factory: library).record(7)
        let recorder = Metrics.Recorder(label: "sizes", factory: library)
        recorder.record(10)
        recorder.record(2.5)
        let timer = Metrics.Timer(label: "work", factory: library)
        timer.recordMilliseconds(2)
        timer.recordSeconds(60)
        let scrape = try scrape(library)
        #expect(scrape.value("http_requests_total", ["path": "/a\"b\\\n", "ofle": "x"]) == 3)
        #expect(scrape.value("energy_total") == 1.5)
        #expect(scrape.value("_1st_queue") == 3.5 && scrape.value("level") == 7)
        #expect(scrape["sizes"]?.type == "summary")
        #expect(scrape.value("sizes_sum") == 12.5 && scrape.value("sizes_count") == 2)
        #expect(scrape.value("work_seconds_bucket", ["le": "0.001"]) == 0)
        #expect(scrape.value("work_seconds_bucket", ["le": "0.0025"]) == 1)
        #expect(scrape.value("work_seconds_count") == 2 && scrape.value("work_seconds_sum") == 60.002)
        #expect(scrape["http_requests_total"]?.help == "A metric of a library: http.requests")
        #expect(scrape.value(Self.droppedName) == 0)
    }

    @Test func `R-813: what a library asks for twice is one series, until both need it no more`() throws {
        let library = LibraryMetrics()
        let first = Metrics.Counter(label: "shared", factory: library)
        let second = Metrics.Counter(label: "shared", factory: library)
        first.increment()
        second.increment()
        #expect(try scrape(library).value("shared_total") == 2)
        first.destroy()
        #expect(try scrape(library).value("shared_total") == 2)
        second.destroy()
        #expect(try scrape(library)["shared_total"] == nil)
        let gauge = Metrics.Gauge(label: "shared", factory: library)
        gauge.record(3)
        #expect(try scrape(library).value("shared") == 3)
        gauge.destroy()
        #expect(try scrape(library)["shared"] == nil)
    }

    @Test func `R-813: more series than the bound are counted in one, and room that is given back is used again`()
        throws
    {
        var bounds = LibraryMetrics.Bounds()
        bounds.seriesMax = 3
        let library = LibraryMetrics(bounds: bounds)
        let counters = (0..<5).map {
            Metrics.Counter(label: "paths", dimensions: [("path", "\($0)")], factory: library)
        }
        for counter in counters { counter.increment(by: 10) }
        Metrics.Timer(label: "late", factory: library).recordSeconds(1)
        let full = try scrape(library)
        #expect(full["paths_total"]?.samples.count == 3 && full["late_seconds"] == nil)
        #expect(full.value(Self.droppedName) == 3, "each value is counted, however large")
        counters[0].destroy()
        Metrics.Timer(label: "later", factory: library).recordSeconds(1)
        #expect(try scrape(library).value("later_seconds_count") == 1)
        #expect(try scrape(library).value(Self.droppedName) == 3)
    }

    @Test(
        arguments: [
            ("", []), ("tidemark_requests", []), ("process.open.fds", []), (String(repeating: "a", count: 129), []),
            ("long", [("path", String(repeating: "a", count: 129))]), ("none", [("", "a")]),
            ("twice", [("a.b", "1"), ("a_b", "2")]), ("many", (0..<9).map { ("l\($0)", "") }),
        ] as [(String, [(String, String)])])
    func `R-813: names and labels that cannot be shown are counted as dropped`(
        label: String, dimensions: [(String, String)]
    ) throws {
        let library = LibraryMetrics()
        Metrics.Counter(label: label, dimensions: dimensions, factory: library).increment()
        Metrics.Recorder(label: label, dimensions: dimensions, factory: library).record(5)
        Metrics.Gauge(label: label, dimensions: dimensions, factory: library).record(5)
        Metrics.Timer(label: label, dimensions: dimensions, factory: library).recordNanoseconds(5)
        let scrape = try scrape(library)
        #expect(scrape.families.map(\.name) == [Self.droppedName])
        #expect(scrape.value(Self.droppedName) == 4)
    }

    @Test func `R-813: two metrics never write lines of one name`() throws {
        let library = LibraryMetrics()
        Metrics.Recorder(label: "a", factory: library).record(1)
        Metrics.Gauge(label: "a", factory: library).record(1)
        Metrics.Gauge(label: "a_count", factory: library).record(1)
        Metrics.Gauge(label: "b_sum", factory: library).record(1)
        Metrics.Timer(label: "b_sum", factory: library).recordSeconds(1)
        Metrics.Recorder(label: "b", factory: library).record(1)
        let scrape = try scrape(library)
        #expect(scrape.families.map(\.name) == [Self.droppedName, "a", "b_sum", "b_sum_seconds"])
        #expect(scrape.value(Self.droppedName) == 3)
    }
}
