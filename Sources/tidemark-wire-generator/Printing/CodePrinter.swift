// SPDX-License-Identifier: Apache-2.0

/// Lines of Swift code, indented.
struct CodePrinter {
    static let columnsMax = 120
    private(set) var text = ""
    private var depth = 0

    /// An empty line after another one is dropped.
    mutating func line(_ line: String = "") {
        if line.isEmpty, text.hasSuffix("\n\n") { return }
        text += line.isEmpty ? "\n" : String(repeating: "    ", count: depth) + line + "\n"
    }

    /// A line with an opening brace, the lines of the block, and the closing brace.
    mutating func block(_ head: String, _ body: (inout CodePrinter) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    mutating func indented(_ body: (inout CodePrinter) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// A declaration with parameters or arguments, on one line if they fit.
    mutating func call(_ head: String, _ arguments: [String], _ tail: String) {
        let one = head + "(" + arguments.joined(separator: ", ") + ")" + tail
        guard one.count + depth * 4 > Self.columnsMax else { return line(one) }
        line(head + "(")
        let all = arguments.joined(separator: ", ")
        if all.count + (depth + 1) * 4 <= Self.columnsMax {
            indented { $0.line(all) }
        } else {
            indented { printer in
                for (index, argument) in arguments.enumerated() {
                    printer.line(argument + (index + 1 < arguments.count ? "," : ""))
                }
            }
        }
        line(")" + tail)
    }

    /// A comment of a `.proto` file as a doc comment.
    mutating func documentation(_ comment: String?) {
        guard let comment else { return }
        let width = Self.columnsMax - depth * 4 - 4
        var paragraph: [Substring] = []
        var lines: [String] = []
        func wrapped(_ words: [Substring]) -> [String] {
            var result: [String] = []
            var line = ""
            for word in words {
                if !line.isEmpty, line.count + 1 + word.count > width {
                    result.append(line)
                    line = ""
                }
                line += (line.isEmpty ? "" : " ") + word
            }
            return line.isEmpty ? result : result + [line]
        }
        for line in comment.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ")
            guard words.isEmpty else {
                paragraph += words
                continue
            }
            if !paragraph.isEmpty { lines += (lines.isEmpty ? [] : [""]) + wrapped(paragraph) }
            paragraph = []
        }
        if !paragraph.isEmpty { lines += (lines.isEmpty ? [] : [""]) + wrapped(paragraph) }
        for line in lines { self.line(line.isEmpty ? "///" : "/// " + line) }
    }
}
