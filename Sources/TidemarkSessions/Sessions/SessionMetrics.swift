// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The counters of sessions.
enum SessionMetrics {
    /// Pushes that a device did not acknowledge, when reminded or until its connection ended.
    static let unacknowledgedPushes = Counter("sessions_unacknowledged_pushes")
}
