// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The kind of peers of a ``TransportServer``. Connections are counted by it.
package enum ListenerKind: Int, MetricLabel {
    /// Devices, and any other peers of the server's own addresses.
    case clients
    /// Load balancers that ask for `/healthz` alone.
    case health
    /// Operators, and what scrapes metrics.
    case admin

    package static let label = "listener"
}
