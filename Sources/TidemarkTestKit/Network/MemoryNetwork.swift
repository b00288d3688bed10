// SPDX-License-Identifier: Apache-2.0

package import TidemarkScheduling

/// The network that ``MemoryLink``s go over: how long things take, and what breaks.
///
/// Asked in the order in which things happen, so that answers from dice replay with their seed.
package protocol MemoryNetwork: AnyObject, Sendable {
    /// Where everything arrives.
    var timers: any Scheduler { get }

    /// How much later than the one before a message of the same direction arrives at the least: more than nothing where
    /// the scheduler shuffles what is due at one time.
    var spacing: Duration { get }

    /// Until a connection stands.
    func connectDelay() -> Duration

    /// Until a message arrives, or an end learns that the connection is cut.
    func messageDelay() -> Duration

    /// Asked twice for each message that arrives: whether the connection breaks before it is handed over, and whether after.
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
