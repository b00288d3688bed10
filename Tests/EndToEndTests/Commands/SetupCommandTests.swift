// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// `tidemark setup`, and the password of the database in a file (R-946, R-948).
@Suite(.timeLimit(.minutes(20))) struct SetupCommandTests {
    private struct Place {
        let directory: TestDirectory
        let superuserURL: String
        /// Of the role and of the database.
        let name = "setup_\(UInt32.random(in: 0...UInt32.max))"
        var files: String { "\(directory.path)/etc" }

        func setup(_ more: String...) async throws -> (status: Int32, output: String) {
            try await Program.run(
                "tidemark",
                [
                    "setup", "--superuser-url", superuserURL, "--database", name, "--role", name, "--directory", files,
                ] + more, directory: directory.path, within: .seconds(60))
        }

        func contents() throws -> [String: Data] {
            var contents: [String: Data] = [:]
            for file in try FileManager.default.contentsOfDirectory(atPath: files) {
                contents[file] = try Data(contentsOf: URL(fileURLWithPath: "\(files)/\(file)"))
            }
            return contents
        }

        func mode(_ file: String) throws -> Int? {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(files)/\(file)")
            return (attributes[.posixPermissions] as? NSNumber)?.intValue
        }

        /// As systemd reads the file.
        func variables() throws -> [String: String] {
            let text = try String(contentsOfFile: "\(files)/tidemark.env", encoding: .utf8)
            var variables: [String: String] = [:]
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                let match = try #require(line.wholeMatch(of: /([A-Z_]+)="(.*)"/), "\(line)")
                variables[String(match.1)] = String(match.2).replacing(/\\(.)/) { String($0.1) }
            }
            return variables
        }
    }

    private func with(_ body: (Place) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await body(Place(directory: directory, superuserURL: try await TestPostgres.database().url))
    }

    @Test func `R-946: setup makes all that a server needs, and a second run changes nothing`() async throws {
        try await with { place in
            let container = "iCloud.test.setup"
            let first = try await place.setup("--container", container, "--operator", "olga")
            #expect(first.status == 0, "\(first.output)")
            for what in [
                "role \(place.name)", "database \(place.name)", "its tables", "\(container) in development",
                "\(container) in production", "operator olga", "master.key", "tidemark.env", "database-password",
            ] {
                let line = try Regex("(?m)^made .*\(what)$")
                #expect(first.output.contains(line), "\(what): \(first.output)")
            }
            #expect(first.output.contains("shown this once:\ntidemark_"))
            #expect(first.output.contains("systemctl enable --now tidemark"))
            #expect(try place.mode("tidemark.env") == 0o640)
            #expect(try place.mode("master.key") == 0o600)
            #expect(try place.mode("database-password") == 0o600)

            let files = try place.contents()
            for more in [[], ["--container", container, "--operator", "olga"]] {
                let again = try await Program.run(
                    "tidemark",
                    [
                        "setup", "--superuser-url", place.superuserURL, "--database", place.name, "--role", place.name,
                        "--directory", place.files,
                    ] + more, directory: place.directory.path, within: .seconds(60))
                #expect(again.status == 0 && again.output.contains("\nNothing was changed.\n"), "\(again.output)")
                #expect(!again.output.contains("made ") && !again.output.contains("tidemark_"), "\(again.output)")
                #expect(try place.contents() == files)
            }
        }
    }

    @Test func `R-946, R-948: a server serves with what setup wrote, and a device syncs`() async throws {
        try await with { place in
            let container = "iCloud.test.setup"
            let made = try await place.setup("--container", container, "--operator", "olga")
            #expect(made.status == 0, "\(made.output)")
            var variables = try place.variables()
            #expect(variables["TIDEMARK_LISTEN"] == "127.0.0.1:8443" && variables["TIDEMARK_PLAIN"] == "1")
            let url = try #require(variables["TIDEMARK_DATABASE_URL"])
            let password = try String(contentsOfFile: "\(place.files)/database-password", encoding: .utf8)
            #expect(password.wholeMatch(of: /[0-9a-f]{48}\n/) != nil && !url.contains("password"))
            // Ports and a place that other tests do not have, and what the unit adds.
            for name in ["TIDEMARK_LISTEN", "TIDEMARK_ADMIN_LISTEN", "TIDEMARK_OPERATORS_LISTEN"] {
                variables[name] = "127.0.0.1:0"
            }
            variables["TIDEMARK_ASSET_DIRECTORY"] = "\(place.directory.path)/assets"
            variables["TIDEMARK_MASTER_KEY_FILE"] = "\(place.files)/master.key"
            variables["TIDEMARK_DATABASE_PASSWORD_FILE"] = "\(place.files)/database-password"
            let server = try Program(
                "tidemark", ["serve"], environment: variables, directory: place.directory.path)
            var port = 0
            try await eventually("it serves", within: .seconds(60)) {
                guard server.isRunning else { throw NeverHappened(description: server.output) }
                port = server.output.firstMatch(of: /serving address=127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) } ?? 0
                return port != 0
            }
            let token = try OperatorPlace.makeAccounts(["alice"], url: url)[0]
            var site = Site(url: "ws://127.0.0.1:\(port)", authorityFile: "", tokens: ["alice": token])
            site.container = container
            let id = CKRecord.ID(recordName: "n1")
            try await site.makeContainer().privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
            #expect(try await site.makeContainer().privateCloudDatabase.record(for: id).recordType == "Note")
            #expect(try await server.stop() == 0)
        }
    }

    @Test func `R-946: setup says which files of the certificate are not there yet`() async throws {
        try await with { place in
            let made = try await place.setup("--certificate", "/none.pem", "--private-key", "/none.key")
            #expect(made.status == 0, "\(made.output)")
            for file in ["/none.pem", "/none.key"] {
                #expect(made.output.contains("There is no file \(file) yet."), "\(made.output)")
            }
        }
    }

    @Test func `R-946: a database of other servers keeps its master key, and setup makes no other`() async throws {
        try await with { place in
            #expect(try await place.setup("--operator", "olga").status == 0)
            let password = try String(contentsOfFile: "\(place.files)/database-password", encoding: .utf8)
            let key = try String(contentsOfFile: "\(place.files)/master.key", encoding: .utf8)
            var variables = try place.variables()
            // A server names its key in the database.
            for name in ["TIDEMARK_LISTEN", "TIDEMARK_ADMIN_LISTEN", "TIDEMARK_OPERATORS_LISTEN"] {
                variables[name] = "127.0.0.1:0"
            }
            variables["TIDEMARK_ASSET_DIRECTORY"] = "\(place.directory.path)/assets"
            variables["TIDEMARK_MASTER_KEY_FILE"] = "\(place.files)/master.key"
            variables["TIDEMARK_DATABASE_PASSWORD_FILE"] = "\(place.files)/database-password"
            let server = try Program("tidemark", ["serve"], environment: variables, directory: place.directory.path)
            try await eventually("it serves", within: .seconds(60)) {
                guard server.isRunning else { throw NeverHappened(description: server.output) }
                return server.output.contains("serving address=")
            }
            #expect(try await server.stop() == 0)

            try FileManager.default.removeItem(atPath: place.files)
            let refused = try await place.setup("--operator", "oskar")
            #expect(refused.status != 0 && refused.output.contains("another master key"), "\(refused.output)")
            #expect(try place.contents().isEmpty)
            try key.write(toFile: "\(place.files)/master.key", atomically: true, encoding: .utf8)
            try password.write(toFile: "\(place.files)/database-password", atomically: true, encoding: .utf8)
            let again = try await place.setup("--operator", "oskar")
            #expect(again.status == 0 && again.output.contains("made the operator oskar"), "\(again.output)")
        }
    }

    @Test func `R-946: an empty file of a password gets one for a new role, and stays for one that is there`()
        async throws
    {
        try await with { place in
            try FileManager.default.createDirectory(atPath: place.files, withIntermediateDirectories: true)
            let file = "\(place.files)/database-password"
            try Data().write(to: URL(fileURLWithPath: file))
            #expect(try await place.setup("--operator", "olga").status == 0)
            #expect(try String(contentsOfFile: file, encoding: .utf8).wholeMatch(of: /[0-9a-f]{48}\n/) != nil)
            try Data().write(to: URL(fileURLWithPath: file))
            let again = try await place.setup("--listen", "127.0.0.1:9")
            #expect(again.status == 0 && again.output.contains("Not used: --listen. Edit"), "\(again.output)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)).isEmpty)
        }
    }

    @Test func `R-946: what setup cannot do is said before anything is made`() async throws {
        try await with { place in
            for (more, text) in [
                (["--container", "a b"], "printable ASCII characters without spaces"),
                (["--operator", ""], "printable ASCII characters without spaces"),
                (["--listen", "everywhere"], "--listen takes a numeric address"),
                (["--certificate", "/x.pem"], "belong together"),
                (["--listen", "0.0.0.0:8443"], "Give --certificate and --private-key"),
                (["--certificate", "a\nb", "--private-key", "c"], "control character"),
                (["--database", "Robert'); DROP TABLE"], "--database takes a name"),
                (["--role", "x\" SUPERUSER"], "--role takes a name"), (["--superuser-url", "x"], "--superuser-url"),
            ] {
                let refused = try await Program.run(
                    "tidemark",
                    ["setup", "--superuser-url", place.superuserURL, "--directory", place.files] + more,
                    directory: place.directory.path)
                #expect(refused.status == 2 && refused.output.contains(text), "\(more): \(refused.output)")
                #expect(!FileManager.default.fileExists(atPath: place.files), "\(more)")
            }
            let gone = try await Program.run(
                "tidemark",
                ["setup", "--superuser-url", "postgresql://127.0.0.1:1/postgres", "--directory", place.files],
                directory: place.directory.path)
            #expect(gone.status == 3 && gone.output.contains("--superuser-url"), "\(gone.output)")
            #expect(!FileManager.default.fileExists(atPath: "\(place.files)/tidemark.env"))
        }
    }

    @Test func `R-948: a password comes from the first line of a file, and a file that has none is refused`()
        async throws
    {
        try await with { place in
            func migrate(_ contents: Data?) async throws -> (status: Int32, output: String) {
                let file = "\(place.directory.path)/password"
                try? FileManager.default.removeItem(atPath: file)
                try contents?.write(to: URL(fileURLWithPath: file))
                return try await Program.run(
                    "tidemark", ["migrate", "status", "--database-password-file", file],
                    environment: ["TIDEMARK_DATABASE_URL": place.superuserURL], directory: place.directory.path)
            }
            for contents in ["", "\n", "secret", "secret\nsecond", String(repeating: "x", count: 1_000)] {
                #expect(try await migrate(Data(contents.utf8)).status == 0, "\(contents)")
            }
            for contents in [Data(repeating: 0x78, count: 1_001), Data([0x61, 0]), Data([0xFF])] {
                let refused = try await migrate(contents)
                #expect(refused.status == 2 && refused.output.contains("--database-password-file"), "\(refused.output)")
            }
            let missing = try await migrate(nil)
            #expect(missing.status == 2 && missing.output.contains("cannot be read"), "\(missing.output)")
        }
    }
}
