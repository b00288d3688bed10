// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkPostgres
import TidemarkTestSupport

/// The console as operators have it: the real program, on a terminal or with a script.
@Suite struct ConsoleTests {
    private struct Place {
        let directory: TestDirectory
        let database: TestDatabase

        var environment: [String: String] { ["TIDEMARK_DATABASE_URL": database.url] }

        func console(_ arguments: String = "") throws -> TerminalProgram {
            try TerminalProgram(
                "exec '\(Program.directory)/tidemark' admin \(arguments)", environment: environment,
                directory: directory.path)
        }

        /// Lines on standard input.
        func script(_ lines: String, _ arguments: String = "") async throws -> (status: Int32, output: String) {
            let path = "\(directory.path)/script"
            try lines.write(toFile: path, atomically: true, encoding: .utf8)
            return try await Program.run(
                "tidemark", ["-c", "exec '\(Program.directory)/tidemark' admin \(arguments) < '\(path)'"],
                environment: environment, directory: directory.path, path: "/bin/sh")
        }
    }

    private func with(_ body: (Place) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database(OperatorPlace.template)
        try PostgresAdministration.execute(
            [
                "INSERT INTO account (name) VALUES ('alice'), ('albert'), ('bob')",
                "INSERT INTO container (identifier, environment) VALUES ('iCloud.test.one', 1), ('iCloud.test.one', 2)",
            ], url: database.url)
        try await body(Place(directory: directory, database: database))
    }

    @Test func `R-900: on a terminal the console has a prompt, carries out lines, and says where it is`() async throws {
        try await with { place in
            let console = try place.console()
            try await console.see("database - development> ")
            try console.type("accounts list -o name\n")
            try await console.see("albert\r\nalice\r\nbob\r\n")
            try console.type("use iCloud.test.one production\n")
            try await console.see("database iCloud.test.one production> ")
            try console.type(".timer on\n")
            try console.type("accounts show nobody\n")
            try await console.see("Error: There is no account named nobody.")
            try await console.see("Time: ")
            try console.type(".output json\n")
            try console.type("containers \\\n")
            try await console.see("... ")
            try console.type("list\n")
            try await console.see(#""container":"iCloud.test.one""#)
            try console.type("help\n")
            try await console.see("use CONTAINER [development|production]")
            try console.type("help zones list\n")
            try await console.see("tidemark admin zones list alice")
            try console.type("nonsense\n")
            try await console.see("Error: ")
            // Of a terminal, a failure is not the end.
            try await console.see("production> ")
            try console.type("\u{4}")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-830: colours are on a terminal only, and not with NO_COLOR or on a dumb one`() async throws {
        try await with { (place: Place) async throws in
            func shown(_ variables: [String: String], _ more: String = "") async throws -> String {
                let program = try TerminalProgram(
                    "'\(Program.directory)/tidemark' admin accounts list\(more)",
                    environment: place.environment.merging(variables) { $1 }, directory: place.directory.path)
                #expect(try await program.exit() == 0)
                let screen = program.screen
                #expect(screen.contains("alice"), "\(screen)")
                return screen
            }
            // A variable that is empty counts as none.
            #expect(try await shown(["NO_COLOR": ""]).contains("\u{1B}[1mACCOUNT"))
            for variables in [["NO_COLOR": "1"], ["NO_COLOR": "", "TERM": "dumb"]] {
                #expect(try await !shown(variables).contains("\u{1B}"), "\(variables)")
            }
            #expect(try await !shown(["NO_COLOR": ""], " | cat").contains("\u{1B}"))
            #expect(try await !shown(["NO_COLOR": ""], " -o json").contains("\u{1B}"))
        }
    }

    @Test func `R-900: a context is the console's until it ends, and is in its prompt`() async throws {
        try await with { place in
            let added = try await Program.run(
                "tidemark",
                [
                    "admin", "context", "add", "home", "--database-url", place.database.url, "--container",
                    "iCloud.test.one",
                ], directory: place.directory.path)
            #expect(added.status == 0, "\(added.output)")
            let console = try place.console()
            try await console.see("database - development> ")
            try console.type("context home\n")
            try await console.see("home iCloud.test.one development> ")
            try console.type("context nowhere\n")
            try await console.see("There is no context nowhere.")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
            let opened = try place.console("--context home")
            try await opened.see("home iCloud.test.one development> ")
            try opened.type("exit\n")
            #expect(try await opened.exit() == 0)
        }
    }

    @Test func `R-900: Ctrl-C abandons the line, and the command that runs`() async throws {
        try await with { place in
            try place.database.holdUpAccounts()
            let console = try place.console()
            try await console.see("> ")
            try console.type("accounts sho")
            try await console.see("accounts sho")
            try console.type("\u{3}")
            try await console.see("^C")
            try await console.see("> ")
            try console.type("accounts list\n")
            try await eventually("the query runs") { place.database.isHeldUp }
            try console.type("\u{3}")
            try await console.see("Interrupted. Look what the command did")
            try await console.see("> ")
            // It goes on over another connection.
            try console.type("containers list -o name\n")
            try await console.see("iCloud.test.one\r\n")
            // A command that waits ends by itself.
            try console.type("tail public --container iCloud.test.one\n")
            let listens = """
                EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%')
                """
            try await eventually("it listens") { place.database.holds(listens) }
            try console.type("\u{3}")
            try await console.see("Interrupted.")
            try await console.see("> ")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-900: Ctrl-C at a question answers no, and the next line is not lost`() async throws {
        try await with { place in
            let console = try place.console()
            try await console.see("> ")
            try console.type("store renew-incarnation\n")
            try await console.see("[y/N] ")
            try console.type("\u{3}")
            try await console.see("Interrupted")
            try await console.see("> ")
            try console.type("accounts list -o name\n")
            try await console.see("albert\r\nalice\r\nbob\r\n")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-901: the history is the owner's alone, and holds no secret`() async throws {
        try await with { place in
            let console = try place.console()
            try await console.see("> ")
            try console.type("accounts show bob\n")
            try await console.see("> ")
            try console.type("accounts show tidemark_0123456789\n")
            try await console.see("There is no account named")
            try await console.see("> ")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
            let path = "\(place.directory.path)/state/tidemark/console-history"
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "accounts show bob\nexit\n")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // The next console has it.
            let next = try place.console()
            try await next.see("> ")
            try next.type("\u{1B}[A\u{1B}[A")
            try await next.see("accounts show bob")
            try next.type("\n")
            try await next.see("> ")
            try next.type("\u{4}")
            #expect(try await next.exit() == 0)
        }
    }

    @Test func `R-902: Tab completes verbs, options and the names of the store`() async throws {
        try await with { place in
            let console = try place.console()
            try await console.see("> ")
            try console.type("use iCloud.test")
            try await console.complete(".one ")
            try console.type("prod\t\n")
            try await console.see("iCloud.test.one production> ")
            try console.type("accounts show al")
            try await console.complete("albert  alice")
            try console.type("i")
            try await console.complete("ce ")
            try console.type("-o na\t\n")
            try await console.see("alice\r\n")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-902: a database that does not answer does not keep anybody from typing`() async throws {
        try await with { place in
            try place.database.holdUpAccounts()
            let console = try place.console()
            try await console.see("> ")
            try console.type("accounts show al\tice\u{1}containers list -o name\u{B}\n")
            try await console.see("iCloud.test.one\r\n")
            #expect(place.database.isHeldUp, "it was waited for")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-900: a script ends at its first failure, with its status and its line`() async throws {
        try await with { place in
            let ended = try await place.script(
                """
                # What is to be done.
                accounts create carol
                accounts list -o name  # all

                accounts \\
                  create carol
                accounts create dave
                """)
            #expect(ended.status == 5, "\(ended.output)")
            #expect(ended.output.contains("albert\nalice\nbob\ncarol\n"), "\(ended.output)")
            #expect(ended.output.contains("Error in line 5: "), "\(ended.output)")
            #expect(!ended.output.contains("> "), "a script has no prompt: \(ended.output)")
            let list = try await place.script("accounts list -o name")
            #expect(list.status == 0 && !list.output.contains("dave"))
            #expect(!FileManager.default.fileExists(atPath: "\(place.directory.path)/state"), "and no history")
        }
    }

    @Test func `R-900: with .bail off a script goes on, and its status is that of the last line`() async throws {
        try await with { place in
            let ended = try await place.script(".bail off\naccounts create alice\nnonsense\naccounts list -o name\n")
            #expect(ended.status == 0, "\(ended.output)")
            #expect(ended.output.contains("Error in line 2: ") && ended.output.contains("Error in line 3: "))
            #expect(ended.output.contains("albert\nalice\nbob\n"))
            #expect(try await place.script(".bail off\naccounts create alice\n").status == 5)
        }
    }

    @Test func `R-900: mistakes of a script have the statuses of commands`() async throws {
        try await with { place in
            let cases: [(String, Int32, String)] = [
                ("", 0, ""), ("exit\nnonsense", 0, ""), ("nonsense", 2, "Error in line 1: "),
                ("accounts list\nuse", 2, "Error in line 2: "), ("accounts list '", 2, "Line 1: "),
                ("schema validate -", 2, "belongs to the console"), ("zones list alice", 2, "--container"),
                ("store renew-incarnation", 2, "--yes"), ("console", 2, "already"),
            ]
            for (lines, status, text) in cases {
                let ended = try await place.script(lines)
                #expect(ended.status == status, "\(lines): \(ended.output)")
                #expect(text.isEmpty || ended.output.contains(text), "\(lines): \(ended.output)")
            }
            // Options of the console hold for its commands.
            let dry = try await place.script("accounts create erin", "--dry-run")
            #expect(dry.status == 0 && dry.output.contains("Would "), "\(dry.output)")
            let form = try await place.script("accounts show bob\naccounts list -o name", "-o json")
            #expect(form.output.contains(#""account":"#) && form.output.hasSuffix("bob\n"), "\(form.output)")
        }
    }
}
