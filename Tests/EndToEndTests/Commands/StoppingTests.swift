// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// How `tidemark serve` ends (R-809), with the real program.
@Suite(.timeLimit(.minutes(10))) struct StoppingTests {
    /// `tidemark serve` with an admin listener, on a database of its own.
    private struct Served {
        let directory: TestDirectory
        let program: Program
        let site: Site
        let adminPort: UInt16

        /// An app saves something. The program stops in order only once it has started.
        func use() async throws {
            try await site.makeContainer().privateCloudDatabase.save(CKRecordZone(zoneName: "Used"))
        }

        static func with(_ options: [String], _ body: (Served) async throws -> Void) async throws {
            let directory = try TestDirectory()
            defer { directory.remove() }
            let database = try await TestPostgres.database(OperatorPlace.template)
            let token = try OperatorPlace.makeAccounts(["alice"], url: database.url)[0]
            let program = try Program(
                "tidemark",
                [
                    "serve", "--listen", "127.0.0.1:0", "--plain", "--create-containers", "--admin-listen",
                    "127.0.0.1:0",
                ] + options,
                environment: ["TIDEMARK_DATABASE_URL": database.url], directory: directory.path)
            func port(_ text: String) -> UInt16? {
                let lines = program.output.split(separator: "\n")
                let line = lines.first { $0.contains("\(text) address=127.0.0.1:") }
                return line?.firstMatch(of: /address=127\.0\.0\.1:(\d+)/).flatMap { UInt16($0.1) }
            }
            try await eventually("tidemark serve serves") {
                guard program.isRunning else { throw NeverHappened(description: program.output) }
                return port(" serving") != nil
            }
            let site = Site(
                url: "ws://127.0.0.1:\(try #require(port(" serving")))", authorityFile: "", tokens: ["alice": token])
            let adminPort = try #require(port("answering operators"))
            try await body(Served(directory: directory, program: program, site: site, adminPort: adminPort))
        }

        func ask(_ target: String) async throws -> String { try await AdminPeer.ask(target, port: adminPort) }
    }

    @Test func `R-809: after SIGTERM a server is not ready at once and serves on, and a second signal ends it`()
        async throws
    {
        try await Served.with(["--drain-seconds", "3600"]) { (served: Served) async throws in
            let database = served.site.makeContainer().privateCloudDatabase
            try await database.save(CKRecordZone(zoneName: "Before"))
            #expect(try await served.ask("/readyz").hasPrefix("HTTP/1.1 200 "))
            served.program.signal(SIGTERM)
            try await eventually("it is not ready") {
                try await served.ask("/readyz").hasSuffix("\r\n\r\nthe server stops\n")
            }
            #expect(try await served.ask("/healthz").hasPrefix("HTTP/1.1 200 "))
            try await database.save(CKRecordZone(zoneName: "Meanwhile"))
            try await served.site.makeContainer().privateCloudDatabase.save(CKRecordZone(zoneName: "New device"))
            served.program.signal(SIGTERM)
            #expect(try await served.program.exit() == 130)
        }
    }

    @Test func `R-809: when the time is over it stops as always`() async throws {
        try await Served.with(["--drain-seconds", "1"]) { (served: Served) async throws in
            try await served.use()
            served.program.signal(SIGTERM)
            #expect(try await served.program.exit() == 0)
            #expect(served.program.output.contains(" stopped"))
        }
    }

    @Test func `R-809: who types Ctrl-C does not wait`() async throws {
        try await Served.with(["--drain-seconds", "3600"]) { (served: Served) async throws in
            try await served.use()
            served.program.signal(SIGINT)
            #expect(try await served.program.exit() == 0)
        }
    }

    @Test func `R-806, R-807: an admin listener that cannot be protected is refused, and the text says how`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        for (options, text) in [
            (["--admin-listen", "localhost:1"], "--admin-listen takes a numeric address and a port"),
            (
                ["--admin-listen", "0.0.0.0:0"],
                "needs TLS (--certificate and --private-key), and --admin-token-file or"
            ),
            (["--admin-token-file", "x"], "protect --admin-listen. Give that too"),
            (["--admin-listen", "127.0.0.1:0", "--admin-client-ca", "x"], "--admin-client-ca holds beyond loopback"),
            (["--admin-listen", "127.0.0.1:0", "--admin-token-file", "x"], "--admin-token-file cannot be used"),
            (["--drain-seconds", "3601"], "--drain-seconds must be between 0 and 3600"),
        ] {
            let (status, output) = try await Program.run(
                "tidemark", ["serve", "--listen", "127.0.0.1:0", "--database-url", "x", "--plain"] + options,
                directory: directory.path)
            #expect(status != 0 && output.contains(text), "\(output)")
        }
    }

    @Test func `R-806: several admin addresses are given by the option or, with commas, by the environment`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database(OperatorPlace.template)
        let both = ["127.0.0.1:0", "127.0.0.2:0"]
        let ways: [(options: [String], variables: [String: String])] = [
            (both.flatMap { ["--admin-listen", $0] }, [:]),
            ([], ["TIDEMARK_ADMIN_LISTEN": both.joined(separator: ",")]),
        ]
        for (options, variables) in ways {
            let program = try Program(
                "tidemark", ["serve", "--listen", "127.0.0.1:0", "--plain"] + options,
                environment: variables.merging(["TIDEMARK_DATABASE_URL": database.url]) { $1 },
                directory: directory.path)
            try await eventually("it answers at both") {
                guard program.isRunning else { throw NeverHappened(description: program.output) }
                return ["127.0.0.1", "127.0.0.2"].allSatisfy {
                    program.output.contains("answering operators address=\($0):")
                }
            }
            try await program.stop()
        }
    }
}
