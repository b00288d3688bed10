// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import SwiftProtobuf
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
        let data = try NSKeyedArchiver.archivedData(withRootObject: query, requiringSecureCoding: true)
        let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data))
        #expect(back.recordType == "Airport" && back.predicate.description == query.predicate.description)
        #expect(try back.wire(in: nil, now: Date()) == query.wire(in: nil, now: Date()))
        let sort = try #require(back.sortDescriptors?.last as? CKLocationSortDescriptor)
        #expect(sort.relativeLocation.coordinate.latitude == 64 && sort.ascending)

        let cursor = CKQueryOperation.Cursor(query: [1, 2], place: [3])
        let archive = try NSKeyedArchiver.archivedData(withRootObject: cursor, requiringSecureCoding: true)
        let same = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryOperation.Cursor.self, from: archive))
        #expect(same == cursor && same.hash == cursor.hash && same != CKQueryOperation.Cursor(query: [1], place: [3]))
        #expect(cursor.copy() as? CKQueryOperation.Cursor === cursor)
    }

    @Test func `a query of everything, and one that cannot be sent, survive too`() throws {
        for predicate in [NSPredicate(value: true), NSPredicate(format: "a OR b")] {
            let query = CKQuery(recordType: "T", predicate: predicate)
            let data = try NSKeyedArchiver.archivedData(withRootObject: query, requiringSecureCoding: true)
            let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data))
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
