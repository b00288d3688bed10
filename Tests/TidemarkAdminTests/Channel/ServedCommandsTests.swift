// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Commands of an operator, as a server carries them out, on a real database.
@Suite struct ServedCommandsTests {
    /// An operator who reads everything, and has files.
    private final class TestChannel: OperatorChannel {
        private let texts = Mutex((output: "", messages: [String]()))
        private let files: [String: [UInt8]]
        private let opened = Mutex([(bytes: [UInt8], place: Int)]())

        init(files: [String: [UInt8]] = [:]) { self.files = files }

        var output: String { texts.withLock { $0.output } }
        var messages: [String] { texts.withLock { $0.messages } }

        func write(_ text: String) async -> Bool {
            texts.withLock { $0.output += text }
            return true
        }

        func say(_ text: String) { texts.withLock { $0.messages.append(text) } }
        func showProgress(_ text: String?) {}
        func ask(_ question: String) async -> String? { nil }

        func openFile(_ path: String) -> OperatorFileAnswer {
            guard let bytes = files[path] else { return .failed("The file \(path) cannot be read.") }
            opened.withLock { $0.append((bytes, 0)) }
            return .opened(name: path, byteCount: bytes.count)
        }

        /// In parts of seven bytes.
        func readFile(_ number: Int) -> OperatorPartAnswer {
            opened.withLock { opened in
                let (bytes, place) = opened[number]
                let end = min(bytes.count, place + 7)
                opened[number].place = end
                return .bytes(Array(bytes[place..<end]))
            }
        }
    }

    private struct Place {
        let url: String
        let storage: PostgresStorage

        var store: AdminStore { AdminStore(storage) }

        func run(
            _ arguments: [String], as role: OperatorRole = .owner, files: [String: [UInt8]] = [:],
            limits: Limits = .standard
        ) async -> (status: TidemarkAdmin.ExitStatus?, channel: TestChannel) {
            let channel = TestChannel(files: files)
            let sender = SignedInOperator(
                id: OperatorID(1), credential: OperatorCredentialID(1), name: "olga", role: role)
            let request = OperatorRequest(
                sender: sender, address: "10.0.0.7", arguments: arguments, container: AdminPlace.container.identifier,
                environment: "development", hasColor: false, canAsk: false, showsProgress: false, databaseURL: url,
                limits: limits)
            let status = await ServedCommands().run(request, over: channel)
            return (TidemarkAdmin.ExitStatus(rawValue: status), channel)
        }
    }

    @Test func `R-914: over a server, its own limits are shown`() async throws {
        try await with { place in
            var limits = Limits.standard
            limits.itemsMax = 17
            let shown = await place.run(["limits", "show", "-o", "json"], limits: limits)
            #expect(shown.status == .ok)
            let line =
                #"{"limit":"itemsMax","value":17,"unit":"count","setBy":"serve --request-items","source":"server"}"#
            #expect(shown.channel.output.contains(line + "\n"), "\(shown.channel.output)")
            #expect(
                shown.channel.output.contains(#""limit":"accountQuota""#)
                    && shown.channel.output.contains(#""source":"store""#))
            #expect(!shown.channel.output.contains(#""source":"default""#))
        }
    }

    private func with(_ body: (Place) async throws -> Void) async throws {
        let loop = try EventLoop(name: "served")
        defer { loop.stop() }
        let url = try await TestPostgres.database(AdminPlace.template).url
        let storage = try PostgresStorage(url: url, loop: loop, connections: 1, queryTimes: .patient)
        do {
            try await body(Place(url: url, storage: storage))
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
            let entries = try await place.store.audit(AuditFilter(), before: nil, countMax: 10)
            #expect(entries.map(\.action) == ["accounts create"])
            #expect(entries.first?.who == "olga" && entries.first?.address == "10.0.0.7")
            #expect(entries.first?.result == .done)
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
            let entry = try #require(try await place.store.audit(AuditFilter(), before: nil, countMax: 10).first)
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
            let entries = try await place.store.audit(AuditFilter(), before: nil, countMax: 10)
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
            let keys = await place.run(["keys", "rotate-master", "--old", "/etc/hostname", "--new", mark])
            #expect(keys.status == .refused, "\(keys.channel.messages)")
            #expect(!FileManager.default.fileExists(atPath: mark))
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
