// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Answers shells that ask for names. Nothing that goes wrong is said: whoever presses Tab wants no messages.
package enum CompletionProgram {
    /// With this argument before all others ArgumentParser asks for names, and parses nothing.
    package static let mark = "---completion"

    /// Long enough to connect to a database that is far away.
    private static let limit = Duration.seconds(1)

    /// - Parameters:
    ///   - words: the whole line, with the program's name.
    ///   - index: of the word to complete.
    ///   - prefix: what is typed of it.
    static func names(_ name: LiveName, words: [String], index: Int, prefix: String) -> [String] {
        let variables = ProcessInfo.processInfo.environment
        var before = words.prefix(max(index, 0)).dropFirst()
        if before.first == "admin" { before.removeFirst() }
        let expectation = CommandTree.admin.expectation(after: Array(before), prefix: prefix)
        return NameLookup().names(name, expectation, prefix: prefix, limit) {
            try await names(name, expectation, prefix: prefix, variables: variables)
        }
    }

    private static func names(
        _ name: LiveName, _ expectation: CompletionExpectation, prefix: String, variables: [String: String]
    ) async throws -> [String] {
        let contexts = ContextFile(variables: variables)
        if name == .contexts {
            return try contexts.read().contexts.map(\.name).filter { $0.hasPrefix(prefix) }
        }
        let options = try AdminOptions.parse(
            places.flatMap { place in
                expectation.options[place].map { ["--\(place)", $0] } ?? []
            })
        let target = try AdminTarget(options, variables: variables) { () throws(AdminFailure) in try contexts.read() }
        if let server = try OperatorTarget(target, variables: variables) {
            return try await NameQuestion(name, prefix: prefix, account: expectation.account).ask(server, target)
        }
        let screen = Screen(output: .name, terminal: SilentTerminal())
        let found = Mutex<[String]>([])
        try await AdminProgram.withConsole(target, screen) { console in
            let names = try await console.names(name, prefix: prefix, account: expectation.account)
            found.withLock { $0 = names }
        }
        return found.withLock { $0 }
    }

    private static let places = ["context", "database-url", "container", "environment"]
}

/// Looks for names for a short while. What arrives too late is there the next time.
package final class NameLookup: Sendable {
    private struct Known {
        let key: String
        let names: [String]
        let time: ContinuousClock.Instant
    }

    private struct State {
        var known: Known?
        /// Left by the question under way when it has its answer.
        var open: DispatchGroup?
        /// Counts how often names were forgotten.
        var generation = 0

        /// What the question with this key was answered lately.
        func names(_ key: String) -> [String]? {
            guard let known, known.key == key, ContinuousClock.now - known.time < lifetime else { return nil }
            return known.names
        }
    }

    private let state = Mutex(State())

    /// So long names are not asked for again.
    private static let lifetime = Duration.seconds(5)

    package init() {}

    /// Forgets the names, also those that are asked for now: the next question may be of another place.
    func forget() {
        state.withLock { state in
            state.known = nil
            state.generation += 1
        }
    }

    /// Blocks the calling thread for at most `limit`. Empty if the names are not known by then. There is one
    /// question at a time, so an earlier one is waited for first.
    func names(
        _ kind: LiveName, _ expectation: CompletionExpectation, prefix: String, _ limit: Duration,
        _ work: @escaping @Sendable () async throws -> [String]
    ) -> [String] {
        let options = expectation.options.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let key = ([kind.rawValue, prefix, expectation.account ?? ""] + options).joined(separator: "\n")
        let deadline = DispatchTime.now() + .milliseconds(Int(limit / .milliseconds(1)))
        // Twice at most: for an earlier question, and for this one.
        for _ in 0..<2 {
            let (names, open) = state.withLock { ($0.names(key), $0.open) }
            if let names { return names }
            guard (open ?? ask(key, work)).wait(timeout: deadline) == .success else { return [] }
        }
        return state.withLock { $0.names(key) } ?? []
    }

    /// - Returns: what is left when the answer has come.
    private func ask(_ key: String, _ work: @escaping @Sendable () async throws -> [String]) -> DispatchGroup {
        let question = DispatchGroup()
        question.enter()
        let generation = state.withLock { state in
            state.open = question
            return state.generation
        }
        Task.detached { [self] in
            // After a failure they are asked for again.
            let names = try? await work()
            state.withLock { state in
                if state.open === question { state.open = nil }
                guard state.generation == generation else { return }
                state.known = names.map { Known(key: key, names: $0, time: .now) }
            }
            question.leave()
        }
        return question
    }
}

/// Nobody hears it, and nobody can be asked.
struct SilentTerminal: OperatorTerminal {
    var hasColor: Bool { false }
    var canAsk: Bool { false }
    var hasLocalFiles: Bool { true }

    func write(_ text: String) async throws {}
    func say(_ text: String) {}
    func showProgress(_ text: String?) {}
    func ask(_ question: String) async -> String? { nil }
    func open(_ path: String) throws(AdminFailure) -> InputFile { try InputFile(path: path) }
}
