// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTLS
import TidemarkTestSupport

/// `tidemark serve` as a container of processes starts it: without a command line.
@Suite struct ServeCommandTests {
    @Test func `serve is started by its environment alone, and says which variable is missing`() async throws {
        try await OperatorPlace.with { place in
            let certificates = try DevelopmentCertificates(
                directory: place.directory.path, hosts: ["127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
            let environment = [
                "TIDEMARK_DATABASE_URL": place.database.url, "TIDEMARK_LISTEN": "127.0.0.1:0",
                "TIDEMARK_CERTIFICATE": certificates.certificateFile,
                "TIDEMARK_PRIVATE_KEY": certificates.privateKeyFile, "TIDEMARK_CREATE_CONTAINERS": "1",
            ]
            for name in environment.keys where name != "TIDEMARK_CREATE_CONTAINERS" {
                let result = try await Program.run(
                    "tidemark", ["serve"], environment: environment.filter { $0.key != name },
                    directory: place.directory.path)
                let option = name.dropFirst("TIDEMARK_".count).lowercased().replacing("_", with: "-")
                #expect(result.status != 0 && result.output.contains("--\(option)"), "\(result.output)")
            }
            let server = try Program("tidemark", ["serve"], environment: environment, directory: place.directory.path)
            var port = ""
            try await eventually("tidemark serve serves") {
                guard server.isRunning else { throw NeverHappened(description: server.output) }
                port = server.output.firstMatch(of: /serving address=127\.0\.0\.1:(\d+)/).map { String($0.1) } ?? ""
                return !port.isEmpty
            }
            let site = Site(
                url: "wss://127.0.0.1:\(port)", authorityFile: certificates.authorityFile, tokens: place.site.tokens)
            let zone = CKRecordZone(zoneName: "Notes")
            let saved = try await site.makeContainer().privateCloudDatabase.save(zone)
            #expect(saved.zoneID == zone.zoneID)
            #expect(try await server.stop() == 0)
        }
    }

    @Test func `each option of serve that takes a number is a variable too`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let help = try await Program.run("tidemark", ["serve", "--help"], directory: directory.path).output
        let options = Set(
            help.matches(of: /--([a-z-]+) <(?:count|days|hours|kilobytes|megabytes|milliseconds|seconds)>/).map {
                String($0.1)
            })
        #expect(options.count >= 14, "\(help)")
        for option in options {
            let variable = "TIDEMARK_" + option.uppercased().replacing("-", with: "_")
            let result = try await Program.run(
                "tidemark", ["serve", "--listen", "127.0.0.1:0", "--plain", "--database-url", "x"],
                environment: [variable: "many"], directory: directory.path)
            #expect(result.status != 0 && result.output.contains("\(variable) must be a number"), "\(result.output)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")))
    func `the health check of the container asks a server over TLS`() async throws {
        let site = try await DevServer.shared()
        let directory = try TestDirectory()
        defer { directory.remove() }
        let check = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../deploy/healthy"
        ).standardized.path
        func status(_ port: Int) async throws -> Int32 {
            try await Program.run("healthy", ["127.0.0.1:\(port)"], directory: directory.path, path: check).status
        }
        #expect(try await status(site.port) == 0)
        // Nobody listens there.
        #expect(try await status(1) != 0)
    }

    @Test func `R-768: a password on the command line is warned of, and one in the environment is not`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        func output(_ option: String?, _ variable: String? = nil) async throws -> String {
            let arguments = ["admin", "accounts", "list"] + (option.map { ["--database-url", $0] } ?? [])
            let environment = variable.map { ["TIDEMARK_DATABASE_URL": $0] } ?? [:]
            return try await Program.run(
                "tidemark", arguments, environment: environment, directory: directory.path
            ).output
        }
        // Nobody listens there.
        let secret = "postgresql://tidemark:geheim@127.0.0.1:1/tidemark"
        for url in [secret, "host=127.0.0.1 port=1 password=geheim", "postgresql://127.0.0.1:1/?password=geheim"] {
            let output = try await output(url)
            #expect(output.contains("Warning: everybody who may list processes"), "\(output)")
            #expect(!output.contains("geheim"), "\(output)")
        }
        #expect(try await !output("postgresql://tidemark@127.0.0.1:1/tidemark").contains("Warning"))
        #expect(try await !output(nil, secret).contains("Warning"))
    }
}
