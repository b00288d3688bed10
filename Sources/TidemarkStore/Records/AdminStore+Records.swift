// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// What a zone still knows of a record's changes: its latest version, or its tombstone.
    package struct RecordHistory: Sendable {
        package let zoneID: ZoneID
        /// Why the zone's incarnation has ended; nil: it lives.
        package let zoneRemoval: ZoneRemovalReason?
        package let name: String
        /// Empty if it is no longer known.
        package let type: String
        package let changeNumber: ChangeNumber
        package let isDeleted: Bool
        package let byteCount: Int
        package let createdAt: Timestamp
        package let createdByDevice: DeviceID
        /// The accounts' names; nil: they are deleted.
        package let createdBy: String?
        package let modifiedAt: Timestamp
        package let modifiedBy: String?
        /// What made the change; nil: it is not known.
        package let cause: ChangeCause?
    }

    /// Records and tombstones of a zone by name, a page at a time. A page ends with the record at which the fields reach so
    /// many bytes.
    ///
    /// - Returns: none if there are no more.
    package func recordPage(
        in zone: ZoneState, after name: String
    ) async throws(StorageError) -> [RecordState] {
        try await storage.read(
            sql.adminRecords.page((zone.key.database, zone.id, name, Self.recordsOfPage, Self.bytesOfPage)))
    }

    private static let recordsOfPage = 500
    private static let bytesOfPage = 2_097_152

    /// The latest changes of a zone, newest first.
    ///
    /// - Parameter number: only changes before it; nil: from the newest on.
    package func changes(
        in zone: ZoneState, before number: ChangeNumber?, countMax: Int
    ) async throws(StorageError) -> [RecordHistory] {
        try await storage.read(
            sql.adminRecords.changes((zone.key.database, zone.id, number ?? .max, countMax)))
    }

    /// Changes of a zone that follow a number, oldest first.
    package func changes(
        in zone: ZoneState, after number: ChangeNumber, countMax: Int
    ) async throws(StorageError) -> [RecordHistory] {
        try await storage.read(sql.adminRecords.changesAfter((zone.key.database, zone.id, number, countMax)))
    }

    /// What is known of one record, also in incarnations of the zone that have ended and are not cleared yet.
    package func history(ofRecord name: String, in zone: ZoneKey) async throws(StorageError) -> [RecordHistory] {
        try await storage.read(sql.adminRecords.history((zone.database, zone.name, name)))
    }

    /// Nil if there is no such zone.
    package func livingZone(_ key: ZoneKey) async throws(StorageError) -> ZoneState? {
        try await storage.zones(named: [key.name], in: key.database).first
    }

    /// Records of a zone by name, also their tombstones.
    package func records(named names: [String], in key: ZoneKey) async throws(StorageError) -> [RecordState] {
        let found = try await storage.records(named: names, in: key, bytesMax: .max, sharing: .nothing)
        return names.compactMap { found.records[$0] }
    }
}
