// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing

/// `CKDatabase` on TestKit and on a real server: the same answers to the same calls.
@Suite struct DatabaseConformanceTests {
    @Test func `R-090 to R-104, R-111, R-113: the save policies, and what a conflict brings`() async throws {
        let seen = try await Both.clouds { cloud in
            let ours = try await cloud.device(of: "alice").database
            let theirs = try await cloud.device(of: "alice").database
            try await ours.save(CKRecordZone(zoneID: Both.notes))
            func save(
                _ record: CKRecord, _ policy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged
            ) async -> String {
                await Both.told {
                    let results = try await ours.modifyRecords(
                        saving: [record], deleting: [], savePolicy: policy, atomically: false)
                    return try #require(results.saveResults[record.recordID]).get()
                }
            }
            var seen: [String] = []
            seen.append("R-090 " + (await save(Both.note("n", ["a": "1", "b": "1"]))))
            seen.append("R-092 " + (await save(Both.note("n", ["a": "2"]))))
            let mine = try await ours.record(for: Both.id("n"))
            mine["a"] = "mine"
            let other = try await theirs.record(for: Both.id("n"))
            (other["a"], other["c"]) = ("theirs", "theirs")
            try await theirs.save(other)
            seen.append("R-094 " + (await save(mine)))
            seen.append("R-099 " + (await save(mine, .changedKeys)))
            let whole = Both.note("n", ["b": "whole"])
            seen.append("R-102 " + (await save(whole, .allKeys)))
            let current = try await ours.record(for: Both.id("n"))
            current["a"] = "newest"
            seen.append("R-093 " + (await save(current)))
            let tagged = try await ours.record(for: Both.id("n"))
            try await theirs.deleteRecord(withID: Both.id("n"))
            tagged["a"] = "too late"
            seen.append("R-095 " + (await save(tagged)))
            seen.append("R-104 " + (await save(tagged, .allKeys)))
            seen.append(
                "R-105 "
                    + (await Both.told {
                        try await ours.save(
                            CKRecord(
                                recordType: "Note",
                                recordID: CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "None"))))
                    }))
            return seen
        }
        #expect(
            seen == [
                "R-090 saved a=1 b=1",
                "R-092 serverRecordChanged server(a=1 b=1) client(a=2) ancestor()",
                "R-094 serverRecordChanged server(a=theirs b=1 c=theirs) client(a=mine b=1) ancestor(a=1 b=1)",
                "R-099 saved a=mine b=1 c=theirs",
                "R-102 saved a=mine b=whole c=theirs",
                "R-093 saved a=newest b=whole c=theirs",
                "R-095 unknownItem",
                "R-104 saved a=too late b=whole c=theirs",
                "R-105 zoneNotFound",
            ])
    }

    @Test func `R-111: what is in the way is complete, also if it is more than an answer can hold`() async throws {
        let names = (0..<6).map { "n\($0)" }
        let seen = try await Both.clouds { cloud in
            let ours = try await cloud.device(of: "alice").database
            try await ours.save(CKRecordZone(zoneID: Both.notes))
            try await Both.saveLongNotes(names, in: ours)
            let attempts = names.map { Both.note($0, ["a": "2"]) }
            let results = try await ours.modifyRecords(saving: attempts, deleting: [], atomically: false).saveResults
            return names.map { name in
                guard case .failure(let error as CKError) = results[Both.id(name)] else { return "\(name) no error" }
                let length = (error.serverRecord?["long"] as? String)?.count ?? 0
                let (a, client) = (error.serverRecord?["a"] as? String, error.clientRecord?["a"] as? String)
                let ancestor = error.ancestorRecord.map { "\($0.allKeys())" }
                return "\(error.code) \(a ?? "") \(length) \(client ?? "") \(ancestor ?? "")"
            }
        }
        #expect(seen == names.map { _ in "serverRecordChanged 1 900000 2 []" })
    }

    @Test func `R-151, R-153: an atomic batch is refused as a whole, another one item by item`() async throws {
        let seen = try await Both.clouds { cloud in
            let database = try await cloud.device(of: "alice").database
            try await database.save(CKRecordZone(zoneID: Both.notes))
            try await database.save(Both.note("b", ["a": "1"]))
            let batch = { ["a", "b", "c"].map { Both.note($0, ["a": "2"]) } }
            var seen: [String] = []
            var items: [CKRecord.ID: Result<Void, any Error>] = [:]
            let error = try await failure { try await database.modifyRecords(saving: batch(), deleting: []) }
            seen.append("\(error.code)")
            for (item, error) in error.partialErrorsByItemID ?? [:] {
                guard let id = item.base as? CKRecord.ID else { continue }
                items[id] = Result<Void, any Error>.failure(error)
            }
            seen += Both.told(items)
            seen += Both.told(try await database.records(for: ["a", "b", "c"].map(Both.id)))
            let results = try await database.modifyRecords(saving: batch(), deleting: [], atomically: false)
            return seen + Both.told(results.saveResults)
        }
        #expect(
            seen == [
                "partialFailure", "a batchRequestFailed", "b serverRecordChanged", "c batchRequestFailed",
                "a unknownItem", "b done", "c unknownItem", "a done", "b serverRecordChanged", "c done",
            ])
    }

    @Test func `R-208, R-209, R-214: the change feed in pages, oldest change first, deletions with their type`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let database = try await cloud.device(of: "alice").database
            try await database.save(CKRecordZone(zoneID: Both.notes))
            for number in 1...7 { try await database.save(Both.note("n\(number)", ["a": "1"])) }
            var seen: [String] = []
            func pages(since token: CKServerChangeToken?) async throws -> CKServerChangeToken? {
                var token = token
                for _ in 0..<10 {
                    let page = try await database.recordZoneChanges(
                        inZoneWith: Both.notes, since: token, resultsLimit: 3)
                    let names = page.modificationResultsByID.keys.map(\.recordName).sorted()
                    let gone = page.deletions.map { "-\($0.recordID.recordName) \($0.recordType)" }.sorted()
                    seen.append((names + gone + (page.moreComing ? ["more"] : [])).joined(separator: " "))
                    token = page.changeToken
                    guard page.moreComing else { break }
                }
                return token
            }
            let token = try await pages(since: nil)
            try await database.save(Both.note("new", ["a": "1"]))
            try await database.deleteRecord(withID: Both.id("n2"))
            try await database.save(Both.note("passing", ["a": "1"]))
            try await database.deleteRecord(withID: Both.id("passing"))
            _ = try await pages(since: token)
            return seen
        }
        #expect(
            seen == ["n1 n2 n3 more", "n4 n5 n6 more", "n7", "new -n2 Note -passing Note"])
    }

    @Test func `R-220, R-221: which tokens expire, and that a fetch from the start goes on`() async throws {
        let seen = try await Both.clouds { cloud in
            let database = try await cloud.device(of: "alice").database
            try await database.save(CKRecordZone(zoneID: Both.notes))
            try await database.save(Both.note("stays", ["a": "1"]))
            try await database.save(Both.note("goes", ["a": "1"]))
            func fetch(_ token: CKServerChangeToken?) async throws -> (told: String, token: CKServerChangeToken?) {
                do {
                    let page = try await database.recordZoneChanges(inZoneWith: Both.notes, since: token)
                    let names = page.modificationResultsByID.keys.map(\.recordName).sorted()
                    return ("\(names) -\(page.deletions.count)", page.changeToken)
                } catch let error as CKError {
                    return ("\(error.code)", nil)
                }
            }
            let before = try await fetch(nil)
            try await database.deleteRecord(withID: Both.id("goes"))
            let after = try await fetch(before.token)
            try await cloud.forgetDeletions()
            var seen = [before.told, after.told, try await fetch(before.token).told, try await fetch(after.token).told]
            let feed = try await database.databaseChanges(since: nil).changeToken
            try await cloud.expireTokens()
            seen.append(try await fetch(after.token).told)
            seen.append("\(try await failure { try await database.databaseChanges(since: feed) }.code)")
            let anew = try await fetch(nil)
            return seen + [anew.told, try await fetch(anew.token).told]
        }
        #expect(
            seen == [
                #"["goes", "stays"] -0"#, "[] -1", "changeTokenExpired", "[] -0", "changeTokenExpired",
                "changeTokenExpired", #"["stays"] -0"#, "[] -0",
            ])
    }

    @Test func `R-105 to R-107, R-205: why a zone is gone, in the feed and in whatever is asked of it`() async throws {
        let seen = try await Both.clouds { cloud in
            let database = try await cloud.device(of: "alice").database
            let zones = ["Deleted", "Purged", "Reset"].map { CKRecordZone.ID(zoneName: $0) }
            for zone in zones { try await database.save(CKRecordZone(zoneID: zone)) }
            let token = try await database.databaseChanges(since: nil).changeToken
            try await database.deleteRecordZone(withID: zones[0])
            try await cloud.purge(zones[1], of: "alice")
            try await cloud.resetEncryptedData(in: zones[2], of: "alice")
            var seen = try await database.databaseChanges(since: token).deletions
                .map { "\($0.zoneID.zoneName) \($0.reason)" }.sorted()
            for zone in zones { seen += await Self.calls(to: zone, database) }
            // Created again, it is as if it had never ended.
            try await database.save(CKRecordZone(zoneID: zones[1]))
            seen += await Self.calls(to: zones[1], database).suffix(2)
            return seen
        }
        let calls = ["save", "delete", "record", "query", "changes", "zone", "zones"]
        var expected = ["Deleted deleted", "Purged purged", "Reset encryptedDataReset"]
        for reason in ["zoneNotFound", "userDeletedZone", "zoneNotFound reset"] {
            expected += calls.map { "\($0): \(reason)" }
        }
        #expect(seen == expected + ["zone: done", "zones: done"])
    }

    /// What each of the calls that name a zone says of it.
    private static func calls(to zone: CKRecordZone.ID, _ database: CKDatabase) async -> [String] {
        let id = CKRecord.ID(recordName: "n", zoneID: zone)
        func told(_ name: String, _ work: () async throws -> Void) async -> String {
            do {
                try await work()
                return "\(name): done"
            } catch {
                return "\(name): " + ((error as? CKError).map { Both.told($0) } ?? "\(error)")
            }
        }
        return [
            await told("save") { try await database.save(CKRecord(recordType: "Note", recordID: id)) },
            await told("delete") { try await database.deleteRecord(withID: id) },
            await told("record") { _ = try await database.record(for: id) },
            await told("query") {
                let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
                _ = try await database.records(matching: query, inZoneWith: zone)
            },
            await told("changes") { _ = try await database.recordZoneChanges(inZoneWith: zone, since: nil) },
            await told("zone") { _ = try await database.recordZone(for: zone) },
            await told("zones") { _ = try await database.recordZones(for: [zone])[zone]?.get() },
        ]
    }

    @Test func `R-120: what fails on the device is the reason of those that hang on it`() async throws {
        let seen = try await Both.clouds { cloud in
            let database = try await cloud.device(of: "alice").database
            try await database.save(CKRecordZone(zoneID: Both.notes))
            let parent = Both.note("p", ["file": CKAsset(fileURL: URL(fileURLWithPath: "/nowhere/at/all"))])
            let (child, grandchild, alone) = (Both.note("c", [:]), Both.note("g", [:]), Both.note("x", [:]))
            (child.parent, grandchild.parent) = (
                CKRecord.Reference(record: parent, action: .none), CKRecord.Reference(record: child, action: .none)
            )
            let records = [grandchild, child, alone, parent]
            let doomed = try await database.save(Both.note("d", [:])).recordID
            let results = try await database.modifyRecords(saving: records, deleting: [], atomically: false)
            let error = #expect(throws: CKError.self) { try results.saveResults[grandchild.recordID]?.get() }
            let atomic = await #expect(throws: CKError.self) {
                try await database.modifyRecords(saving: records, deleting: [doomed])
            }
            let partial = atomic?.partialErrorsByItemID?.map { id, error in
                "\((id.base as? CKRecord.ID)?.recordName ?? "?") \((error as? CKError).map { "\($0.code)" } ?? "?")"
            }
            return Both.told(results.saveResults) + (partial ?? []).sorted()
                + ["\(error?.localizedDescription.hasPrefix("Not saved, because the parent") == true)"]
        }
        #expect(
            seen == [
                "c assetFileNotFound", "g assetFileNotFound", "p assetFileNotFound", "x done", "c batchRequestFailed",
                "d batchRequestFailed", "g batchRequestFailed", "p assetFileNotFound", "x batchRequestFailed", "true",
            ])
    }

    @Test func `R-157: a save whose answer was lost is carried out once`() async throws {
        let seen = try await Both.clouds { cloud in
            let device = try await cloud.device(of: "alice")
            try await device.database.save(CKRecordZone(zoneID: Both.notes))
            device.loseNextAnswer()
            let saved = try await device.database.save(Both.note("n", ["a": "1"]))
            let other = try await cloud.device(of: "alice").database
            let stored = try await other.record(for: saved.recordID)
            var seen = ["\(device.lostAnswerCount) lost", "\(stored.recordChangeTag == saved.recordChangeTag)"]
            // A second version would make this a conflict.
            saved["a"] = "2"
            seen.append(await Both.told { try await device.database.save(saved) })
            let page = try await other.recordZoneChanges(inZoneWith: Both.notes, since: nil)
            return seen + ["\(page.modificationResultsByID.count) in the feed"]
        }
        #expect(seen == ["1 lost", "true", "saved a=2", "1 in the feed"])
    }

    @Test func `R-157, R-242: deleting a subscription is repeated after a cut, twice is unknownItem`() async throws {
        let seen = try await Both.clouds { cloud in
            let device = try await cloud.device(of: "alice")
            try await device.database.save(CKDatabaseSubscription(subscriptionID: "all"))
            device.loseNextAnswer()
            let deleted = try await device.database.deleteSubscription(withID: "all")
            let error = try await failure { try await device.database.deleteSubscription(withID: "all") }
            return ["\(device.lostAnswerCount) lost", deleted, "\(error.code)"]
        }
        #expect(seen == ["1 lost", "all", "unknownItem"])
    }

    @Test func `R-173 to R-178: queries by predicate, in an order, in pages`() async throws {
        let seen = try await Both.clouds { cloud in
            let database = try await cloud.device(of: "alice").database
            try await database.save(CKRecordZone(zoneID: Both.notes))
            let texts = ["apple", "Äpfel", "banana", "cherry", "date"]
            for (number, text) in texts.enumerated() {
                try await database.save(
                    Both.note("n\(number)", ["text": text, "number": number, "tags": [text, "x"]]))
            }
            func names(_ predicate: NSPredicate, sortedBy key: String = "number") async throws -> String {
                let query = CKQuery(recordType: "Note", predicate: predicate)
                query.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
                var (results, cursor) = try await database.records(
                    matching: query, inZoneWith: Both.notes, resultsLimit: 2)
                for _ in 0..<10 {
                    guard let next = cursor else { break }
                    let page = try await database.records(continuingMatchFrom: next, resultsLimit: 2)
                    results += page.matchResults
                    cursor = page.queryCursor
                }
                return results.map(\.0.recordName).joined(separator: " ")
            }
            return [
                try await names(NSPredicate(value: true)), try await names(NSPredicate(format: "number > %d", 1)),
                try await names(NSPredicate(format: "text BEGINSWITH 'b'")),
                try await names(NSPredicate(format: "tags CONTAINS 'date'")),
                try await names(NSPredicate(format: "number IN {0, 3}")),
                try await names(NSPredicate(value: true), sortedBy: "text"),
            ]
        }
        #expect(seen == ["n4 n3 n2 n1 n0", "n4 n3 n2", "n2", "n4", "n3 n0", "n1 n4 n3 n2 n0"])
    }

    @Test func `R-067, R-070: an asset and an encrypted value come as they were saved`() async throws {
        let seen = try await Both.clouds { cloud in
            let database = try await cloud.device(of: "alice").database
            try await database.save(CKRecordZone(zoneID: Both.notes))
            let content = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bin")
            try content.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let record = Both.note("n", ["file": CKAsset(fileURL: file)])
            record.encryptedValues["secret"] = "milk"
            try await database.save(record)
            let fetched = try await cloud.device(of: "alice").database.record(for: record.recordID)
            let asset: CKAsset? = fetched["file"]
            let copy = try asset?.fileURL.map { try Data(contentsOf: $0) }
            return ["\(copy == content)", fetched.encryptedValues["secret"] as? String ?? "none"]
        }
        #expect(seen == ["true", "milk"])
    }
}
