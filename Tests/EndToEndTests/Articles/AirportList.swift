// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The code of the article *Queries*.
struct AirportList: Sendable {
    let database: CKDatabase
    let zoneID = CKRecordZone.ID(zoneName: "Airports")

    func add(_ code: String, _ name: String, elevation: Double, at place: CLLocation, tags: [String]) async throws {
        try await database.save(CKRecordZone(zoneID: zoneID))
        let record = CKRecord(recordType: "Airport", recordID: CKRecord.ID(recordName: code, zoneID: zoneID))
        record["name"] = name
        record["elevation"] = elevation
        record["location"] = place
        record["tags"] = tags
        try await database.save(record)
    }

    func find(_ predicate: NSPredicate, sortedBy sorts: [NSSortDescriptor] = []) async throws -> [CKRecord] {
        let query = CKQuery(recordType: "Airport", predicate: predicate)
        query.sortDescriptors = sorts
        var page = try await database.records(matching: query, inZoneWith: zoneID, desiredKeys: ["name"])
        var records: [CKRecord] = []
        while true {
            for (_, result) in page.matchResults { records.append(try result.get()) }
            guard let cursor = page.queryCursor else { return records }
            page = try await database.records(continuingMatchFrom: cursor, desiredKeys: ["name"])
        }
    }

    func higher(than metres: Double) async throws -> [CKRecord] {
        try await find(
            NSPredicate(format: "elevation > %f", metres),
            sortedBy: [NSSortDescriptor(key: "elevation", ascending: false)])
    }

    func near(_ place: CLLocation, within metres: Double) async throws -> [CKRecord] {
        try await find(
            NSPredicate(format: "distanceToLocation:fromLocation:(location, %@) < %f", place, metres),
            sortedBy: [CKLocationSortDescriptor(key: "location", relativeLocation: place)])
    }

    func with(_ words: String) async throws -> [CKRecord] {
        try await find(NSPredicate(format: "self CONTAINS %@", words))
    }
}
