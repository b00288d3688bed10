// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTelemetry
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkService

/// What is counted of writes. In processes of their own, where nobody else counts.
@Suite struct ServiceMetricsTests {
    @Test func `R-815: groups of writes, and whether the cache of zones decided them`() async {
        await #expect(processExitsWith: .success) {
            let fixture = try ServiceFixture()
            let metrics = ServiceMetrics.shared
            let shared = SharedWrites()
            let server = fixture.server(sharedWrites: shared)
            let observation = metrics.writesQueued.observe { shared.requestCount }
            let device = DeviceID(high: 0, low: 1)
            try fixture.scheduler.simulate {
                for counter in UInt64(1)...5 {
                    let id = RequestID(device, counter)
                    _ = try await server.modify(fixture.saving(["r\(counter)"], id: id)).get()
                }
            }
            precondition(metrics.groups.count == 5)
            let hits = metrics.knownZones.value(.hit)
            let misses = ServiceMetrics.KnownZoneResult.allCases.dropFirst().reduce(0) {
                $0 + metrics.knownZones.value($1)
            }
            precondition(hits + misses == 5 && misses >= 1 && hits >= 1, "\(hits) and \(misses)")
            withExtendedLifetime(observation) { precondition(metrics.writesQueued.value == 0) }
        }
    }

    @Test func `R-815: each reason for which the cache does not decide has a value`() {
        let results = CacheMiss.allCases.map { ServiceMetrics.KnownZoneResult($0) }
        #expect(Set(results).count == CacheMiss.allCases.count && !results.contains(.hit))
        #expect(results.map(\.rawValue).sorted() == Array(1...CacheMiss.allCases.count))
    }
}
