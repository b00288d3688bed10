// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

extension CKDatabase {
    /// Fetches one zone; `zoneNotFound` if it does not exist.
    @discardableResult
    public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        guard let result = try await cloud.zones(for: [zoneID])[zoneID] else {
            throw CloudDatabase.wrongAnswer(to: .fetchZones)
        }
        return try result.get()
    }

    /// Fetches zones; one result for every ID.
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await cloud.zones(for: ids).mapValues { $0.mapError { $0 } }
    }

    /// All zones of the database, with the default zone.
    @discardableResult
    public func allRecordZones() async throws -> [CKRecordZone] {
        try await cloud.allZones()
    }

    /// Creates a zone. Saving one that exists changes nothing and succeeds.
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        guard let result = try await cloud.modifyZones(saving: [zone], deleting: []).saves[zone.zoneID] else {
            throw CloudDatabase.wrongAnswer(to: .modifyZones)
        }
        return try result.get()
    }

    /// Deletes a zone with all its records. Deleting one that does not exist succeeds.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        try await cloud.modifyZones(saving: [], deleting: [zoneID]).deletes[zoneID]?.get()
        return zoneID
    }

    /// Creates and deletes zones, each with its own result.
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        let results = try await cloud.modifyZones(saving: recordZonesToSave, deleting: recordZoneIDsToDelete)
        return (results.saves.mapValues { $0.mapError { $0 } }, results.deletes.mapValues { $0.mapError { $0 } })
    }
}
