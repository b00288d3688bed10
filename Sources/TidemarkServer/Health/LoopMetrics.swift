// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The counters of a server's event loops, for operators.
enum LoopMetrics {
    /// Turns of event loops for which a processor worked 5 ms or more. A busy loop has some: a turn ends after 5 ms and a
    /// few pieces of work more. A loop without much to do has none, unless one piece took so long.
    static let heldTurns = Counter("server_held_turns")
}
