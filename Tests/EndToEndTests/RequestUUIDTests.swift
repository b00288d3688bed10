// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkPostgres
import TidemarkSockets
import TidemarkTestSupport

/// One request in an app's error and in the log of a real server, and what else that log tells.
@Suite(.timeLimit(.minutes(10))) struct RequestUUIDTests {
    @Test func `R-820: an app's error and the server's lines have the same UUID`() async throws {
        try await OperatorPlace.with(["--create-containers", "--log-level", "debug"]) { place in
            let database = place.database()
            _ = try await database.save(CKRecordZone(zoneName: "Notes"))
            // A fault of the server: its log says why.
            try PostgresAdministration.execute(
                ["ALTER TABLE subscription RENAME TO elsewhere"], url: place.database.url)
            let fault = try await failure { _ = try await database.allSubscriptions() }
            let uuid = try #require(fault.requestUUID).uuidString
            #expect(fault.code == .internalError && fault.localizedDescription.contains("(request UUID \(uuid))"))
            try await eventually("the request is in the log") {
                !place.server.lines("debug request").filter { $0.contains("request=\(uuid)") }.isEmpty
            }
            for text in ["the store failed", "a request was answered INTERNAL_ERROR"] {
                let line = place.server.lines(text).first
                #expect(line?.contains(" request=\(uuid)") == true, "\(line ?? "no line"), and not \(uuid)")
            }
            let request = place.server.lines("debug request").filter { $0.contains("request=\(uuid)") }
            #expect(request.count == 1 && request[0].contains("kind=fetch_subscriptions"), "\(request)")
            #expect(request.first?.contains("result=internalError") == true)
            // Items of a request, and the whole of it.
            let id = CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "Missing"))
            let whole = try await failure {
                _ = try await database.modifyRecords(
                    saving: [CKRecord(recordType: "Note", recordID: id)], deleting: [])
            }
            let item = try #require(whole.partialErrorsByItemID?[id] as? CKError)
            #expect(whole.code == .partialFailure && item.code == .zoneNotFound)
            let second = try #require(whole.requestUUID).uuidString
            #expect(item.requestUUID?.uuidString == second && second != uuid)
            try await eventually("the save is in the log") {
                place.server.lines("debug request").contains {
                    $0.contains("request=\(second)") && $0.contains("kind=modify_records")
                }
            }
        }
    }

    private struct Row: Decodable {
        let recordName: String?
        let action: String?
        let request: String?
    }

    private func rows(_ arguments: [String], _ place: OperatorPlace) async throws -> [Row] {
        let (status, output) = try await place.admin(arguments + ["-o", "json"])
        #expect(status == 0, "\(output)")
        return try output.split(separator: "\n").map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
    }

    @Test func `R-918, R-919: the UUID that an app knows is in tail, and leads to the session in the audit`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers", "--log-level", "debug"]) { place in
            let database = place.database()
            func record(_ name: String) -> CKRecord {
                CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
            }
            _ = try await database.save(record("first"))
            // One request of which a record is saved, and the other one tells the UUID.
            let both = try await database.modifyRecords(
                saving: [record("second"), record("first")], deleting: [], atomically: false)
            var known: CKError?
            if case .failure(let error)? = both.saveResults[record("first").recordID] { known = error as? CKError }
            #expect(known?.code == .serverRecordChanged)
            let uuid = try #require(known?.requestUUID).uuidString
            let tail = ["tail", "alice", "--container", place.site.container, "--once", "--after", "all-"]
            let changes = try await rows(tail, place).filter { ["first", "second"].contains($0.recordName) }
            #expect(changes.map(\.recordName) == ["first", "second"])
            #expect(changes.last?.request == uuid)
            let first = try #require(changes.first?.request)
            #expect(first != uuid && first.prefix(18) == uuid.prefix(18), "one session")
            #expect(try await rows(tail + ["--request", uuid], place).map(\.recordName) == ["second"])
            try await eventually("the save is in the log") {
                place.server.lines("debug request").contains {
                    $0.contains("request=\(first)") && $0.contains("kind=modify_records")
                }
            }
            // Both requests lead to the sign-in of their session.
            for request in [uuid, first] {
                let session = try await rows(["audit", "list", "--request", request], place)
                #expect(session.map(\.action) == ["sign-in"])
                #expect(session.first?.request?.prefix(18) == uuid.prefix(18))
            }
            // A deletion has its own request, and an operator's command its own UUID.
            _ = try await database.deleteRecord(withID: record("second").recordID)
            let file = try place.write(
                #"{"recordName":"third","recordType":"Note","fields":{}}"# + "\n", to: "third.jsonl")
            let saving = ["records", "save", "alice", "_defaultZone", file, "--container", place.site.container]
            #expect(try await place.admin(saving).status == 0)
            let later = try await rows(tail, place)
            let gone = try #require(later.first { $0.recordName == "second" }?.request)
            #expect(gone != uuid && gone.prefix(18) == uuid.prefix(18))
            let command = try #require(later.first { $0.recordName == "third" }?.request)
            #expect(command.prefix(18) != uuid.prefix(18))
            let action = try await rows(["audit", "list", "--request", command], place)
            #expect(action.map(\.action) == ["records save"] && action.first?.request == command)
        }
    }

    @Test func `R-820, R-823: a refused credential has one UUID in the app and in the log, which says what to do`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers", "--verbose"], isEncrypted: true) { place in
            let database = place.database(token: "tm_nobody")
            let refusal = try await failure { _ = try await database.allRecordZones() }
            let uuid = try #require(refusal.requestUUID).uuidString
            try await eventually("the refusal is in the log") {
                place.server.lines("a device was refused").contains { $0.contains("request=\(uuid)") }
            }
            let refused = place.server.lines("a device was refused")
            #expect(refused.allSatisfy { $0.contains(" debug ") && $0.contains("address=127.0.0.1:") }, "\(refused)")
            #expect(refused.allSatisfy { $0.contains("tidemark admin credentials create") }, "\(refused)")
            #expect(!place.server.output.contains("tm_nobody"))
            // Not TLS, and no message of a device.
            let loop = try EventLoop(name: "peer")
            defer { loop.stop() }
            let peer = try await RawPeer.connect(
                to: SocketAddress(parsing: "127.0.0.1:\(place.site.port)"), on: loop, tls: nil, .none,
                sending: Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
            _ = await peer.receiveAll()
            await peer.close()
            try await eventually("the handshake is in the log") {
                place.server.lines("a TLS handshake failed").contains {
                    $0.contains(" debug ") && $0.contains("address=127.0.0.1:") && $0.contains("wss://")
                }
            }
            _ = try await place.database().allRecordZones()
            try await eventually("the container is in the log") {
                place.server.lines("a container was created").contains { $0.contains("--create-containers") }
            }
            #expect(place.server.lines("debug request").isEmpty, "verbose is no level for requests")
        }
    }

    @Test func `R-822, R-823: without verbose no line has an address, and many refusals are few lines`() async throws {
        try await OperatorPlace.with(["--create-containers"], isEncrypted: true) { place in
            for _ in 0..<3 {
                let database = place.database(token: "tm_nobody")
                _ = try await failure { _ = try await database.allRecordZones() }
            }
            try await eventually("a refusal is in the log") { !place.server.lines("a device was refused").isEmpty }
            let refused = place.server.lines("a device was refused")
            #expect(refused.count == 1 && refused[0].contains(" info "), "\(refused)")
            #expect(!refused[0].contains("address="), "\(refused)")
            place.server.signal(SIGINT)
            try await place.server.exit()
            let counts = place.server.lines("a device was refused").filter { $0.contains(" repeats=") }
            #expect(counts.count == 1, "\(place.server.output)")
            for text in ["settings", "stopping", "stopped"] { #expect(place.server.lines(text).count == 1, "\(text)") }
        }
    }

    @Test func `R-824: a slow query is in the log with its UUID and its SQL, without values`() async throws {
        let flags = ["--create-containers", "--log-level", "debug", "--slow-request-ms", "1"]
        try await OperatorPlace.with(flags) { place in
            let database = place.database()
            let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zone.zoneID))
            record["text"] = "secret-4711"
            _ = try await database.save(record)
            // The first one prepares its type, which takes several milliseconds. If it was fast all the same, others follow.
            try await eventually("a query is slow", within: .seconds(60)) {
                let query = CKQuery(
                    recordType: "Note", predicate: NSPredicate(format: "text == %@ AND text != %@", "secret-4711", "b"))
                let found = try await database.records(matching: query, inZoneWith: zone.zoneID)
                #expect(found.matchResults.count == 1)
                return place.server.lines("a request was slow").contains { $0.contains("cause=query_records") }
            }
            let slow = try #require(
                place.server.lines("a request was slow").first { $0.contains("cause=query_records") })
            #expect(slow.contains(" warning ") && slow.contains(" account="), "\(slow)")
            let uuid = try #require(slow.firstMatch(of: /request=([0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})/)).1
            #expect(
                place.server.lines("debug request").contains {
                    $0.contains("request=\(uuid)") && $0.contains("kind=query_records")
                })
            #expect(slow.contains("sql=\"SELECT ") && slow.contains(" FROM record r WHERE "), "\(slow)")
            #expect(slow.contains("$1") && slow.firstMatch(of: /sql_id=[0-9a-f]{16}/) != nil, "\(slow)")
            for key in ["milliseconds", "turn_milliseconds", "store_milliseconds", "answer_milliseconds"] {
                #expect(slow.firstMatch(of: try Regex(" \(key)=[0-9]+\\.[0-9]{3}")) != nil, "\(key) in \(slow)")
            }
            #expect(!place.server.output.contains("secret-4711"), "the log has no values")
        }
    }

    @Test func `R-821: with json each line of a server is an object`() async throws {
        try await OperatorPlace.with { place in
            let server = try Program(
                "tidemark",
                ["serve", "--listen", "127.0.0.1:0", "--plain", "--log-format", "json", "--log-level", "debug"],
                environment: ["TIDEMARK_DATABASE_URL": place.database.url], directory: place.directory.path)
            try await eventually("it serves") {
                guard server.isRunning else { throw NeverHappened(description: server.output) }
                return server.output.contains("\"message\":\"serving\"")
            }
            #expect(try await server.stop() == 0)
            let objects = try server.output.split(separator: "\n").map {
                try JSONDecoder().decode([String: String].self, from: Data($0.utf8))
            }
            #expect(objects.count >= 3)
            for object in objects {
                for key in ["time", "level", "label", "message"] { #expect(object[key]?.isEmpty == false, "\(object)") }
            }
            let messages = objects.compactMap { $0["message"] }
            #expect(messages.contains("settings") && messages.last == "stopped", "\(messages)")
        }
    }

    @Test(arguments: [
        (["--log-level", "loud"], "--log-level must be one of debug, info, warning, error, not loud."),
        (["--log-format", "xml"], "--log-format must be one of text, json, not xml."),
        (["--slow-request-ms", "-1"], "--slow-request-ms must be between 0 and 86400000"),
    ])
    func `R-821, R-824: options of the log without a meaning are refused, of serve and of dev`(
        flags: [String], text: String
    ) async throws {
        let place = try TestDirectory()
        defer { place.remove() }
        let serve = ["serve", "--listen", "127.0.0.1:0", "--plain", "--database-url", "x"]
        for command in [serve, ["dev", "--port", "0"]] {
            // A negative number is given with `=`, because it would be read as another option.
            let given = flags[1].hasPrefix("-") ? ["\(flags[0])=\(flags[1])"] : flags
            let (status, output) = try await Program.run(
                "tidemark", command + given, environment: [:], directory: place.path, within: .seconds(30))
            #expect(status != 0 && output.contains(text), "\(output)")
        }
    }
}
