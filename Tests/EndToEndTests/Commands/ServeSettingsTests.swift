// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Settings of the real program: its options, and a settings file.
@Suite(.timeLimit(.minutes(20))) struct ServeSettingsTests {
    private func run(
        _ arguments: [String], environment: [String: String] = [:], in directory: TestDirectory
    ) async throws -> (status: Int32, output: String) {
        try await Program.run(
            "tidemark", arguments, environment: environment, directory: directory.path, within: .seconds(60))
    }

    private func write(_ text: String, to directory: TestDirectory, mode: Int = 0o600) throws -> String {
        let path = "\(directory.path)/settings.yaml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test func `R-930: each option of serve is in the list of settings, with its help, and no other`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let dump = try await run(["serve", "--experimental-dump-help"], in: directory)
        let start = try #require(dump.output.firstIndex(of: "{"))
        let described = try #require(CommandDescription(json: String(dump.output[start...])))
        let serve =
            described.commandName == "serve"
            ? described : try #require(described.shownSubcommands.first { $0.commandName == "serve" })
        let options = (serve.arguments ?? []).filter { $0.shouldDisplay }.flatMap(\.spellings)
            .filter { !["-h", "--help", "--version", "--config"].contains($0) }
        #expect(Set(options) == Set(ServeSetting.all.map(\.flag)))
        #expect(options.count == ServeSetting.all.count)
    }

    @Test func `R-930: a mistake in the file stops the start, with its line and what is meant`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = try write("listen: 127.0.0.1:0\nplain: true\nlog-levle: info\nloops: 0\n", to: directory)
        let ended = try await run(["serve", "--config", path], in: directory)
        #expect(ended.status == 2)
        #expect(ended.output.contains("\(path):3:1: There is no setting log-levle. Did you mean log-level?"))
        #expect(ended.output.contains("\(path):4:8: loops must be between 1 and 64, not 0."))
        let checked = try await run(["admin", "config", "check", path], in: directory)
        #expect(checked.status == 1)
        #expect(checked.output.contains("\(path):3:1:") && checked.output.contains("2 mistakes"))
        let none = try await run(["serve", "--config", "\(path)x"], in: directory)
        #expect(none.status == 2 && none.output.contains("cannot be read"))
        // What two settings say together.
        let more = try write("listen: 127.0.0.1:0\nplain: true\ndatabase-url: x\nrequest-burst: 9\n", to: directory)
        let burst = try await run(["serve", "--config", more], in: directory)
        #expect(burst.status == 2 && burst.output.contains("--request-burst is for --requests-per-second"))
    }

    @Test func `R-930, R-931: a server starts from a file alone, migrates by it, and what is given otherwise wins`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database()
        let path = try write(
            "listen: 127.0.0.1:0\nplain: true\ndatabase-url: \"\(database.url)\"\nlog-format: json\nloops: 1\n",
            to: directory)
        let environment = ["TIDEMARK_CONFIG": path, "TIDEMARK_LOG_FORMAT": "text"]
        let migrated = try await run(["migrate"], environment: environment, in: directory)
        #expect(migrated.status == 0, "\(migrated.output)")
        let server = try Program("tidemark", ["serve"], environment: environment, directory: directory.path)
        try await eventually("it serves") { server.output.contains("serving address=127.0.0.1:") }
        #expect(server.output.contains("settings are read from a file") && server.output.contains(path))
        server.signal(SIGTERM)
        #expect(try await server.exit() == 0)

        let shown = try await run(
            ["admin", "config", "show", "-o", "json", "--", "--loops", "2"], environment: environment, in: directory)
        #expect(shown.status == 0, "\(shown.output)")
        func line(_ key: String) -> Substring {
            shown.output.split(separator: "\n").first { $0.contains("\"setting\":\"\(key)\"") } ?? ""
        }
        #expect(line("loops").contains("\"value\":\"2\"") && line("loops").contains("\"source\":\"flag\""))
        #expect(line("log-format").contains("\"source\":\"variable\""))
        #expect(line("plain").contains("\"source\":\"file\"") && line("plain").contains("settings.yaml:2"))
        #expect(line("device-days").contains("\"source\":\"default\"") && line("device-days").contains("\"400\""))
    }

    @Test func `R-932: a password in a file that everybody may read stops the start, and is never told`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let text = "listen: 127.0.0.1:0\nplain: true\ndatabase-url: postgresql://t:s3cret@127.0.0.1:1/t\n"
        let open = try write(text, to: directory, mode: 0o644)
        let ended = try await run(["serve", "--config", open], in: directory)
        #expect(ended.status == 2)
        #expect(ended.output.contains("settings.yaml:3:15: database-url has a password"), "\(ended.output)")
        #expect(!ended.output.contains("s3cret"))
        let shown = try await run(["admin", "config", "show", "--config", open], in: directory)
        #expect(shown.status == 1 && !shown.output.contains("s3cret"))
        let closed = try write(text, to: directory, mode: 0o640)
        #expect(try await run(["admin", "config", "check", closed], in: directory).status == 0)
    }
}
