// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTelemetry

@Suite struct MeasurementsTests {
    @Test func `counters and gauges are read as text`() async {
        let counter = Counter("test_events")
        let gauge = Gauge("test_things")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1_000 { counter.increment() } } }
        }
        counter.increment(by: 5)
        gauge.set(7)
        gauge.add(-10)
        #expect(counter.value == 8_005)
        #expect(gauge.value == -3)
        #expect(
            Measurements.text.contains(
                """
                # TYPE tidemark_test_events counter
                tidemark_test_events 8005
                # TYPE tidemark_test_things gauge
                tidemark_test_things -3

                """))
    }
}
