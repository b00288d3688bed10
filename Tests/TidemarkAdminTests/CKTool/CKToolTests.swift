// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkDomain
import TidemarkTestSupport

@testable import TidemarkAdmin

/// The verbs and flags of Apple's tool.
@Suite struct CKToolTests {
    private static let verbs = [
        "save-token", "remove-token", "get-teams", "export-schema", "import-schema", "validate-schema", "reset-schema",
        "create-record", "query-records", "delete-record", "delete-records", "version",
    ]

    @Test func `R-890: the verbs are those of Apple's tool`() {
        #expect(CKTool.configuration.subcommands.map { $0._commandName } == Self.verbs)
    }

    @Test(
        arguments: [
            ("cktool", true), ("/usr/local/bin/cktool", true), ("./cktool", true), ("tidemark", false),
            ("/cktool/tidemark", false), ("xcktool", false), ("", false),
        ] as [(String, Bool)])
    func `R-890: the program called as cktool is cktool`(_ path: String, _ isCKTool: Bool) {
        #expect(CKTool.isProgram(path) == isCKTool)
        #expect(!CKTool.isProgram(nil))
    }

    private static let place = ["--team-id", "T34M", "--container-id", "iCloud.a", "--environment", "development"]
    private static let zone = ["--database-type", "public"]

    private func parsed<Command: CKToolCommand>(_ arguments: [String], as type: Command.Type) throws -> Command {
        try #require(try CKTool.parseAsRoot(arguments) as? Command)
    }

    @Test func `R-890: several values may follow one flag, and a flag may come again`() throws {
        let query = try parsed(
            ["query-records"] + Self.place + Self.zone + [
                "--record-type", "Shop", "--filters", "price > 4.60", "employees > 10", "--sort-by", "employees",
                "name DESC", "--requested-fields", "name", "price", "--filters", "name != a", "--requested-fields",
                "place", "--limit", "5",
            ], as: CKTool.QueryRecords.self)
        #expect(query.search.filters == ["price > 4.60", "employees > 10", "name != a"])
        #expect(query.sortBy == ["employees", "name DESC"])
        #expect(query.requestedFields == ["name", "price", "place"])
        #expect(query.limit == 5 && query.zone.zoneName == "_defaultZone" && query.zone.scope == .public)
        #expect(query.container.place == CKToolPlace(container: "iCloud.a", environment: .development))

        let creation = try parsed(
            ["create-record", "-t", "token"] + Self.place + Self.zone + [
                "--zone-name", "Notes", "--record-type", "Book", "--fields-json", "{}", "--asset-files", "A=a", "B=b",
            ], as: CKTool.CreateRecord.self)
        #expect(creation.assetFiles == ["A=a", "B=b"] && creation.access.token == "token")
    }

    @Test func `R-890: names of places are taken in any case`() throws {
        let query = try parsed(
            [
                "query-records", "--container-id", "iCloud.a", "--environment", "PRODUCTION", "--database-type",
                "Shared", "--owner-name", "_a", "--record-type", "T",
            ], as: CKTool.QueryRecords.self)
        #expect(query.container.environment == .production && query.zone.scope == .shared)
        for wrong in [["--environment", "test"], ["--database-type", "mine"]] {
            #expect(throws: (any Error).self) {
                try CKTool.parseAsRoot(["query-records"] + Self.place + Self.zone + ["--record-type", "T"] + wrong)
            }
        }
    }

    @Test(
        arguments: [([], true), (["--dry-run", "true"], true), (["--dry-run", "false"], false)] as [([String], Bool)])
    func `R-890: delete-records deletes only if --dry-run is false`(_ arguments: [String], _ isDry: Bool) throws {
        let command = try parsed(
            ["delete-records"] + Self.place + Self.zone + ["--record-type", "T", "--yes"] + arguments,
            as: CKTool.DeleteRecords.self)
        #expect(command.dryRun == isDry && command.yes)
    }

    @Test(arguments: verbs.dropFirst(2).dropLast())
    func `R-890: each verb that needs a service takes a token and a team`(_ verb: String) throws {
        var arguments = [verb, "-t", "token", "--team-id", "T34M"]
        if verb != "get-teams" { arguments += ["--container-id", "iCloud.a"] }
        if !["get-teams", "reset-schema"].contains(verb) { arguments += ["--environment", "development"] }
        if verb.contains("record") { arguments += Self.zone }
        switch verb {
        case "import-schema", "validate-schema": arguments += ["--file", "a.ckdb"]
        case "create-record": arguments += ["--record-type", "T"]
        case "delete-record": arguments += ["--record-name", "r", "-y"]
        default: break
        }
        #expect(try CKTool.parseAsRoot(arguments) is any CKToolCommand)
    }

    @Test(arguments: [
        ["create-record", "--record-type", "T", "--fields-json", "{}", "--fields-stdin"],
        ["query-records", "--record-type", "T", "--limit", "0"],
        ["query-records", "--record-type", "T", "--limit", "100001"], ["delete-record"],
    ])
    func `R-890: arguments that make no sense are refused`(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try CKTool.parseAsRoot(arguments + Self.place + Self.zone) }
    }

    @Test func `R-890: get-teams writes one team`() async throws {
        let terminal = RecordingTerminal()
        let command = try parsed(["get-teams"], as: CKTool.GetTeams.self)
        #expect(await CKToolProgram.run(command, terminal: terminal, variables: [:]) == .ok)
        #expect(terminal.data == "TIDEMARK00: Tidemark\n")
    }

    @Test func `R-890: version writes a version and nothing else`() async throws {
        let terminal = RecordingTerminal()
        let command = try parsed(["version"], as: CKTool.Version.self)
        #expect(await CKToolProgram.run(command, terminal: terminal, variables: [:]) == .ok)
        #expect(terminal.data.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil && terminal.messages.isEmpty)
    }

    @Test func `R-890: an output file is replaced, and a link or a pipe stays what it is`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let program = CKToolProgram(terminal: RecordingTerminal(), variables: ["HOME": directory.path])
        let (file, link) = ("\(directory.path)/a.ckdb", "\(directory.path)/link")
        try program.write("a longer text", toFile: file)
        try program.write("short", toFile: "~/a.ckdb")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "short")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        try program.write("new", toFile: link)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file)
        let pipe = "\(directory.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try program.write("piped", toFile: pipe)
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(read(reader, &bytes, bytes.count) == 5)
        #expect(throws: AdminFailure.self) { try program.write("x", toFile: directory.path) }
    }

    private static func error(_ text: String) -> SchemaSyntaxError? {
        do throws(SchemaSyntaxError) {
            _ = try Schema(parsing: text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `R-892: a schema that cannot be read is told with its line and column`() throws {
        let wrong = try #require(Self.error("DEFINE SCHEMA\n  RECORD TYPE A (\n    b BADTYPE\n  );"))
        let text = CKToolSchemaFile.text(of: wrong)
        #expect(
            text.hasPrefix(
                "❌ Schema validation failed: Encountered \"BADTYPE\" at line 3, column 7.\nWas expecting:\n    a type ("
            ))
        let twice = try #require(Self.error("DEFINE SCHEMA CREATE ROLE A; CREATE ROLE A;"))
        #expect(
            CKToolSchemaFile.text(of: twice)
                == "❌ Schema validation failed: the role A is there twice, at line 1, column 42.")
    }

    @Test func `R-892: a file that is no schema fails before a store is asked`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/a.ckdb"
        try "DEFINE SCHEMA RECORD".write(toFile: path, atomically: true, encoding: .utf8)
        for verb in ["validate-schema", "import-schema"] {
            let terminal = RecordingTerminal()
            let command = try #require(
                try CKTool.parseAsRoot([verb] + Self.place + ["--file", path]) as? any CKToolCommand)
            // There is no database.
            #expect(await CKToolProgram.run(command, terminal: terminal, variables: [:]) == .failedCheck)
            #expect(terminal.messages.count == 1 && terminal.messages[0].hasPrefix("❌ Schema validation failed: "))
            #expect(terminal.data.isEmpty)
        }
    }
}
