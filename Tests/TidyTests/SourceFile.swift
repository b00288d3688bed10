// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A Swift file of the repository, as text.
struct SourceFile: Sendable {
    let path: String
    let text: String
    let lines: [Substring]
    /// Lines without comments and text, with their numbers.
    let code: [(number: Int, text: String)]

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// In the order of their paths.
    static var all: [SourceFile] {
        get throws { try allResult.get() }
    }

    // Read once: the tests of the tree take their time from all that run beside them.
    private static let allResult = Result {
        var files: [SourceFile] = []
        for folder in ["Sources", "Tests"] {
            let base = root.appendingPathComponent(folder)
            for case let path as String in FileManager.default.enumerator(atPath: base.path) ?? .init() {
                guard path.hasSuffix(".swift") else { continue }
                files.append(try SourceFile(folder + "/" + path))
            }
        }
        return files.sorted { $0.path < $1.path }
    }

    /// Of any file of the repository.
    static func text(at path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    init(_ path: String) throws {
        self.path = path
        text = try Self.text(at: path)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        code = Self.code(of: lines)
    }

    var isGenerated: Bool {
        path.hasSuffix(".pb.swift") || path.hasPrefix("Sources/TidemarkWire/Messages/")
            || path.hasSuffix("/MessageShape+All.swift") || path.hasSuffix("/FieldTag.swift")
    }

    private static func code(of lines: [Substring]) -> [(number: Int, text: String)] {
        var isInText = false
        return lines.enumerated().compactMap { index, line in
            let hasText = line.utf8.contains(UInt8(ascii: "\""))
            let marks = hasText ? line.components(separatedBy: "\"\"\"").count - 1 : 0
            defer { if marks % 2 == 1 { isInText.toggle() } }
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !isInText, !line.hasPrefix("//") else { return nil }
            guard hasText || line.contains("//") else { return (index + 1, line) }
            return (index + 1, line.replacing(quotation, with: "\"\"").replacing(comment, with: ""))
        }
    }

    // A literal is parsed each time that it is evaluated.
    nonisolated(unsafe) private static let quotation = /"[^"]*"/
    nonisolated(unsafe) private static let comment = /\/\/.*$/
}

extension Sequence<SourceFile> {
    /// Expects no line of code that `pattern` matches.
    ///
    /// - Parameter words: of which such a line has one, which is seen much faster.
    func expectNone(_ words: String..., matching pattern: Regex<some Any>, _ advice: String = "") {
        for file in self where words.contains(where: file.text.contains) {
            for (number, line) in file.code where words.contains(where: line.contains) && line.contains(pattern) {
                Issue.record("\(file.path):\(number): \(advice)\(line)")
            }
        }
    }
}
