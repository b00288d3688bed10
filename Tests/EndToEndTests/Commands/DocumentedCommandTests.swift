// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// What the documents tell people to type.
@Suite struct DocumentedCommandTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static var documents: [URL] {
        get throws {
            let folders = ["", "docs", "deploy", "Sources/TidemarkKit/TidemarkKit.docc"]
            return try folders.flatMap { folder in
                try FileManager.default.contentsOfDirectory(
                    at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
            }.filter { $0.pathExtension == "md" }
        }
    }

    /// The words behind `tidemark`: of lines in blocks, and of code in a sentence.
    private static func commands(in text: String) -> [[String]] {
        let text = text.replacing(/\\\n\s+/, with: " ")
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("    ") }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.hasPrefix("tidemark ") }
        let inline = text.matches(of: /`(tidemark\s[^`]+)`/).map { String($0.1) }
        return (lines + inline).map { command in
            command.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).dropFirst().map(String.init)
        }
    }

    private struct Help {
        let text: String
        /// Their names stand in lines of their own, indented by two.
        var subcommands: Set<String> {
            guard let list = text.split(separator: "SUBCOMMANDS:").dropFirst().first else { return [] }
            return Set(list.matches(of: /\n  ([a-z-]+)/).map { String($0.1) })
        }
    }

    @Test func `every command in the documents exists, with its options`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        var helps: [[String]: Help] = [:]
        func help(_ path: [String]) async throws -> Help {
            if let known = helps[path] { return known }
            let result = try await Program.run("tidemark", path + ["--help"], directory: directory.path)
            #expect(result.status == 0, "\(path): \(result.output)")
            let help = Help(text: result.output)
            helps[path] = help
            return help
        }
        var commandCount = 0
        for document in try Self.documents {
            for words in Self.commands(in: try String(contentsOf: document, encoding: .utf8)) {
                commandCount += 1
                var path: [String] = []
                var current = try await help(path)
                for word in words where !word.hasPrefix("-") && current.subcommands.contains(word) {
                    path.append(word)
                    current = try await help(path)
                }
                let place = "\(document.lastPathComponent): tidemark \(words.joined(separator: " "))"
                let rest = words.dropFirst(path.count)
                    .flatMap { $0.split(separator: "|").map(String.init) }
                    .filter { !$0.hasPrefix("-") && $0 != "…" && !current.subcommands.contains($0) }
                #expect(rest.isEmpty || current.subcommands.isEmpty, "\(place)")
                for word in words where word.hasPrefix("--") {
                    #expect(current.text.contains(word), "\(place): \(word)")
                }
            }
        }
        #expect(commandCount >= 50)
    }
}
