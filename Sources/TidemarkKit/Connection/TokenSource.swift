// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
package import TidemarkScheduling

/// Where the connections of a context get a token before each attempt to connect: code of the app.
///
/// They share one call of it: it may use a refresh token that is good for one use.
package final class TokenSource: Sendable {
    private struct Waiter {
        let since: Duration
        let done: @Sendable (Answer) -> Void
    }

    private struct State {
        /// The number of the last call that began. The answers of earlier ones come too late.
        var lastCall = 0
        /// When the call under way began. Nil: there is none.
        var began: Duration?
        var waiters: [Waiter] = []
    }

    /// Runs the app's code. Never a thread that moves bytes.
    let scheduler: any Scheduler
    private let make: @Sendable () async throws -> String
    private let state = Mutex(State())

    /// How long an attempt waits for a token. Then it has failed: before the requests that wait for it, so that they tell why.
    static let patience = Duration.seconds(30)

    package init(on scheduler: any Scheduler, _ make: @escaping @Sendable () async throws -> String) {
        self.scheduler = scheduler
        self.make = make
    }

    enum Answer: Sendable {
        case token(String)
        case failed(ConnectionFault)
    }

    /// Asks the app, or waits for the call under way. One that has not ended in time is given up, and another begins.
    ///
    /// `done` is called once at most, not before this has returned. It may never be called after ``patience``.
    func ask(_ done: @escaping @Sendable (Answer) -> Void) {
        let now = scheduler.now
        let call = state.withLock { state -> Int? in
            // NB: callers that asked before then no longer wait. A source that never answers keeps only a few.
            state.waiters.removeAll { now - $0.since >= Self.patience }
            state.waiters.append(Waiter(since: now, done: done))
            if let began = state.began, now - began < Self.patience { return nil }
            state.began = now
            state.lastCall += 1
            return state.lastCall
        }
        guard let call else { return }
        scheduler.run { [self] in answer(call, await askApp()) }
    }

    private func askApp() async -> Answer {
        do {
            let token = try await make()
            return token.isEmpty ? .failed("The app's source of tokens gave an empty one.") : .token(token)
        } catch {
            return .failed(ConnectionFault("The app's source of tokens failed: \(error.localizedDescription)"))
        }
    }

    private func answer(_ call: Int, _ answer: Answer) {
        let waiters = state.withLock { state -> [Waiter] in
            guard call == state.lastCall else { return [] }
            state.began = nil
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.done(answer) }
    }
}
