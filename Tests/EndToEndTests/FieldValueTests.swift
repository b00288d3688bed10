// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkKit

/// Every type of value through the real server and back, bit by bit (section 4 of the rules).
@Suite struct FieldValueTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Values")

    private func makeDatabase() async throws -> CKDatabase {
        try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
    }

    private func record(_ name: String, type: String = "Value") -> CKRecord {
        CKRecord(recordType: type, recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }

    private static let strings = [
        "", " ", "a", "\0", "a\0b", "\u{1F30A}", "👩‍👩‍👧‍👦", "e\u{301}", "é", "\u{FEFF}", "\u{FFFF}", "\r\n\t\"'\\", "שלום",
        String(repeating: "界", count: 50_000),
    ]
    private static let integers: [Int64] = [
        0, 1, -1, 127, 128, -128, 1 << 31, 1 << 53, (1 << 53) + 1, .max, .min, .max - 1,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, .pi, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
        .leastNormalMagnitude, .nan, -.nan, Double(bitPattern: 0x7FF8_0000_0000_BEEF), .ulpOfOne, 9_007_199_254_740_992,
    ]
    /// Milliseconds since 1970.
    private static let dates: [Int64] = [
        0, 1, -1, 999, -999, 1_700_000_000_125, -2_208_988_800_000, -62_135_596_800_000, 253_402_300_799_999,
    ]
    private static let data = [
        Data(), Data([0]), Data((0...255).map { UInt8($0) }), Data(repeating: 0xFF, count: 100_000),
    ]

    private func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    /// Between two milliseconds.
    private func fine(_ milliseconds: Int64) -> Date { date(milliseconds).addingTimeInterval(0.000_3) }

    /// Saves records that `fill` fills, one for each value, and gives them as another device fetches them.
    private func roundTrip(_ count: Int, _ fill: (Int, CKRecord) -> Void) async throws -> [CKRecord] {
        let site = try await DevServer.shared()
        let first = site.makeContainer().privateCloudDatabase
        try await first.save(CKRecordZone(zoneID: zoneID))
        let records = (0..<count).map { record("r\($0)") }
        for (index, record) in records.enumerated() { fill(index, record) }
        _ = try await first.modifyRecords(saving: records, deleting: [])
        let second = site.makeContainer().privateCloudDatabase
        let fetched = try await second.records(for: records.map(\.recordID))
        // The same by way of the feed.
        let page = try await second.recordZoneChanges(inZoneWith: zoneID, since: nil)
        return try records.map { record in
            let byID = try #require(try fetched[record.recordID]?.get())
            let byFeed = try #require(try page.modificationResultsByID[record.recordID]?.get().record)
            #expect(byID.allKeys().sorted() == byFeed.allKeys().sorted())
            for key in byID.allKeys() {
                #expect(isSame(byID[key], byFeed[key]), "\(key)")
            }
            return byID
        }
    }

    /// What is no number is the same as itself here.
    private func isSame(_ left: Any?, _ right: Any?) -> Bool {
        if let left = left as? NSArray, let right = right as? NSArray {
            return left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        }
        if let left = left as? Double, left.isNaN { return (right as? Double)?.isNaN == true }
        return (left as? NSObject).map { $0 == right as? NSObject } == true
    }

    @Test func `R-060: strings come back as they were, byte for byte`() async throws {
        let records = try await roundTrip(Self.strings.count) { index, record in
            record["value"] = Self.strings[index]
            record["list"] = [Self.strings[index], "", Self.strings[index]]
        }
        for (record, text) in zip(records, Self.strings) {
            let value = try #require(record["value"] as? String)
            #expect(Array(value.utf8) == Array(text.utf8))
            #expect((record["list"] as? [String])?.map { Array($0.utf8) } == [text, "", text].map { Array($0.utf8) })
        }
    }

    @Test func `R-060, R-064, R-065: integers of every width, and truth values`() async throws {
        let records = try await roundTrip(Self.integers.count) { index, record in
            record["value"] = Self.integers[index]
            record["list"] = [Self.integers[index], 0, Self.integers[index]]
            record["flag"] = index % 2 == 0
            record["small"] = Int8(truncatingIfNeeded: Self.integers[index])
            record["word"] = UInt32(truncatingIfNeeded: Self.integers[index])
        }
        for (index, (record, number)) in zip(records, Self.integers).enumerated() {
            #expect(record["value"] as? Int64 == number)
            #expect(record["value"] as? Int == Int(number))
            #expect(record["list"] as? [Int64] == [number, 0, number])
            #expect(record["flag"] as? Bool == (index % 2 == 0))
            #expect(record["flag"] as? Int == (index % 2 == 0 ? 1 : 0))
            #expect(record["small"] as? Int == Int(Int8(truncatingIfNeeded: number)))
            #expect(record["word"] as? Int == Int(UInt32(truncatingIfNeeded: number)))
            let typed: Int64? = record["value"]
            #expect(typed == number)
            let narrow: Int8? = record["value"]
            #expect(narrow == Int8(exactly: number))
            let text: String? = record["value"]
            #expect(text == nil)
            let missing: Int? = record["nothing"]
            #expect(missing == nil)
        }
    }

    @Test func `R-060: doubles to the bit, also those that are no numbers`() async throws {
        let records = try await roundTrip(Self.doubles.count) { index, record in
            record["value"] = Self.doubles[index]
            record["list"] = [Self.doubles[index], 0.5]
        }
        for (record, number) in zip(records, Self.doubles) {
            let value = try #require(record["value"] as? Double)
            let list = try #require(record["list"] as? [Double])
            // NB: NSNumber of swift-corelibs-foundation knows one NaN, whatever it is made of.
            let expected = number.isNaN ? Double.nan : number
            #expect(value.bitPattern == expected.bitPattern)
            #expect(list.map(\.bitPattern) == [expected.bitPattern, (0.5).bitPattern])
        }
    }

    @Test func `R-060: dates to the bit, also before 1970`() async throws {
        let clock = Date()
        let records = try await roundTrip(Self.dates.count) { index, record in
            record["value"] = date(Self.dates[index])
            record["list"] = [date(Self.dates[index]), date(0)]
            record["fine"] = fine(Self.dates[index])
            record["clock"] = clock
        }
        for (record, milliseconds) in zip(records, Self.dates) {
            #expect(record["value"] as? Date == date(milliseconds))
            #expect(record["list"] as? [Date] == [date(milliseconds), date(0)])
            #expect(record["fine"] as? Date == fine(milliseconds))
            #expect(record["clock"] as? Date == clock)
        }
    }

    @Test func `R-060, R-061: data of any length, and lists of none, one and many`() async throws {
        let records = try await roundTrip(Self.data.count) { index, record in
            record["value"] = Self.data[index]
            record["list"] = [Self.data[index], Data()]
            record["noStrings"] = [String]()
            record["noNumbers"] = [Int]()
            record["one"] = ["only"]
            record["many"] = Array(0..<5_000)
        }
        for (record, data) in zip(records, Self.data) {
            #expect(record["value"] as? Data == data)
            #expect(record["list"] as? [Data] == [data, Data()])
            #expect((record["noStrings"] as? [String])?.isEmpty == true)
            #expect((record["noNumbers"] as? [Int])?.isEmpty == true)
            #expect(record["one"] as? [String] == ["only"])
            #expect(record["many"] as? [Int] == Array(0..<5_000))
            #expect(record.allKeys().contains("noStrings"))
        }
    }

    @Test func `R-075: a location keeps all eight of its values`() async throws {
        let locations = [
            CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: 52.516_272, longitude: 13.377_722), altitude: 34.5,
                horizontalAccuracy: 5.25, verticalAccuracy: 3.5, course: 271.5, speed: 1.75,
                timestamp: date(1_700_000_000_125)),
            CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: -90, longitude: 180), altitude: -10_994,
                horizontalAccuracy: -1, verticalAccuracy: -1, course: -1, speed: -1, timestamp: date(-1)),
            CLLocation(latitude: 0, longitude: -0.0),
        ]
        let records = try await roundTrip(locations.count) { index, record in
            record["value"] = locations[index]
            record["list"] = [locations[index], locations[0]]
        }
        func numbers(_ location: CLLocation?) -> [Double?] {
            [
                location?.coordinate.latitude, location?.coordinate.longitude, location?.altitude,
                location?.horizontalAccuracy, location?.verticalAccuracy, location?.course, location?.speed,
                location?.timestamp.timeIntervalSinceReferenceDate,
            ]
        }
        for (record, location) in zip(records, locations) {
            #expect(numbers(record["value"] as? CLLocation) == numbers(location))
            let list = record["list"] as? [CLLocation]
            #expect(list?.map(numbers) == [numbers(location), numbers(locations[0])])
        }
    }

    @Test func `R-076, R-077: references keep target and action, and need no target`() async throws {
        let target = CKRecord.ID(recordName: "r0", zoneID: zoneID)
        let dangling = CKRecord.ID(recordName: "nowhere", zoneID: zoneID)
        let references = [
            CKRecord.Reference(recordID: target, action: .none),
            CKRecord.Reference(recordID: target, action: .deleteSelf),
            CKRecord.Reference(recordID: dangling, action: .none),
            CKRecord.Reference(recordID: dangling, action: .deleteSelf),
        ]
        let records = try await roundTrip(references.count) { index, record in
            // The first is the target of the others, and refers to itself only loosely.
            record["value"] = references[index]
            record["list"] = [references[index], references[2]]
        }
        for (record, reference) in zip(records, references) {
            #expect(record["value"] as? CKRecord.Reference == reference)
            #expect(record["list"] as? [CKRecord.Reference] == [reference, references[2]])
        }
    }

    @Test func `R-061, R-076: mixed lists and references to other zones fail their record alone`() async throws {
        let database = try await makeDatabase()
        let mixed = record("mixed")
        mixed["list"] = NSArray(array: [1, "two"])
        let nested = record("nested")
        nested["list"] = NSArray(array: [NSArray(array: [1])])
        let elsewhere = record("elsewhere")
        elsewhere["to"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "x"), action: .none)
        let good = record("good")
        let results = try await database.modifyRecords(
            saving: [mixed, nested, elsewhere, good], deleting: [], atomically: false
        ).saveResults
        for record in [mixed, nested, elsewhere] {
            let error = try await failure { try results[record.recordID]?.get() }
            #expect(error.code == .invalidArguments, "\(record.recordID.recordName)")
        }
        #expect(try results[good.recordID]?.get().recordChangeTag != nil)
    }

    @Test func `R-133, R-134, R-135: deleting a record deletes what refers to it, and the feed says so`() async throws {
        let database = try await makeDatabase()
        let target = record("target", type: "Target")
        let child = record("child", type: "Child")
        child["to"] = CKRecord.Reference(record: target, action: .deleteSelf)
        let grandchild = record("grandchild", type: "Child")
        grandchild["all"] = [CKRecord.Reference(record: child, action: .deleteSelf)]
        let loose = record("loose", type: "Loose")
        loose["to"] = CKRecord.Reference(record: target, action: .none)
        _ = try await database.modifyRecords(saving: [grandchild, child, target, loose], deleting: [])
        let before = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        let results = try await database.modifyRecords(saving: [], deleting: [target.recordID])
        #expect(Array(results.deleteResults.keys) == [target.recordID])
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: before.changeToken)
        #expect(changes.modificationResultsByID.isEmpty)
        #expect(changes.deletions.map(\.recordID.recordName) == ["target", "child", "grandchild"])
        #expect(changes.deletions.map(\.recordType) == ["Target", "Child", "Child"])
        #expect(try await database.record(for: loose.recordID)["to"] as? CKRecord.Reference == loose["to"])
    }

    @Test func `R-222: what an app gives with its changes comes back with those that it fetches`() async throws {
        let site = try await DevServer.shared()
        let database = site.makeContainer().privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        func send(_ token: Data?) async {
            let operation = CKModifyRecordsOperation(recordsToSave: [record(UUID().uuidString)])
            operation.clientChangeTokenData = token
            await run(operation, on: database) { done in operation.modifyRecordsResultBlock = { _ in done() } }
        }
        func fetch(_ database: CKDatabase) async -> [Data?] {
            let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID])
            let seen = Seen()
            operation.recordZoneChangeTokensUpdatedBlock = { seen.add($2) }
            operation.recordZoneFetchResultBlock = { seen.add(try? $1.get().clientChangeTokenData) }
            await run(operation, on: database) { done in operation.fetchRecordZoneChangesResultBlock = { _ in done() } }
            return seen.all
        }
        #expect(await fetch(database) == [nil])
        await send(Data([1, 0, 255]))
        #expect(await fetch(database) == [Data([1, 0, 255])])
        await send(nil)
        await send(Data([2]))
        #expect(await fetch(database) == [Data([2])])
        // Another client has its own.
        #expect(await fetch(site.makeContainer().privateCloudDatabase) == [nil])
    }

    private func run(
        _ operation: CKDatabaseOperation, on database: CKDatabase, _ whenDone: (@escaping @Sendable () -> Void) -> Void
    ) async {
        await withCheckedContinuation { continuation in
            whenDone { continuation.resume() }
            database.add(operation)
        }
    }

    private final class Seen: Sendable {
        private let tokens = Mutex<[Data?]>([])
        var all: [Data?] { tokens.withLock { $0 } }
        func add(_ token: Data?) { tokens.withLock { $0.append(token) } }
    }
}
