// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkLocalPostgres

@Suite struct PostgresToolTests {
    @Test(arguments: [
        ("pg_dump (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)\n", 15), ("pg_dump (PostgreSQL) 16beta1", 16),
        ("pg_dump (PostgreSQL) 17devel", 17), ("pg_restore (PostgreSQL) 9.6.24", 9), ("pg_dump 15", nil),
        ("pg_dump (PostgreSQL) x", nil), ("", nil), ("(PostgreSQL) 99999999999999999999", nil),
    ])
    func `R-958: a program says its version`(_ text: String, _ major: Int?) {
        #expect(PostgresTool.major(of: text) == major)
    }

    @Test func `R-958: of all programs the oldest is taken that is new enough`() {
        func tool(_ major: Int, _ directory: String = "a") -> PostgresTool {
            PostgresTool(name: "pg_dump", path: "/\(directory)/\(major)", major: major)
        }
        let tools = [tool(17), tool(15), tool(16), tool(15, "b")]
        #expect(PostgresTool.best(of: tools, atLeast: 14)?.path == "/a/15")
        #expect(PostgresTool.best(of: tools, atLeast: 15)?.path == "/a/15")
        #expect(PostgresTool.best(of: tools, atLeast: 16)?.major == 16)
        #expect(PostgresTool.best(of: tools, atLeast: 18) == nil)
        #expect(PostgresTool.best(of: [], atLeast: 1) == nil)
    }

    /// A directory with a program that is a script.
    private func withProgram(_ script: String, _ body: (String) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/pg_dump"
        // Another process writes it. What this one had open for writing could be in a child of another test, and then nobody
        // could start it (ETXTBSY).
        try "#!/bin/sh\n\(script)\n".write(toFile: path + ".sh", atomically: true, encoding: .utf8)
        let install = Process()
        install.executableURL = URL(fileURLWithPath: "/usr/bin/install")
        install.arguments = ["-m", "755", path + ".sh", path]
        try install.start()
        install.waitUntilExit()
        try await body(directory.path)
    }

    @Test func `R-958: a program that is missing or too old is named, with what to do`() async throws {
        try await withProgram("echo 'pg_dump (PostgreSQL) 12.1'") { directory in
            let found = try PostgresTool.find("pg_dump", atLeast: 12, binaries: directory)
            #expect(found == PostgresTool(name: "pg_dump", path: "\(directory)/pg_dump", major: 12))
            for (name, major, text) in [
                ("pg_dump", 13, "pg_dump is of PostgreSQL 12 here, and 13 or later is needed. Install the package"),
                ("pg_restore", 12, "pg_restore was not found, and that of PostgreSQL 12 or later is needed."),
            ] {
                let error = #expect(throws: LocalPostgresError.self) {
                    try PostgresTool.find(name, atLeast: major, binaries: directory)
                }
                #expect(error?.code == .toolNotFound && error?.description.hasPrefix(text) == true)
            }
        }
    }

    @Test func `R-950: a program has the variables that it is given, and no descriptor and no other variable of ours`()
        async throws
    {
        // A variable set here would race with every other start of a program, so the check takes what is there.
        let known: Set<String> = ["LC_ALL", "PATH", "LD_LIBRARY_PATH", "PGHOST", "PWD", "OLDPWD", "SHLVL", "_"]
        let ours = Set(ProcessInfo.processInfo.environment.keys).subtracting(known)
        try #require(!ours.isEmpty)
        let script = """
            [ "$PGHOST" = here ] && [ "$1" = 'a b' ] && umask | grep -q 77 || exit 1
            ! env | cut -d= -f1 | grep -vxE '\(known.sorted().joined(separator: "|"))'
            """
        try await withProgram(script) { directory in
            let tool = PostgresTool(name: "pg_dump", path: "\(directory)/pg_dump", major: 15)
            try await tool.run(["a b"], variables: ["PGHOST": "here"])
        }
    }

    @Test func `R-950: a program that fails says why, and one that cannot be started too`() async throws {
        try await withProgram("echo first; echo 'no such table' >&2; exit 3") { directory in
            let tool = PostgresTool(name: "pg_dump", path: "\(directory)/pg_dump", major: 15)
            let error = await #expect(throws: LocalPostgresError.self) { try await tool.run([], variables: [:]) }
            #expect(error?.code == .toolFailed)
            #expect(error?.description.hasSuffix("with status 3: first\nno such table") == true, "\(error as Any)")
            let none = PostgresTool(name: "pg_dump", path: "\(directory)/none", major: 15)
            let missing = await #expect(throws: LocalPostgresError.self) { try await none.run([], variables: [:]) }
            #expect(missing?.description.contains("could not be started") == true)
        }
    }

    @Test func `R-952: a program ends before the call does, whether that is cancelled or given up`() async throws {
        struct GivenUp: Error {}
        try await withProgram("echo $$ > \"$1\"; exec sleep 600") { directory in
            let tool = PostgresTool(name: "pg_dump", path: "\(directory)/pg_dump", major: 15)
            func process(_ name: String) -> pid_t? {
                let text = try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
                return text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            }
            await #expect(throws: GivenUp.self) {
                try await tool.run(["\(directory)/first"], variables: [:]) {
                    if process("first") != nil { throw GivenUp() }
                }
            }
            let task = Task { try await tool.run(["\(directory)/second"], variables: [:]) }
            try await eventually(within: .seconds(60)) { process("second") != nil }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            for name in ["first", "second"] {
                let id = try #require(process(name))
                #expect(kill(id, 0) != 0, "\(name) runs")
            }
        }
    }

    @Test func `R-952: a program that was ended before it started does not go on`() async throws {
        try await withProgram("echo ran > \"$1\"; exec sleep 600") { directory in
            let tool = PostgresTool(name: "pg_dump", path: "\(directory)/pg_dump", major: 15)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await tool.run(["\(directory)/cancelled"], variables: [:])
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/cancelled"), "it was not started")
            for _ in 0..<10 {
                // Its thread has seldom come so far that there is a process.
                let run = try ToolRun(tool.path, ["\(directory)/ended"], variables: [])
                run.end()
                try await eventually(within: .seconds(60)) { run.exit != nil }
                #expect(run.exit?.signal == SIGTERM)
            }
        }
    }
}
