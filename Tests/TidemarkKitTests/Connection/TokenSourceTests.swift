// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct TokenSourceTests {
    private struct Broken: Error {}

    /// An app that answers a call when the test says so.
    private final class App: Sendable {
        let calls = Mutex<[CheckedContinuation<String, any Error>]>([])

        func make() async throws -> String {
            try await withCheckedThrowingContinuation { continuation in calls.withLock { $0.append(continuation) } }
        }

        var callCount: Int { calls.withLock { $0.count } }

        func end(_ call: Int, _ result: Result<String, any Error>) {
            calls.withLock { $0[call] }.resume(with: result)
        }
    }

    /// What was answered, in order.
    private final class Answers: Sendable {
        private let texts = Mutex<[String]>([])

        var all: [String] { texts.withLock { $0 } }

        func take(_ answer: TokenSource.Answer) {
            let text =
                switch answer {
                case .token(let token): token
                case .failed: "failed"
                }
            texts.withLock { $0.append(text) }
        }
    }

    private let scheduler = ManualScheduler()
    private let app = App()
    private let answers = Answers()
    private let source: TokenSource

    init() {
        source = TokenSource(on: scheduler) { [app] in try await app.make() }
    }

    private func ask() {
        source.ask { [answers] in answers.take($0) }
        scheduler.runUntilIdle()
    }

    private func end(_ call: Int, _ result: Result<String, any Error>) {
        app.end(call, result)
        scheduler.runUntilIdle()
    }

    @Test func `R-928: connections that ask while the app is asked share its answer`() {
        for _ in 0..<6 { ask() }
        #expect(app.callCount == 1 && answers.all.isEmpty)
        end(0, .success("one"))
        #expect(answers.all == Array(repeating: "one", count: 6))
        ask()
        #expect(app.callCount == 2, "an answer is for those who waited for it")
        end(1, .success("two"))
        #expect(answers.all.suffix(1) == ["two"] && answers.all.count == 7)
    }

    @Test func `R-928: all who wait hear that the app failed, and the next one asks it again`() {
        for _ in 0..<3 { ask() }
        end(0, .failure(Broken()))
        #expect(answers.all == ["failed", "failed", "failed"])
        ask()
        end(1, .success(""))
        #expect(answers.all.suffix(1) == ["failed"], "an empty token is none")
        ask()
        end(2, .success("three"))
        #expect(answers.all.suffix(1) == ["three"] && app.callCount == 3)
    }

    @Test func `R-928: a call that hangs is given up, and what it says later is not heard`() {
        ask()
        scheduler.advance(by: TokenSource.patience - .seconds(1))
        ask()
        #expect(app.callCount == 1)
        scheduler.advance(by: .seconds(1))
        ask()
        #expect(app.callCount == 2 && answers.all.isEmpty)
        end(0, .success("late"))
        #expect(answers.all.isEmpty)
        end(1, .success("new"))
        #expect(answers.all == ["new", "new"], "the first one has waited too long and asks again by itself")
        ask()
        end(2, .success("next"))
        #expect(answers.all == ["new", "new", "next"])
    }
}
