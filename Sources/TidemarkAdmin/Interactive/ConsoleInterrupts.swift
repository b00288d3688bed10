// SPDX-License-Identifier: Apache-2.0

/// What Ctrl-C does in a console while a line is carried out.
///
/// The first one takes the command back. A command that waits for something that the system does not end may hold the console
/// all the same. Then a second one leaves the console, but not before the command had its time: whoever presses twice in
/// impatience stays.
package struct ConsoleInterrupts: Sendable {
    /// What to do at an interrupt.
    package enum Action: Sendable, Equatable {
        case nothing
        /// Take the command back.
        case abandon
        /// End the process.
        case leave
    }

    private enum State {
        case idle
        case running
        case abandoned(since: Duration)
    }

    /// How long a command may hold the console after it was abandoned.
    package static let patience = Duration.seconds(5)
    /// The status of a console that was left, as shells give it for SIGINT.
    package static let status: Int32 = 130

    private var state = State.idle

    package init() {}

    /// A line is carried out.
    package mutating func began() { state = .running }

    /// The prompt is back.
    package mutating func ended() { state = .idle }

    /// Ctrl-C.
    ///
    /// - Parameter now: of a clock that only grows.
    package mutating func interrupted(at now: Duration) -> Action {
        switch state {
        case .idle: return .nothing
        case .running:
            state = .abandoned(since: now)
            return .abandon
        case .abandoned(let since):
            return now - since >= Self.patience ? .leave : .nothing
        }
    }
}
