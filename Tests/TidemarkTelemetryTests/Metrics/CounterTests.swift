// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkTelemetry

/// Labels of the tests.
enum TestColor: Int, MetricLabel {
    case red, deepBlue

    static let label = "color"
}

enum TestShape: Int, MetricLabel {
    case round, square, long

    static let label = "shape"
}

@Suite struct CounterTests {
    @Test func `R-810: each value of a label has a number of its own, and all are shown from the first on`() throws {
        let counter = CounterFamily<TestColor>("test_colors_total", "Colors.")
        counter.increment(.deepBlue, by: 3)
        #expect(counter.value(.red) == 0 && counter.value(.deepBlue) == 3)
        let scrape = try MetricsScrape(Measurements.text)
        #expect(scrape.value("test_colors_total", ["color": "red"]) == 0)
        #expect(scrape.value("test_colors_total", ["color": "deep_blue"]) == 3)
        #expect(scrape["test_colors_total"]?.samples.count == 2)
    }

    @Test func `R-810: with two labels each pair has a number`() throws {
        let counter = CounterGrid<TestColor, TestShape>("test_pairs_total", "Pairs.")
        let all = TestColor.allCases.flatMap { color in TestShape.allCases.map { (color, $0) } }
        for (index, (color, shape)) in all.enumerated() {
            for _ in 0...index { counter.increment(color, shape) }
        }
        let scrape = try MetricsScrape(Measurements.text)
        for (index, (color, shape)) in all.enumerated() {
            #expect(counter.value(color, shape) == index + 1)
            let labels = ["color": color.text, "shape": shape.text]
            #expect(scrape.value("test_pairs_total", labels) == Double(index + 1), "\(labels)")
        }
        #expect(scrape["test_pairs_total"]?.samples.count == 6)
    }

    @Test func `R-810: threads that count at once lose nothing`() async throws {
        let counter = CounterFamily<TestColor>("test_busy_total", "Busy.")
        let times = HistogramFamily<TestColor>("test_busy_seconds", "Busy.", .times)
        let gauge = Gauge("test_busy", "Busy.")
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        gauge.add(1)
                        counter.increment(worker % 2 == 0 ? .red : .deepBlue)
                        times.observe(.milliseconds(worker), .red)
                        gauge.add(-1)
                    }
                }
            }
        }
        #expect(counter.value(.red) == 4_000 && counter.value(.deepBlue) == 4_000)
        #expect(times.count(.red) == 8_000 && times.count(.deepBlue) == 0 && gauge.value == 0)
        let sum = try MetricsScrape(Measurements.text).value("test_busy_seconds_sum", ["color": "red"])
        #expect(sum == 28.0)
    }

    @Test func `R-810: a counter of seconds is as exact as its clock`() throws {
        let counter = SecondsCounter("test_worked_seconds_total", "Worked.")
        counter.advance(to: .seconds(1_000_000) + .nanoseconds(20))
        #expect(Measurements.text.contains("\ntest_worked_seconds_total 1000000.00000002\n"))
    }
}
