// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

/// Arguments of predicate formats as apps write them: that it compiles is half of the test.
@Suite struct PredicateArgumentsTests {
    @Test func `R-177, R-185: values of all types that queries can compare are given as CVarArg`() {
        let id = CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Z"))
        let reference = CKRecord.Reference(recordID: id, action: .none)
        let date = Date(timeIntervalSince1970: 1)
        let isOn: any CVarArg = true
        let cases: [(NSPredicate, String)] = [
            (NSPredicate(format: "a == %@", "x" as CVarArg), "a == 'x'"),
            (NSPredicate(format: "a == %@", "x" as NSString as CVarArg), "a == 'x'"),
            (NSPredicate(format: "a == %@", isOn), "a == 1"),
            (NSPredicate(format: "a == %d", true as CVarArg), "a == 1"),
            (NSPredicate(format: "a == %@", NSNumber(value: false) as CVarArg), "a == 0"),
            (NSPredicate(format: "a == %d", 5 as CVarArg), "a == 5"),
            (NSPredicate(format: "a == %lld", Int64(5) as CVarArg), "a == 5"),
            (NSPredicate(format: "a == %f", 1.5 as CVarArg), "a == 1.5"),
            (NSPredicate(format: "a == %f", CGFloat(1.5)), "a == 1.5"),
            (NSPredicate(format: "a IN %@", argumentArray: [[CGFloat(1.5)]]), "a IN {1.5}"),
            (NSPredicate(format: "a == %@", date as CVarArg), "a == CAST(1.0, 'NSDate')"),
            (NSPredicate(format: "a == %@", date as NSDate), "a == CAST(1.0, 'NSDate')"),
            (NSPredicate(format: "a == %@", reference as CVarArg), "a == <Z/r>"),
            (NSPredicate(format: "a == %@", id as CVarArg), "a == <Z/r>"),
            (NSPredicate(format: "a == %@", CKRecord(recordType: "T", recordID: id) as CVarArg), "a == <Z/r>"),
            (NSPredicate(format: "a IN %@", ["x"] as CVarArg), "a IN {'x'}"),
            (NSPredicate(format: "a IN %@", ["x"] as NSArray), "a IN {'x'}"),
            (NSPredicate(format: "a IN %@", Set([7]) as CVarArg), "a IN {7}"),
            (NSPredicate(format: "a IN %@", NSSet(array: [7]) as CVarArg), "a IN {7}"),
            (NSPredicate(format: "a IN %@", NSOrderedSet(array: [7, 8]) as CVarArg), "a IN {7, 8}"),
            (NSPredicate(format: "%K == %@", argumentArray: ["a", "x"]), "a == 'x'"),
        ]
        for (predicate, text) in cases { #expect(predicate.predicateFormat == text) }
    }

    @Test func `R-176, R-184: values that no query compares compile, and the query says so`() {
        let id = UUID()
        let url = URL(fileURLWithPath: "/none")
        let predicates = [
            NSPredicate(format: "a == %@", Data([1]) as CVarArg), NSPredicate(format: "a == %@", NSData() as CVarArg),
            NSPredicate(format: "a == %@", id as CVarArg), NSPredicate(format: "a == %@", id as NSUUID as CVarArg),
            NSPredicate(format: "a == %@", url as CVarArg), NSPredicate(format: "a == %@", url as NSURL as CVarArg),
            NSPredicate(format: "a IN %@", Set([Data()]) as CVarArg),
        ]
        for predicate in predicates {
            let error = #expect(throws: CKError.self) {
                try CKQuery(recordType: "T", predicate: predicate).wire(in: nil, now: Date())
            }
            #expect(error?.code == .invalidArguments)
            #expect(error?.localizedDescription.contains("cannot be compared") == true)
        }
    }
}
