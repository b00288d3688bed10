// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Whether a load balancer may send more devices to a server. From any thread.
final class ServingState: Sendable {
    private enum Stage {
        case starting
        case serving
        /// It goes on serving for a while, and then ends.
        case stopping
    }

    private let state = Mutex((stage: Stage.starting, hasTables: true))

    /// It accepts devices. One that stops never serves again.
    func serve() {
        state.withLock { if $0.stage == .starting { $0.stage = .serving } }
    }

    /// - Returns: false if it already stops.
    func stop() -> Bool {
        state.withLock { state in
            defer { state.stage = .stopping }
            return state.stage != .stopping
        }
    }

    /// Whether the database has the tables of this version.
    func noteTables(areThere: Bool) {
        state.withLock { $0.hasTables = areThere }
    }

    /// Why no more devices should come; nil: the server is ready.
    func obstacle(storeAnswers: Bool) -> String? {
        let (stage, hasTables) = state.withLock { $0 }
        switch stage {
        case .starting: return "the server starts"
        case .stopping: return "the server stops"
        case .serving:
            guard storeAnswers else { return "the store does not answer" }
            return hasTables ? nil : "the database does not have this version's tables"
        }
    }
}
