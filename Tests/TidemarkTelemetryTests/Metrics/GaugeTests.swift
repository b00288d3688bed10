// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkTestSupport

@testable import TidemarkTelemetry

@Suite struct GaugeTests {
    @Test func `R-810: an observed gauge is the sum of its parts, each for as long as it is observed`() throws {
        let gauge = ObservedGauge<TestColor>("test_observed", "Parts.")
        let number = Mutex(5)
        let first = gauge.observe(.red) { number.withLock { $0 } }
        do {
            let second = gauge.observe(.red) { 10 }
            withExtendedLifetime(second) { #expect(gauge.value(.red) == 15) }
        }
        #expect(gauge.value(.red) == 5)
        number.withLock { $0 = 7 }
        try withExtendedLifetime(first) {
            let scrape = try MetricsScrape(Measurements.text)
            #expect(scrape.value("test_observed", ["color": "red"]) == 7)
            #expect(scrape.value("test_observed", ["color": "deep_blue"]) == 0)
        }
    }

    @Test func `R-810: what stays the same is in labels, with any text`() throws {
        _ = InfoMetric("test_info", "About it.", ["version": "1.0 \"beta\" \\ \n", "os": "linux"])
        let scrape = try MetricsScrape(Measurements.text)
        #expect(scrape.value("test_info", ["version": "1.0 \"beta\" \\ \n", "os": "linux"]) == 1)
    }
}
