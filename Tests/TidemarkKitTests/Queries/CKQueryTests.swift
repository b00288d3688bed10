// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkWire

@testable import TidemarkKit

@Suite struct CKQueryTests {
    @Test func `R-050: queries and cursors survive an archive`() throws {
        let query = CKQuery(recordType: "Airport", predicate: NSPredicate(format: "elevation > %d AND name != nil", 5))
        let place = CLLocation(latitude: 64, longitude: -22)
        query.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: false),
            CKLocationSortDescriptor(key: "place", relativeLocation: place),
        ]
        let back = try archived(query)
        #expect(back.recordType == "Airport" && back.predicate.description == query.predicate.description)
        #expect(try back.wire(in: nil, now: Date()) == query.wire(in: nil, now: Date()))
        let sort = try #require(back.sortDescriptors?.last as? CKLocationSortDescriptor)
        #expect(sort.relativeLocation.coordinate.latitude == 64 && sort.ascending)

        let cursor = CKQueryOperation.Cursor(query: [1, 2], place: [3])
        let same = try archived(cursor)
        #expect(same == cursor && same.hash == cursor.hash && same != CKQueryOperation.Cursor(query: [1], place: [3]))
        #expect(cursor.copy() as? CKQueryOperation.Cursor === cursor)
    }

    @Test(arguments: ["", "it's", "'", "\\", "\\'", "\\n", "'\u{301}", "\\\u{301}", "\u{301}", "a\nb", "\"%@\""])
    func `R-050: the text of a constant survives an archive, whatever is in it`(_ text: String) throws {
        let predicate = NSPredicate(format: "name == %@ AND body BEGINSWITH %@", text, text)
        let query = CKQuery(recordType: "T", predicate: predicate)
        let back = try archived(query)
        #expect(try back.wire(in: nil, now: Date()) == query.wire(in: nil, now: Date()))
    }

    @Test func `a query of everything, and one that cannot be sent, survive too`() throws {
        for predicate in [NSPredicate(value: true), NSPredicate(format: "a OR b")] {
            let query = CKQuery(recordType: "T", predicate: predicate)
            let back = try archived(query)
            #expect((try? back.wire(in: nil, now: Date())) == (try? query.wire(in: nil, now: Date())))
        }
    }

    @Test func `a copy is independent, and what is sent is what the query was`() throws {
        let query = CKQuery(recordType: "T", predicate: NSPredicate(value: true))
        #expect(query.sortDescriptors == nil)
        let copy = try #require(query.copy() as? CKQuery)
        copy.sortDescriptors = [NSSortDescriptor(key: "a", ascending: true)]
        #expect(query.sortDescriptors == nil)
        let wire = try copy.wire(in: CKRecordZone.ID(zoneName: "Z"), now: Date())
        #expect(wire.sorts.map(\.key) == ["a"] && wire.zone.name == "Z" && wire.predicate.always)
        #expect("\(copy)".contains("TRUEPREDICATE") && "\(copy)".contains("(a, ascending)"))
    }

    @Test func `now is the time at which a query is sent`() throws {
        let query = CKQuery(recordType: "T", predicate: NSPredicate(format: "day < now"))
        for seconds in [0, 1_700_000_000] {
            let wire = try query.wire(in: nil, now: Date(timeIntervalSince1970: Double(seconds)))
            #expect(wire.predicate.compare.value.date == Int64(seconds) * 1_000)
        }
    }

    @Test func `R-187: only sorts by keys can be sent`() {
        let query = CKQuery(recordType: "T", predicate: NSPredicate(value: true))
        query.sortDescriptors = [NSSortDescriptor(keyPath: \NSString.length, ascending: true)]
        let error = #expect(throws: CKError.self) { try query.wire(in: nil, now: Date()) }
        #expect(error?.code == .invalidArguments)
        let descriptor = NSSortDescriptor(key: "a", ascending: true).reversedSortDescriptor as? NSSortDescriptor
        #expect(descriptor?.ascending == false && descriptor?.description == "(a, descending)")
        #expect(query.sortDescriptors?.map(\.key) == [nil])
    }

    @Test func `R-185: predicates that say the same are equal, others are not`() {
        func predicate(_ format: String, _ arguments: Any...) -> NSPredicate {
            NSPredicate(format: format, argumentArray: arguments)
        }
        let same = predicate("a == 1 AND b != %@", "x")
        #expect(predicate("a = 1 && b <> 'x'") == same && predicate("a = 1 && b <> 'x'").hash == same.hash)
        let others = [
            predicate("a == 1 AND b != %@", "y"), predicate("a == 1"), predicate("a == 1 AND"),
            NSPredicate(value: false),
            NSPredicate(value: true),
        ]
        for other in others {
            #expect(other != same && same != other, "\(other)")
        }
        #expect(predicate("a == 1 AND") == predicate("a == 1 AND") && predicate("a ==") != predicate("a == 1 AND"))
        #expect(Set([same, predicate("a == 1 AND b != 'x'")] + others).count == 6)
    }

    @Test func `R-183, R-187: the descriptors of a query put records in order here too`() throws {
        let here = CLLocation(latitude: 64, longitude: -22)
        let records = (0..<4).map { number in
            let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "r\(number)"))
            record["name"] = ["b", "a", nil, "c"][number]
            record["count"] = [3, 1, 2, nil][number]
            record["day"] = [1.0, 3.0, nil, 2.0][number].map { Date(timeIntervalSince1970: $0) }
            record["place"] = [10.0, nil, 64.0, 30.0][number].map { CLLocation(latitude: $0, longitude: -22) }
            return record
        }
        func order(_ descriptor: NSSortDescriptor) -> String {
            records.sorted { descriptor.compare($0, to: $1) == .orderedAscending }
                .map { String($0.recordID.recordName.dropFirst()) }.joined()
        }
        #expect(order(NSSortDescriptor(key: "name", ascending: true)) == "2103")
        #expect(order(NSSortDescriptor(key: "name", ascending: false)) == "3012")
        #expect(order(NSSortDescriptor(key: "count", ascending: true)) == "3120")
        #expect(order(NSSortDescriptor(key: "day", ascending: true)) == "2031")
        #expect(order(NSSortDescriptor(key: "recordID", ascending: false)) == "3210")
        let nearest = CKLocationSortDescriptor(key: "place", relativeLocation: here)
        #expect(order(nearest) == "2301")
        let farthest = try #require(nearest.reversedSortDescriptor as? CKLocationSortDescriptor)
        #expect(order(farthest) == "1032" && farthest != nearest)
        #expect(farthest.reversedSortDescriptor as? NSSortDescriptor == nearest)
        #expect(NSSortDescriptor(key: "a", ascending: true) == NSSortDescriptor(key: "a", ascending: true))
        #expect(NSSortDescriptor(key: "a", ascending: true) != NSSortDescriptor(key: "a", ascending: false))
        #expect(
            (records as NSArray).sortedArray(using: [NSSortDescriptor(key: "name", ascending: true)])
                .compactMap { ($0 as? CKRecord)?.recordID.recordName } == ["r2", "r1", "r0", "r3"])
        let query = CKQuery(recordType: "T", predicate: NSPredicate(value: true))
        query.sortDescriptors = [farthest]
        let error = #expect(throws: CKError.self) { try query.wire(in: nil, now: Date()) }
        #expect(error?.code == .invalidArguments)
    }

    /// Written as an app would write it: that it compiles is the test.
    @Test func `R-185: formats with the arguments that apps give`() throws {
        let date = Date()
        let names = ["a", "b"]
        let recordID = CKRecord.ID(recordName: "x")
        let predicates = [
            NSPredicate(format: "name == %@", "x"), NSPredicate(format: "count > %d", 5),
            NSPredicate(format: "price > %f", 1.5), NSPredicate(format: "day > %@", date as NSDate),
            NSPredicate(format: "day > %@", date as any CVarArg), NSPredicate(format: "name IN %@", names),
            NSPredicate(format: "name IN %@", names as NSArray),
            NSPredicate(format: "name IN %@", names as any CVarArg),
            NSPredicate(format: "%K == %@", "owner", recordID),
            NSPredicate(format: "%K == %@", argumentArray: ["a", 1]),
            NSPredicate(format: "owner == %@", CKRecord.Reference(recordID: recordID, action: .none) as any CVarArg),
            NSPredicate(format: "flag == %@", NSNumber(value: true)), NSPredicate(format: "TRUEPREDICATE"),
        ]
        for predicate in predicates {
            let query = CKQuery(recordType: "T", predicate: predicate)
            #expect(try query.wire(in: nil, now: date).hasPredicate)
        }
    }
}
