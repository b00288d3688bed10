// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What a line of the console asks for: something of the console itself, or a command.
package enum ConsoleOrder: Sendable, Equatable {
    case nothing
    /// Help for a noun, or for a noun and a verb. Empty: for the console.
    case help([String])
    case use(container: String, environment: EnvironmentName?)
    case context(String)
    case timer(Bool)
    case output(OutputFormat)
    /// Whether a script ends at its first failure.
    case bail(Bool)
    case exit
    case command([String])

    /// The words that only the console knows, for completion.
    static let names = [".bail", ".output", ".timer", "context", "exit", "help", "use"]

    /// - Throws: ``AdminFailure`` for a word of the console with the wrong arguments.
    package init(_ words: [String]) throws(AdminFailure) {
        var words = words
        // Lines of the documents may be pasted as they are.
        if words.first == "tidemark", words.dropFirst().first == "admin" { words.removeFirst() }
        if words.first == "admin" { words.removeFirst() }
        guard let first = words.first else {
            self = .nothing
            return
        }
        let rest = Array(words.dropFirst())
        switch first {
        case "help", "?": self = .help(rest)
        case "exit", "quit", ".exit", ".quit":
            try Self.require(rest.isEmpty, "exit")
            self = .exit
        case "use": self = try Self.use(rest)
        case "context" where rest.count == 1 && !Self.contextVerbs.contains(rest[0]): self = .context(rest[0])
        case ".timer": self = .timer(try Self.isOn(rest, ".timer on|off"))
        case ".bail": self = .bail(try Self.isOn(rest, ".bail on|off"))
        case ".output":
            let form = rest.count == 1 ? OutputFormat(rawValue: rest[0]) : nil
            let names = OutputFormat.allCases.map(\.rawValue).joined(separator: "|")
            guard let form else { throw Self.misuse(".output \(names)") }
            self = .output(form)
        case _ where first.hasPrefix("."):
            let advice = NearestName.of(first, among: Self.names).map { "Did you mean \($0)?" }
            throw AdminFailure(
                .usage, "The console has no \(first.inOneLine). \(advice ?? "Type help to see what it has.")")
        default:
            // Of nouns and verbs their own parser says it.
            if CommandPath.mistake(in: [first], of: Admin.self) != nil,
                let own = NearestName.of(first, among: Self.names)
            {
                throw AdminFailure(.usage, "There is no command \(first.inOneLine). Did you mean \(own)?")
            }
            self = .command(words)
        }
    }

    /// A context with such a name is reached with `--context`.
    private static let contextVerbs = ["list", "show", "add", "select", "remove", "--help", "-h"]

    private static func use(_ words: [String]) throws(AdminFailure) -> ConsoleOrder {
        let form = "use CONTAINER [development|production]"
        try require((1...2).contains(words.count), form)
        // Each later command would get it as an option.
        guard !words[0].hasPrefix("-") else {
            throw AdminFailure(
                .usage,
                "\(words[0].inOneLine) looks like an option, and use takes none. Write: \(form). A container whose identifier "
                    + "begins with a hyphen is named in each command: --container=IDENTIFIER")
        }
        try Console.requireIdentifier(words[0])
        let environment = words.count == 2 ? EnvironmentName(rawValue: words[1]) : nil
        try require(words.count == 1 || environment != nil, form)
        return .use(container: words[0], environment: environment)
    }

    private static func isOn(_ words: [String], _ form: String) throws(AdminFailure) -> Bool {
        try require(words == ["on"] || words == ["off"], form)
        return words == ["on"]
    }

    private static func require(_ condition: Bool, _ form: String) throws(AdminFailure) {
        if !condition { throw misuse(form) }
    }

    private static func misuse(_ form: String) -> AdminFailure { AdminFailure(.usage, "Write: \(form)") }
}
