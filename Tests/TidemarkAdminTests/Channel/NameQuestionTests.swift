// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

/// A question for names that goes to a server, and its answer.
@Suite struct NameQuestionTests {
    @Test(arguments: [
        NameQuestion(.accounts, prefix: "", account: nil), NameQuestion(.zones, prefix: "-N", account: "a'b"),
        NameQuestion(.databases, prefix: "pub lic", account: ""), NameQuestion(.containers, prefix: "ü", account: nil),
    ])
    func `R-902: a server reads what a client asks`(_ question: NameQuestion) {
        #expect(NameQuestion(words: question.words) == question)
    }

    @Test(arguments: [
        [], ["accounts", "list"], ["completion-names"], ["completion-names", "accounts"],
        ["completion-names", "contexts", ""], ["completion-names", "secrets", ""],
        ["completion-names", "zones", "", "alice", "more"],
    ])
    func `R-902: other words are no question`(_ words: [String]) {
        #expect(NameQuestion(words: words) == nil)
    }

    @Test func `R-902: an answer has each name whole, whatever characters it has`() {
        let question = NameQuestion(.accounts, prefix: "a", account: nil)
        let names = ["a b", "a\nb", "a\"'$(b)", "aü", "a\r\n"]
        #expect(question.names(in: NameQuestion.text(of: names)) == names)
        #expect(question.names(in: "").isEmpty)
    }

    @Test func `R-902: of an answer counts what was asked for, whole, and at most 200 names`() {
        let question = NameQuestion(.accounts, prefix: "al", account: nil)
        #expect(question.names(in: "alice\0bob\0\0alb") == ["alice"])
        let many = (0..<300).map { "al\($0)" }
        #expect(question.names(in: NameQuestion.text(of: many)) == Array(many.prefix(200)))
    }
}
