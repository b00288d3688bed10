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
        for file in try SourceFile.all
        where file.path.hasPrefix("Sources/") && !promised.contains(where: file.path.hasPrefix) {
            for (number, line) in file.code
            where line.contains(
                /\b(public|open) (final |static |override |convenience )*(class|struct|enum|protocol|func|var|let|init|typealias|extension|import)\b/
            ) {
                Issue.record("\(file.path):\(number): \(line)")
            }
        }
    }

    @Test func `only SystemCalls reads errno below the programs`() throws {
        let allowed = ["SystemCalls.swift"]
        let places = ["Sources/TidemarkSockets/", "Sources/TidemarkTLS/", "Sources/TidemarkTransport/"]
        for file in try SourceFile.all where places.contains(where: file.path.hasPrefix) {
            if allowed.contains(where: file.path.hasSuffix) { continue }
            for (number, line) in file.code where line.contains(/\berrno\b/) {
                Issue.record("\(file.path):\(number): \(line)")
            }
        }
    }

    @Test func `tests start processes one at a time`() throws {
        let allowed = "Tests/TidemarkTestSupport/Process+Starting.swift"
        for file in try SourceFile.all where file.path.hasPrefix("Tests/") && file.path != allowed {
            guard file.text.contains(/\bProcess\(\)/) else { continue }
            for (number, line) in file.code where line.contains(/\.run\(\)/) {
                Issue.record("\(file.path):\(number): start() takes the lock: \(line)")
            }
        }
    }

    @Test func `no Foundation where bytes are moved and rules are decided`() throws {
        let places = [
            "Bytes", "Scheduling", "Fields", "Crypto", "Sockets", "TLS", "HTTP", "WebSocket", "Transport", "Postgres",
            "Domain", "Service", "Sessions", "Store", "Assets", "Wire",
        ].map { "Sources/Tidemark\($0)/" }
        for file in try SourceFile.all where places.contains(where: file.path.hasPrefix) && !file.isGenerated {
            for (number, line) in file.code where line.contains(/import Foundation/) {
                Issue.record("\(file.path):\(number): \(line)")
            }
        }
    }

    @Test func `the rules read no clock, no dice and no sockets`() throws {
        let allowed: Set = ["TidemarkBytes", "TidemarkFields"]
        for file in try SourceFile.all where file.path.hasPrefix("Sources/TidemarkDomain/") {
            for (number, line) in file.code {
                if let match = line.firstMatch(of: /^(?:package |internal |public )?import (\w+)/) {
                    #expect(allowed.contains(String(match.1)), "\(file.path):\(number): \(line)")
                }
                #expect(!line.contains(/\.random\(|Date\(\)|ContinuousClock|SuspendingClock/), "\(file.path):\(number)")
            }
        }
    }

    @Test func `Kit never sees the server's side`() throws {
        let foreign = /import Tidemark(Domain|Service|Store|Server|Sessions|Translation|Postgres)\b/
        for file in try SourceFile.all where file.path.hasPrefix("Sources/TidemarkKit/") {
            for (number, line) in file.code where line.contains(foreign) {
                Issue.record("\(file.path):\(number): \(line)")
            }
        }
    }

    @Test func `the client programs know nothing but CloudKit`() throws {
        let programs = try SourceFile.all.filter { $0.path.hasPrefix("Tests/ClientPrograms/") }
        #expect(!programs.isEmpty)
        for file in programs {
            for (number, line) in file.code {
                if let match = line.firstMatch(of: /\bimport (\w+)/) {
                    #expect(["CloudKit", "Foundation", "CSQLite"].contains(match.1), "\(file.path):\(number): \(line)")
                }
                #expect(
                    !line.contains(/Tidemark|signIn\(token|signOut\(\)|journalFile|\.configure\(/),
                    "\(file.path):\(number): \(line)")
            }
        }
    }

    @Test func `peers' bytes never meet a forced unwrap`() throws {
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") && !file.isGenerated {
            for (number, line) in file.code where line.contains(/\btry!|\bas! (?!Self)/) {
                Issue.record("\(file.path):\(number): \(line)")
            }
        }
    }

    @Test func `a file is one idea`() throws {
        for file in try SourceFile.all where !file.isGenerated {
            #expect(file.lines.count <= 600, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test func `nothing is left for later`() throws {
        let marks = /\b(TODO|FIXME|XXX|HACK)\b|fatalError\("(not|un)implemented/
        for file in try SourceFile.all where !file.path.hasPrefix("Tests/TidyTests/") {
            for (number, line) in file.lines.enumerated() where line.contains(marks) {
                Issue.record("\(file.path):\(number + 1): \(line)")
            }
        }
    }

    @Test func `no package brings swift-nio`() throws {
        let resolved = SourceFile.root.appendingPathComponent("Package.resolved")
        guard let text = try? String(contentsOf: resolved, encoding: .utf8) else { return }
        #expect(!text.contains("swift-nio"))
    }

    @Test func `every link of the documents leads somewhere`() throws {
        let documents = [
            "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "deploy/README.md",
            "docs/pending-changes.md",
        ]
        for document in documents {
            let url = SourceFile.root.appendingPathComponent(document)
            let text = try String(contentsOf: url, encoding: .utf8)
            for match in text.matches(of: /\]\(([^)#]+)\)/) where !match.1.contains("://") {
                let target = url.deletingLastPathComponent().appendingPathComponent(String(match.1))
                #expect(FileManager.default.fileExists(atPath: target.path), "\(document): \(match.1)")
            }
        }
    }

    @Test func `tests name only rules that exist`() throws {
        let rules = try String(contentsOf: SourceFile.root.appendingPathComponent("Tests/RULES.md"), encoding: .utf8)
        let known = Set(rules.matches(of: /R-\d{3}/).map { String($0.0) })
        for file in try SourceFile.all {
            for match in file.text.matches(of: /R-\d{3}\b/) {
                #expect(known.contains(String(match.0)), "\(file.path): \(match.0)")
            }
        }
    }
}
