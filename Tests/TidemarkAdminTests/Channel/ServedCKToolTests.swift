// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Commands of `cktool` as a server carries them out, for operators and for users.
@Suite struct ServedCKToolTests {
    private typealias Ended = (status: TidemarkAdmin.ExitStatus?, channel: TestChannel)

    private static func send(
        _ arguments: [String], as sender: ChannelSender, files: [String: [UInt8]] = [:], assets: String? = nil,
        _ place: AdminPlace
    ) async -> Ended {
        let channel = TestChannel(files: files)
        let request = OperatorRequest(
            sender: sender, address: "10.0.0.7", arguments: arguments, container: nil, environment: nil,
            hasColor: false, canAsk: false, showsProgress: false, databaseURL: place.url, limits: .standard,
            connections: .standard, longQueries: PostgresStorage.longQueryTurns(1, within: .standard, on: place.loop),
            assetDirectory: assets)
        let status = await ServedCommands().run(request, over: channel)
        return (TidemarkAdmin.ExitStatus(rawValue: status), channel)
    }

    private static func tool(
        _ words: [String], as sender: ChannelSender, timeZone: String = "GMT", files: [String: [UInt8]] = [:],
        assets: String? = nil, _ place: AdminPlace
    ) async -> Ended {
        await send(["cktool", timeZone] + words, as: sender, files: files, assets: assets, place)
    }

    private static func olga(_ role: OperatorRole) -> ChannelSender {
        .operator(SignedInOperator(id: OperatorID(1), credential: OperatorCredentialID(1), name: "olga", role: role))
    }

    private static func user(_ name: String, _ place: AdminPlace) async throws -> ChannelSender {
        let account = try #require(try await place.store.createAccount(name))
        let hash = Credential(text: name).hash
        _ = try await place.store.issueCredential(hash: hash, label: "", expiresAt: nil, for: account)
        let now = Timestamp(milliseconds: place.loop.wallClockMilliseconds)
        return .user(try #require(try await place.store.signInAccount(credentialHash: hash, now: now)))
    }

    private static func audit(_ place: AdminPlace) async throws -> [AuditEntry] {
        try await place.store.audit(AuditFilter(), before: nil, countMax: 100).entries
    }

    private static let container = ["--container-id=iCloud.test", "--environment=development"]
    private static let zone = container + ["--database-type=private"]
    private static let schema = Array(
        """
        DEFINE SCHEMA RECORD TYPE Boat (
            "___recordID" REFERENCE QUERYABLE, name STRING QUERYABLE, built TIMESTAMP QUERYABLE, photo ASSET
        );
        """.utf8)

    private static func importSchema(as sender: ChannelSender = olga(.editor), _ place: AdminPlace) async -> Ended {
        await tool(
            ["import-schema"] + container + ["--validate", "--file=a.ckdb"], as: sender, files: ["a.ckdb": schema],
            place)
    }

    private static func create(
        _ name: String, as sender: ChannelSender, _ place: AdminPlace
    ) async -> Ended {
        await tool(
            ["create-record"] + zone + [
                "--record-type=Boat", #"--fields-json={"name": {"type": "stringType", "value": "\#(name)"}}"#,
            ], as: sender, place)
    }

    // MARK: Who may do what

    /// The words of all commands of operators.
    private static func commands(
        _ type: any ParsableCommand.Type = Admin.self, _ path: [String] = []
    ) -> [[String]] {
        guard !type.configuration.subcommands.isEmpty else { return [path] }
        return type.configuration.subcommands.flatMap { commands($0, path + [$0._commandName]) }
    }

    @Test func `R-899: a user token opens no command of operators, and nothing of it is looked at`() async throws {
        try await AdminPlace.run { place in
            let alice = try await Self.user("alice", place)
            let all = Self.commands()
            #expect(all.count > 40)
            let others = [
                [], ["--help"], ["accounts"], ["accounts", "list", "--help"], ["accounts", "create", "eve"],
                ["---completion", "accounts"], ["CKTOOL", "GMT", "get-teams"],
            ]
            for words in all + others {
                let ended = await Self.send(words, as: alice, place)
                #expect(ended.status == .notAllowed, "\(words)")
                #expect(ended.channel.messages.count == 1 && ended.channel.output.isEmpty, "\(words)")
            }
            #expect(try await place.store.accounts().map(\.name) == ["alice"])
            #expect(try await Self.audit(place).isEmpty)
        }
    }

    @Test func `R-898, R-899: a user token does for no verb of schemas, and a management token for none of records`()
        async throws
    {
        try await AdminPlace.run { place in
            let alice = try await Self.user("alice", place)
            #expect(await Self.importSchema(place).status == .ok)
            for words in [
                ["get-teams"], ["export-schema"] + Self.container,
                ["import-schema"] + Self.container + ["--file=a.ckdb"],
                ["validate-schema"] + Self.container + ["--file=a.ckdb"],
                ["reset-schema", "--container-id=iCloud.test"],
            ] {
                let ended = await Self.tool(words, as: alice, files: ["a.ckdb": Self.schema], place)
                #expect(ended.status == .notAllowed && ended.channel.output.isEmpty, "\(words)")
                #expect(ended.channel.messages.last?.contains("management token") == true, "\(ended.channel.messages)")
            }
            for words in [
                ["create-record", "--record-type=Boat"], ["query-records", "--record-type=Boat"],
                ["delete-record", "--record-name=r", "--yes"],
                ["delete-records", "--record-type=Boat", "--dry-run=false", "--yes"],
            ] {
                for scope in ["private", "public", "shared"] {
                    let words = words.prefix(1) + Self.container + ["--database-type=\(scope)"] + words.dropFirst()
                    let ended = await Self.tool(Array(words), as: Self.olga(.owner), place)
                    #expect(ended.status == .notAllowed && ended.channel.output.isEmpty, "\(words)")
                    #expect(ended.channel.messages.last?.contains("token of a user") == true)
                }
            }
        }
    }

    @Test func `R-898: the role of each verb is checked, and what would change something is in the audit`() async throws
    {
        try await AdminPlace.run { place in
            let refused = await Self.importSchema(as: Self.olga(.viewer), place)
            #expect(refused.status == .notAllowed)
            #expect(
                refused.channel.messages == [
                    "Error: olga is viewer, and this command needs editor. An owner may change that: tidemark admin operators "
                        + "set-role olga editor"
                ])
            #expect(try await place.store.container("iCloud.test", .development) == nil)
            let imported = await Self.importSchema(place)
            #expect(imported.status == .ok && imported.channel.output == "✅ Schema is valid.\n")
            let reset = ["reset-schema", "--container-id=iCloud.test"]
            #expect(await Self.tool(reset, as: Self.olga(.editor), place).status == .notAllowed)
            let done = await Self.tool(reset, as: Self.olga(.owner), place)
            #expect(done.status == .ok && done.channel.messages == ["Deleted 0 records, 0 zones."])
            let teams = await Self.tool(["get-teams"], as: Self.olga(.viewer), place)
            #expect(teams.status == .ok && teams.channel.output == "TIDEMARK00: Tidemark\n")
            let exported = await Self.tool(["export-schema"] + Self.container, as: Self.olga(.viewer), place)
            #expect(exported.status == .ok && exported.channel.output.hasPrefix("DEFINE SCHEMA"))
            let valid = await Self.tool(
                ["validate-schema"] + Self.container + ["--file=a.ckdb"], as: Self.olga(.viewer),
                files: ["a.ckdb": Self.schema], place)
            #expect(valid.channel.output == "✅ Schema is valid.\n")

            let entries = try await Self.audit(place)
            #expect(
                entries.reversed().map(\.action) == [
                    "cktool import-schema", "cktool import-schema", "cktool reset-schema", "cktool reset-schema",
                ])
            #expect(entries.reversed().map(\.result) == [.refused, .done, .refused, .done])
            #expect(entries.allSatisfy { $0.who == "olga" && $0.address == "10.0.0.7" })
            #expect(entries.allSatisfy { $0.target == "iCloud.test development" })
        }
    }

    @Test func `R-898: a server writes no files, keeps no tokens and reads none of its own files`() async throws {
        try await AdminPlace.run { place in
            #expect(await Self.importSchema(place).status == .ok)
            let mark = "\(FileManager.default.temporaryDirectory.path)/tidemark-\(UUID().uuidString)"
            let exported = await Self.tool(
                ["export-schema"] + Self.container + ["--output-file=\(mark)"], as: Self.olga(.owner), place)
            #expect(exported.status == .usage && exported.channel.output.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: mark))
            for words in [["save-token", "secret"], ["remove-token", "--type=user"], ["version"], ["help"], []] {
                let ended = await Self.tool(words, as: Self.olga(.owner), place)
                #expect(ended.status == .usage && ended.channel.output.isEmpty, "\(words)")
            }
            for words in [["import-schema"], ["validate-schema"]] {
                let ended = await Self.tool(
                    words + Self.container + ["--file=/etc/hostname"], as: Self.olga(.owner), place)
                #expect(ended.status == .usage, "\(words)")
            }
            let alice = try await Self.user("alice", place)
            for words in [
                ["--fields-file=/etc/hostname"],
                [
                    #"--fields-json={"photo": {"type": "assetType", "value": "A"}}"#,
                    "--asset-files=A=/etc/hostname",
                ],
            ] {
                let ended = await Self.tool(
                    ["create-record"] + Self.zone + ["--record-type=Boat"] + words, as: alice, assets: mark, place)
                #expect(ended.status == .usage, "\(words): \(ended.channel.messages)")
            }
            try? FileManager.default.removeItem(atPath: mark)
        }
    }

    @Test func `R-899: words that are no command, and a time zone that is none, are refused`() async throws {
        try await AdminPlace.run { place in
            let alice = try await Self.user("alice", place)
            for words in [["nonsense"], ["query-records"], ["query-records", "--limit=0"]] {
                #expect(await Self.tool(words, as: alice, place).status == .usage, "\(words)")
            }
            for zone in ["", "Nowhere/None"] {
                let ended = await Self.tool(["get-teams"], as: Self.olga(.viewer), timeZone: zone, place)
                #expect(ended.status == .usage && ended.channel.messages.last?.contains("time zone") == true)
            }
            #expect(await Self.send(["cktool"], as: alice, place).status == .usage)
        }
    }

    // MARK: Records

    @Test func `R-899: a user reads and deletes only what the user may, and no device is registered`() async throws {
        try await AdminPlace.run { place in
            #expect(await Self.importSchema(place).status == .ok)
            let (alice, bob) = (try await Self.user("alice", place), try await Self.user("bob", place))
            let created = await Self.create("Tern", as: alice, place)
            #expect(created.status == .ok, "\(created.channel.messages)")
            let json = try JSONSerialization.jsonObject(with: Data(created.channel.output.utf8)) as? [String: Any]
            let name = try #require(json?["recordName"] as? String)
            let query = ["query-records"] + Self.zone + ["--record-type=Boat"]
            #expect(await Self.tool(query, as: alice, place).channel.output.contains(name))
            let others = await Self.tool(query, as: bob, place)
            #expect(others.status == .ok && others.channel.output == "{\n  \"records\": []\n}\n")
            let deletion = ["delete-record"] + Self.zone + ["--record-name=\(name)", "--yes"]
            #expect(await Self.tool(deletion, as: bob, place).status == .refused)
            let swept = await Self.tool(
                ["delete-records"] + Self.zone + ["--record-type=Boat", "--dry-run=false", "--yes"], as: bob, place)
            #expect(swept.channel.output == "Deleted 0 records.\n")
            #expect(await Self.tool(query, as: alice, place).channel.output.contains(name))
            // Nobody can be asked, and nothing is done.
            #expect(await Self.tool(deletion.dropLast(), as: alice, place).status == .usage)
            #expect(await Self.tool(deletion, as: alice, place).status == .ok)
            #expect(await Self.tool(query, as: alice, place).channel.output == others.channel.output)
            #expect(try await place.store.accountAndDeviceCounts()?.devices == 0)
        }
    }

    @Test func `R-899: a credential that was revoked meanwhile opens nothing`() async throws {
        try await AdminPlace.run { place in
            #expect(await Self.importSchema(place).status == .ok)
            let alice = try await Self.user("alice", place)
            guard case .user(let found) = alice else { return }
            #expect(try await place.store.revokeCredential(found.credential))
            #expect(await Self.create("Tern", as: alice, place).status == .notAllowed)
        }
    }

    @Test func `R-899: dates without a zone are local where the command was typed`() async throws {
        try await AdminPlace.run { place in
            #expect(await Self.importSchema(place).status == .ok)
            let alice = try await Self.user("alice", place)
            let words =
                ["create-record"] + Self.zone + [
                    "--record-type=Boat", #"--fields-json={"built": {"type": "timestampType", "value": "2021-01-01"}}"#,
                ]
            for (zone, date) in [
                ("GMT", "2021-01-01T00:00:00.000Z"), ("Asia/Tokyo", "2020-12-31T15:00:00.000Z"),
            ] {
                let created = await Self.tool(words, as: alice, timeZone: zone, place)
                #expect(created.channel.output.contains(date), "\(created.channel.output)")
            }
        }
    }

    @Test func `R-899: files for assets come from the user's machine as they are`() async throws {
        try await AdminPlace.run { place in
            let directory = try TestDirectory()
            defer { directory.remove() }
            #expect(await Self.importSchema(place).status == .ok)
            let alice = try await Self.user("alice", place)
            let words =
                ["create-record"] + Self.zone + [
                    "--record-type=Boat", #"--fields-json={"photo": {"type": "assetType", "value": "A"}}"#,
                    "--asset-files=A=a.gz",
                ]
            let storeless = await Self.tool(words, as: alice, files: ["a.gz": [1]], place)
            #expect(
                storeless.status == .refused && storeless.channel.messages.last?.contains("stores no assets") == true)
            // One that begins like a compressed file, one that is longer than a chunk, and one with nothing in it.
            for bytes in [[0x1F, 0x8B, 8, 0, 1, 2, 3], (0..<700_000).map { UInt8(truncatingIfNeeded: $0) }, []]
                as [[UInt8]]
            {
                let created = await Self.tool(
                    words, as: alice, files: ["a.gz": bytes], assets: directory.path, place)
                #expect(created.status == .ok, "\(created.channel.messages)")
                #expect(created.channel.output.contains("\"size\": \(bytes.count),"), "\(created.channel.output)")
            }
            let missing = await Self.tool(words, as: alice, assets: directory.path, place)
            #expect(missing.status == .usage)
        }
    }

    @Test func `R-895: an empty list keeps its type in the schema, and is read back with it`() async throws {
        try await AdminPlace.run { place in
            #expect(await Self.importSchema(place).status == .ok)
            let alice = try await Self.user("alice", place)
            func create(_ type: String) async -> Ended {
                await Self.tool(
                    ["create-record"] + Self.zone + [
                        "--record-type=Boat", #"--fields-json={"tags": {"type": "\#(type)", "value": []}}"#,
                    ], as: alice, place)
            }
            let created = await create("int64ListType")
            #expect(created.status == .ok, "\(created.channel.messages)")
            #expect(created.channel.output.contains(#""type": "int64ListType""#), "\(created.channel.output)")
            let exported = await Self.tool(["export-schema"] + Self.container, as: Self.olga(.viewer), place)
            #expect(exported.channel.output.contains("LIST<INT64>"), "\(exported.channel.output)")
            let other = await create("stringListType")
            #expect(other.status == .refused && other.channel.messages.last?.contains("LIST<INT64>") == true)
        }
    }
}
