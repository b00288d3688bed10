// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// What sessions count.
enum SessionMetrics {
    /// Pushes of which a device did not say, when asked or until its connection ended, that it heard them.
    static let unacknowledgedPushes = Counter("sessions_unacknowledged_pushes")
}
