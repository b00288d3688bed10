// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
package import TidemarkTelemetry

/// The metrics of writes and assets for operators.
package final class ServiceMetrics: Sendable {
    /// The direction of an asset's bytes.
    enum Direction: Int, MetricLabel {
        /// From a device.
        case up
        /// To a device.
        case down

        static let label = "direction"
    }

    /// Whether the cache of zones decided a group of writes, and why not.
    enum KnownZoneResult: Int, MetricLabel {
        case hit
        case zoneUnknown, recordsUnknown, zoneMoved, schemaUnknown, nothingToWrite, notPlain, outdated, rejected

        static let label = "result"

        init(_ miss: CacheMiss) {
            self =
                switch miss {
                case .zoneUnknown: .zoneUnknown
                case .recordsUnknown: .recordsUnknown
                case .zoneMoved: .zoneMoved
                case .schemaUnknown: .schemaUnknown
                case .nothingToWrite: .nothingToWrite
                case .notPlain: .notPlain
                case .outdated: .outdated
                case .rejected: .rejected
                }
        }
    }

    package static let shared = ServiceMetrics()

    /// ``SharedWrites/requestCount``
    package let writesQueued = ObservedGauge<NoLabel>(
        "tidemark_write_queue_requests",
        "Requests that save or delete records and wait for their transaction or for its end.")
    let groups = Histogram(
        "tidemark_write_group_requests", "Requests that were written together in one transaction.", .counts)
    let knownZones = CounterFamily<KnownZoneResult>(
        "tidemark_known_zones_decisions_total",
        "Groups of writes that the cache of known zones decided (hit), or that had to lock and read the zones, and why."
    )
    let assetBytes = CounterFamily<Direction>(
        "tidemark_asset_bytes_total", "Bytes of assets that devices have sent (up) and fetched (down).")

    let queryFirings = Counter(
        "tidemark_query_firings_total", "Query subscriptions that changes of this server have fired.")
    let queryChangesLost = Counter(
        "tidemark_query_changes_lost_total",
        "How often so many changes waited for query subscriptions that all of a database were told to look themselves.")

    private init() {}

    func count(_ known: Result<GroupDecision, CacheMiss>) {
        switch known {
        case .success: knownZones.increment(.hit)
        case .failure(let miss): knownZones.increment(KnownZoneResult(miss))
        }
    }
}
