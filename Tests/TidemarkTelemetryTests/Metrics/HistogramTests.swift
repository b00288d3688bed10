// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkTelemetry

@Suite struct HistogramTests {
    private func bucket(_ name: String, _ end: String) throws -> Double? {
        try MetricsScrape(Measurements.text).value("\(name)_bucket", ["le": end])
    }

    @Test func `R-811: a value is in the bucket whose bound it does not exceed, and in all larger ones`() throws {
        let times = Histogram("test_bounds_seconds", "Times.", .times)
        times.observe(.microseconds(100))
        times.observe(.microseconds(100) + .nanoseconds(1))
        times.observe(.seconds(30))
        times.observe(.seconds(31))
        #expect(try bucket("test_bounds_seconds", "0.0001") == 1)
        #expect(try bucket("test_bounds_seconds", "0.00025") == 2)
        #expect(try bucket("test_bounds_seconds", "10") == 2)
        #expect(try bucket("test_bounds_seconds", "30") == 3)
        #expect(try bucket("test_bounds_seconds", "+Inf") == 4)
        let scrape = try MetricsScrape(Measurements.text)
        #expect(scrape.value("test_bounds_seconds_sum") == 61.000200001)
        #expect(scrape.value("test_bounds_seconds_count") == 4)
    }

    @Test func `R-811: buckets of times reach from 100 µs to 30 s, with three or two of each power of ten`() {
        let bounds = MetricBuckets.times.bounds
        #expect(bounds.first == 100_000 && bounds.last == 30_000_000_000)
        for (bound, next) in zip(bounds, bounds.dropFirst()) {
            #expect(next > bound && next <= 3 * bound, "\(bound)")
        }
    }

    @Test func `R-811: counts of things, no time and a clock that goes back`() throws {
        let counts = HistogramFamily<TestColor>("test_groups", "Groups.", .counts)
        for count in [0, 1, 2, 3, 1_024, 1_025] { counts.observe(count, .red) }
        let times = Histogram("test_back_seconds", "Times.", .times)
        times.observe(.zero)
        times.observe(.seconds(-1))
        let scrape = try MetricsScrape(Measurements.text)
        #expect(scrape.value("test_groups_bucket", ["color": "red", "le": "1"]) == 2)
        #expect(scrape.value("test_groups_bucket", ["color": "red", "le": "4"]) == 4)
        #expect(scrape.value("test_groups_bucket", ["color": "red", "le": "1024"]) == 5)
        #expect(scrape.value("test_groups_count", ["color": "red"]) == 6)
        #expect(scrape.value("test_groups_sum", ["color": "red"]) == 2_055)
        #expect(scrape.value("test_groups_count", ["color": "deep_blue"]) == 0)
        #expect(scrape.value("test_back_seconds_count") == 2 && scrape.value("test_back_seconds_sum") == 0)
    }
}
