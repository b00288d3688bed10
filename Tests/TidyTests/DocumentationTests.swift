// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What readers are told of each symbol: an app's developer what it is and by which rule, ours what a type is for.
@Suite struct DocumentationTests {
    @Test func `every type that more than its module can see has a comment that says what it is for`() throws {
        let type = /\b(public|package|open) ([a-z]+ )*(struct|enum|class|actor|protocol|typealias) (?!func|var)\w/
        var count = 0
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") {
            for (number, line) in file.code
            where Self.accessLevels.contains(where: line.contains) && !line.contains("import ") && line.contains(type) {
                count += 1
                let hasComment = hasComment(above: number - 1, in: file.lines)
                #expect(hasComment, "\(file.path):\(number): \(line)")
            }
        }
        #expect(count > 500, "the sources cannot be read")
    }

    private static let accessLevels = ["public ", "package ", "open "]

    /// Attributes may stand between a comment and its declaration, and may have several lines.
    private func hasComment(above index: Int, in lines: [Substring]) -> Bool {
        var unopened = 0
        for line in lines[..<index].reversed().lazy.map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("///") { return true }
            unopened += line.count { $0 == ")" } - line.count { $0 == "(" }
            guard line.hasPrefix("@") || unopened > 0 else { return false }
        }
        return false
    }

    @Test func `every public symbol of the library has a comment, and it or its type's comment names a rule`() throws {
        let rule = /R-\d{3}/
        let symbols = try PublicDeclaration.all(in: "Sources/TidemarkKit/")
        #expect(symbols.count > 900, "the sources cannot be read")
        var namesRule: [String: Bool] = [:]
        var originals: [String: String] = [:]
        for symbol in symbols {
            guard let name = symbol.name else { continue }
            if symbol.isType { namesRule[name, default: false] = symbol.comment.contains(rule) }
            originals[name] = symbol.original
        }
        for symbol in symbols {
            #expect(!symbol.comment.isEmpty, "\(symbol.place): \(symbol.line)")
            let isNamed =
                symbol.comment.contains(rule) || symbol.outerComment.contains(rule)
                || symbol.type.map { type in
                    namesRule[type] == true || originals[type].map { namesRule[$0] == true } == true
                } == true
            #expect(isNamed, "\(symbol.place) names no rule, nor does its type: \(symbol.line)")
        }
    }

    @Test func `every symbol that an article links to is declared`() throws {
        let names = try Set(
            ["Sources/TidemarkKit/", "Sources/TidemarkTestKit/"].flatMap { try PublicDeclaration.all(in: $0) }
                .compactMap(\.name) + ["TidemarkKit"])
        let folder = SourceFile.root.appendingPathComponent("Sources/TidemarkKit/TidemarkKit.docc")
        var linkCount = 0
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "md" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /``([^`\s]+)``/) {
                linkCount += 1
                let name = match.1.replacing("/", with: ".").replacing(/\([^)]*\)/, with: "")
                #expect(names.contains(String(name)), "\(file.lastPathComponent): \(match.1)")
            }
        }
        #expect(linkCount >= 10)
    }
}
