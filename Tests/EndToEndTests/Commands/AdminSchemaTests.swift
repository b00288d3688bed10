// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@Suite struct AdminSchemaTests {
    private struct Shell {
        let directory: TestDirectory
        let database: TestDatabase

        func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
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

    @Test func `what is wrong in a schema's file is told with its line and column`() async throws {
        try await Self.withShell { shell in
            let file = try shell.file("DEFINE SCHEMA\nRECORD TYPE Note (\n  text STRNG\n);")
            for arguments in [["schema", "validate", file], ["schema", "import", file, "--container", "iCloud.test"]] {
                let ended = try await Program.run(
                    "tidemark", ["admin"] + arguments, environment: ["TIDEMARK_DATABASE_URL": shell.database.url],
                    directory: shell.directory.path)
                #expect(ended.status != 0)
                #expect(ended.output.contains("\(file):3:8: expected a type"), "\(ended.output)")
            }
            #expect(try await shell.run("schema", "validate", "/none").output.contains("cannot be read"))
            let unknown = try await shell.run("schema", "export", "--container", "iCloud.none")
            #expect(unknown.status != 0 && unknown.output.contains("no container iCloud.none in development"))
        }
    }
}
