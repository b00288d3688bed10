// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@Suite struct AdminSchemaTests {
    private struct Shell {
        let directory: TestDirectory
        let database: TestDatabase

        func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
            try await run(arguments)
        }

        func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
            try await Program.run(
                "tidemark", ["admin"] + arguments, environment: ["TIDEMARK_DATABASE_URL": database.url],
                directory: directory.path)
        }

        func file(_ text: String) throws -> String {
            let path = directory.path + "/schema.ckdb"
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
    }

    private static func withShell(_ body: (Shell) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let shell = Shell(directory: directory, database: try await TestPostgres.database())
        _ = try await Program.run(
            "tidemark", ["migrate"], environment: ["TIDEMARK_DATABASE_URL": shell.database.url],
            directory: directory.path)
        try await body(shell)
    }

    @Test func `R-012: a schema is imported, exported, promoted, and in production only added to`() async throws {
        try await Self.withShell { shell in
            let container = ["--container", "iCloud.test"]
            let text = "DEFINE SCHEMA RECORD TYPE Note ( text STRING QUERYABLE SEARCHABLE, tags LIST<STRING> );"
            let file = try shell.file(text)
            #expect(try await shell.run("schema", "validate", file).output.contains("1 record types, 2 fields"))
            let imported = try await shell.run("schema", "import", file, container[0], container[1])
            #expect(imported.status == 0)
            #expect(imported.output.contains("+ Note.text STRING QUERYABLE SEARCHABLE"))
            let exported = try await shell.run("schema", "export", container[0], container[1])
            #expect(exported.output.contains("        text            STRING QUERYABLE SEARCHABLE,\n"))
            #expect(
                try await shell.run("schema", "diff", try shell.file(exported.output), container[0], container[1])
                    .output == "")
            #expect(try await shell.run("indexes", "list").output.contains("valid"))

            #expect(
                try await shell.run("schema", "diff", container[0], container[1]).output.contains("+ RECORD TYPE Note"))
            #expect(try await shell.run("schema", "promote", container[0], container[1]).status == 0)
            #expect(
                try await shell.run("schema", "promote", container[0], container[1]).output == "Nothing to change.\n")
            let smaller = try shell.file("DEFINE SCHEMA RECORD TYPE Note ( text STRING );")
            let refused = try await shell.run(
                "schema", "import", smaller, container[0], container[1], "--environment", "production", "--force")
            #expect(refused.status != 0)
            #expect(refused.output.contains("- Note.tags LIST<STRING>"))
            // In development nothing uses them.
            #expect(try await shell.run("schema", "import", smaller, container[0], container[1]).status == 0)
            let production = try await shell.run(
                "schema", "export", container[0], container[1], "--environment", "production")
            #expect(production.output == exported.output)
        }
    }

    @Test func `R-008, R-012: production loses no role, and nobody what he was given with it`() async throws {
        try await Self.withShell { shell in
            let type = "RECORD TYPE Page ( text STRING );"
            let whole = try shell.file("DEFINE SCHEMA CREATE ROLE Editor; \(type)")
            for environment in ["development", "production"] {
                let container = ["--container", "iCloud.test", "--environment", environment]
                let imported = try await shell.run(["schema", "import", whole] + container)
                #expect(imported.status == 0 && imported.output.contains("+ ROLE Editor"), "\(imported.output)")
            }
            let smaller = try shell.file("DEFINE SCHEMA \(type)")
            let production = ["--container", "iCloud.test", "--environment", "production"]
            for force in [[], ["--force"]] {
                let refused = try await shell.run(["schema", "import", smaller] + production + force)
                #expect(refused.status != 0 && refused.output.contains("- ROLE Editor"), "\(refused.output)")
            }
            #expect(try await shell.run(["schema", "export"] + production).output.contains("CREATE ROLE Editor"))
            let asked = try await shell.run("schema", "import", smaller, "--container", "iCloud.test")
            #expect(asked.status == 2 && asked.output.contains("1 role will be lost"), "\(asked.output)")
            #expect(try await shell.run("schema", "import", smaller, "--container", "iCloud.test", "--yes").status == 0)
        }
    }

    @Test func `a container that a schema creates is named, and looking at one creates none`() async throws {
        try await Self.withShell { shell in
            let file = try shell.file("DEFINE SCHEMA RECORD TYPE Note ( text STRING );")
            for name in ["", "a b"] {
                let refused = try await shell.run("schema", "import", file, "--container", name)
                #expect(refused.status != 0 && refused.output.contains("printable ASCII"), "\(refused.output)")
            }
            for arguments in [["diff"], ["diff", file], ["promote"], ["export"]] {
                let refused = try await shell.run(["schema"] + arguments + ["--container", "iCloud.tset"])
                #expect(refused.status != 0, "\(arguments)")
                #expect(refused.output.contains("no container iCloud.tset in development"), "\(refused.output)")
                #expect(refused.output.contains("tidemark admin containers list"))
            }
            #expect(try await !shell.run("containers", "list").output.contains("iCloud"))

            let container = ["--container", "iCloud.test"]
            let created = "Created container iCloud.test in "
            #expect(
                try await shell.run(["schema", "import", file] + container).output.contains(created + "development."))
            #expect(try await !shell.run(["schema", "import", file] + container).output.contains("Created"))
            // Production is not there yet: all would be new.
            for arguments in [["diff"], ["diff", file, "--environment", "production"]] {
                let shown = try await shell.run(["schema"] + arguments + container)
                #expect(shown.status == 0 && shown.output.contains("+ RECORD TYPE Note"), "\(shown.output)")
            }
            #expect(try await shell.run(["schema", "promote"] + container).output.contains(created + "production."))
            #expect(try await !shell.run(["schema", "promote"] + container).output.contains("Created"))
        }
    }

    @Test(arguments: [["validate"], ["import", "--container", "iCloud.test"]])
    func `a signal ends the wait for standard input`(_ command: [String]) async throws {
        try await Self.withShell { shell in
            // Whoever reads it waits for more.
            let pipe = shell.directory.path + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let writer = open(pipe, O_RDWR | O_CLOEXEC)
            defer { close(writer) }
            let script = "exec \"$0\" admin schema \(command.joined(separator: " ")) - < \"$1\""
            let program = try Program(
                "tidemark", ["-c", script, "\(Program.directory)/tidemark", pipe],
                environment: ["TIDEMARK_DATABASE_URL": shell.database.url], directory: shell.directory.path,
                path: "/bin/sh")
            try await eventually("it keeps signals for itself") { self.blocksSignals(program.id) }
            program.signal(SIGTERM)
            #expect(try await program.exit() == 130)
        }
    }

    /// Whether SIGTERM would wait until the process asks for it (proc(5): a bit a signal, from 1).
    private func blocksSignals(_ process: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let blocked = status.firstMatch(of: /SigBlk:\s+([0-9a-f]+)/).flatMap({ UInt64($0.1, radix: 16) })
        else { return false }
        return blocked & (1 << UInt64(SIGTERM - 1)) != 0
    }

    @Test func `what is wrong in a schema's file is told with its line and column`() async throws {
        try await Self.withShell { shell in
            let file = try shell.file("DEFINE SCHEMA\nRECORD TYPE Note (\n  text STRNG\n);")
            for arguments in [["schema", "validate", file], ["schema", "import", file, "--container", "iCloud.test"]] {
                let ended = try await Program.run(
                    "tidemark", ["admin"] + arguments, environment: ["TIDEMARK_DATABASE_URL": shell.database.url],
                    directory: shell.directory.path)
                #expect(ended.status == 1)
                #expect(ended.output.contains("\(file):3:8: expected a type"), "\(ended.output)")
            }
            #expect(try await shell.run("schema", "validate", "/none").output.contains("cannot be read"))
            let unknown = try await shell.run("schema", "export", "--container", "iCloud.none")
            #expect(unknown.status != 0 && unknown.output.contains("no container iCloud.none in development"))
        }
    }
}
