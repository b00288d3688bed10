// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

/// `encryptedValues` of an account whose key is in escrow, over a real server.
@Suite struct EncryptedValuesTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Secrets")

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func record(_ name: String, _ secret: String, in zoneID: CKRecordZone.ID? = nil) -> CKRecord {
        let record = CKRecord(
            recordType: "Secret", recordID: CKRecord.ID(recordName: name, zoneID: zoneID ?? self.zoneID))
        record.encryptedValues["secret"] = secret
        record["open"] = "plain " + name
        return record
    }

    private func secret(_ record: CKRecord?) -> String? { record?.encryptedValues["secret"] as? String }

    /// One value of every kind that can be encrypted, with their extremes.
    private var values: [String: any CKRecordValueProtocol] {
        let place = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: -33.9, longitude: 151.2), altitude: 5, horizontalAccuracy: 1,
            verticalAccuracy: 2, timestamp: Date(timeIntervalSince1970: 1_000_000.125))
        return [
            "text": "größer \u{0} 🌊", "empty": "", "least": Int64.min, "most": Int64.max, "yes": true,
            "double": -0.1, "infinite": Double.infinity, "old": Date(timeIntervalSince1970: -1.5),
            "bytes": Data([0, 1, 255]), "noBytes": Data(), "place": place, "texts": ["a", "", "ü"],
            "numbers": [Int64(1), -2], "doubles": [0.5, -0.5], "dates": [Date(timeIntervalSince1970: 1)],
            "datas": [Data([1]), Data()], "places": [place], "none": [String](),
        ]
    }

    @Test func `R-067: every type that can be encrypted comes to another device as it was`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        let record = CKRecord(recordType: "Secret", recordID: id("all"))
        for (key, value) in values { record.encryptedValues[key] = value as? any CKRecordValue }
        record["open"] = "plain"
        let saved = try await database.save(record)
        // what was saved is as it was set.
        #expect(saved.encryptedValues.changedKeys().isEmpty)
        #expect(saved.encryptedValues["text"] as? String == values["text"] as? String)

        let other = try await site.makeContainer().privateCloudDatabase.record(for: id("all"))
        #expect(Set(other.encryptedValues.allKeys()) == Set(values.keys))
        #expect(other.allKeys() == ["open"])
        #expect(other["text"] == nil)
        for (key, value) in values {
            let found = other.encryptedValues[key] as? NSObject
            #expect(found == record.encryptedValues[key] as? NSObject, "\(key): \(String(describing: found))")
            #expect(found != nil, "\(key) of \(value)")
        }
    }

    @Test func `R-067, R-219: zones, queries, desired keys and conflicts bring encrypted values too`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        _ = try await database.modifyRecords(saving: [record("a", "one"), record("b", "two")], deleting: [])
        let other = site.makeContainer().privateCloudDatabase
        let changes = try await other.recordZoneChanges(inZoneWith: zoneID, since: nil)
        #expect(try secret(changes.modificationResultsByID[id("b")]?.get().record) == "two")
        let query = CKQuery(recordType: "Secret", predicate: NSPredicate(format: "open = 'plain a'"))
        let found = try await other.records(matching: query, inZoneWith: zoneID)
        #expect(try found.matchResults.map { try secret($0.1.get()) } == ["one"])
        let named = try await other.records(for: [id("a"), id("b")], desiredKeys: ["secret"])
        #expect(try secret(named[id("a")]?.get()) == "one")
        #expect(try named[id("b")]?.get()["open"] == nil)

        // all three records of a conflict.
        let mine = try await database.record(for: id("a"))
        let theirs = try await other.record(for: id("a"))
        theirs.encryptedValues["secret"] = "theirs"
        try await other.save(theirs)
        mine.encryptedValues["secret"] = "mine"
        let error = try await failure { try await database.save(mine) }
        #expect(error.code == .serverRecordChanged)
        #expect(secret(error.serverRecord) == "theirs")
        #expect(secret(error.clientRecord) == "mine")
        #expect(secret(error.ancestorRecord) == "one")
        // a key can be removed, and R-094: the merged record saved.
        let merged = try #require(error.serverRecord)
        merged.encryptedValues["secret"] = nil
        merged.encryptedValues["new"] = 7
        try await database.save(merged)
        let last = try await other.record(for: id("a"))
        #expect(last.encryptedValues.allKeys() == ["new"])
        #expect(last.encryptedValues["new"] as? Int == 7)
        #expect(last["open"] as? String == "plain a")
    }

    @Test func `R-067: assets, references and the public database are not for encrypted values`() async throws {
        let site = try await DevServer.shared()
        let container = site.makeContainer()
        let database = try await container.privateDatabase(holding: zoneID)
        let reference = CKRecord.Reference(recordID: id("x"), action: .none)
        let asset = CKAsset(fileURL: URL(fileURLWithPath: "/dev/null"))
        let bad: [any CKRecordValue] = [reference, [reference] as NSArray, asset, [asset] as NSArray]
        for value in bad {
            let record = record("bad", "x")
            record.encryptedValues["bad"] = value
            #expect(try await failure { try await database.save(record) }.code == .invalidArguments, "\(value)")
        }
        let open = CKRecord(recordType: "Secret", recordID: CKRecord.ID(recordName: "p"))
        open.encryptedValues["secret"] = "x"
        #expect(try await failure { try await container.publicCloudDatabase.save(open) }.code == .invalidArguments)
        // A key lives in one space: the first save fixes it.
        try await database.save(record("good", "x"))
        let mixed = CKRecord(recordType: "Secret", recordID: id("mixed"))
        mixed["secret"] = "plain"
        #expect(try await failure { try await database.save(mixed) }.code == .invalidArguments)
        let other = CKRecord(recordType: "Secret", recordID: id("other"))
        other.encryptedValues["open"] = "secret"
        #expect(try await failure { try await database.save(other) }.code == .invalidArguments)
        // nor can it be searched, or sorted by.
        let query = CKQuery(recordType: "Secret", predicate: NSPredicate(format: "secret = 'x'"))
        let sorted = CKQuery(recordType: "Secret", predicate: NSPredicate(value: true))
        sorted.sortDescriptors = [NSSortDescriptor(key: "secret", ascending: true)]
        for query in [query, sorted] {
            let error = try await failure { try await database.records(matching: query, inZoneWith: zoneID) }
            #expect(error.code == .invalidArguments)
            // To mark it would not help.
            let text = error.localizedDescription
            #expect(text.contains("Field 'secret' is encrypted: it cannot be queried, sorted or marked"), "\(error)")
        }
    }

    @Test func `R-082: what is too large once it is encrypted says how large it may be`() async throws {
        let database = try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
        let record = record("large", "x")
        record.encryptedValues["data"] = Data(count: 1_048_450)
        #expect(try record.changes(all: true).fields.byteCount <= 1_048_576)
        let error = try await failure { try await database.save(record) }
        #expect(error.code == .limitExceeded)
        #expect(error.localizedDescription.contains("encrypted, its fields have more than 1048576 bytes. Keep large"))
        record.encryptedValues["data"] = Data(count: 1_000_000)
        try await database.save(record)
    }

    @Test func `R-067: devices that make a zone's key at once end with one`() async throws {
        let site = try await DevServer.shared()
        _ = try await site.makeContainer().privateDatabase(holding: zoneID)
        let devices = (0..<4).map { _ in site.makeContainer().privateCloudDatabase }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, device) in devices.enumerated() {
                let record = record("r\(number)", "of \(number)")
                group.addTask { try await device.save(record) }
            }
            try await group.waitForAll()
        }
        for reader in devices + [site.makeContainer().privateCloudDatabase] {
            let records = try await reader.records(for: (0..<4).map { id("r\($0)") })
            for number in 0..<4 {
                #expect(try secret(records[id("r\(number)")]?.get()) == "of \(number)")
            }
        }
    }

    @Test func `R-036, R-067: a zone that another device created again has new keys, and saving goes on`() async throws
    {
        let site = try await DevServer.shared()
        let first = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await first.save(record("a", "before"))
        let second = site.makeContainer().privateCloudDatabase
        try await second.deleteRecordZone(withID: zoneID)
        try await second.save(CKRecordZone(zoneID: zoneID))
        try await second.save(record("b", "of the second"))
        // The first device still has the key of the zone's earlier life.
        let batch = [record("c", "after"), CKRecord(recordType: "Secret", recordID: id("d"))]
        let results = try await first.modifyRecords(saving: batch, deleting: [id("none")], atomically: true)
        for result in results.saveResults.values { _ = try result.get() }
        _ = try results.deleteResults[id("none")]?.get()
        let found = try await site.makeContainer().privateCloudDatabase.records(for: [id("b"), id("c")])
        #expect(try secret(found[id("b")]?.get()) == "of the second")
        #expect(try secret(found[id("c")]?.get()) == "after")
    }

    @Test func `R-067: in the default zone too, and a zone that is not there is said to be`() async throws {
        let site = try await DevServer.shared()
        let database = site.makeContainer().privateCloudDatabase
        let record = record("r", "default", in: .default)
        try await database.save(record)
        let read = try await site.makeContainer().privateCloudDatabase.record(for: record.recordID)
        #expect(secret(read) == "default")
        let nowhere = self.record("r", "x", in: CKRecordZone.ID(zoneName: "Nowhere"))
        let error = try await failure { try await database.save(nowhere) }
        #expect(error.code == .zoneNotFound)
    }

    @Test
    func `R-067, R-967: a zone's key is changed: what is saved then has the new one, and what was stays readable`()
        async throws
    {
        try await KeyWorld.with { world in
            try await world.withServer { site in
                let container = site.makeContainer("first")
                let database = try await container.privateDatabase(holding: zoneID)
                let other = site.makeContainer("second")
                try await database.save(record("a", "old"))
                #expect(try await secret(other.privateCloudDatabase.record(for: id("a"))) == "old")
                let first = try await world.zoneKeyIDs()
                #expect(first.count == 1)
                try await container.rotateEncryptionKey(of: zoneID)
                try await database.save(record("b", "new"))
                // The other device has the first key. The server refuses that, and the device encrypts with the new one.
                try await other.privateCloudDatabase.save(record("c", "late"))
                let keys = try await world.zoneKeyIDs()
                try #require(keys.count == 2 && keys.first == first.first)
                #expect(try await world.sealingKeyIDs(of: "a") == [keys[0]])
                #expect(try await world.sealingKeyIDs(of: "b") == [keys[1]])
                #expect(try await world.sealingKeyIDs(of: "c") == [keys[1]])
                for reader in [container, other, site.makeContainer("third")] {
                    let records = try await reader.privateCloudDatabase.records(for: [id("a"), id("b"), id("c")])
                    #expect(try ["a", "b", "c"].map { try secret(records[id($0)]?.get()) } == ["old", "new", "late"])
                }
                // Saved again, it has the key that is the newest then.
                let again = try await database.record(for: id("a"))
                again.encryptedValues["secret"] = "again"
                try await database.save(again)
                #expect(try await world.sealingKeyIDs(of: "a") == [keys[1]])
                let missing = CKRecordZone.ID(zoneName: "Nowhere")
                #expect(
                    try await failure { try await container.rotateEncryptionKey(of: missing) }.code == .zoneNotFound)
                #expect(try await failure { try await container.exportRecoveryKey() }.code == .invalidArguments)
            }
        }
    }

    @Test func `R-067: engines send and fetch encrypted values`() async throws {
        let site = try await DevServer.shared()
        let (a, b) = (
            Device(site.makeContainer(), automatically: false, isEncrypted: true),
            Device(site.makeContainer(), automatically: false, isEncrypted: true)
        )
        a.makeZone(zoneID)
        a.write("one", to: "n1", in: zoneID)
        try await a.engine?.sendChanges()
        try await b.engine?.fetchChanges()
        #expect(b.texts == ["n1": "one"])
        b.write("two", to: "n1", in: zoneID)
        try await b.engine?.sendChanges()
        try await a.engine?.fetchChanges()
        #expect(a.texts == ["n1": "two"])
    }

    @Test func `records without encrypted values ask for no keys`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        let plain = CKRecord(recordType: "Plain", recordID: id("plain"))
        plain["text"] = "x"
        var transport: CuttingTransport?
        let container = site.makeContainer { base in
            let counting = CuttingTransport(base, when: { _, _ in false })
            transport = counting
            return counting
        }
        try await container.privateCloudDatabase.save(plain)
        _ = try await container.privateCloudDatabase.record(for: id("plain"))
        let plainMessages = try #require(transport).messagesSent
        // Hello, the save, the fetch.
        #expect(plainMessages == 3)
        try await database.save(record("secret", "x"))
        _ = try await container.privateCloudDatabase.record(for: id("secret"))
        _ = try await container.privateCloudDatabase.record(for: id("secret"))
        // Two fetches, and once the keys.
        #expect(try #require(transport).messagesSent == 6)
    }
}
