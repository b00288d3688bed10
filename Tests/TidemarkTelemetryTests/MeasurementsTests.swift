// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkTelemetry

@Suite struct MeasurementsTests {
    @Test func `R-810: counters and gauges are read as text, with a line of help`() throws {
        let counter = Counter("test_events_total", "What \"happened\",\nwith a \\.")
        let gauge = Gauge("test_things", "What is there.")
        counter.increment(by: 5)
        gauge.set(7)
        gauge.add(-10)
        #expect(counter.value == 5 && gauge.value == -3)
        let text = Measurements.text
        #expect(
            text.contains(
                """
                # HELP test_events_total What "happened",\\nwith a \\\\.
                # TYPE test_events_total counter
                test_events_total 5

                """))
        #expect(text.contains("# HELP test_things What is there.\n# TYPE test_things gauge\ntest_things -3\n"))
        let scrape = try MetricsScrape(text)
        #expect(scrape["test_events_total"]?.help == "What \"happened\",\nwith a \\.")
        #expect(scrape.value("test_things") == -3)
    }

    @Test func `R-810: ours come in the order of their names, and a name once`() throws {
        _ = Counter("test_twice_total", "Made twice.")
        let second = Counter("test_twice_total", "Made twice.")
        second.increment(by: 2)
        let scrape = try MetricsScrape(Measurements.text)
        #expect(scrape.value("test_twice_total") == 2)
        let names = scrape.families.map(\.name).filter { $0.hasPrefix("test_") }
        #expect(names == names.sorted())
    }
}
