// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A Swift file of the repository, as text.
struct SourceFile {
    let path: String
    let text: String
    let lines: [Substring]

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static var all: [SourceFile] {
        get throws {
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
    }

    init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    var isGenerated: Bool { path.hasSuffix(".pb.swift") }

    /// Lines without comments and text, with their numbers.
    var code: [(Int, String)] {
        var isInText = false
        return lines.enumerated().compactMap { index, line in
            let marks = line.components(separatedBy: "\"\"\"").count - 1
            defer { if marks % 2 == 1 { isInText.toggle() } }
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !isInText, !line.hasPrefix("//") else { return nil }
            return (index + 1, line.replacing(/"[^"]*"/, with: "\"\"").replacing(/\/\/.*$/, with: ""))
        }
    }
}
