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

    private func tidemark(_ place: Place, _ arguments: String...) async throws {
        let result = try await Program.run(
            "tidemark", arguments, environment: ["TIDEMARK_DATABASE_URL": place.database.url],
            directory: place.world.directory.path)
        #expect(result.status == 0, "\(arguments): \(result.output)")
    }

    private struct Place {
        let world: KeyWorld
        let database: any RestorableDatabase
    }

    /// Runs `first`, takes the store back to where `first` had it backed up, and runs `then` with the same devices.
    private func withRestore(
        _ method: BackupMethod, endToEnd: Bool, _ first: (Place, KeySite) async throws -> Void,
        then: (Place, KeySite) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await method.makeDatabase(directory)
        defer { database.stop() }
        try await KeyWorld.with(emptyDatabaseURL: database.url) { world in
            let place = Place(world: world, database: database)
            if endToEnd { _ = try await world.admin.setEncryptionMode(.endToEnd, of: world.alice, resets: false) }
            let file = endToEnd ? nil : world.masterKeyFile
            let port = try await world.withServer(masterKeyFile: file) { site in
                try await first(place, site)
                return site.port
            }
            try await database.restore()
            if !database.isWhole { try await tidemark(place, "admin", "store", "renew-incarnation", "--yes") }
            let change: (inout ServerConfiguration) -> Void = { configuration in
                configuration.addresses = [.loopback(port: port)]
                // PostgreSQL's socket may have another path by now.
                configuration.databaseURL = database.url
            }
            try await world.withServer(masterKeyFile: file, change: change) { try await then(place, $0) }
        }
    }

    @Test(arguments: BackupMethod.allCases, [false, true])
    func `R-067, R-228: devices with keys that a restored store has never heard of go on with ones that all can open`(
        method: BackupMethod, endToEnd: Bool
    ) async throws {
        var devices: [CKContainer] = []
        try await withRestore(method, endToEnd: endToEnd) { place, site in
            devices = ["first", "second"].map { site.makeContainer($0) }
            try await devices[0].privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            // Neither the account nor the zone has a key.
            try await place.database.backUp()
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

    @Test(arguments: BackupMethod.allCases)
    func `R-107: when the key was reset after the backup, devices say what they need, and have it from the old key`(
        method: BackupMethod
    ) async throws {
        var (devices, keys): ([CKContainer], [String]) = ([], [])
        try await withRestore(method, endToEnd: true) { place, site in
            let device = site.makeContainer("first")
            try await device.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            try await device.privateCloudDatabase.save(record("a", "of the backup"))
            keys.append(try await device.exportRecoveryKey())
            try await place.database.backUp()
            try await tidemark(place, "admin", "accounts", "set-encryption", "alice", "end-to-end", "--reset", "--yes")
            // All that had the old key are gone.
            devices = [site.makeContainer("second")]
            try await devices[0].privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            try await devices[0].privateCloudDatabase.save(record("a", "since"))
            keys.append(try await devices[0].exportRecoveryKey())
        } then: { place, site in
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
            try await tidemark(place, "admin", "accounts", "set-encryption", "alice", "end-to-end", "--reset", "--yes")
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
