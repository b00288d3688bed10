// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The documents name what is there, and say what the program says.
@Suite struct DocumentTests {
    /// Those of the repository, but for the articles, which DocC links.
    private static var documents: [String] {
        get throws {
            let folders = ["", "docs/", "deploy/", "Tests/", "Tests/Autobahn/"]
            return try folders.flatMap { folder in
                try FileManager.default.contentsOfDirectory(
                    atPath: SourceFile.root.appendingPathComponent(folder).path
                ).filter { $0.hasSuffix(".md") }.map { folder + $0 }
            }
        }
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: SourceFile.root.appendingPathComponent(path).path)
    }

    /// As GitHub makes the anchor of a heading.
    private static func anchors(of text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.replacing(" ", with: "-")
            })
    }

    @Test func `every link of the documents leads somewhere, to a heading too`() throws {
        var linkCount = 0
        for document in try Self.documents {
            let folder = URL(fileURLWithPath: document, relativeTo: SourceFile.root).deletingLastPathComponent()
            for match in try SourceFile.text(at: document).matches(of: /\]\(([^)\s]+)\)/) where !match.1.contains("://")
            {
                linkCount += 1
                let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init)
                let target = parts[0].isEmpty ? document : folder.appendingPathComponent(parts[0]).relativePath
                let file = URL(fileURLWithPath: target, relativeTo: SourceFile.root).standardizedFileURL
                #expect(FileManager.default.fileExists(atPath: file.path), "\(document): \(match.1)")
                guard parts.count > 1 else { continue }
                let anchors = Self.anchors(of: try String(contentsOf: file, encoding: .utf8))
                #expect(anchors.contains(parts[1]), "\(document): \(match.1)")
            }
        }
        #expect(linkCount >= 40)
    }

    /// Whoever runs containers makes it.
    private static let secrets = "deploy/.env"

    @Test func `every file that ARCHITECTURE, CONTRIBUTING and the pages name is there`() throws {
        var pathCount = 0
        for document in try Self.documents where document != "Tests/RULES.md" && document != "Tests/API.md" {
            for match in try SourceFile.text(at: document).matches(of: /`((Sources|Tests|migrations|deploy)\/[^`\s]*)`/)
            where !match.1.contains(where: "<*…".contains) && !match.1.contains("NNNN") && match.1 != Self.secrets {
                pathCount += 1
                #expect(Self.exists(String(match.1)), "\(document): \(match.1)")
            }
        }
        #expect(pathCount >= 80)
    }

    @Test func `each invariant in ARCHITECTURE has its test`() throws {
        let tests = try SourceFile.all.filter { $0.path.hasPrefix("Tests/") }.map(\.text).joined(separator: "\n")
        let rows = try SourceFile.text(at: "ARCHITECTURE.md").split(separator: "\n")
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
            .filter { $0.count == 2 && $0[1].hasPrefix("`") && $0[1].hasSuffix("`") }
        #expect(rows.count >= 12, "the tables cannot be read")
        for row in rows {
            // Apart, because an expectation that fails prints what is in it.
            let exists = tests.contains("func " + row[1] + "(")
            #expect(exists, "\(row[0]): \(row[1])")
        }
    }

    /// The cells of the rows of SECURITY's table.
    private func threats() throws -> [[String]] {
        try SourceFile.text(at: "SECURITY.md").split(separator: "\n")
            .drop { !$0.hasPrefix("| threat |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    /// A number that stands for itself: no mode of a file, and no part of a name such as SHA-256.
    private func isNumber(_ word: Substring) -> Bool {
        word.wholeMatch(of: /[("]*(0|0\.[0-9]+|[1-9][0-9,.]*)(st|nd|rd|th)?[).,:;"]*/) != nil
    }

    @Test func `each threat in SECURITY has a bound with its number, or says what decides instead`() throws {
        let rows = try threats()
        #expect(rows.count >= 50, "the table cannot be read")
        for row in rows where row.count > 1 {
            let (mark, bound) = ("No number: ", row[1])
            if bound.hasPrefix(mark) {
                #expect(bound.count > mark.count + 20, "\(row[0]): what decides?")
            } else {
                // What is code, or an address, is no bound.
                let words = bound.replacing(/`[^`]*`|\]\([^)]*\)/, with: "").split(separator: " ")
                #expect(words.contains(where: isNumber), "\(row[0]): no number in \(bound)")
            }
        }
        #expect(["8", "1,024", "(20,000):", "0.2", "32nd", "4."].allSatisfy { isNumber($0) })
        #expect(!["0600", "0700", "SHA-256", "RS256", "eight", "R-722"].contains { isNumber($0) })
    }

    @Test func `each threat in SECURITY has its tests`() throws {
        let tests = try SourceFile.all.filter { $0.path.hasPrefix("Tests/") }.map(\.text).joined(separator: "\n")
        let rows = try threats()
        #expect(rows.count >= 50, "the table cannot be read")
        for row in rows {
            #expect(row.count == 4, "\(row[0]): not four cells")
            guard row.count == 4 else { continue }
            let names = row[2].matches(of: /`([^`]+)`/)
            #expect(!names.isEmpty, "\(row[0]): no test")
            for name in names {
                // Each store runs the scenarios of StorageConformance.
                let exists = tests.contains("func " + name.0 + "(") || tests.contains("Scenario(\"" + name.1 + "\")")
                #expect(exists, "\(row[0]): \(name.0)")
            }
        }
    }

    @Test func `each trap of sharing is held by tests and planted faults that are there`() throws {
        let files = try SourceFile.all.filter { $0.path.hasPrefix("Tests/") }
        let faults = files.first { $0.path.hasSuffix("/PlantedFault.swift") }?.text ?? ""
        let rows = try SourceFile.text(at: "docs/testing.md").split(separator: "\n").filter { $0.hasPrefix("| F-") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(rows.count >= 15 && rows.allSatisfy { $0.count == 2 }, "the table cannot be read")
        for row in rows where row.count == 2 {
            let trap = String(row[0].prefix { $0 != ":" })
            let names = row[1].matches(of: /(planted as )?`([^`]+)`/).map { (isFault: $0.1 != nil, name: String($0.2)) }
            #expect(!names.isEmpty, "\(row[0]): no test")
            for (index, name) in names.enumerated() {
                if name.isFault {
                    #expect(faults.contains("    case \(name.name)\n"), "\(trap): \(name.name)")
                } else if name.name == trap {
                    // The next one is the suite that has a test of this name.
                    let suite = names.dropFirst(index + 1).first.flatMap { next in
                        files.first { $0.path.hasSuffix("/\(next.name).swift") }
                    }
                    let isNamed = suite.map { $0.text.contains(trap + ":") || $0.text.contains(trap + ",") }
                    #expect(isNamed == true, "\(trap): no test has that name")
                } else {
                    let isThere = files.contains { $0.path.hasSuffix("/\(name.name).swift") }
                    #expect(isThere, "\(trap): \(name.name)")
                }
            }
        }
    }

    @Test func `what users read names no rule by its number`() throws {
        let folder = "Sources/TidemarkKit/TidemarkKit.docc/"
        let articles = try FileManager.default.contentsOfDirectory(
            atPath: SourceFile.root.appendingPathComponent(folder).path
        ).filter { $0.hasSuffix(".md") }.map { folder + $0 }
        let pages = ["admin", "cktool", "metrics", "operating", "settings"].map { "docs/\($0).md" }
        for document in ["README.md", "CHANGELOG.md", "deploy/README.md"] + pages + articles {
            for match in try SourceFile.text(at: document).matches(of: /R-\d{3}/) {
                Issue.record("\(document): \(match.0)")
            }
        }
    }

    /// What programs say. `tidemark admin explain` names the rule by which an account may do something, because it is asked for it.
    @Test func `no text of a program names a rule by its number`() throws {
        let named = "Sources/TidemarkDomain/Sharing/AccessVerdict.swift"
        let rule = /R-\d{3}/
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") && file.path != named {
            for (number, line) in file.lines.enumerated() where line.contains("R-") {
                let text = line.prefix(upTo: line.firstRange(of: "//")?.lowerBound ?? line.endIndex)
                let hasRule = text.contains(rule)
                #expect(!hasRule, "\(file.path):\(number + 1): \(line)")
            }
        }
    }

    @Test func `ARCHITECTURE says of each package why it is there`() throws {
        let packages = try SourceFile.text(at: "Package.swift").matches(of: /\.package\(url: "[^"]*\/([^"\/]+)"/)
        #expect(packages.count >= 5, "Package.swift cannot be read")
        let table = try SourceFile.text(at: "ARCHITECTURE.md").split(separator: "\n").drop { $0 != "## Dependencies" }
        let rows = table.filter { $0.hasPrefix("| ") }.compactMap { $0.split(separator: "|").first }
        for package in packages {
            let isTold = rows.contains { $0.contains(package.1) }
            #expect(isTold, "\(package.1)")
        }
    }

    @Test func `ARCHITECTURE is read in a quarter of an hour`() throws {
        let words = try SourceFile.text(at: "ARCHITECTURE.md").split(whereSeparator: \.isWhitespace)
        #expect(words.count <= 3_000)
    }

    @Test func `what the README tells to type is what tidemark dev prints`() throws {
        let readme = try SourceFile.text(at: "README.md")
        let lines = try SourceFile.text(at: "Sources/tidemark/Dev/DevSheet.swift")
            .matches(of: /Keep two folders equal.*|Share the folder.*|swift run -c release foldersync.*/)
        #expect(lines.count == 6)
        for line in lines {
            let isTold = readme.contains(line.0)
            #expect(isTold, "\(line.0)")
        }
    }
}
