// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkPostgres
import TidemarkTestSupport

/// Commands of operators over a server, with the real programs and real TLS. What each command says is in `GoldenTests`.
@Suite struct ServedCommandTests {
    private static let flags = ["--create-containers", "--operators-listen", "127.0.0.1:0"]

    private func with(_ body: (OperatorPlace) async throws -> Void) async throws {
        try await OperatorPlace.with(Self.flags, isEncrypted: true, body)
    }

    /// A zone of alice's with a record, so that there is something to see.
    private func fill(_ place: OperatorPlace) async throws -> CKDatabase {
        let database = place.database()
        let zone = CKRecordZone.ID(zoneName: "Notes")
        try await database.save(CKRecordZone(zoneID: zone))
        try await save("first", to: database)
        return database
    }

    private func save(_ name: String, to database: CKDatabase) async throws {
        let id = CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: "Notes"))
        try await database.save(CKRecord(recordType: "Note", recordID: id))
    }

    /// Returns when each of them follows alice's zones: it shows changes from then on.
    private func awaitFollowing(_ tails: [Program], _ database: CKDatabase) async throws {
        for tail in tails {
            try await eventually("tail follows") {
                guard tail.isRunning else { throw NeverHappened(description: tail.output) }
                try await save("beat-\(UUID().uuidString)", to: database)
                return tail.output.contains("beat-")
            }
        }
    }

    @Test func `R-914: a server tells the limits with which it runs, and the database the defaults`() async throws {
        try await with { place in
            let olga = try await OperatorSeat.take(place, "olga", role: "viewer")
            let limits = ["limits", "show", "-o", "json"]
            let (direct, served) = (try await place.admin(limits), try await olga.run(limits))
            #expect(direct.output.contains(#""source":"default""#) && direct.output.contains("without options"))
            #expect(!served.output.contains(#""source":"default""#) && served.output.contains(#""source":"server""#))
        }
    }

    @Test func `R-882: a viewer looks and changes nothing, and the audit tells of the attempt`() async throws {
        try await with { place in
            let vera = try await OperatorSeat.take(place, "vera", role: "viewer")
            #expect(try await vera.run("accounts", "list").output.contains("alice"))
            let refused = try await vera.run("accounts", "create", "bob")
            #expect(refused.status == 4)
            #expect(refused.output.contains("vera is viewer, and this command needs editor"), "\(refused.output)")
            #expect(try await !place.admin("accounts", "list").output.contains("bob"))
            let audit = try await place.admin("audit", "list", "--who", "vera", "--failures", "-o", "json")
            #expect(audit.output.contains("\"action\":\"accounts create\""), "\(audit.output)")
            #expect(audit.output.contains("\"address\":\"127.0.0.1\""), "\(audit.output)")
            // The role of the next command is the new one.
            #expect(try await place.admin("operators", "set-role", "vera", "editor").status == 0)
            #expect(try await vera.run("accounts", "create", "bob").status == 0)
        }
    }

    @Test func `R-919: a command over a server has one UUID for its operator, in the server's log and in the audit`()
        async throws
    {
        try await OperatorPlace.with(Self.flags + ["--log-level", "debug"], isEncrypted: true) { place in
            let olga = try await OperatorSeat.take(place, "olga", role: "editor")
            let created = try await olga.run("accounts", "create", "bob", "--debug")
            #expect(created.status == 0, "\(created.output)")
            let uuid = String(try #require(created.output.firstMatch(of: /-- request ([0-9A-F-]{36})/)).1)
            // R-835: what was sent, as it can be sent again.
            let destination = "--context olga --container \(olga.container) --environment development"
            #expect(created.output.contains("-- to wss://127.0.0.1:"), "\(created.output)")
            let line = "tidemark admin accounts create bob --debug \(destination)\n"
            #expect(created.output.contains(line), "\(created.output)")
            #expect(!created.output.contains("INSERT") && !created.output.contains("tidemark_"))
            let audit = try await place.admin("audit", "list", "--request", uuid, "-o", "json")
            #expect(audit.output.contains("\"who\":\"olga\",\"action\":\"accounts create\""), "\(audit.output)")
            #expect(audit.output.contains("\"request\":\"\(uuid)\"") && audit.output.hasSuffix("}\n"))
            #expect(audit.output.split(separator: "\n").count == 1, "\(audit.output)")
            try await eventually("the command is in the log") {
                place.server.output.split(separator: "\n").contains { line in
                    ["a command of an operator ended", "request=\(uuid)", "operator=olga", "status=0"]
                        .allSatisfy { line.contains($0) }
                }
            }
        }
    }

    @Test func `R-883: a server that is not trusted, not there or does not know the credential says so`() async throws {
        try await with { place in
            let stranger = try await OperatorSeat.take(place, "eve", role: "", credential: "tidemark_wrong")
            let unknown = try await stranger.run("accounts", "list")
            #expect(unknown.status == 4 && unknown.output.contains("does not accept"), "\(unknown.output)")
            let untrusting = try await OperatorSeat.take(place, "tom", role: "viewer", authority: "")
            let untrusted = try await untrusting.run("accounts", "list")
            #expect(untrusted.status == 3 && untrusted.output.contains("is not trusted"), "\(untrusted.output)")
            let lost = try await OperatorSeat.take(place, "lea", role: "viewer", port: 1)
            let unreached = try await lost.run("accounts", "list")
            #expect(unreached.status == 3 && unreached.output.contains("nothing listens"), "\(unreached.output)")
            // Devices connect elsewhere.
            let port = try #require(Int(place.site.url.split(separator: ":").last ?? ""))
            let misled = try await OperatorSeat.take(place, "mia", role: "viewer", port: port)
            let wrong = try await misled.run("accounts", "list")
            #expect(wrong.status == 3 && wrong.output.contains("--operators-listen"), "\(wrong.output)")
        }
    }

    @Test func `R-883: a credential that is revoked closes its channel in the middle of a command`() async throws {
        try await with { place in
            let database = try await fill(place)
            let olga = try await OperatorSeat.take(place, "olga", role: "owner")
            let tail = try olga.start("tail", "alice", "-o", "name")
            try await awaitFollowing([tail], database)
            let list = try await place.admin("operators", "credentials", "olga", "-o", "name")
            let number = try #require(list.output.split(separator: "\n").first)
            #expect(try await place.admin("operators", "revoke", String(number)).status == 0)
            #expect(try await tail.exit(within: .seconds(20)) == 4)
            #expect(tail.output.contains("does not accept"), "\(tail.output)")
            #expect(try await olga.run("accounts", "list").status == 4)
        }
    }

    @Test func `R-882, R-886: operators work at once, each has a bound, and a command that is cut off makes room`()
        async throws
    {
        try await with { place in
            let database = try await fill(place)
            let olga = try await OperatorSeat.take(place, "olga", role: "viewer")
            let ada = try await OperatorSeat.take(place, "ada", role: "viewer")
            var tails: [Program] = []
            for _ in 0..<4 { tails.append(try olga.start("tail", "alice", "-o", "name")) }
            try await awaitFollowing(tails, database)
            // The bound of olga's commands would be 3 if ada's had come first.
            let other = try ada.start("tail", "alice", "-o", "name")
            try await awaitFollowing([other], database)
            let fifth = try await olga.run("accounts", "list")
            #expect(fifth.status == 5 && fifth.output.contains("You run 4 commands"), "\(fifth.output)")
            #expect(try await ada.run("accounts", "list").status == 0)
            try await save("second", to: database)
            for tail in tails + [other] {
                try await eventually("tail shows the change") { tail.output.contains("second") }
            }
            tails[0].signal(SIGINT)
            #expect(try await tails[0].exit() == 130)
            for tail in tails.dropFirst() { try await tail.killNow() }
            try await eventually("the places are free") { try await olga.run("accounts", "list").status == 0 }
            #expect(other.isRunning)
            try await other.stop()
        }
    }

    @Test func `R-884: an operator who does not read holds up nobody, and gets all of it in the end`() async throws {
        try await with { place in
            let count = 20_000
            try PostgresAdministration.execute(
                ["INSERT INTO account (name) SELECT 'account-' || n FROM generate_series(1, \(count)) AS n"],
                url: place.database.url)
            let olga = try await OperatorSeat.take(place, "olga", role: "viewer")
            let ada = try await OperatorSeat.take(place, "ada", role: "viewer")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "\(Program.directory)/tidemark")
            process.arguments = olga.words(["accounts", "list", "-o", "json"])
            process.environment = ["XDG_CONFIG_HOME": "\(place.directory.path)/config", "PATH": "/usr/bin:/bin"]
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardInput = FileHandle.nullDevice
            try process.start()
            // Its first bytes are there, and nobody reads the rest.
            let first = try #require(try pipe.fileHandleForReading.read(upToCount: 1))
            let memory = try place.server.resetPeakMemory()
            for _ in 0..<3 { #expect(try await ada.run("containers", "list").status == 0) }
            #expect(process.isRunning)
            #expect(try place.server.peakMemoryBytes() < memory + 64 * 1_048_576)
            let rest = try #require(try pipe.fileHandleForReading.readToEnd())
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect((first + rest).count { $0 == UInt8(ascii: "\n") } == count + 1)
        }
    }

    @Test func `R-883, R-886: if its server dies in the middle, the command ends with 3 and says what is not known`()
        async throws
    {
        try await OperatorPlace.with(Self.flags) { place in
            let database = try await fill(place)
            let second = try Program(
                "tidemark", ["serve", "--plain", "--listen", "127.0.0.1:0", "--operators-listen", "127.0.0.1:0"],
                environment: ["TIDEMARK_DATABASE_URL": place.database.url], directory: place.directory.path)
            try await eventually("the second server serves") { second.output.contains("serving address=") }
            let olga = try await OperatorSeat.take(
                place, "olga", role: "viewer", port: try OperatorSeat.port(of: second), scheme: "ws")
            let tail = try olga.start("tail", "alice", "-o", "name")
            try await awaitFollowing([tail], database)
            try await second.killNow()
            #expect(try await tail.exit(within: .seconds(20)) == 3)
            #expect(tail.output.contains("is not known"), "\(tail.output)")
        }
    }

    @Test func `R-886: a server that stops ends the commands that it carries out, and stops in time`() async throws {
        try await OperatorPlace.with(Self.flags) { place in
            let database = try await fill(place)
            let olga = try await OperatorSeat.take(place, "olga", role: "viewer", scheme: "ws")
            let tail = try olga.start("tail", "alice", "-o", "name")
            try await awaitFollowing([tail], database)
            #expect(try await place.server.stop() == 0)
            #expect(try await tail.exit(within: .seconds(20)) == 3)
            #expect(tail.output.contains("the server stops"), "\(tail.output)")
        }
    }

    @Test func `R-887: connections are closed on all servers, and the device comes back`() async throws {
        try await with { place in
            let database = try await fill(place)
            let olga = try await OperatorSeat.take(place, "olga", role: "editor")
            // A command waits 3 seconds for servers, and a machine under load may take longer.
            try await eventually("the server says that the connection is live", within: .seconds(120)) {
                let list = try await olga.run("connections", "list", "alice", "-o", "json")
                #expect(list.status == 0, "\(list.output)")
                return list.output.contains("\"live\":true")
            }
            let closed = try await olga.run("connections", "close", "alice")
            #expect(closed.status == 0 && closed.output.contains("Told all servers"), "\(closed.output)")
            try await save("after", to: database)
            #expect(try await olga.run("connections", "close", "nobody").status == 5)
        }
    }

    @Test func `R-885: a file of the operator's machine is read over the server`() async throws {
        try await with { place in
            let olga = try await OperatorSeat.take(place, "olga", role: "editor")
            let schema = try place.write(
                "DEFINE SCHEMA RECORD TYPE Note ( text STRING QUERYABLE );", to: "notes.ckdb")
            let imported = try await olga.run("schema", "import", schema)
            #expect(imported.status == 0, "\(imported.output)")
            #expect(try await olga.run("schema", "export").output.contains("RECORD TYPE Note"))
        }
    }

    // MARK: The console

    @Test func `R-900: a console sends its lines over the server, and keeps its standard input`() async throws {
        try await with { place in
            let olga = try await OperatorSeat.take(place, "olga", role: "editor")
            let script = try place.write(
                "accounts create bob\naccounts list -o name\nschema validate -\naccounts list\n", to: "script")
            let ended = try await Program.run(
                "tidemark", ["-c", "exec '\(Program.directory)/tidemark' admin --context \(olga.name) < '\(script)'"],
                directory: place.directory.path, path: "/bin/sh")
            #expect(ended.status == 2, "\(ended.output)")
            #expect(ended.output.contains("alice\nbob\n"), "\(ended.output)")
            #expect(ended.output.contains("Error in line 3: Standard input belongs to the console"), "\(ended.output)")
            let audit = try await place.admin("audit", "list", "--who", olga.name, "-o", "json")
            #expect(audit.output.contains("\"action\":\"accounts create\""), "\(audit.output)")
        }
    }

    @Test func `R-900: Ctrl-C at a question that came over a server answers no, and the next line is not lost`()
        async throws
    {
        try await with { place in
            let olga = try await OperatorSeat.take(place, "olga", role: "owner")
            let console = try TerminalProgram(
                "exec '\(Program.directory)/tidemark' admin --context \(olga.name)", environment: [:],
                directory: place.directory.path)
            try await console.see("\(olga.name) \(olga.container) development> ")
            try console.type("store renew-incarnation\n")
            try await console.see("[y/N] ")
            try console.type("\u{3}")
            try await console.see("Interrupted")
            try await console.see("> ")
            try console.type("accounts list -o name\n")
            try await console.see("alice\r\n")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }
}
