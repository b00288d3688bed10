// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// How much of Tests/API.md the tests of the API use, by the names in it.
@Suite struct APITests {
    private struct Symbol {
        let priority: Substring
        let isSeed: Bool
        let text: Substring

        /// What the symbol is called: what is declared in it; of an initialiser, the labels.
        var names: Set<String> {
            var names: Set<String> = []
            let declared = /\b(?:func|var|let|case|class|struct|enum|protocol|typealias)\s+`?([\w.]+)/
            for match in text.matches(of: declared) {
                names.formUnion(match.1.split(separator: ".").suffix(1).map(String.init))
            }
            if let labels = text.firstMatch(of: /init\??\(([^)]*)/) {
                for match in labels.1.matches(of: /(\w+)(?: \w+)?:\s/) { names.insert(String(match.1)) }
            }
            // Words of the language, and what an app never writes.
            return names.subtracting(["func", "var", "let", "_", "class", "default", "from"])
        }
    }

    private var symbols: [Symbol] {
        get throws {
            let url = SourceFile.root.appendingPathComponent("Tests/API.md")
            let row = /\| (P[012]) \| (seed)? *\| [^|]*\| `([^|]*)` \|/
            return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").compactMap { line in
                line.firstMatch(of: row).map { Symbol(priority: $0.1, isSeed: $0.2 != nil, text: $0.3) }
            }
        }
    }

    /// The words of the tests that import nothing but CloudKit.
    private var words: Set<String> {
        get throws {
            let code = try SourceFile.all.filter { $0.path.hasPrefix("Tests/CloudKitAPITests/") }
                .flatMap { $0.code.map(\.1) }
            let word = /\w+/
            return Set(code.flatMap { $0.matches(of: word).map { String($0.0) } })
        }
    }

    @Test func `every symbol that is P0 or of the seeds is used by the tests of the API, and 95 in 100 of P1`() throws {
        let (symbols, words) = (try symbols, try words)
        #expect(symbols.count > 600, "the table cannot be read")
        func unused(_ some: [Symbol]) -> [Substring] { some.filter { !$0.names.isSubset(of: words) }.map(\.text) }
        let needed = symbols.filter { $0.priority == "P0" || ($0.isSeed && $0.priority == "P1") }
        let expected = symbols.filter { $0.priority == "P1" }
        #expect(unused(needed) == [])
        let missing = unused(expected)
        #expect(missing.count * 100 <= expected.count * 5, "\(missing)")
        print("API: P0 and seeds \(needed.count - unused(needed).count) of \(needed.count)")
        print("API: P1 \(expected.count - missing.count) of \(expected.count) \(missing)")
    }
}
