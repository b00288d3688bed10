// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// Who connects to a ``TransportServer``. Connections are counted by it.
package enum ListenerKind: Int, MetricLabel {
    /// Devices, and whoever else reaches the server's own addresses.
    case clients
    /// Load balancers that ask for `/healthz` alone.
    case health
    /// Operators, and what scrapes metrics.
    case admin

    package static let label = "listener"
}
