// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkServer
import TidemarkService
import TidemarkSockets
import TidemarkStore
import TidemarkTelemetry
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Commands of an operator, as a server carries them out, on a real database.
@Suite struct ServedCommandsTests {
    private struct Place {
        let url: String
        let storage: PostgresStorage
        let loop: EventLoop

        var store: AdminStore { AdminStore(storage) }

        func run(
            _ arguments: [String], as role: OperatorRole = .owner, files: [String: [UInt8]] = [:],
            leavesAtOnce: Bool = false, limits: Limits = .standard, connections: ConnectionLimits = .standard,
            uuid: RequestUUID = .random()
        ) async -> (status: TidemarkAdmin.ExitStatus?, channel: TestChannel) {
            let channel = TestChannel(files: files, leavesAtOnce: leavesAtOnce)
            let sender = ChannelSender.operator(
                SignedInOperator(id: OperatorID(1), credential: OperatorCredentialID(1), name: "olga", role: role))
            let request = OperatorRequest(
                uuid: uuid, sender: sender, address: "10.0.0.7", arguments: arguments,
                container: AdminPlace.container.identifier,
                environment: "development", hasColor: false, canAsk: false, showsProgress: false, databaseURL: url,
                limits: limits, connections: connections,
                longQueries: PostgresStorage.longQueryTurns(1, within: .standard, on: loop))
            let status = await ServedCommands().run(request, over: channel)
            return (TidemarkAdmin.ExitStatus(rawValue: status), channel)
        }
    }

    @Test func `R-914: over a server, its own limits are shown`() async throws {
        try await with { place in
            var limits = Limits.standard
            limits.itemsMax = 17
            var configuration = ServerConfiguration(addresses: [], certificate: nil, databaseURL: "", limits: limits)
            configuration.connectionsPerAccountMax = 7
            let shown = await place.run(
                ["limits", "show", "-o", "json"], limits: limits,
                connections: configuration.connectionLimits(isPlain: false))
            #expect(shown.status == .ok)
            let line =
                #"{"limit":"itemsMax","value":17,"unit":"count","setBy":"serve --request-items","source":"server"}"#
            #expect(shown.channel.output.contains(line + "\n"), "\(shown.channel.output)")
            #expect(
                shown.channel.output.contains(
                    #"{"limit":"connectionsPerAccountMax","value":7,"unit":"count","setBy":"serve --connections-per-account""#
                ))
            #expect(
                shown.channel.output.contains(#""limit":"accountQuota""#)
                    && shown.channel.output.contains(#""source":"store""#))
            #expect(!shown.channel.output.contains(#""source":"default""#))
            // The operator's context names a container that is not there yet. One that is asked for must be there.
            #expect(shown.channel.messages.map { $0.contains("There is no iCloud.test, development") } == [true])
            let asked = await place.run(["limits", "show", "--container", "iCloud.none"])
            #expect(asked.status == .refused && asked.channel.output.isEmpty, "\(asked.channel.messages)")
        }
    }

    private func with(_ body: (Place) async throws -> Void) async throws {
        let loop = try EventLoop(name: "served")
        defer { loop.stop() }
        let url = try await TestPostgres.database(AdminPlace.template).url
        let storage = try PostgresStorage(url: url, loop: loop, connections: 1, queryTimes: .patient)
        do {
            try await body(Place(url: url, storage: storage, loop: loop))
        } catch {
            await storage.stop()
            throw error
        }
        await storage.stop()
    }

    @Test func `R-882: a command runs on the server's database, and the audit knows who gave it and from where`()
        async throws
    {
        try await with { place in
            let (status, channel) = await place.run(["accounts", "create", "alice"])
            #expect(status == .ok, "\(channel.messages)")
            #expect(channel.messages == ["Created alice. Next: tidemark admin credentials create alice"])
            let list = await place.run(["accounts", "list", "-o", "name"], as: .viewer)
            #expect(list.channel.output == "alice\n")
            let entries = try await place.store.audit(AuditFilter(), before: nil, countMax: 10).entries
            #expect(entries.map(\.action) == ["accounts create"])
            #expect(entries.first?.who == "olga" && entries.first?.address == "10.0.0.7")
            #expect(entries.first?.result == .done)
        }
    }

    @Test func `R-882: a viewer's query marks no field and builds no index, and says who may`() async throws {
        try await with { (place: Place) async throws in
            let record = #"{"recordName":"a","recordType":"Note","fields":{"n":{"type":"int64","value":7}}}"# + "\n"
            _ = await place.run(["containers", "create", AdminPlace.container.identifier])
            _ = await place.run(["accounts", "create", "alice"])
            _ = try await place.store.user(
                ofAccount: "alice", in: AdminPlace.container, now: Timestamp(milliseconds: 1_700_000_000_000))
            let saved = await place.run(
                ["records", "save", "alice", ZoneName.default, "notes.jsonl"],
                files: ["notes.jsonl": Array(record.utf8)])
            #expect(saved.status == .ok, "\(saved.channel.messages)")
            func state() async -> String {
                let (schema, indexes) = (await place.run(["schema", "export"]), await place.run(["indexes", "list"]))
                return schema.channel.output + indexes.channel.output
            }
            let query = ["records", "query", "alice", "Note", "--where", "n == 7", "-o", "name"]
            let before = await state()
            #expect(before.contains("Note"), "\(before)")
            for words in [query, query + ["--explain"], query + ["--count"]] {
                let refused = await place.run(words, as: .viewer)
                #expect(refused.status == .notAllowed, "\(refused.channel.messages)")
                #expect(refused.channel.messages.contains { $0.contains("a viewer's query changes nothing") })
                #expect(await state() == before)
            }
            #expect(await place.run(query, as: .editor).channel.output == "a\n")
            #expect(await state() != before)
            #expect(await place.run(query, as: .viewer).channel.output == "a\n")
        }
    }

    @Test func `R-835: over a server, --debug tells the request's UUID, and none of the server's SQL`() async throws {
        try await with { place in
            let uuid = RequestUUID.random()
            let (status, channel) = await place.run(["accounts", "create", "hidden", "--debug"], uuid: uuid)
            #expect(status == .ok, "\(channel.messages)")
            #expect(channel.messages.count == 2, "\(channel.messages)")
            #expect(channel.messages.first == "-- request \(uuid)")
            #expect(channel.messages.last?.hasPrefix("Created hidden.") == true)
            let list = await place.run(["accounts", "list", "-o", "name"])
            #expect(list.channel.messages.isEmpty && list.channel.output == "hidden\n")
        }
    }

    @Test func `R-919: the audit has the UUID with which the server names a command, also of one that is refused`()
        async throws
    {
        try await with { place in
            let (done, refused) = (RequestUUID.random(), RequestUUID.random())
            _ = await place.run(["accounts", "create", "alice"], uuid: done)
            let (status, channel) = await place.run(
                ["accounts", "create", "bob", "--debug"], as: .viewer, uuid: refused)
            #expect(status == .notAllowed && channel.messages.first == "-- request \(refused)")
            let entries = try await place.store.audit(AuditFilter(), before: nil, countMax: 10).entries
            #expect(entries.compactMap(\.request) == [ChangeCause(refused), ChangeCause(done)])
            #expect(entries.map(\.result) == [.refused, .done])
        }
    }

    @Test(arguments: [
        (["accounts", "create", "bob"], OperatorRole.viewer, "needs editor"),
        (["operators", "create", "eve"], OperatorRole.editor, "needs owner"),
        (["accounts", "create", "bob", "--dry-run"], OperatorRole.viewer, "needs editor"),
    ])
    func `R-882: a command beyond the operator's role does nothing, ends with 4 and is in the audit`(
        _ arguments: [String], _ role: OperatorRole, _ text: String
    ) async throws {
        try await with { place in
            let (status, channel) = await place.run(arguments, as: role)
            #expect(status == .notAllowed)
            #expect(channel.messages.last?.contains(text) == true, "\(channel.messages)")
            #expect(try await place.store.accounts().isEmpty)
            #expect(try await place.store.operators().isEmpty)
            let entries = try await place.store.audit(AuditFilter(), before: nil, countMax: 10).entries
            let entry = try #require(entries.first)
            #expect(entry.result == .refused && entry.who == "olga" && entry.detail.contains(text))
        }
    }

    @Test(arguments: [
        ["nonsense"], ["accounts"], ["accounts", "create"], ["context", "list"],
        ["accounts", "list", "--database-url", "postgresql:///other"], ["accounts", "list", "--context", "other"], [],
    ])
    func `R-882: what is no command for a server ends with 2 or its help, and touches nothing`(_ arguments: [String])
        async throws
    {
        try await with { place in
            let (status, channel) = await place.run(arguments)
            if status == .ok {
                #expect(channel.output.contains("USAGE:"))
            } else {
                #expect(status == .usage)
                #expect(!channel.messages.isEmpty)
            }
            let entries = try await place.store.audit(AuditFilter(), before: nil, countMax: 10).entries
            #expect(entries.isEmpty)
        }
    }

    @Test func `R-882: a command that would start programs or read files of the server is refused`() async throws {
        try await with { place in
            _ = await place.run(["accounts", "create", "alice"])
            let mark = "\(FileManager.default.temporaryDirectory.path)/tidemark-\(UUID().uuidString)"
            let tail = await place.run(["tail", "alice", "--once", "--exec", "touch \(mark)"])
            #expect(tail.status == .refused, "\(tail.channel.messages)")
            #expect(!FileManager.default.fileExists(atPath: mark))
            for arguments in [
                ["accounts", "export", "alice"], ["accounts", "import", "alice", "alice.jsonl"], ["doctor"],
            ] {
                let (status, channel) = await place.run(arguments + ["--asset-directory", mark])
                #expect(status == .refused, "\(arguments): \(channel.messages)")
                #expect(!FileManager.default.fileExists(atPath: mark), "\(arguments)")
            }
            let keys = await place.run(["keys", "rotate-master", "--old", "/etc/hostname", "--new", mark])
            #expect(keys.status == .refused, "\(keys.channel.messages)")
            #expect(!FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test func `R-882: a server completes no words of a shell, which may name any database`() async throws {
        try await with { place in
            _ = await place.run(["accounts", "create", "alice"])
            let line = ["tidemark", "admin", "accounts", "show", "--database-url", place.url, ""]
            let (status, channel) = await place.run(
                ["---completion", "accounts", "show", "--", "positional@0", "\(line.count - 1)", "0"] + line,
                as: .viewer)
            #expect(status == .usage)
            #expect(channel.output.isEmpty)
        }
    }

    @Test func `R-902: over a server, an operator is told names of its database alone`() async throws {
        try await with { place in
            for name in ["alice", "albert", "bob"] { _ = await place.run(["accounts", "create", name]) }
            _ = await place.run(["containers", "create", AdminPlace.container.identifier])
            let before = try await place.store.audit(AuditFilter(), before: nil, countMax: 10).entries.count
            func names(_ kind: LiveName, _ prefix: String, account: String? = nil) async -> [String] {
                let question = NameQuestion(kind, prefix: prefix, account: account)
                let (status, channel) = await place.run(question.words, as: .viewer)
                #expect(status == .ok, "\(channel.messages)")
                return question.names(in: channel.output)
            }
            #expect(await names(.accounts, "al") == ["albert", "alice"])
            #expect(await names(.accounts, "") == ["albert", "alice", "bob"])
            #expect(await names(.databases, "") == ["public", "albert", "alice", "bob"])
            #expect(await names(.containers, "") == [AdminPlace.container.identifier])
            // A name with quotation marks is a name, and no SQL.
            #expect(await names(.accounts, "' OR true --") == [])
            #expect(await names(.zones, "", account: "nobody") == [])
            #expect(await names(.zones, "") == [])
            for words in [["contexts", ""], ["accounts"], ["accounts", "", "", ""], ["secrets", ""]] {
                let (status, channel) = await place.run([NameQuestion.word] + words)
                #expect(status == .usage && channel.output.isEmpty, "\(words)")
            }
            // One press of a key is no row of the audit.
            let after = try await place.store.audit(AuditFilter(), before: nil, countMax: 10).entries.count
            #expect(after == before)
        }
    }

    @Test func `R-884: a list of very many accounts is written in parts`() async throws {
        try await with { place in
            let count = 1_500
            try PostgresAdministration.execute(
                ["INSERT INTO account (name) SELECT 'account-' || n FROM generate_series(1, \(count)) AS n"],
                url: place.url)
            let (status, channel) = await place.run(["accounts", "list", "-o", "name"], as: .viewer)
            #expect(status == .ok, "\(channel.messages)")
            #expect(channel.writeCount == 2)
            #expect(Set(channel.output.split(separator: "\n")).count == count)
        }
    }

    @Test func `R-884: a table of more records than there is room for is refused, and comes in parts with its columns`()
        async throws
    {
        try await with { place in
            _ = await place.run(["accounts", "create", "alice"])
            _ = await place.run(["containers", "create", AdminPlace.container.identifier])
            _ = try await place.store.user(
                ofAccount: "alice", in: AdminPlace.container, now: Timestamp(milliseconds: 1_700_000_000_000))
            let text = String(repeating: "a", count: 900_000)
            let lines = (0..<6).map { number in
                #"{"recordName":"\#(number)","recordType":"Note","fields":{"text":{"type":"string","value":"\#(text)"}}}"#
            }
            let file = ["notes.jsonl": Array((lines.joined(separator: "\n") + "\n").utf8)]
            let saved = await place.run(["records", "save", "alice", ZoneName.default, "notes.jsonl"], files: file)
            #expect(saved.status == .ok, "\(saved.channel.messages)")
            let query = ["records", "query", "alice", "Note", "--limit", "0"]
            // An owner's query marks what it needs. A viewer's changes nothing.
            _ = await place.run(query + ["--field", "text"])
            let refused = await place.run(query, as: .viewer)
            #expect(refused.status == .refused)
            #expect(refused.channel.messages.last?.contains("--field") == true, "\(refused.channel.messages)")
            #expect(refused.channel.output.isEmpty)
            let shown = await place.run(query + ["--field", "text"], as: .viewer)
            #expect(shown.status == .ok, "\(shown.channel.messages)")
            #expect(shown.channel.output.split(separator: "\n").count == lines.count + 1)
        }
    }

    @Test func `R-885: a file comes from the operator, in parts, and the server opens none`() async throws {
        try await with { place in
            let schema = "DEFINE SCHEMA RECORD TYPE Note ( text STRING QUERYABLE );"
            _ = await place.run(["containers", "create", AdminPlace.container.identifier])
            let (status, channel) = await place.run(
                ["schema", "import", "/etc/hostname"], files: ["/etc/hostname": Array(schema.utf8)])
            #expect(status == .ok, "\(channel.messages)")
            let exported = await place.run(["schema", "export"])
            #expect(exported.channel.output.contains("RECORD TYPE Note"))
            let missing = await place.run(["schema", "import", "/etc/passwd"])
            #expect(missing.status == .usage)
        }
    }

    @Test func `R-885: a line of a file takes less of a server than of the operator's own machine`() throws {
        let loop = try EventLoop(name: "served")
        defer { loop.stop() }
        let request = OperatorRequest(
            sender: .operator(
                SignedInOperator(id: OperatorID(1), credential: OperatorCredentialID(1), name: "olga", role: .editor)),
            address: "", arguments: [], container: nil, environment: nil, hasColor: false, canAsk: false,
            showsProgress: false, databaseURL: "",
            limits: .standard, connections: .standard,
            longQueries: PostgresStorage.longQueryTurns(1, within: .standard, on: loop))
        let served = Screen(output: .table, terminal: ChannelTerminal(request, TestChannel()))
        let local = Screen(output: .table, terminal: MemoryTerminal(input: "", directory: ""))
        let (few, many) = (InputLimits.lineBytesMax(on: served), InputLimits.lineBytesMax(on: local))
        #expect(few < many && few >= Limits.standard.storedBytesMax)
    }

    @Test func `R-886: in the audit a command stays begun whose operator left in the middle`() async throws {
        try await with { place in
            _ = await place.run(["accounts", "create", "alice"])
            let (status, _) = await place.run(["accounts", "export", "alice"], as: .viewer, leavesAtOnce: true)
            #expect(status == .refused)
            let entries = try await place.store.audit(AuditFilter(), before: nil, countMax: 10).entries
            #expect(entries.first?.action == "accounts export")
            #expect(entries.first?.result == .begun)
        }
    }

    @Test func `R-886: a cancelled command ends soon`() async throws {
        try await with { place in
            _ = await place.run(["containers", "create", AdminPlace.container.identifier])
            _ = await place.run(["accounts", "create", "alice"])
            _ = try await place.store.user(
                ofAccount: "alice", in: AdminPlace.container, now: Timestamp(milliseconds: 1_700_000_000_000))
            let tail = Task { await place.run(["tail", "alice"]) }
            tail.cancel()
            let (status, _) = await tail.value
            #expect(status != nil)
        }
    }
}
