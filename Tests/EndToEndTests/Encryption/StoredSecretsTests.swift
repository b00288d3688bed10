// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkServer
import TidemarkTestSupport

/// What is stored of encrypted values, and what becomes of them when it is tampered with or its keys are lost.
@Suite struct StoredSecretsTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Secrets")

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func record(_ name: String, _ secret: String) -> CKRecord {
        let record = CKRecord(recordType: "Secret", recordID: id(name))
        record.encryptedValues["secret"] = secret
        record.encryptedValues["other"] = secret + " too"
        record["open"] = "plain"
        return record
    }

    private func secret(_ record: CKRecord?) -> String? { record?.encryptedValues["secret"] as? String }

    private func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    @Test func `R-068: nothing of an encrypted value can be read in the database`() async throws {
        try await KeyWorld.with { world in
            try await world.withServer { site in
                let database = try await site.makeContainer().privateDatabase(holding: zoneID)
                try await database.save(record("r", "the treasure is buried"))
                let stored = try await world.everything()
                #expect(stored.contains(hex("plain".utf8)), "plain values are there to be seen")
                for word in ["treasure", "buried", " too"] {
                    #expect(!stored.contains(word) && !stored.contains(hex(word.utf8)), "\(word)")
                }
                // The master key is not there either, nor is the file open to others.
                let key = try String(contentsOfFile: world.masterKeyFile, encoding: .utf8)
                #expect(!stored.contains(key.trimmingCharacters(in: .whitespacesAndNewlines)))
                let mode = try FileManager.default.attributesOfItem(atPath: world.masterKeyFile)[.posixPermissions]
                #expect(mode as? Int == 0o600)
            }
        }
    }

    /// Records r and s, and r's bytes after a change of what is stored of them.
    private enum Tampering: String, CaseIterable {
        case flippedBit = "a bit of the ciphertext is flipped"
        case otherRecord = "another record's ciphertext"
        case otherField = "another field's ciphertext"
        case otherZone = "ciphertext from a record of the same name in another zone"
        case notEncrypted = "a plain value that is said to be encrypted"
    }

    @Test func `R-219: what was tampered with fails its own record, and the others come`() async throws {
        try await KeyWorld.with { world in
            try await world.withServer { site in
                let database = try await site.makeContainer().privateDatabase(holding: zoneID)
                let otherZone = CKRecordZone.ID(zoneName: "Other")
                try await database.save(CKRecordZone(zoneID: otherZone))
                let twin = CKRecord(recordType: "Secret", recordID: CKRecord.ID(recordName: "r", zoneID: otherZone))
                twin.encryptedValues["secret"] = "twin"
                twin.encryptedValues["other"] = "twin"
                twin["open"] = "plain"
                try await database.save(twin)
                _ = try await database.modifyRecords(
                    saving: [record("r", "mine"), record("s", "mine"), record("whole", "mine")], deleting: [])
                let original = try await world.texts(
                    "SELECT encode(r.fields, 'hex') FROM record r JOIN zone z ON z.id = r.zone_id "
                        + "WHERE r.name = 'r' AND z.name = 'Secrets'")
                for tampering in Tampering.allCases {
                    let bytes: String
                    switch tampering {
                    case .flippedBit:
                        var digits = Array(try #require(original.first))
                        // The last field is "secret"; its last byte is the tag's.
                        digits[digits.count - 1] = digits[digits.count - 1] == "0" ? "1" : "0"
                        bytes = "decode('\(String(digits))', 'hex')"
                    case .otherRecord: bytes = "(SELECT fields FROM record WHERE name = 's')"
                    case .otherField:
                        // The keys have as many letters: "other" and "secret" are exchanged by way of their names.
                        let text = try #require(original.first)
                        let renamed = text.replacingOccurrences(of: hex("other".utf8), with: hex("othes".utf8))
                        bytes = "decode('\(renamed)', 'hex')"
                    case .otherZone:
                        bytes =
                            "(SELECT t.fields FROM record t JOIN zone z ON z.id = t.zone_id WHERE t.name = 'r' "
                            + "AND z.name = 'Other')"
                    case .notEncrypted:
                        // secret, encrypted, a string: "x"
                        bytes = "decode('0a0f0a0673656372657410011801220178', 'hex')"
                    }
                    try world.change(
                        "UPDATE record SET fields = \(bytes) FROM zone z WHERE z.id = zone_id AND z.name = 'Secrets' "
                            + "AND record.name = 'r'")
                    for reader in [site.makeContainer().privateCloudDatabase, database] {
                        let changes = try await reader.recordZoneChanges(inZoneWith: zoneID, since: nil)
                        let bad = try await failure { try changes.modificationResultsByID[self.id("r")]?.get() }
                        #expect(bad.code == .internalError, "\(tampering.rawValue)")
                        #expect(bad.localizedDescription.contains("cannot be decrypted"), "\(bad)")
                        #expect(try secret(changes.modificationResultsByID[id("whole")]?.get().record) == "mine")
                        #expect(try await failure { try await reader.record(for: self.id("r")) }.code == .internalError)
                    }
                }
                // I-2: an engine leaves it out and goes on.
                let device = Device(site.makeContainer(), automatically: false, isEncrypted: true)
                try await device.engine?.fetchChanges()
                #expect(device.recordNames == ["r of Other", "s", "whole"])
            }
        }
    }

    @Test func `another master key file: nobody gets keys, everything else works, and the right one mends it`()
        async throws
    {
        try await KeyWorld.with { world in
            try await world.withServer { site in
                try await site.makeContainer().privateDatabase(holding: zoneID).save(record("r", "mine"))
            }
            let wrong = "\(world.directory.path)/other.key"
            try String(repeating: "ab", count: 32).write(toFile: wrong, atomically: true, encoding: .utf8)
            for (number, file) in [wrong, nil].enumerated() {
                try await world.withServer(masterKeyFile: file) { site in
                    let database = site.makeContainer().privateCloudDatabase
                    let plain = CKRecord(recordType: "Plain", recordID: id("plain\(number)"))
                    try await database.save(plain)
                    let results = try await database.records(for: [id("r"), plain.recordID])
                    _ = try #require(results[plain.recordID]).get()
                    let error = try await failure { try results[self.id("r")]?.get() }
                    // the wrong key is the operator's fault; none at all is how the server is.
                    let code: CKError.Code = file == nil ? .serverRejectedRequest : .internalError
                    #expect(error.code == code)
                    #expect(error.localizedDescription.contains("--master-key-file"), "\(error)")
                    let refusal = try await failure { try await database.save(self.record("s", "x")) }
                    #expect(refusal.code == code)
                    // An engine does not pass by what the right server can still give.
                    let device = Device(site.makeContainer(), automatically: false, isEncrypted: true)
                    #expect(
                        try await failure { try await device.engine?.fetchChanges() }.code == code)
                    #expect(device.recordNames.isEmpty)
                }
            }
            // One that is missing is not made anew over a database that has a master key.
            let missing = "\(world.directory.path)/missing.key"
            try await world.withServer(masterKeyFile: missing) { _ in }
            #expect(!FileManager.default.fileExists(atPath: missing))
            try await world.withServer { site in
                let read = try await site.makeContainer().privateCloudDatabase.record(for: id("r"))
                #expect(secret(read) == "mine")
            }
        }
    }

    @Test func `a master key file that holds no key is refused at the start`() async throws {
        try await KeyWorld.with { world in
            let file = "\(world.directory.path)/bad.key"
            try "not a key".write(toFile: file, atomically: true, encoding: .utf8)
            let error = await #expect(throws: ServerError.self) {
                try await world.withServer(masterKeyFile: file) { _ in }
            }
            #expect(error?.code == .masterKeyUnusable)
            #expect(error?.description.contains(file) == true)
        }
    }

    @Test func `the master key can be changed, and the old one is good for nothing then`() async throws {
        try await KeyWorld.with { world in
            let new = "\(world.directory.path)/new.key"
            func rotate(_ old: String, _ new: String) async throws -> (status: Int32, output: String) {
                try await Program.run(
                    "tidemark", ["admin", "keys", "rotate-master", "--old", old, "--new", new],
                    environment: ["TIDEMARK_DATABASE_URL": world.databaseURL], directory: world.directory.path)
            }
            try await world.withServer { site in
                let database = try await site.makeContainer().privateDatabase(holding: zoneID)
                try await database.save(record("r", "mine"))
                let rotated = try await rotate(world.masterKeyFile, new)
                #expect(rotated.status == 0 && rotated.output.contains("Encrypted 1 keys"), "\(rotated.output)")
                // This server still has the old one, and a device that has the keys needs it no more.
                try await database.save(record("s", "later"))
                let error = try await failure {
                    try await site.makeContainer().privateCloudDatabase.record(for: self.id("r"))
                }
                #expect(error.code == .internalError)
            }
            try await world.withServer(masterKeyFile: new) { site in
                let other = site.makeContainer().privateCloudDatabase
                let records = try await other.records(for: [id("r"), id("s")])
                #expect(try secret(records[id("r")]?.get()) == "mine")
                #expect(try secret(records[id("s")]?.get()) == "later")
            }
            let again = try await rotate(world.masterKeyFile, "\(world.directory.path)/third.key")
            #expect(again.status != 0 && again.output.contains("does not hold the database's master key"))
            let none = try await rotate("\(world.directory.path)/none.key", new)
            #expect(none.status != 0 && none.output.contains("There is no file"))
            let same = try await rotate(new, new)
            #expect(same.status != 0 && same.output.contains("the same key"))
        }
    }
}
