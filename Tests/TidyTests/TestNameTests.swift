// SPDX-License-Identifier: Apache-2.0

import Testing

/// Where somebody finds the tests of a source file.
@Suite struct TestNameTests {
    /// Tests of what many sources do together, of generated code, and of what tests stand on. Those of `Live` are of
    /// whole servers. A file that leaves this list does not come back.
    private static let others: Set<Substring> = [
        "TidemarkLocalPostgresTests/TestDatabaseTests", "TidemarkServiceTests/Storage/MemoryStoreConformanceTests",
        "TidemarkServiceTests/Storage/MemoryStoreFaultTests", "TidemarkStoreTests/Records/PlanTests",
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
            let isFound = names.contains { name in
                subject.hasPrefix(name) && subject.dropFirst(name.count).first?.isLowercase != true
            }
            #expect(isFound != Self.others.contains(path), "\(path) is\(isFound ? "" : " not") named after a source")
        }
        #expect(left.isEmpty, "no such files: \(left)")
        #expect(sources.count > 20, "the sources cannot be read")
    }
}
