// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkPostgres
import TidemarkTestSupport

/// Keys that are pressed while a command of the console runs, on a terminal with the real program.
@Suite struct ConsoleWaitingTests {
    private struct Place {
        let directory: TestDirectory
        let database: TestDatabase

        /// - Parameter more: of the shell's command, after `tidemark admin`.
        func terminal(_ more: String, _ variables: [String: String] = [:]) throws -> TerminalProgram {
            try TerminalProgram(
                "'\(Program.directory)/tidemark' admin \(more)", environment: environment.merging(variables) { $1 },
                directory: directory.path)
        }

        func console() throws -> TerminalProgram {
            try TerminalProgram(
                "exec '\(Program.directory)/tidemark' admin", environment: environment, directory: directory.path)
        }

        private var environment: [String: String] {
            ["TIDEMARK_DATABASE_URL": database.url, "TIDEMARK_CONTAINER": "iCloud.test.one"]
        }

        func pipe(_ name: String = "records.jsonl") -> String {
            let path = "\(directory.path)/\(name)"
            #expect(mkfifo(path, 0o600) == 0)
            return path
        }

        /// Whether a process of this user has the file open.
        static func isOpen(_ path: String) -> Bool {
            let files = FileManager.default
            let own = "\(getpid())"
            let processes = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
            return processes.contains { process in
                guard Int(process) != nil, process != own else { return false }
                let open = (try? files.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
                return open.contains {
                    (try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")) == path
                }
            }
        }
    }

    private func with(_ body: (Place) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database(OperatorPlace.template)
        try PostgresAdministration.execute(
            [
                "INSERT INTO account (name) VALUES ('alice')",
                "INSERT INTO container (identifier, environment) VALUES ('iCloud.test.one', 1)",
            ], url: database.url)
        try await body(Place(directory: directory, database: database))
    }

    @Test(arguments: [
        "schema validate PIPE",
        "import public PIPE --account alice --type T --name n",
        "records save public _defaultZone PIPE --account alice",
    ])
    func `R-900: Ctrl-C ends a command that waits for a named pipe that nobody writes to`(_ line: String) async throws {
        try await with { place in
            let path = place.pipe()
            let console = try place.console()
            try await console.see("> ")
            try console.type(line.replacing("PIPE", with: path) + "\n")
            try await eventually("the command waits for the pipe") { Place.isOpen(path) }
            try console.type("\u{3}")
            // By itself: its connection was not taken away.
            try await console.see("Interrupted.\r\n")
            try await console.see("> ")
            try await eventually("the pipe is let go") { !Place.isOpen(path) }
            try console.type("accounts list -o name\n")
            try await console.see("alice\r\n")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-900: Ctrl-C ends a command whose pipe has a writer that says nothing, and it says nothing later`()
        async throws
    {
        try await with { place in
            let path = place.pipe()
            let console = try place.console()
            try await console.see("> ")
            try console.type("schema validate \(path)\n")
            try await eventually("the command waits for the pipe") { Place.isOpen(path) }
            let writer = open(path, O_WRONLY | O_NONBLOCK)
            #expect(writer >= 0)
            defer { close(writer) }
            try console.type("\u{3}")
            try await console.see("Interrupted.\r\n")
            try await console.see("> ")
            try await eventually("the pipe is let go") { !Place.isOpen(path) }
            try console.type("accounts list -o name\n")
            let between = try await console.see("alice\r\n")
            #expect(!between.contains("Error"), "\(between)")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-886, R-900: Ctrl-C ends a command over a server that waits for a pipe of the operator's`()
        async throws
    {
        let flags = ["--create-containers", "--operators-listen", "127.0.0.1:0"]
        try await OperatorPlace.with(flags, isEncrypted: true) { place in
            _ = try await place.database().allRecordZones()
            let olga = try await OperatorSeat.take(place, "olga", role: "owner")
            let path = "\(place.directory.path)/schema.ckdb"
            #expect(mkfifo(path, 0o600) == 0)
            let console = try TerminalProgram(
                "exec '\(Program.directory)/tidemark' admin --context olga", environment: [:],
                directory: olga.directory.path)
            try await console.see("> ")
            try console.type("schema import \(path)\n")
            try await eventually("the command waits for the pipe") { Place.isOpen(path) }
            try console.type("\u{3}")
            try await console.see("Interrupted.")
            try await console.see("> ")
            try await eventually("the pipe is let go") { !Place.isOpen(path) }
            // The server has let it go as well: an operator has four places.
            for _ in 0..<5 {
                try console.type("accounts list -o name\n")
                try await console.see("alice\r\n")
            }
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-900: Ctrl-D that is pressed while a command runs ends the console after it`() async throws {
        try await with { place in
            try place.database.holdUpAccounts()
            let console = try place.console()
            try await console.see("> ")
            try console.type("accounts list -o name\n")
            try await eventually("the query runs") { place.database.isHeldUp }
            try console.type("\u{4}")
            // A terminal that echoes shows that the key has arrived.
            _ = try? await console.see("^D", within: .seconds(2))
            try PostgresAdministration.execute(
                [
                    """
                    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event = 'PgSleep'
                    """
                ], url: place.database.url)
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-900: at a question Ctrl-D is no answer, and the console goes on`() async throws {
        try await with { place in
            let console = try place.console()
            try await console.see("> ")
            try console.type("store renew-incarnation\n")
            try await console.see("[y/N] ")
            try console.type("\u{4}")
            try await console.see("Not confirmed.")
            try await console.see("> ")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-830: progress is on a terminal only, and standard output is the data alone`() async throws {
        try await with { place in
            let file = "\(place.directory.path)/rows.jsonl"
            let rows = (0..<500).map { "{\"n\":\"row\($0)\",\"text\":\"a text of row \($0)\"}" }
            try (rows.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            let (out, errors) = ("\(place.directory.path)/out", "\(place.directory.path)/errors")
            let line = "import public '\(file)' --account alice --type T --name n --replace --yes -o json"
            func contents(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

            let shown = try place.terminal("\(line) > '\(out)'", ["NO_COLOR": "", "TERM": "xterm"])
            #expect(try await shown.exit() == 0, "\(shown.screen)")
            #expect(shown.screen.contains("records, ") && shown.screen.contains(" per second"), "\(shown.screen)")
            #expect(shown.screen.hasSuffix("\r\u{1B}[K"), "and it is removed: \(shown.screen)")
            #expect(try contents(out).hasPrefix("{\"imported\":"))
            #expect(try !contents(out).contains("\u{1B}"))

            let plain = try place.terminal("\(line) > '\(out)'", ["NO_COLOR": "1", "TERM": "xterm"])
            #expect(try await plain.exit() == 0, "\(plain.screen)")
            // Of the codes of a terminal, only the one that clears the line.
            #expect(!plain.screen.replacing("\u{1B}[K", with: "").contains("\u{1B}"), "\(plain.screen)")

            for variables in [["NO_COLOR": "", "TERM": "xterm"], ["NO_COLOR": "1", "TERM": "xterm"]] {
                let piped = try place.terminal("\(line) 2> '\(errors)' | cat > '\(out)'", variables)
                #expect(try await piped.exit() == 0)
                #expect(try contents(errors) == "")
                #expect(try contents(out).hasPrefix("{\"imported\":"))
                #expect(!piped.screen.contains("per second"), "\(piped.screen)")
            }
        }
    }
}
