// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One use of each symbol of Tests/API.md, section CKQuery, in that order.
@Suite struct CKQueryAPITests {
    @Test func `R-173, R-187: CKQuery`() throws {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let type: CKRecord.RecordType = query.recordType
        let predicate: NSPredicate = query.predicate
        #expect(type == "Note" && predicate === query.predicate)
        let sorts: [NSSortDescriptor]? = query.sortDescriptors
        #expect(sorts == nil)
        let place = CLLocation(latitude: 1, longitude: 2)
        let near = CKLocationSortDescriptor(key: "place", relativeLocation: place)
        #expect(near.relativeLocation == place)
        query.sortDescriptors = [NSSortDescriptor(key: "text", ascending: false), near]
        let data = try NSKeyedArchiver.archivedData(withRootObject: query, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data)
        #expect(back?.recordType == "Note" && back?.sortDescriptors?.count == 2)
        #expect((query.copy() as? CKQuery)?.sortDescriptors?.count == 2)
        let _: any Sendable = query
    }

    @Test func `R-177, R-185: NSPredicate and NSSortDescriptor`() {
        let name = "a"
        let id = CKRecord.ID(recordName: "r")
        let formats = [
            NSPredicate(format: "text == %@", name), NSPredicate(format: "TRUEPREDICATE"), NSPredicate(value: false),
            NSPredicate(format: "count > %d AND size < %f", 1, 2.5),
            NSPredicate(format: "to == %@", CKRecord.Reference(recordID: id, action: .none)),
            NSPredicate(format: "%K == %@", argumentArray: ["text", name]),
            NSPredicate(format: "text IN %@", ["a", "b"]),
        ]
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: Array(formats.prefix(2)))
        let none = NSCompoundPredicate(notPredicateWithSubpredicate: formats[0])
        for predicate in formats + [both, none] {
            #expect(CKQuery(recordType: "Note", predicate: predicate).predicate === predicate)
        }
        let sort = NSSortDescriptor(key: "text", ascending: true)
        #expect(sort.ascending && sort.key == "text")
        let near = CKLocationSortDescriptor(key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2))
        let sorts: [NSSortDescriptor] = [sort, near]
        #expect(sorts.map(\.key) == ["text", "place"] && near.key == "place")
    }
}
