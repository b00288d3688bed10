// SPDX-License-Identifier: Apache-2.0

/// What pressing Tab does to a line.
package struct ConsoleCompletion: Sendable, Equatable {
    /// What is put in at the cursor.
    package var insertion = ""
    /// What may be meant, if that is more than one and nothing can be put in.
    package var choices: [String] = []

    /// - Parameters:
    ///   - candidates: whole words, each of which begins with `prefix`.
    ///   - quote: the quotation mark that is open at the cursor.
    init(_ candidates: [String], prefix: String, quote: Character?) {
        let sorted = Set(candidates).sorted()
        guard let first = sorted.first, let last = sorted.last else { return }
        let isOnly = sorted.count == 1
        // All of a sorted list have what its ends have.
        let common = isOnly ? first : String(zip(first, last).prefix { $0 == $1 }.map(\.0))
        insertion = ConsoleText.typed(common.dropFirst(prefix.count), in: quote)
        if isOnly {
            insertion += (quote.map { String($0) } ?? "") + " "
        } else if insertion.isEmpty {
            choices = sorted
        }
    }

    package init() {}
}

/// Completes words of the console: its own, those of commands, and names of the store.
enum ConsoleCompleter {
    /// - Parameters:
    ///   - text: the line up to the cursor, and the lines before that it goes on with.
    ///   - names: of a kind, as far as they can be had at once.
    static func completion(
        of text: String, _ names: (LiveName, CompletionExpectation, _ prefix: String) -> [String]
    ) -> ConsoleCompletion {
        let parsed = ConsoleText(text)
        var words = parsed.words
        var prefix = parsed.endsInWord ? words.popLast() ?? "" : ""
        if words.first == "tidemark", words.dropFirst().first == "admin" { words.removeFirst(2) }
        // `--container=NAME`: the value alone is completed.
        if prefix.hasPrefix("--"), let sign = prefix.firstIndex(of: "=") {
            words.append(String(prefix[..<sign]))
            prefix = String(prefix[prefix.index(after: sign)...])
        }
        let expectation = expectation(after: words, prefix: prefix)
        let live = expectation.live.map { names($0, expectation, prefix) } ?? []
        return ConsoleCompletion(
            (expectation.words + live).filter { $0.hasPrefix(prefix) }, prefix: prefix, quote: parsed.openQuote)
    }

    private static func expectation(after words: [String], prefix: String) -> CompletionExpectation {
        let tree = CommandTree.admin
        switch words.first {
        case nil: return CompletionExpectation(words: tree.nouns.map(\.name) + ConsoleOrder.names)
        case "help": return tree.expectation(after: Array(words.dropFirst()), prefix: prefix)
        case "use" where words.count == 1: return CompletionExpectation(live: .containers)
        case "use":
            return CompletionExpectation(words: words.count == 2 ? EnvironmentName.allCases.map(\.rawValue) : [])
        case "context" where words.count == 1:
            var expectation = tree.expectation(after: words, prefix: prefix)
            expectation.live = .contexts
            return expectation
        case ".timer", ".bail": return CompletionExpectation(words: words.count == 1 ? ["on", "off"] : [])
        case ".output":
            return CompletionExpectation(words: words.count == 1 ? OutputFormat.allCases.map(\.rawValue) : [])
        default: return tree.expectation(after: words, prefix: prefix)
        }
    }
}
