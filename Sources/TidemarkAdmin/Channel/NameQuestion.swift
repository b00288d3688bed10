// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What a program asks a server when somebody presses Tab. Names travel as the output of a command. It is none: no
/// operator types it, and it has no part in the audit, as a list has none. One press of a key would be a row there.
struct NameQuestion: Sendable, Equatable {
    /// Stands in the place of a command's noun. An earlier server answers that there is no such command.
    static let word = "completion-names"

    /// How long a server may take. Who waits for it waits less: a later Tab gets the answer.
    static let deadline = Duration.seconds(5)

    let kind: LiveName
    let prefix: String
    /// Whose zones.
    let account: String?

    /// What follows a name. No name has it, because PostgreSQL keeps it in no text.
    private static let end: Character = "\0"
    /// As many as a store tells.
    private static let namesMax = 200
    /// Bytes of all of them, with their ends.
    private static let bytesMax = 262_144

    init(_ kind: LiveName, prefix: String, account: String?) {
        self.kind = kind
        self.prefix = prefix
        self.account = account
    }

    /// Nil if the words ask for nothing that a store has.
    init?(words: [String]) {
        guard words.first == Self.word, words.count == 3 || words.count == 4, let kind = LiveName(rawValue: words[1]),
            kind != .contexts
        else { return nil }
        self.init(kind, prefix: words[2], account: words.count == 4 ? words[3] : nil)
    }

    var words: [String] { [Self.word, kind.rawValue, prefix] + (account.map { [$0] } ?? []) }

    /// The answer as a server writes it.
    static func text(of names: [String]) -> String { names.map { "\($0)\(end)" }.joined() }

    /// The names of an answer that begin as what was asked for. A name without its end was cut off, and is left out.
    func names(in text: String) -> [String] {
        let parts = text.split(separator: Self.end, omittingEmptySubsequences: false).dropLast()
        return parts.lazy.map { String($0) }.filter { !$0.isEmpty && $0.hasPrefix(prefix) }.prefix(Self.namesMax)
            .map(\.self)
    }

    /// Asks a server.
    ///
    /// - Throws: ``AdminFailure`` or ``CommandEnd`` if it does not answer, also if it is of an earlier version.
    func ask(_ server: OperatorTarget, _ target: AdminTarget) async throws -> [String] {
        let answer = NameAnswer(bytesMax: Self.bytesMax)
        let status = try await CommandSender.run(
            SentCommand(self, target), on: server, answer, deadline: Self.deadline)
        guard status == .ok else { throw AdminFailure(status, "The server told no names.") }
        return names(in: answer.text)
    }
}

/// Keeps what a server answers. Nobody hears its messages, and it is given no file.
private final class NameAnswer: OperatorTerminal {
    let hasColor = false
    let canAsk = false
    let hasLocalFiles = true
    private let bytesMax: Int
    private let kept = Mutex("")

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    var text: String { kept.withLock { $0 } }

    func write(_ text: String) async throws {
        let isEnough = kept.withLock { kept in
            guard kept.utf8.count + text.utf8.count <= bytesMax else { return true }
            kept += text
            return false
        }
        if isEnough { throw CommandEnd.readerGone }
    }

    func say(_ text: String) {}
    func showProgress(_ text: String?) {}
    func ask(_ question: String) async -> String? { nil }
    func mayRead(_ path: String) -> Bool { false }

    func open(_ path: String) throws(AdminFailure) -> InputFile {
        throw AdminFailure(.refused, "Nothing is read while a name is completed.")
    }
}
