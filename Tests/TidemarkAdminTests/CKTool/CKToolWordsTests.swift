// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkDomain

@testable import TidemarkAdmin

/// What a server is told of a command, and what it is not.
@Suite struct CKToolWordsTests {
    private static let program = CKToolProgram(terminal: RecordingTerminal(), variables: ["HOME": "/home/kim"])
    private static let container = ["--container-id", "iCloud.a", "--environment", "PRODUCTION"]
    private static let zone = ["--database-type", "Shared", "--zone-name", "Notes", "--owner-name", "_a"]

    private static func command(_ arguments: [String]) throws -> any CKToolStoreCommand {
        try #require(try CKTool.parseAsRoot(arguments) as? any CKToolStoreCommand)
    }

    /// Commands, and the files that a server may ask for.
    private static let commands: [([String], [String])] = [
        (["get-teams"], []), (["export-schema"] + container + ["--output-file", "~/a.ckdb"], []),
        (["import-schema", "--validate"] + container + ["--file", "~/a.ckdb"], ["/home/kim/a.ckdb"]),
        (["validate-schema"] + container + ["--file", "a b.ckdb"], ["a b.ckdb"]),
        (["reset-schema", "--container-id", "iCloud.a"], []),
        (
            ["create-record"] + container + zone + [
                "--record-type", "Boat", "--fields-json", "{\"a\": 1}", "--asset-files", "A=~/a=b.jpg", "B=/tmp/b",
            ], ["/home/kim/a=b.jpg", "/tmp/b"]
        ),
        (
            ["create-record"] + container + zone + ["--record-type", "Boat", "--fields-file", "~/f.json"],
            ["/home/kim/f.json"]
        ),
        (["create-record"] + container + zone + ["--record-type", "Boat", "--fields-stdin"], ["-"]),
        (
            ["query-records"] + container + zone + [
                "--record-type", "Boat", "--filters", "a > 1", "b == \"x y\"", "--filters=-c < 2", "--sort-by",
                "a DESC",
                "b", "--requested-fields", "a", "é", "--limit", "7", "--continuation-token", "abc",
            ], []
        ),
        (["delete-record"] + container + zone + ["--record-name", "r", "-y"], []),
        (["delete-record"] + container + zone + ["--record-name=-r"], []),
        (
            ["delete-records"] + container + zone + ["--record-type", "T", "--filters", "a == ", "--dry-run", "false"],
            []
        ),
    ]

    @Test(arguments: commands)
    func `R-898, R-899: a server understands the words as the caller's program did, and gets only named files`(
        _ arguments: [String], _ files: [String]
    ) throws {
        let command = try Self.command(arguments + ["-t", "secret", "--team-id", "T34M"])
        let words = command.words(Self.program)
        #expect(words.files == files)
        #expect(!words.words.joined().contains("secret") && !words.words.joined().contains("T34M"))
        #expect(!words.words.joined().contains("~"))
        // Made anew, they say the same.
        let again = try Self.command(words.words)
        #expect(again.words(Self.program) == words)
        #expect(type(of: again) == type(of: command))
        #expect(again.place == command.place && again.access.token == nil)
    }

    @Test func `R-899: nothing that decides what is found or deleted is lost on the way`() throws {
        let query = try #require(
            try Self.command(
                ["query-records"] + Self.container + Self.zone + [
                    "--record-type", "Boat", "--filters", "a > 1", "--filters=-b == x", "--sort-by", "a DESC",
                    "--limit",
                    "7",
                    "--requested-fields", "a", "--continuation-token", "",
                ]) as? CKTool.QueryRecords)
        let again = try #require(try Self.command(query.words(Self.program).words) as? CKTool.QueryRecords)
        #expect(again.search.filters == ["a > 1", "-b == x"] && again.search.recordType == "Boat")
        #expect(again.sortBy == ["a DESC"] && again.limit == 7 && again.requestedFields == ["a"])
        #expect(again.continuationToken == "")
        #expect(again.zone.scope == .shared && again.zone.zoneName == "Notes" && again.zone.ownerName == "_a")
        #expect(again.container.environment == .production)
        for (flags, isDry, isConfirmed) in [
            ([], true, false), (["--dry-run", "false"], false, false), (["--dry-run", "false", "-y"], false, true),
        ] as [([String], Bool, Bool)] {
            let deletion = try Self.command(
                ["delete-records"] + Self.container + Self.zone + ["--record-type", "T"] + flags)
            let sent = try #require(try Self.command(deletion.words(Self.program).words) as? CKTool.DeleteRecords)
            #expect(sent.dryRun == isDry && sent.yes == isConfirmed)
        }
    }

    @Test func `R-898, R-899: a server gets no other file, and no token`() throws {
        let command = try Self.command(["import-schema", "-t", "secret"] + Self.container + ["--file", "a.ckdb"])
        let sent = SentCommand(
            command.words(Self.program), command.place, RecordingTerminal(), timeZone: "Europe/Oslo")
        #expect(sent.arguments.starts(with: ["cktool", "Europe/Oslo", "import-schema"]))
        #expect(sent.container == "iCloud.a" && sent.environment == "production")
        #expect(sent.names("a.ckdb"))
        for path in ["-", "/etc/passwd", "iCloud.a", "cktool", "production", "--file=a.ckdb", ""] {
            #expect(!sent.names(path), "\(path)")
        }
    }

    // MARK: Credentials

    private static func variables(_ more: [String: String]) throws -> (ContextHome, [String: String]) {
        let place = try ContextHome()
        return (place, ["XDG_CONFIG_HOME": place.path].merging(more) { $1 })
    }

    /// A home with a context of a server.
    private final class ContextHome {
        let path: String

        init() throws {
            path = FileManager.default.temporaryDirectory.appendingPathComponent("cktool-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            var list = ContextList()
            list.set(
                AdminContext(name: "home", target: .server(url: "ws://127.0.0.1:9", credential: "of-context")))
            _ = list.select("home")
            try ContextFile(variables: ["XDG_CONFIG_HOME": path]).change { $0 = list }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private static func target(_ arguments: [String], _ variables: [String: String]) throws -> OperatorTarget? {
        try CKToolProgram(terminal: RecordingTerminal(), variables: variables).server(for: try command(arguments))
    }

    @Test func `R-898: the management token is shown to the server, else the context's credential`() throws {
        let (place, variables) = try Self.variables([:])
        let export = ["export-schema"] + Self.container
        #expect(try Self.target(export, variables)?.credential == ChannelCredential("of-context"))
        let named = variables.merging(["CLOUDKIT_MANAGEMENT_TOKEN": "m", "CLOUDKIT_USER_TOKEN": "u"]) { $1 }
        let credential = try Self.target(export, named)?.credential
        #expect(credential == ChannelCredential("m", .management))
        #expect(credential?.subprotocol == "tidemark.operator.v1")
        #expect(try Self.target(export + ["-t", "o"], named)?.credential.text == "o")
        // A database is named, so no server is asked.
        let database = named.merging(["TIDEMARK_DATABASE_URL": "postgresql:///x"]) { $1 }
        #expect(try Self.target(export, database) == nil)
        withExtendedLifetime(place) {}
    }

    @Test func `R-899: commands of records show the user token, and nothing in its place`() throws {
        let (place, variables) = try Self.variables(["CLOUDKIT_MANAGEMENT_TOKEN": "m"])
        let query = ["query-records"] + Self.container + Self.zone + ["--record-type", "T"]
        let failure = #expect(throws: AdminFailure.self) { try Self.target(query, variables) }
        #expect(failure?.status == .usage && failure?.description.contains("No user token found") == true)
        let credential = try Self.target(query, variables.merging(["CLOUDKIT_USER_TOKEN": "u"]) { $1 })?.credential
        #expect(credential == ChannelCredential("u", .user))
        #expect(credential?.subprotocol == "tidemark.user.v1")
        let long = String(repeating: "a", count: 5_000)
        let refused = #expect(throws: AdminFailure.self) { try Self.target(query + ["-t", long], variables) }
        #expect(refused?.status == .notAllowed)
        withExtendedLifetime(place) {}
    }
}
