// SPDX-License-Identifier: Apache-2.0

package import TidemarkScheduling

/// The network of ``MemoryLink``s: how long things take, and what breaks.
///
/// Called in the order of events, so that random answers can be replayed from their seed.
package protocol MemoryNetwork: AnyObject, Sendable {
    /// The scheduler on which everything arrives.
    var timers: any Scheduler { get }

    /// The least time between two messages of one direction. More than zero if the scheduler shuffles events that are
    /// due at one time.
    var spacing: Duration { get }

    /// The time until a connection is made.
    func connectDelay() -> Duration

    /// The time until a message arrives, or until an end learns that the connection is cut.
    func messageDelay() -> Duration

    /// Called twice for each message that arrives: whether the connection breaks before it is delivered, and whether
    /// after.
    func breaksConnection() -> Bool

    /// A connection was cut.
    func connectionCut()
}

/// A network that takes no time and loses nothing.
package final class CalmNetwork: MemoryNetwork {
    package let timers: any Scheduler

    package init(timers: any Scheduler) {
        self.timers = timers
    }

    package var spacing: Duration { .zero }
    package func connectDelay() -> Duration { .zero }
    package func messageDelay() -> Duration { .zero }
    package func breaksConnection() -> Bool { false }
    package func connectionCut() {}
}
