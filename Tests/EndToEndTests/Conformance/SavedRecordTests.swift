// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkTestSupport

/// What `save` returns is what another device fetches, for every type of field: random records, in TestKit's cloud and with
/// a real server and PostgreSQL.
@Suite struct SavedRecordTests {
    @Test func `R-054, R-060, R-061, R-067: the record that save returns is the one that a fetch returns`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let seed = SeededRandom().seed
        let differences = try await Both.clouds { cloud in
            var dice = ValueDice(random: SeededRandom(seed: seed), directory: directory.path, zoneID: Both.notes)
            let ours = try await cloud.device(of: "alice").database
            let theirs = try await cloud.device(of: "alice").database
            try await ours.save(CKRecordZone(zoneID: Both.notes))
            let records = (0..<60).map { dice.record("r\($0)") }
            let results = try await ours.modifyRecords(saving: records, deleting: [])
            let fetched = try await theirs.records(for: records.map(\.recordID))
            let page = try await theirs.recordZoneChanges(inZoneWith: Both.notes, since: nil)
            var differences: [String] = []
            for record in records {
                let saved = try #require(try results.saveResults[record.recordID]?.get())
                let byID = try #require(try fetched[record.recordID]?.get())
                let byFeed = try #require(try page.modificationResultsByID[record.recordID]?.get().record)
                for (name, other) in [("by ID", byID), ("by feed", byFeed), ("handed over", record)] {
                    differences += RecordPortrait.differences(saved, other).map { "\(name): \($0)" }
                }
            }
            return differences
        }
        #expect(differences == [], "seed \(seed)")
    }
}

/// Saves that compare no tags, of a copy that another device has overtaken.
@Suite struct OvertakenSaveTests {
    /// One device saves with `policy` what another has changed meanwhile, then all that it has.
    ///
    /// - Parameter isTold: whether it hears the first answer to the first save.
    private static func overtake(
        _ policy: CKModifyRecordsOperation.RecordSavePolicy, isTold: Bool, _ cloud: any ConformingCloud
    ) async throws -> [String] {
        let device = try await cloud.device(of: "alice")
        let (ours, theirs) = (device.database, try await cloud.device(of: "alice").database)
        try await ours.save(CKRecordZone(zoneID: Both.notes))
        let mine = try await ours.save(Both.note("n", ["a": "1", "b": "1", "c": "1"]))
        let other = try await theirs.record(for: mine.recordID)
        other["b"] = "2"
        other["c"] = nil
        other["d"] = "2"
        other.encryptedValues["secret"] = "2"
        try await theirs.save(other)
        mine["a"] = "2"
        if !isTold { device.loseNextAnswer() }
        let results = try await ours.modifyRecords(saving: [mine], deleting: [], savePolicy: policy, atomically: false)
        let saved = try #require(try results.saveResults[mine.recordID]?.get())
        var seen = [Both.text(saved), Both.text(mine)] + RecordPortrait.differences(saved, mine)
        seen += RecordPortrait.differences(saved, try await theirs.record(for: mine.recordID))
        // With the tag that it has now, everything that it has passes the check of the tag.
        for key in saved.allKeys() { saved[key] = saved[key] as? String }
        saved["a"] = "3"
        seen.append(await Both.told { try await ours.save(saved) })
        let stored = try await theirs.record(for: mine.recordID)
        return seen + [stored.encryptedValues["secret"] as? String ?? "none", "\(device.lostAnswerCount) lost"]
    }

    @Test(arguments: [true, false])
    func `R-054, R-098, R-099, R-157: after a save of changed keys the record has what others have saved`(
        isTold: Bool
    ) async throws {
        let seen = try await Both.clouds { try await Self.overtake(.changedKeys, isTold: isTold, $0) }
        let text = "a=2 b=2 d=2"
        #expect(seen == [text, text, "saved a=3 b=2 d=2", "2", "\(isTold ? 0 : 1) lost"])
    }

    @Test(arguments: [true, false])
    func `R-054, R-102, R-103, R-157: after a save of all keys the record has those of others too`(
        isTold: Bool
    ) async throws {
        let seen = try await Both.clouds { try await Self.overtake(.allKeys, isTold: isTold, $0) }
        let text = "a=2 b=1 c=1 d=2"
        #expect(seen == [text, text, "saved a=3 b=1 c=1 d=2", "2", "\(isTold ? 0 : 1) lost"])
    }

    @Test func `R-054, R-100: a record that was deleted elsewhere has the keys that were sent, here too`() async throws
    {
        let seen = try await Both.clouds { cloud in
            let (ours, theirs) = (
                try await cloud.device(of: "alice").database, try await cloud.device(of: "alice").database
            )
            try await ours.save(CKRecordZone(zoneID: Both.notes))
            let mine = try await ours.save(Both.note("n", ["a": "1", "b": "1"]))
            try await theirs.deleteRecord(withID: mine.recordID)
            mine["a"] = "2"
            _ = try await ours.modifyRecords(saving: [mine], deleting: [], savePolicy: .changedKeys)
            let stored = try await theirs.record(for: mine.recordID)
            return [Both.text(mine)] + RecordPortrait.differences(mine, stored)
        }
        #expect(seen == ["a=2"])
    }

    @Test func `R-054, R-716: each record is whole after a save, also if they are more than an answer can hold`()
        async throws
    {
        let names = (0..<6).map { "n\($0)" }
        let seen = try await Both.clouds { cloud in
            let ours = try await cloud.device(of: "alice").database
            try await ours.save(CKRecordZone(zoneID: Both.notes))
            try await Both.saveLongNotes(names, in: ours)
            let blind = names.map { Both.note($0, ["a": "2"]) }
            let results = try await ours.modifyRecords(
                saving: blind, deleting: [], savePolicy: .changedKeys, atomically: false
            ).saveResults
            let stored = try await ours.records(for: names.map(Both.id))
            return try names.map { name in
                let saved = try #require(try results[Both.id(name)]?.get())
                let fetched = try #require(try stored[Both.id(name)]?.get())
                let length = (saved["long"] as? String)?.count ?? 0
                let isFetched = saved.recordChangeTag == fetched.recordChangeTag
                return "\(saved["a"] as? String ?? "") \(length) \(isFetched)"
            }
        }
        #expect(seen == names.map { _ in "2 900000 true" })
    }
}

/// Values as apps set them, of every type that a field can have.
private struct ValueDice {
    var random: SeededRandom
    let directory: String
    let zoneID: CKRecordZone.ID

    /// One of each type, plain and encrypted, alone and in lists.
    mutating func record(_ name: String) -> CKRecord {
        let record = CKRecord(recordType: "Value", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        for (key, make) in Self.types {
            record[key] = make(&self)
            if key != "reference" { record.encryptedValues["secret_" + key] = make(&self) }
            record["list_" + key] = list(make)
            if key != "reference" { record.encryptedValues["secret_list_" + key] = list(make) }
        }
        record["asset"] = asset()
        record["assets"] = [asset(), asset()]
        record["none"] = [String]()
        record.encryptedValues["secret_none"] = [Int]()
        return record
    }

    private typealias Make = (inout ValueDice) -> any CKRecordValue

    private static var types: [(String, Make)] {
        [
            ("string", { $0.string() }), ("int", { $0.integer() }), ("double", { $0.double() }),
            ("date", { $0.date() }),
            ("data", { Data($0.random.bytes(count: $0.below(40))) }), ("location", { $0.location() }),
            ("reference", { $0.reference() }),
        ]
    }

    private mutating func list(_ make: Make) -> any CKRecordValue {
        NSArray(array: (0...below(4)).map { _ in make(&self) })
    }

    private mutating func below(_ bound: Int) -> Int { .random(in: 0..<bound, using: &random) }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

    // MARK: Values

    private mutating func string() -> any CKRecordValue {
        let known = [
            "", " ", "\0", "a\0b", "e\u{301}", "é", "\u{212B}", "\u{FEFF}x", "\u{FFFF}", "👩‍👩‍👧‍👦", "\r\n", "שלום",
            "\u{1100}\u{1161}",
        ]
        let scalars = (0..<below(12)).compactMap { _ in
            Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
        }
        let text = pick([pick(known), String(String.UnicodeScalarView(scalars))])
        return pick([text, NSString(string: text), NSMutableString(string: text)])
    }

    private mutating func integer() -> any CKRecordValue {
        let bits = random.next()
        return pick([
            Int64(bitPattern: bits), Int64.min, Int64.max, 0, true, false, Int8(truncatingIfNeeded: bits),
            UInt16(truncatingIfNeeded: bits), UInt64(Int64.max), NSNumber(value: true), NSNumber(value: Int16(-3)),
            NSNumber(value: UInt(7)), NSNumber(value: UInt64(Int64.max)),
        ])
    }

    private mutating func double() -> any CKRecordValue {
        pick([
            Double(bitPattern: random.next()), -0.0, 0.0, Double.leastNonzeroMagnitude, Double.infinity,
            -Double.infinity, Double.nan, Double.greatestFiniteMagnitude, Float(0.1), NSNumber(value: Float(0.1)),
            NSNumber(value: 0.1),
            NSDecimalNumber(string: "0.1"), NSDecimalNumber(string: "12345678901234567890.123"),
        ])
    }

    private mutating func seconds() -> Double {
        let clock = Double.random(in: 0...1e9, using: &random)
        return pick([
            clock, clock, Date().timeIntervalSinceReferenceDate, (clock * 1_000).rounded() / 1_000, -clock, 0, -0.0,
            5e-324,
            Date.distantPast.timeIntervalSinceReferenceDate, Date.distantFuture.timeIntervalSinceReferenceDate, 1e300,
        ])
    }

    private mutating func date() -> any CKRecordValue {
        let seconds = seconds()
        return pick([
            Date(timeIntervalSinceReferenceDate: seconds), NSDate(timeIntervalSinceReferenceDate: seconds),
            Date(timeIntervalSince1970: seconds),
        ])
    }

    private mutating func location() -> CLLocation {
        func part(_ dice: inout ValueDice, _ bound: Double) -> Double {
            dice.pick([.random(in: -bound...bound, using: &dice.random), 0, -0.0, -1])
        }
        return CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: part(&self, 90), longitude: part(&self, 180)),
            altitude: part(&self, 9_000), horizontalAccuracy: part(&self, 100), verticalAccuracy: part(&self, 100),
            course: part(&self, 360), speed: part(&self, 1_000),
            timestamp: Date(timeIntervalSinceReferenceDate: seconds()))
    }

    private mutating func reference() -> CKRecord.Reference {
        let target = CKRecord.ID(recordName: pick(["r0", "nowhere", "~ !"]), zoneID: zoneID)
        return CKRecord.Reference(recordID: target, action: pick([.none, .deleteSelf]))
    }

    private mutating func asset() -> CKAsset {
        let url = URL(fileURLWithPath: "\(directory)/\(UUID().uuidString)")
        let data = Data(random.bytes(count: pick([0, 1, 1_000, 70_000])))
        // What was not written is not there when the asset is saved, and the test fails.
        try? data.write(to: url)
        return CKAsset(fileURL: url)
    }
}

/// All that an app can see of a record.
private enum RecordPortrait {
    static func differences(_ saved: CKRecord, _ other: CKRecord) -> [String] {
        let name = saved.recordID.recordName
        var found: [String] = []
        if system(saved) != system(other) { found.append("\(name): \(system(saved)) \(system(other))") }
        found += differences("plain", saved, other, saved.allKeys(), other.allKeys(), name)
        let (secrets, others) = (saved.encryptedValues, other.encryptedValues)
        found += differences("encrypted", secrets, others, secrets.allKeys(), others.allKeys(), name)
        return found
    }

    private static func differences(
        _ space: String, _ saved: any CKRecordKeyValueSetting, _ other: any CKRecordKeyValueSetting, _ keys: [String],
        _ otherKeys: [String], _ name: String
    ) -> [String] {
        guard keys.sorted() == otherKeys.sorted() else { return ["\(name): \(space) \(keys) \(otherKeys)"] }
        return keys.sorted().compactMap { key in
            let (left, right) = (saved.object(forKey: key), other.object(forKey: key))
            let (mine, theirs) = (text(left), text(right))
            if mine != theirs { return "\(name).\(key): \(mine) \(theirs)" }
            // NaN is equal to nothing, and an asset is a file of its own on each device.
            let isComparable = !mine.contains("7ff8000000000000") && !key.contains("asset")
            return !isComparable || (left as? NSObject)?.isEqual(right) == true
                ? nil : "\(name).\(key): \(mine) not equal"
        }
    }

    private static func system(_ record: CKRecord) -> [String] {
        [
            record.recordType, "\(record.recordID)", record.recordChangeTag ?? "none", date(record.creationDate),
            date(record.modificationDate), record.creatorUserRecordID?.recordName ?? "none",
            record.lastModifiedUserRecordID?.recordName ?? "none", "\(record.changedKeys())",
        ]
    }

    private static func date(_ date: Date?) -> String { date.map { bits($0.timeIntervalSinceReferenceDate) } ?? "none" }

    /// Minus zero is zero to a date.
    private static func bits(_ number: Double) -> String { String(number.bitPattern, radix: 16) }

    private static func text(_ value: Any?) -> String {
        switch value {
        case let text as NSString: "text " + Array("\(text)".utf8).map { String($0, radix: 16) }.joined(separator: " ")
        case let number as NSNumber: self.number(number)
        case let date as NSDate: "date " + bits(date.timeIntervalSinceReferenceDate + 0)
        case let data as NSData: "data \(Array(Data(referencing: data)))"
        case let place as CLLocation: location(place)
        case let reference as CKRecord.Reference: "reference \(reference.recordID) \(reference.action)"
        case let asset as CKAsset: "asset \(asset.fileURL.flatMap { try? Data(contentsOf: $0) }?.hashValue ?? -1)"
        case let list as NSArray: "[" + list.map { text(RecordPortrait.object($0)) }.joined(separator: ", ") + "]"
        default: "\(value ?? "none")"
        }
    }

    /// An NSArray gives Swift's own values for what can be bridged.
    private static func object(_ element: Any) -> Any {
        switch element {
        case let text as String: NSString(string: text)
        case let date as Date: NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let data as Data: NSData(data: data)
        default: element
        }
    }

    private static func number(_ number: NSNumber) -> String {
        let casts = "\(number as? Bool as Any) \(number as? Int as Any)"
        return "number \(number.int64Value) \(bits(number.doubleValue)) \(casts) \(number)"
    }

    private static func location(_ place: CLLocation) -> String {
        let parts = [
            place.coordinate.latitude, place.coordinate.longitude, place.altitude, place.horizontalAccuracy,
            place.verticalAccuracy, place.course, place.speed, place.timestamp.timeIntervalSinceReferenceDate + 0,
        ]
        return "location " + parts.map(bits).joined(separator: " ")
    }
}
