// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkKit

/// Accounts whose key no server has.
@Suite struct EndToEndEncryptionTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Secrets")

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func record(_ name: String, _ secret: String) -> CKRecord {
        let record = CKRecord(recordType: "Secret", recordID: id(name))
        record.encryptedValues["secret"] = secret
        return record
    }

    private func secret(_ record: CKRecord?) -> String? { record?.encryptedValues["secret"] as? String }

    private func withEndToEnd(_ body: (KeyWorld, KeySite) async throws -> Void) async throws {
        try await KeyWorld.with { world in
            #expect(
                try await world.admin.setEncryptionMode(.endToEnd, of: world.alice, resets: false)
                    == .done(endedZoneCount: 0))
            // A server that keeps no keys will do.
            try await world.withServer(masterKeyFile: nil) { try await body(world, $0) }
        }
    }

    @Test func `a second device reads and writes once it has the recovery key, and gets an error a record before`()
        async throws
    {
        try await withEndToEnd { world, site in
            let first = site.makeContainer("first")
            try await first.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            let plain = CKRecord(recordType: "Plain", recordID: id("plain"))
            _ = try await first.privateCloudDatabase.modifyRecords(saving: [record("r", "mine"), plain], deleting: [])

            let second = site.makeContainer("second")
            let database = second.privateCloudDatabase
            let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
            _ = try page.modificationResultsByID[id("plain")]?.get()
            let reading = try await failure { try page.modificationResultsByID[self.id("r")]?.get() }
            #expect(reading.code == .accountTemporarilyUnavailable)
            #expect(reading.localizedDescription.contains("recovery key"))
            let writing = try await failure { try await database.save(self.record("s", "x")) }
            #expect(writing.code == .accountTemporarilyUnavailable)
            let plainer = CKRecord(recordType: "Plain", recordID: id("plainer"))
            let results = try await database.modifyRecords(
                saving: [record("s", "x"), plainer], deleting: [], atomically: false)
            _ = try results.saveResults[id("plainer")]?.get()
            #expect(
                try await failure { try results.saveResults[self.id("s")]?.get() }.code
                    == .accountTemporarilyUnavailable)
            #expect(try await failure { try await second.exportRecoveryKey() }.code == .accountTemporarilyUnavailable)

            let key = try await first.exportRecoveryKey()
            #expect(try await first.exportRecoveryKey() == key)
            #expect(key.split(separator: "-").map(\.count) == Array(repeating: 6, count: 10), "\(key)")
            var wrong = Array(key)
            wrong[3] = wrong[3] == "A" ? "B" : "A"
            let other = RecoveryKey.text(of: AccountSecret.randomKey())
            for text in [String(wrong), String(key.dropLast()), "", "UUUUUU", other] {
                #expect(try await failure { try await second.importRecoveryKey(text) }.code == .invalidArguments)
            }
            try await second.importRecoveryKey(key.lowercased().replacingOccurrences(of: "-", with: " "))
            #expect(try await secret(database.record(for: id("r"))) == "mine")
            try await database.save(record("s", "of the second"))
            #expect(try await secret(first.privateCloudDatabase.record(for: id("s"))) == "of the second")
            // The device still has it after a start.
            #expect(try await secret(site.makeContainer("second").privateCloudDatabase.record(for: id("r"))) == "mine")
            let mode = try FileManager.default.attributesOfItem(atPath: "\(site.directory)/second.json")
            #expect(mode[.posixPermissions] as? Int == 0o600)

            // The server has seen nothing of it.
            let stored = try await world.everything()
            let bytes = try RecoveryKey.key(of: key).map { String(format: "%02x", $0) }.joined()
            #expect(!stored.contains(bytes))
            #expect(
                try await world.texts("SELECT coalesce(encode(escrow, 'hex'), 'none') FROM account_key") == ["none"])
        }
    }

    @Test func `I-2: an engine without the key passes by nothing, and goes on when it is imported`() async throws {
        try await withEndToEnd { _, site in
            let first = site.makeContainer("first")
            let open = CKRecordZone.ID(zoneName: "Open")
            for zone in [zoneID, open] { try await first.privateCloudDatabase.save(CKRecordZone(zoneID: zone)) }
            try await first.privateCloudDatabase.save(record("r", "mine"))
            let plain = CKRecord(recordType: "Plain", recordID: CKRecord.ID(recordName: "plain", zoneID: open))
            try await first.privateCloudDatabase.save(plain)

            let second = site.makeContainer("second")
            let device = Device(second, automatically: true, isEncrypted: true)
            // Other zones come all the same.
            try await eventually("the other zone is there") { device.recordNames == ["plain of Open"] }
            device.write("of the device", to: "d", in: zoneID)
            try await eventually("the save was tried") {
                device.events.contains { event in
                    guard case .sentRecordZoneChanges(let sent) = event else { return false }
                    return sent.failedRecordSaves.first?.error.code == .accountTemporarilyUnavailable
                }
            }
            #expect(device.engine?.state.pendingRecordZoneChanges == [.saveRecord(id("d"))])
            try await second.importRecoveryKey(try await first.exportRecoveryKey())
            try await eventually("what was there has come, and what was written is sent") {
                let isSent = device.events.contains { event in
                    guard case .sentRecordZoneChanges(let sent) = event else { return false }
                    return sent.savedRecords.map(\.recordID) == [id("d")]
                }
                return isSent && device.recordNames.contains("r")
            }
            #expect(device.texts["r"] == "mine")
            #expect(try await secret(first.privateCloudDatabase.record(for: id("d"))) == "of the device")
        }
    }

    @Test func `devices that make the account's key at once end with one, and the loser says what to do`() async throws
    {
        try await withEndToEnd { _, site in
            let containers = (0..<3).map { site.makeContainer("device\($0)") }
            try await containers[0].privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            let outcomes = await withTaskGroup(of: (Int, CKError?).self) { group in
                for (number, container) in containers.enumerated() {
                    let record = record("r\(number)", "of \(number)")
                    group.addTask {
                        do {
                            try await container.privateCloudDatabase.save(record)
                            return (number, nil)
                        } catch {
                            return (number, error as? CKError)
                        }
                    }
                }
                return await group.reduce(into: [Int: CKError?]()) { $0[$1.0] = .some($1.1) }
            }
            let winners = outcomes.filter { $0.value == nil }.map(\.key)
            #expect(winners.count == 1)
            for (_, error) in outcomes { #expect(error == nil || error?.code == .accountTemporarilyUnavailable) }
            let key = try await containers[try #require(winners.first)].exportRecoveryKey()
            for number in 0..<3 {
                try await containers[number].importRecoveryKey(key)
                try await containers[number].privateCloudDatabase.save(record("again\(number)", "x"))
            }
        }
    }

    @Test func `a device that wants end-to-end encryption gives a server nothing that keeps keys`() async throws {
        try await KeyWorld.with { world in
            try await world.withServer { site in
                let container = site.makeContainer("careful", requiresEndToEnd: true)
                try await container.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
                let error = try await failure { try await container.privateCloudDatabase.save(self.record("r", "x")) }
                #expect(error.code == .accountTemporarilyUnavailable)
                #expect(error.localizedDescription.contains("Nothing was sent"))
                #expect(try await world.texts("SELECT count(*)::text FROM account_key") == ["0"])
            }
        }
    }

    private func setEncryption(
        _ world: KeyWorld, _ arguments: String...
    ) async throws -> (status: Int32, output: String) {
        try await Program.run(
            "tidemark", ["admin", "accounts", "set-encryption"] + arguments,
            environment: ["TIDEMARK_DATABASE_URL": world.databaseURL], directory: world.directory.path)
    }

    @Test func `R-107, R-205: when all devices have lost the key, the account begins anew with another`() async throws {
        try await withEndToEnd { world, site in
            let lost = site.makeContainer("lost")
            try await lost.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            try await lost.privateCloudDatabase.save(record("r", "mine"))
            let oldKey = try await lost.exportRecoveryKey()
            let container = site.makeContainer("new")
            let database = container.privateCloudDatabase
            let before = try await database.databaseChanges(since: nil)
            #expect(
                try await failure { try await database.record(for: self.id("r")) }.code
                    == .accountTemporarilyUnavailable)

            let refused = try await setEncryption(world, "alice", "end-to-end")
            #expect(refused.status != 0 && refused.output.contains("--reset"), "\(refused.output)")
            let done = try await setEncryption(world, "alice", "end-to-end", "--reset", "--yes")
            #expect(done.status == 0 && done.output.contains("deleted: 1"), "\(done.output)")
            #expect(try await world.admin.accounts().map(\.encryptionMode) == [.endToEnd])
            #expect(try await world.zoneKeyIDs() == [])

            let changes = try await database.databaseChanges(since: before.changeToken)
            #expect(changes.deletions.map(\.zoneID) == [zoneID])
            #expect(changes.deletions.first?.reason == .encryptedDataReset)
            let error = try await failure { try await database.save(self.record("r", "again")) }
            #expect(error.code == .zoneNotFound)
            #expect(error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
            try await database.save(CKRecordZone(zoneID: zoneID))
            try await database.save(record("r", "again"))
            #expect(try await secret(database.record(for: id("r"))) == "again")
            let newKey = try await container.exportRecoveryKey()
            #expect(newKey != oldKey)

            // The old key is of no use any more, wherever it turns up; the new one is.
            for name in ["lost", "other"] {
                let other = site.makeContainer(name)
                #expect(
                    try await failure { try await other.privateCloudDatabase.record(for: self.id("r")) }.code
                        == .accountTemporarilyUnavailable)
                #expect(try await failure { try await other.importRecoveryKey(oldKey) }.code == .invalidArguments)
                try await other.importRecoveryKey(newKey)
                #expect(try await secret(other.privateCloudDatabase.record(for: id("r"))) == "again")
            }
        }
    }

    @Test func `R-107, R-205: keys that are reset end the zones that need them, and devices begin anew`() async throws {
        try await KeyWorld.with { world in
            try await world.withServer { site in
                let container = site.makeContainer("first")
                let database = container.privateCloudDatabase
                let open = CKRecordZone(zoneName: "Open")
                try await database.save(CKRecordZone(zoneID: zoneID))
                try await database.save(open)
                try await database.save(record("r", "mine"))
                let home = CKRecord(recordType: "Secret", recordID: CKRecord.ID(recordName: "home"))
                home.encryptedValues["secret"] = "home"
                try await database.save(home)
                let before = try await database.databaseChanges(since: nil)

                let refused = try await setEncryption(world, "alice", "end-to-end")
                #expect(refused.status != 0 && refused.output.contains("--reset"), "\(refused.output)")
                #expect(try await world.admin.accounts().map(\.encryptionMode) == [.escrowed])
                let done = try await setEncryption(world, "alice", "end-to-end", "--reset", "--yes")
                #expect(done.status == 0 && done.output.contains("deleted: 2"), "\(done.output)")
                #expect(try await world.admin.accounts().map(\.encryptionMode) == [.endToEnd])

                let changes = try await database.databaseChanges(since: before.changeToken)
                #expect(changes.deletions.map(\.zoneID) == [zoneID])
                #expect(changes.deletions.first?.reason == .encryptedDataReset)
                let error = try await failure { try await database.save(self.record("r", "again")) }
                #expect(error.code == .zoneNotFound)
                #expect(error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
                #expect(try await database.allRecordZones().map(\.zoneID.zoneName).contains("Open"))
                #expect(try await failure { try await database.record(for: home.recordID) }.code == .unknownItem)
                #expect(try await world.texts("SELECT count(*)::text FROM zone_key") == ["0"])

                // the app uploads what it has; from now on the server has no key of it.
                try await database.save(CKRecordZone(zoneID: zoneID))
                try await database.save(record("r", "again"))
                let again = CKRecord(recordType: "Secret", recordID: home.recordID)
                again.encryptedValues["secret"] = "home again"
                try await database.save(again)
                #expect(try await secret(database.record(for: id("r"))) == "again")
                let other = site.makeContainer("second")
                #expect(
                    try await failure { try await other.privateCloudDatabase.record(for: self.id("r")) }.code
                        == .accountTemporarilyUnavailable)
                try await other.importRecoveryKey(try await container.exportRecoveryKey())
                #expect(try await secret(other.privateCloudDatabase.record(for: home.recordID)) == "home again")
            }
        }
    }
}
