// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import TidemarkAdmin

/// Keeps what a command says, and answers its questions.
final class RecordingTerminal: OperatorTerminal {
    let hasColor: Bool
    let canAsk: Bool
    let hasLocalFiles = true
    private let answers: Mutex<[String]>
    private let written = Mutex(State())

    private struct State {
        var data = ""
        var messages: [String] = []
        var questions: [String] = []
    }

    /// - Parameter answers: in order; nil: nobody can be asked.
    init(answers: [String]? = nil, hasColor: Bool = false) {
        self.hasColor = hasColor
        canAsk = answers != nil
        self.answers = Mutex(answers ?? [])
    }

    var data: String { written.withLock { $0.data } }
    var messages: [String] { written.withLock { $0.messages } }
    var questions: [String] { written.withLock { $0.questions } }

    func write(_ text: String) async throws { written.withLock { $0.data += text } }
    func say(_ text: String) { written.withLock { $0.messages.append(text) } }
    func showProgress(_ text: String?) {}

    func ask(_ question: String) async -> String? {
        written.withLock { $0.questions.append(question) }
        return answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func open(_ path: String) throws(AdminFailure) -> InputFile { try InputFile(path: path) }
}
