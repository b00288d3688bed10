// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkKit

/// Keys of encrypted values and a PostgreSQL that goes back to a backup.
@Suite struct RestoredKeysTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Secrets")

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func record(_ name: String, _ secret: String) -> CKRecord {
        let record = CKRecord(recordType: "Secret", recordID: id(name))
        record.encryptedValues["secret"] = secret
        return record
    }

    private func secret(_ name: String, _ container: CKContainer) async throws -> String? {
        try await container.privateCloudDatabase.record(for: id(name)).encryptedValues["secret"]
    }

    private func run(_ world: KeyWorld, _ command: String, _ arguments: String...) async throws {
        let result = try await Program.run(
            command, arguments, environment: ["TIDEMARK_DATABASE_URL": world.database.url],
            directory: world.directory.path, path: command == "tidemark" ? nil : "/usr/bin/env",
            within: .seconds(120))
        #expect(result.status == 0, "\(arguments): \(result.output)")
    }

    private func backUp(_ world: KeyWorld) async throws {
        try await run(
            world, "env", "pg_dump", "--format=custom", "--file=\(world.directory.path)/dump",
            "--dbname=\(world.database.url)")
    }

    private func restore(_ world: KeyWorld) async throws {
        try await run(
            world, "env", "pg_restore", "--clean", "--if-exists", "--single-transaction",
            "--dbname=\(world.database.url)", "\(world.directory.path)/dump")
        try await run(world, "tidemark", "admin", "store", "renew-incarnation")
    }

    /// Runs `first`, takes the store back to where `first` had it backed up, and runs `then` with the same devices.
    private func withRestore(
        endToEnd: Bool, _ first: (KeyWorld, KeySite, () async throws -> Void) async throws -> Void,
        then: (KeyWorld, KeySite) async throws -> Void
    ) async throws {
        try await KeyWorld.with { world in
            if endToEnd { _ = try await world.admin.setEncryptionMode(.endToEnd, of: world.alice, resets: false) }
            let file = endToEnd ? nil : world.masterKeyFile
            let port = try await world.withServer(masterKeyFile: file) { site in
                try await first(world, site) { try await self.backUp(world) }
                return site.port
            }
            try await restore(world)
            try await world.withServer(masterKeyFile: file, change: { $0.addresses = [.loopback(port: port)] }) {
                try await then(world, $0)
            }
        }
    }

    @Test(arguments: [false, true])
    func `R-067, R-228: devices with keys that a restored store has never heard of go on with ones that all can open`(
        endToEnd: Bool
    ) async throws {
        var devices: [CKContainer] = []
        try await withRestore(endToEnd: endToEnd) { _, site, backUp in
            devices = ["first", "second"].map { site.makeContainer($0) }
            try await devices[0].privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            // Neither the account nor the zone has a key.
            try await backUp()
            try await devices[0].privateCloudDatabase.save(record("a", "lost"))
            if endToEnd { try await devices[1].importRecoveryKey(try await devices[0].exportRecoveryKey()) }
            #expect(try await secret("a", devices[1]) == "lost")
            try await devices[1].rotateEncryptionKey(of: zoneID)
            try await devices[1].privateCloudDatabase.save(record("b", "lost"))
        } then: { _, site in
            for device in devices {
                let error = try await failure { try await self.secret("a", device) }
                #expect(error.code == .unknownItem)
            }
            // As devices that have them do.
            try await devices[1].privateCloudDatabase.save(record("b", "again"))
            try await devices[0].privateCloudDatabase.save(record("a", "again"))
            let newcomer = site.makeContainer("third")
            if endToEnd {
                let error = try await failure { try await self.secret("a", newcomer) }
                #expect(error.code == .accountTemporarilyUnavailable)
                #expect(error.localizedDescription.contains("CKContainer.importRecoveryKey"))
                try await newcomer.importRecoveryKey(try await devices[0].exportRecoveryKey())
            }
            for device in devices + [newcomer] {
                for name in ["a", "b"] { #expect(try await secret(name, device) == "again") }
            }
        }
    }

    @Test
    func `R-107: when the key was reset after the backup, devices say what they need, and have it from the old key`()
        async throws
    {
        var (devices, keys): ([CKContainer], [String]) = ([], [])
        try await withRestore(endToEnd: true) { world, site, backUp in
            let device = site.makeContainer("first")
            try await device.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            try await device.privateCloudDatabase.save(record("a", "of the backup"))
            keys.append(try await device.exportRecoveryKey())
            try await backUp()
            try await run(
                world, "tidemark", "admin", "accounts", "set-encryption", "alice", "end-to-end", "--reset")
            // All that had the old key are gone.
            devices = [site.makeContainer("second")]
            try await devices[0].privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            try await devices[0].privateCloudDatabase.save(record("a", "since"))
            keys.append(try await devices[0].exportRecoveryKey())
        } then: { world, site in
            let device = devices[0]
            #expect(keys[0] != keys[1])
            let works: [() async throws -> Void] = [
                { _ = try await self.secret("a", device) }, { try await self.save(device, "b") },
            ]
            for work in works {
                let error = try await failure { try await work() }
                #expect(error.code == .accountTemporarilyUnavailable)
                #expect(error.localizedDescription.contains("CKContainer.importRecoveryKey"))
            }
            #expect(try await failure { try await device.importRecoveryKey(keys[1]) }.code == .invalidArguments)
            // Somebody still has the old key …
            try await device.importRecoveryKey(keys[0])
            #expect(try await secret("a", device) == "of the backup")
            try await save(device, "b")
            // … or nobody, and it is reset once more.
            try await run(
                world, "tidemark", "admin", "accounts", "set-encryption", "alice", "end-to-end", "--reset")
            let last = site.makeContainer("third")
            let error = try await failure { try await self.save(last, "c") }
            #expect(error.code == .zoneNotFound && error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
            try await last.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            try await save(last, "c")
            #expect(try await secret("c", last) == "c")
        }
    }

    private func save(_ container: CKContainer, _ name: String) async throws {
        try await container.privateCloudDatabase.save(record(name, name))
    }
}
