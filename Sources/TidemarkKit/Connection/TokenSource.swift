// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import TidemarkScheduling

/// Where a connection gets a token before each attempt to connect: code of the app.
package struct TokenSource: Sendable {
    /// Runs the app's code. Never a thread that moves bytes.
    let scheduler: any Scheduler
    private let make: @Sendable () async throws -> String

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

    /// Asks the app. `done` is called once, not before this has returned.
    func ask(_ done: @escaping @Sendable (Answer) -> Void) {
        scheduler.run { [make] in
            do {
                let token = try await make()
                done(token.isEmpty ? .failed("The app's source of tokens gave an empty one.") : .token(token))
            } catch {
                done(.failed(ConnectionFault("The app's source of tokens failed: \(error.localizedDescription)")))
            }
        }
    }
}
