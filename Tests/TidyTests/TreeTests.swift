// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What ARCHITECTURE.md and CONTRIBUTING.md promise of the tree itself.
@Suite struct TreeTests {
    @Test func `every Swift file begins with its licence`() throws {
        for file in try SourceFile.all where !file.isGenerated {
            let first = file.lines.first ?? ""
            #expect(
                first == "// SPDX-License-Identifier: Apache-2.0" || first.hasPrefix("// swift-tools-version"),
                "\(file.path)")
        }
    }

    @Test func `public is a promise to app developers: Kit, TestKit and what re-exports Kit alone`() throws {
        let promised = [
            "Sources/TidemarkKit/", "Sources/CloudKit/", "Sources/CoreLocation/", "Sources/TidemarkTestKit/",
        ]
        try SourceFile.all
            .filter { $0.path.hasPrefix("Sources/") && !promised.contains(where: $0.path.hasPrefix) }
            .expectNone(
                "public", "open",
                matching:
                    /\b(public|open) (final |static |override |convenience )*(class|struct|enum|protocol|func|var|let|init|typealias|extension)\b/
            )
    }

    @Test func `errno is read where files, sockets and processes are called, and nowhere else`() throws {
        let calls = [
            "TidemarkSockets/SystemCalls", "TidemarkSockets/SocketError", "TidemarkAssets/FileCalls",
            "TidemarkKit/Assets/AssetSource", "TidemarkKit/Assets/AssetStaging", "TidemarkKit/Assets/StagedAsset",
            "TidemarkLocalPostgres/ChildProcess", "TidemarkLocalPostgres/Directory", "TidemarkLocalPostgres/Pipe",
            "TidemarkLocalPostgres/PostgresUser", "TidemarkServer/Keys/MasterKeyFile",
            "TidemarkAdmin/Console/ProcessTerminal", "TidemarkAdmin/Contexts/AtomicFile",
            "TidemarkAdmin/Import/ByteSource",
            "tidemark-echo/ReadyFile", "foldersync/FileTree", "foldersync/FileTree+Replacing",
            "foldersync/FileWatcher", "foldersync/Journal",
        ].map { "Sources/\($0).swift" }
        let files = try SourceFile.all.filter { $0.path.hasPrefix("Sources/") }
        files.filter { !calls.contains($0.path) }.expectNone("errno", matching: /\berrno\b/)
        for call in calls {
            #expect(files.contains { $0.path == call && $0.text.contains("errno") }, "\(call) reads no errno")
        }
    }

    @Test func `tests start processes one at a time`() throws {
        let allowed = "Tests/TidemarkTestSupport/Process+Starting.swift"
        try SourceFile.all
            .filter { $0.path.hasPrefix("Tests/") && $0.path != allowed && $0.text.contains("Process()") }
            .expectNone(".run()", matching: /\.run\(\)/, "start() takes the lock: ")
    }

    @Test func `no Foundation below Kit`() throws {
        let above = ["CloudKit", "CoreLocation", "TidemarkKit", "TidemarkTestKit", "TidemarkAdmin"]
        let libraries = PackageTarget.all.filter { target in
            target.kind == .library && target.path.hasPrefix("Sources/") && !above.contains(target.name)
        }
        #expect(libraries.count > 15, "Package.swift cannot be read")
        for library in libraries {
            library.sources.filter { !$0.isGenerated }.expectNone("import Foundation", matching: /import Foundation/)
        }
    }

    @Test func `the rules read no clock, no random numbers and no sockets`() throws {
        let allowed: Set = ["TidemarkBytes", "TidemarkFields"]
        let domain = try SourceFile.all.filter { $0.path.hasPrefix("Sources/TidemarkDomain/") }
        let imported = /^(?:package |internal |public )?import (\w+)/
        for file in domain {
            for (number, line) in file.code where line.contains("import ") {
                guard let match = line.firstMatch(of: imported) else { continue }
                #expect(allowed.contains(String(match.1)), "\(file.path):\(number): \(line)")
            }
        }
        domain.expectNone(
            ".random(", "Date()", "Clock", matching: /\.random\(|Date\(\)|ContinuousClock|SuspendingClock/)
    }

    @Test func `Kit never sees the server's side`() throws {
        try SourceFile.all.filter { $0.path.hasPrefix("Sources/TidemarkKit/") }
            .expectNone(
                "import Tidemark",
                matching: /import Tidemark(Domain|Service|Store|Server|Sessions|Translation|Postgres)\b/)
    }

    /// Elsewhere the compiler says nothing, but other modules call the function, and its generic parameters stay generic.
    @Test func `what is inlinable belongs to a type that is usable from inline`() throws {
        let files = try SourceFile.all.filter { $0.path.hasPrefix("Sources/") && $0.text.contains("nline") }
        let begun = /^(?:@usableFromInline )?(?:package )?(?:struct|enum|protocol|final class|extension) (\w+)/
        // The standard library's type is.
        var usable: Set<Substring> = ["ArraySlice"]
        for file in files {
            for (line, before) in zip(file.code.map(\.text), [""] + file.code.map(\.text))
            where line.hasPrefix("@usableFromInline package") || before == "@usableFromInline" {
                if let match = line.firstMatch(of: begun) { usable.insert(match.1) }
            }
        }
        #expect(usable.contains("WireRecord") && usable.contains("WireWriter"))
        for file in files {
            var type: Substring = ""
            for (number, line) in file.code {
                if let match = line.firstMatch(of: begun) { type = match.1 }
                #expect(!line.contains("@inlinable") || usable.contains(type), "\(file.path):\(number): \(type)")
            }
        }
    }

    @Test func `the client programs know nothing but CloudKit`() throws {
        let programs = try SourceFile.all.filter { $0.path.hasPrefix("Tests/ClientPrograms/") }
        #expect(!programs.isEmpty)
        let imported = /\bimport (\w+)/
        for file in programs {
            for (number, line) in file.code where line.contains("import ") {
                guard let match = line.firstMatch(of: imported) else { continue }
                #expect(["CloudKit", "Foundation", "CSQLite"].contains(match.1), "\(file.path):\(number): \(line)")
            }
        }
        programs.expectNone(
            "Tidemark", "sign", "journalFile", ".configure(",
            matching: /Tidemark|signIn\(token|signOut\(\)|journalFile|\.configure\(/)
    }

    @Test func `foldersync imports what an app can import`() throws {
        let possible: Set = ["ArgumentParser", "CFolderSyncDigest", "CloudKit", "Dispatch", "Foundation", "Glibc"]
        for file in try SourceFile.all where file.path.hasPrefix("Sources/foldersync/") {
            #expect(possible.isSuperset(of: file.imports), "\(file.path)")
        }
    }

    @Test func `sharedlists imports what an app can import`() throws {
        let possible: Set = ["ArgumentParser", "CSharedListsSQLite", "CloudKit", "Foundation"]
        let files = try SourceFile.all.filter { $0.path.hasPrefix("Sources/sharedlists/") }
        #expect(!files.isEmpty)
        for file in files { #expect(possible.isSuperset(of: file.imports), "\(file.path)") }
    }

    @Test func `cursors imports what an app can import`() throws {
        let files = try SourceFile.all.filter { $0.path.hasPrefix("Sources/cursors/") }
        #expect(!files.isEmpty)
        for file in files {
            #expect(Set(["ArgumentParser", "CloudKit", "Foundation"]).isSuperset(of: file.imports), "\(file.path)")
        }
    }

    @Test func `peers' bytes never meet a forced unwrap`() throws {
        try SourceFile.all.filter { $0.path.hasPrefix("Sources/") && !$0.isGenerated }
            .expectNone("try!", "as!", matching: /\btry!|\bas! (?!Self)/)
    }

    @Test func `a file is one idea`() throws {
        for file in try SourceFile.all where !file.isGenerated {
            #expect(file.lines.count <= 600, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test func `nothing is left for later`() throws {
        let marks = /\b(TODO|FIXME|XXX|HACK)\b|fatalError\("(not|un)implemented/
        let words = ["TODO", "FIXME", "XXX", "HACK", "fatalError("]
        for file in try SourceFile.all
        where !file.path.hasPrefix("Tests/TidyTests/") && words.contains(where: file.text.contains) {
            for (number, line) in file.lines.enumerated() where line.contains(marks) {
                Issue.record("\(file.path):\(number + 1): \(line)")
            }
        }
    }

    @Test func `limits are made once, where a program begins`() throws {
        let beginnings = [
            "TidemarkTestKit/Cloud/TestCore", "TidemarkAdmin/Console/Limits+Standard", "tidemark-bench/Bench",
            "tidemark-fuzz/Running/Fuzzer",
        ].map { "Sources/\($0).swift" }
        let files = try SourceFile.all.filter { $0.path.hasPrefix("Sources/") }
        files.filter { !beginnings.contains($0.path) }.expectNone("Limits()", matching: /\bLimits\(\)/)
        for beginning in beginnings {
            #expect(files.contains { $0.path == beginning && $0.text.contains(" Limits()") }, "\(beginning) makes none")
        }
    }

    @Test func `no package brings swift-nio`() throws {
        let resolved = SourceFile.root.appendingPathComponent("Package.resolved")
        guard let text = try? String(contentsOf: resolved, encoding: .utf8) else { return }
        #expect(!text.contains("swift-nio"))
    }

    @Test func `no two types have one name`() throws {
        let files = try SourceFile.all.filter { $0.path.hasPrefix("Sources/") }
        var places: [Substring: Set<String>] = [:]
        for file in files {
            for line in file.lines {
                // A declaration of the file itself begins its line.
                guard let first = line.utf8.first, first != UInt8(ascii: " "), first != UInt8(ascii: "/"),
                    let name = Self.declaredType(line)
                else { continue }
                places[name, default: []].insert(file.path)
            }
        }
        #expect(places.count > 1_000, "the sources cannot be read")
        for (name, files) in places where files.count > 1 { Issue.record("\(name): \(files.sorted())") }

        // Names that say something only together with the type around them.
        let general: Set<Substring> = ["Answer", "Content", "Outcome", "Progress", "Report", "Row"]
        for file in files where !file.isGenerated {
            for (number, line) in file.code where Self.mayDeclareSharedType(line) {
                guard file.lines[number - 1].hasPrefix(" "), let name = Self.declaredType(line[...]),
                    !general.contains(name), let others = places[name]
                else { continue }
                Issue.record("\(file.path):\(number): \(name) is also a type of \(others.sorted())")
            }
        }
    }

    /// A nested name of one word says something together with the type around it. One of more words says it alone. `CodingKeys`
    /// is Codable's.
    @Test func `no two nested types have one name of several words`() throws {
        var places: [Substring: [String]] = [:]
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") && !file.isGenerated {
            for (number, line) in file.code where line.hasSuffix("{") || line.contains("typealias ") {
                guard file.lines[number - 1].hasPrefix(" "), !line.hasPrefix("public "),
                    let name = Self.declaredType(line[...]), name.contains(/[a-z][A-Z]/), name != "CodingKeys"
                else { continue }
                places[name, default: []].append("\(file.path):\(number)")
            }
        }
        #expect(places.count > 40, "the sources cannot be read")
        for (name, places) in places where places.count > 1 {
            Issue.record("\(name): \(places)")
        }
    }

    /// The name of the type that a line declares.
    private static func declaredType(_ line: Substring) -> Substring? {
        let keywords: Set<Substring> = ["struct", "enum", "class", "actor", "protocol", "typealias"]
        let words = line.split(separator: " ", maxSplits: 6)
        guard let keyword = words.firstIndex(where: keywords.contains), keyword + 1 < words.count,
            !words[..<keyword].contains(where: { $0 == "import" || $0 == "func" })
        else { return nil }
        return words[keyword + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    /// Whether a line may declare a type that more than one file sees, and whose name CloudKit does not dictate.
    private static func mayDeclareSharedType(_ line: String) -> Bool {
        (line.utf8.last == UInt8(ascii: "{") || line.hasPrefix("typealias ") || line.hasPrefix("package typealias "))
            && !["private ", "fileprivate ", "public "].contains(where: line.hasPrefix)
    }

    /// TestKit is for tests. Of a name that is declared several times, nobody here knows who uses which. A factory of
    /// metrics is called by swift-metrics, and a tracer by swift-distributed-tracing.
    @Test func `what only tests call is in no library`() throws {
        let libraries = ["Sources/TidemarkTelemetry/Metrics/Library", "Sources/TidemarkTracing/OTLPTracer"]
        var uses: [Substring: Int] = [:]
        var tested: Set<Substring> = []
        for file in try SourceFile.all {
            if file.path.hasPrefix("Tests/") {
                tested.formUnion(Self.words(of: file.text))
            } else {
                for word in Self.words(of: file.text) { uses[word, default: 0] += 1 }
            }
        }
        #expect(uses.count > 5_000 && tested.count > 5_000, "the files cannot be read")
        for file in try SourceFile.all
        where file.path.hasPrefix("Sources/Tidemark") && !file.path.hasPrefix("Sources/TidemarkTestKit/")
            && !libraries.contains(where: file.path.hasPrefix) && !file.isGenerated
        {
            for (number, line) in file.code {
                guard let name = Self.declaredMember(line), uses[name] == 1, tested.contains(name) else { continue }
                Issue.record("\(file.path):\(number): only tests use \(name)")
            }
        }
    }

    private static func words(of text: String) -> [Substring] {
        let parts = text.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): false
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): false
            default: true
            }
        }
        return parts.map { Substring($0) }
    }

    /// The name of the function or property that a line declares, unless it is public or private.
    private static func declaredMember(_ line: String) -> Substring? {
        let (keywords, others): (Set<Substring>, Set<Substring>) = (
            ["func", "var", "let"], ["public", "private", "fileprivate", "override"]
        )
        let words = line.split(separator: " ", maxSplits: 6)
        guard let keyword = words.firstIndex(where: keywords.contains), keyword + 1 < words.count,
            !words[..<keyword].contains(where: others.contains)
        else { return nil }
        return words[keyword + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    @Test func `numbers of fields stand in the proto files alone`() throws {
        // `12 << 3`, or a list of bytes that begins with the tag of one of the first fields.
        let number = /\b\d+ << 3\b|\[0x(08|0[aA]|1[028aA]|2[028aA]),/
        let modules: Set = ["TidemarkWire", "TidemarkFields"]
        let symbols = ["WireReader", "WireWriter", "WireMessage", "FieldWire", "FieldTag"]
        // The reader's own tests read fields of no message.
        for file in try SourceFile.all where !file.isGenerated && !file.path.hasPrefix("Tests/TidemarkBytesTests/") {
            guard !modules.isDisjoint(with: file.imports) || symbols.contains(where: file.text.contains)
            else { continue }
            for (line, text) in file.code where text.contains("<< 3") || text.contains("[0x") {
                if text.contains(number) { Issue.record("\(file.path):\(line): \(text)") }
            }
        }
    }

    @Test func `fields of a message that is written field by field are listed once`() throws {
        // `WireRecord.write(name: …`. Fields after a message in a message have a call of their own, which their label tells
        // apart. Fields of an envelope are written where they are known.
        let call = /\b(Wire[A-Z]\w*)\.write\((\w*)/
        var places: [String: [String]] = [:]
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") && !file.isGenerated {
            for (number, line) in file.code where line.contains(".write(") {
                for match in line.matches(of: call) where !match.1.hasSuffix("Envelope") {
                    places["\(match.1)(\(match.2)", default: []].append("\(file.path):\(number)")
                }
            }
        }
        #expect(places["WireRecord("] != nil)
        for (message, places) in places where places.count > 1 { Issue.record("\(message): \(places)") }
    }

    @Test func `swift-protobuf is the judge of the tests, and in no program`() throws {
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") {
            for (number, line) in file.code where line.contains(/import (SwiftProtobuf|WireJudge)\b/) {
                Issue.record("\(file.path):\(number): \(line)")
            }
        }
    }

    @Test func `tests name only rules that exist`() throws {
        let rules = try SourceFile.text(at: "Tests/RULES.md")
        let known = Set(rules.matches(of: /R-\d{3}/).map { String($0.0) })
        let rule = /R-\d{3}\b/
        for file in try SourceFile.all where file.text.contains("R-") {
            for match in file.text.matches(of: rule) {
                #expect(known.contains(String(match.0)), "\(file.path): \(match.0)")
            }
        }
    }
}
