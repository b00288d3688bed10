// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Where somebody finds the tests of a source file.
@Suite struct TestNameTests {
    /// Tests of what many sources do together, of generated code, and of what tests stand on. Those of `Live` are of
    /// whole servers. A file that leaves this list does not come back.
    private static let others: Set<Substring> = [
        "TidemarkDomainTests/Sharing/HierarchiesHistoryTests", "TidemarkDomainTests/Sharing/HierarchiesTests",
        "TidemarkDomainTests/Sharing/HierarchyVisitsTests", "TidemarkKitTests/Operations/HandedOverTests",
        "TidemarkLocalPostgresTests/TestDatabaseTests",
        "TidemarkServiceTests/Storage/MemoryStoreConformanceTests",
        "TidemarkServiceTests/Storage/MemoryStoreFaultTests", "TidemarkStoreTests/LongReadsTests",
        "TidemarkStoreTests/Notices/OlderServersTests",
        "TidemarkStoreTests/Records/PlanTests", "TidemarkStoreTests/Sharing/HierarchyCompactionTests",
        "TidemarkTLSTests/ProcessExitTests", "TidemarkWireTests/BoundTests", "TidemarkWireTests/JudgeTests",
        "TidemarkWireTests/MemoryTests",
    ]

    /// `FeedReaderTests` and `FeedReaderNewsTests` test `FeedReader.swift`, or `FeedReader+News.swift`.
    @Test func `tests are named after the source that they test`() throws {
        var sources: [Substring: Set<Substring>] = [:]
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") {
            let parts = file.path.split(separator: "/")
            sources[parts[1], default: []].insert(parts[parts.count - 1].prefix { $0 != "." && $0 != "+" })
        }
        var left = Self.others
        for file in try SourceFile.all where file.path.hasSuffix("Tests.swift") && !file.path.contains("/Live/") {
            let path = file.path.dropFirst("Tests/".count).dropLast(".swift".count)
            let parts = path.split(separator: "/")
            guard let names = sources[parts[0].dropLast("Tests".count)] else { continue }
            left.remove(path)
            let subject = parts[parts.count - 1].dropLast("Tests".count)
            let isFound = names.contains { Self.isName(subject, madeFrom: $0) }
            #expect(isFound != Self.others.contains(path), "\(path) is\(isFound ? "" : " not") named after a source")
        }
        #expect(left.isEmpty, "no such files: \(left)")
        #expect(sources.count > 20, "the sources cannot be read")
    }

    private static func isName(_ subject: Substring, madeFrom source: Substring) -> Bool {
        subject.hasPrefix(source) && subject.dropFirst(source.count).first?.isLowercase != true
    }

    /// The files and folders of sources for which docs/testing.md says where their tests are.
    private static var listedSources: [String] {
        get throws {
            let url = SourceFile.root.appendingPathComponent("docs/testing.md")
            return try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
                .filter { $0.hasPrefix("| `Sources/") }
                .flatMap { row in row.matches(of: /`(Sources\/[^`]+)`/).map { String($0.1) } }
        }
    }

    /// The order is that of docs/testing.md.
    @Test func `a source has tests of its name, tests that a table names, or a folder of tests`() throws {
        var subjects: [String: [Substring]] = [:]
        var folders: Set<String> = []
        for file in try SourceFile.all where file.path.hasPrefix("Tests/") && file.path.hasSuffix("Tests.swift") {
            let parts = file.path.split(separator: "/")
            subjects[String(parts[1]), default: []].append(parts[parts.count - 1].dropLast("Tests.swift".count))
            folders.insert(parts.dropLast().joined(separator: "/"))
        }
        let listed = try Self.listedSources
        var unused = Set(listed)
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") && !file.isGenerated {
            let parts = file.path.split(separator: "/")
            let target = "\(parts[1])Tests"
            let name = parts[parts.count - 1].prefix { $0 != "." && $0 != "+" }
            let isNamed = subjects[target, default: []].contains { Self.isName($0, madeFrom: name) }
            if isNamed { continue }
            let rows = listed.filter { file.path == $0 || file.path.hasPrefix($0 + "/") }
            unused.subtract(rows)
            let inTarget = parts.dropFirst(2).dropLast().map { "/\($0)" }.joined()
            let isFound = !rows.isEmpty || folders.contains("Tests/\(target)\(inTarget)")
            #expect(isFound, "docs/testing.md does not say where \(file.path) is tested")
        }
        #expect(listed.count >= 20, "the table cannot be read")
        #expect(unused.isEmpty, "nothing needs these lines of docs/testing.md: \(unused.sorted())")
    }
}
