// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkKit
import TidemarkPostgres
import TidemarkTestSupport

/// Backups by the program, of a server that is used meanwhile. `RestoreTests` and `RestoredKeysTests` have what devices
/// do after a restore from them.
@Suite struct BackupCommandTests {
    private static let zoneName = "Notes"
    private let zoneID = CKRecordZone.ID(zoneName: zoneName)

    private static let deviceCount = 64
    private static let recordsOfFetch = 100

    /// What the server has acknowledged.
    private final class Ledger: Sendable {
        private struct State {
            var names: Set<String> = []
            var devices: Set<Int> = []
            var isStopped = false
            var failure: (any Error)?
        }

        private let state = Mutex(State())

        var names: Set<String> { state.withLock { $0.names } }
        var deviceCount: Int { state.withLock { $0.devices.count } }
        var isStopped: Bool { state.withLock { $0.isStopped } }
        var failure: (any Error)? { state.withLock { $0.failure } }

        func add(_ name: String, of device: Int) {
            state.withLock { state in
                state.names.insert(name)
                state.devices.insert(device)
            }
        }

        func note(_ error: any Error) { state.withLock { $0.failure = error } }
        func stop() { state.withLock { $0.isStopped = true } }
    }

    private func id(_ name: String) -> CKRecord.ID { Self.id(name) }

    private static func id(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zoneName))
    }

    private static func hasFile(_ number: Int) -> Bool { number.isMultiple(of: 3) }

    private static func write(_ container: CKContainer, _ device: Int, _ ledger: Ledger, in folder: String) async {
        var number = 0
        while !ledger.isStopped {
            let name = "d\(device)-\(number)"
            let record = CKRecord(recordType: "Note", recordID: id(name))
            record["text"] = "text of \(name)"
            record.encryptedValues["secret"] = "secret of \(name)"
            do {
                if hasFile(number) {
                    let file = URL(fileURLWithPath: "\(folder)/\(name)")
                    try Data("file of \(name)".utf8).write(to: file)
                    record["file"] = CKAsset(fileURL: file)
                }
                try await container.privateCloudDatabase.save(record)
                ledger.add(name, of: device)
            } catch {
                // What is not acknowledged may be there or not.
                ledger.note(error)
            }
            number += 1
        }
    }

    /// Whether a device that has nothing yet gets these records as they were saved.
    private func check(_ names: Set<String>, _ container: CKContainer) async throws {
        let all = names.sorted()
        for start in stride(from: 0, to: all.count, by: Self.recordsOfFetch) {
            let some = all[start..<min(start + Self.recordsOfFetch, all.count)]
            let fetched = try await container.privateCloudDatabase.records(for: some.map { id($0) })
            for name in some {
                let record = try #require(try fetched[id(name)]?.get(), "\(name)")
                #expect(record["text"] as? String == "text of \(name)")
                #expect(record.encryptedValues["secret"] as? String == "secret of \(name)")
                let number = try #require(name.split(separator: "-").last.flatMap { Int($0) })
                guard Self.hasFile(number) else { continue }
                let file = try #require((record["file"] as? CKAsset)?.fileURL, "\(name)")
                #expect(try Data(contentsOf: file) == Data("file of \(name)".utf8))
            }
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func `R-950, R-951, R-954: a backup that is made while 64 devices write has all that was acknowledged before it`()
        async throws
    {
        try await RestorableServer.with(.backup) { server in
            let (first, second) = (Device(server.site.makeContainer()), Device(server.site.makeContainer()))
            first.makeZone(zoneID)
            first.write("of the first device", to: "own", in: zoneID)
            try await eventually("both devices have it", of: first, second) {
                second.texts["own"] == "of the first device"
            }
            let folder = "\(server.directory.path)/files"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let ledger = Ledger()
            let writers = (0..<Self.deviceCount).map { device in
                let container = server.site.makeContainer()
                return Task { await Self.write(container, device, ledger, in: folder) }
            }
            let acknowledged: Set<String>
            do {
                try await eventually("each device has saved", within: .seconds(120)) {
                    ledger.deviceCount == Self.deviceCount
                }
                acknowledged = ledger.names
                try await server.backUp()
                let during = ledger.names.count - acknowledged.count
                #expect(during > 0, "nobody wrote while the backup was made: \(ledger.failure as Any)")
            } catch {
                ledger.stop()
                for writer in writers { await writer.value }
                throw error
            }
            ledger.stop()
            for writer in writers { await writer.value }

            // What a device edits while there is no server.
            try await server.restore(withAssets: true) {
                first.write("edited meanwhile", to: "own", in: zoneID)
            }
            try await check(acknowledged, server.site.makeContainer())
            try await eventually("an edit goes from one device to the other", of: first, second) {
                second.texts["own"] == "edited meanwhile"
            }
            second.write("and back", to: "own", in: zoneID)
            try await eventually("and back", of: first, second) { first.texts["own"] == "and back" }
            let own = try await server.site.makeContainer().privateCloudDatabase.record(for: id("own"))
            #expect(own["text"] as? String == "and back")
            let compared = try await server.tidemark(
                "admin", "store", "verify", "--ci", "--deep", "--asset-directory", "\(server.directory.path)/assets")
            #expect(compared.contains("Nothing was found."), "\(compared)")
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func `R-959: a store goes back to a moment before a mistake, and all of before is there`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Recovery/run")
        let result = try await Program.run(
            "recovery", ["--rows", "2000", "--tidemark", "\(Program.directory)/tidemark"], directory: directory.path,
            path: script.standardizedFileURL.path, within: .seconds(240))
        #expect(result.status == 0 && result.output.contains("Everything is there."), "\(result.output)")
    }

    @Test func `R-955: no server starts with a database into which a restore was cut off, and migrate refuses it`()
        async throws
    {
        try await OperatorPlace.with { place in
            try PostgresAdministration.execute(
                ["CREATE TABLE tidemark_restore_under_way ()"], url: place.database.url)
            let served = try await OperatorPlace.tidemark(
                ["serve", "--listen", "127.0.0.1:0", "--plain"], place.database, place.directory, within: .seconds(60))
            #expect(served.status == 5 && served.output.contains("backup restore"), "\(served.output)")
            #expect(!served.output.contains("tidemark migrate"), "\(served.output)")
            let migrated = try await OperatorPlace.tidemark(
                ["migrate"], place.database, place.directory, within: .seconds(60))
            #expect(migrated.status == 5 && migrated.output.contains("backup restore"), "\(migrated.output)")
            try PostgresAdministration.execute(["DROP TABLE tidemark_restore_under_way"], url: place.database.url)
            let again = try await OperatorPlace.tidemark(["migrate"], place.database, place.directory)
            #expect(again.status == 0, "\(again.output)")
        }
    }

    @Test func `R-952: a backup that is interrupted is none, and holds up nothing afterwards`() async throws {
        try await OperatorPlace.with { place in
            let backup = "\(place.directory.path)/backup"
            let started = "\(place.directory.path)/started"
            let tools = "\(place.directory.path)/tools"
            try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
            // It writes a part of a dump, and does not come to its end.
            try """
            #!/bin/sh
            if [ "$1" = --version ]; then echo 'pg_dump (PostgreSQL) 99.1'; exit; fi
            for word; do case "$word" in --file=*) echo part > "${word#--file=}";; esac; done
            echo $$ > \(started).new
            mv \(started).new \(started)
            exec sleep 600
            """.write(toFile: "\(tools)/pg_dump", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(tools)/pg_dump")
            let program = try Program(
                "tidemark", ["admin", "backup", "create", backup],
                environment: [
                    "TIDEMARK_DATABASE_URL": place.database.url, "TIDEMARK_POSTGRES_BINARIES": tools,
                ], directory: place.directory.path)
            try await eventually("the dump has begun", within: .seconds(60)) {
                FileManager.default.fileExists(atPath: started)
            }
            let text = try String(contentsOfFile: started, encoding: .utf8)
            let dump = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            program.signal(SIGINT)
            #expect(try await program.exit(within: .seconds(60)) == 130)
            #expect(program.output.contains("What was written is no backup."), "\(program.output)")
            try await eventually("the dump has ended", within: .seconds(60)) { kill(dump, 0) != 0 }
            let verified = try await place.admin("backup", "verify", backup)
            #expect(verified.status == 5 && verified.output.contains("is no backup"), "\(verified.output)")
            let next = try await place.admin("backup", "create", "\(backup)-2")
            #expect(next.status == 0, "\(next.output)")
        }
    }
}
