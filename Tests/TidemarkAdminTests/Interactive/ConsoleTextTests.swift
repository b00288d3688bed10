// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct ConsoleTextTests {
    struct Case: CustomTestStringConvertible {
        let text: String
        let words: [String]
        var isOpen = false

        init(_ text: String, _ words: [String], isOpen: Bool = false) {
            (self.text, self.words, self.isOpen) = (text, words, isOpen)
        }

        var testDescription: String { text }
    }

    static let cases: [Case] = [
        Case("", []), Case("   \t ", []), Case("accounts list", ["accounts", "list"]),
        Case("  accounts   list  ", ["accounts", "list"]), Case("a\tb\nc", ["a", "b", "c"]),
        // Quotation marks.
        Case("'a b' c", ["a b", "c"]), Case(#""a b" c"#, ["a b", "c"]), Case("a'b c'd", ["ab cd"]),
        Case("''", [""]), Case(#"a "" b"#, ["a", "", "b"]), Case(#"'a"b'"#, [#"a"b"#]), Case(#""a'b""#, ["a'b"]),
        // Escapes.
        Case(#"a\ b"#, ["a b"]), Case(#"\'a\""#, [#"'a""#]), Case(#"a\\b"#, [#"a\b"#]), Case("\\#x", ["#x"]),
        Case(#"'a\b'"#, [#"a\b"#]), Case(#""a\"b\\c""#, [#"a"b\c"#]), Case(#""a\nb""#, [#"a\nb"#]),
        Case(#"'it'\''s'"#, ["it's"]),
        // Comments.
        Case("# all of it", []), Case("a # b 'c", ["a"]), Case("a#b", ["a#b"]), Case("'# a'", ["# a"]),
        Case("# a\nb", ["b"]), Case(#"# a \"#, []),
        // What goes on in the next line.
        Case(#"a \"#, ["a"], isOpen: true), Case("a 'b", ["a", "b"], isOpen: true),
        Case(#"a "b"#, ["a", "b"], isOpen: true), Case("a \\\nb", ["a", "b"]), Case("a\\\nb", ["ab"]),
        Case("'a\nb'", ["a\nb"]), Case("\"a\\\nb\"", ["ab"]), Case(#"'a\"#, [#"a\"#], isOpen: true),
        Case("größe '日本 語'", ["größe", "日本 語"]),
    ]

    @Test(arguments: cases)
    func `R-900: words are split as a shell splits them`(_ example: Case) {
        let text = ConsoleText(example.text)
        #expect(text.words == example.words)
        #expect(text.isOpen == example.isOpen)
    }

    /// What completion puts in must be read as what was meant.
    @Test(arguments: ["", "'", "\""], ["plain", "two words", "it's", #"a"b"#, #"a\b"#, "#x", "Ä é", #"\'" #"#])
    func `R-900: a word that is typed for the operator is read as that word`(_ quote: String, _ word: String) {
        let mark = quote.first
        let text = quote + ConsoleText.typed(word, in: mark) + quote
        #expect(ConsoleText(text).words == [word], "\(text)")
        #expect(!ConsoleText(text).isOpen)
    }

    @Test func `R-900: the end of the text is in a word, between words, or in quotation marks`() {
        #expect(ConsoleText("a b").endsInWord && !ConsoleText("a b ").endsInWord && !ConsoleText("").endsInWord)
        #expect(!ConsoleText("a # b").endsInWord)
        #expect(ConsoleText("a 'b ").endsInWord && ConsoleText("a 'b ").openQuote == "'")
        #expect(ConsoleText("a 'b'").openQuote == nil && ConsoleText("a 'b'").endsInWord)
    }
}
