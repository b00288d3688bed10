// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The articles show code that is compiled, and run, by the tests.
@Suite struct ArticleTests {
    private static let folder = SourceFile.root.appendingPathComponent("Sources/TidemarkKit/TidemarkKit.docc")

    private var articles: [URL] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "md" }
        }
    }

    /// Lines without indentation and without empty ones.
    private func essence(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test func `each block of Swift in an article is in the code that the tests compile, line by line`() throws {
        let code = try SourceFile.all.filter { $0.path.hasPrefix("Tests/EndToEndTests/Articles/") }
            .map { essence($0.text) }
        var blockCount = 0
        for article in try articles {
            let text = try String(contentsOf: article, encoding: .utf8)
            for match in text.matches(of: /```swift\n([\s\S]*?)```/) {
                let block = essence(match.1)
                blockCount += 1
                let isFound = code.contains { lines in
                    lines.indices.contains { lines[$0...].starts(with: block) }
                }
                #expect(isFound, "\(article.lastPathComponent): \(block.first ?? "an empty block")")
            }
        }
        #expect(blockCount >= 8)
    }

    @Test func `each article that is named exists`() throws {
        let names = Set(try articles.map { $0.deletingPathExtension().lastPathComponent })
        for article in try articles {
            let text = try String(contentsOf: article, encoding: .utf8)
            for match in text.matches(of: /<doc:([A-Za-z-]+)>/) {
                #expect(names.contains(String(match.1)), "\(article.lastPathComponent): \(match.1)")
            }
        }
    }
}
