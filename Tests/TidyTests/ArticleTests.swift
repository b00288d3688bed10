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

    private func blocks(of text: String) -> [[String]] {
        text.matches(of: /```swift\n([\s\S]*?)```/).map { essence($0.1) }
    }

    /// `Package.swift`: no part of a module. `ManifestTests` reads it as SwiftPM does.
    private func isManifest(_ block: [String]) -> Bool { block.first?.hasPrefix("// swift-tools-version") == true }

    @Test func `each block of Swift in an article is in the code that the tests compile, line by line`() throws {
        let code = try SourceFile.all.filter { $0.path.hasPrefix("Tests/EndToEndTests/Articles/") }
            .map { essence($0.text) }
        var blockCount = 0
        for article in try articles {
            let text = try String(contentsOf: article, encoding: .utf8)
            for block in blocks(of: text) where !isManifest(block) {
                blockCount += 1
                let isFound = code.contains { lines in
                    lines.indices.contains { lines[$0...].starts(with: block) }
                }
                #expect(isFound, "\(article.lastPathComponent): \(block.first ?? "an empty block")")
            }
        }
        #expect(blockCount >= 40)
    }

    private static let programs = [
        ("GettingStarted", "NotesApp"), ("Assets", "KeptFiles"), ("EncryptedValues", "Diary"),
        ("Queries", "AirportList"), ("Journal", "Thermometer"), ("Sharing", "SharedLists"),
    ]

    /// Whoever copies the blocks has a program that compiles.
    @Test(arguments: programs)
    func `an article about an app has its package and all of its code, in order`(article: String, file: String) throws {
        let text = try String(contentsOf: Self.folder.appendingPathComponent("\(article).md"), encoding: .utf8)
        let blocks = blocks(of: text)
        #expect(blocks.contains(where: isManifest))
        let code = essence(try SourceFile("Tests/EndToEndTests/Articles/\(file).swift").text)
            .filter { !$0.hasPrefix("//") && !$0.hasPrefix("import ") }
        let told = Array(blocks.filter { !isManifest($0) }.joined())
        let missing = zip(code, told).first { $0 != $1 }?.0
        #expect(missing == nil && told.count > code.count, "\(article) lacks: \(missing ?? "main.swift")")
    }

    @Test func `the packages that an app's machine needs are those that setup and Dockerfile install`() throws {
        let article = try String(contentsOf: Self.folder.appendingPathComponent("Machine.md"), encoding: .utf8)
        let places = try SourceFile.text(at: "deploy/setup") + SourceFile.text(at: "deploy/Dockerfile")
        let packages = article.matches(of: /apt-get install (?:-y --no-install-recommends )?([a-z0-9 -]+)\n/)
            .flatMap { $0.1.split(separator: " ") }
        #expect(packages.count >= 12)
        for package in packages {
            let isInstalled = places.contains(package)
            #expect(isInstalled, "\(package)")
        }
        let image = try #require(
            try SourceFile.text(at: "deploy/Dockerfile").firstMatch(of: /FROM (swift:\S+) AS build/)?.1)
        let hasImage = article.contains("FROM \(image) AS build")
        #expect(hasImage, "\(image)")
    }

    /// One string without white space and comments: the README sets its comments out in a column.
    private func bareText(_ lines: some Sequence<some StringProtocol>) -> String {
        let comment = /(^|\s)\/\/.*/
        return lines.map { String($0).replacing(comment, with: "").filter { !$0.isWhitespace } }.joined()
    }

    @Test func `each block of Swift in the README and in what apps' developers read is in that code, but for its gaps`()
        throws
    {
        let code = try SourceFile.all.filter { $0.path.hasPrefix("Tests/EndToEndTests/Articles/") }
            .map { bareText($0.lines) }
        let readme = try SourceFile.text(at: "README.md")
        var texts = ["README.md": readme]
        let places = ["Sources/TidemarkKit/", "Sources/CloudKit/", "Sources/TidemarkTestKit/"]
        for file in try SourceFile.all
        where places.contains(where: file.path.hasPrefix) && file.text.contains("```swift") {
            let comments = file.lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.hasPrefix("///") }
            texts[file.path] = comments.map { $0.dropFirst(3) }.joined(separator: "\n")
        }
        var blockCount = 0
        for (name, text) in texts {
            for match in text.matches(of: /```swift\n([\s\S]*?)```/) {
                blockCount += 1
                let lines = match.1.split(separator: "\n")
                for piece in lines.split(whereSeparator: { $0.contains(/^\s*\/\/ …$/) }) {
                    let isFound = code.contains { $0.contains(bareText(piece)) }
                    #expect(isFound, "\(name): \(piece.first ?? "")")
                }
            }
        }
        #expect(blockCount >= 5)
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
