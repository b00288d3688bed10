// SPDX-License-Identifier: Apache-2.0

internal import Foundation

// The forms with completion handlers. The async forms of the same names say what they do and which errors they have.
// Here what is saved is copied before the call returns, because its task begins later.
extension CKDatabase {
    /// Fetches one zone.
    @preconcurrency
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.recordZone(for: zoneID) }
    }

    /// Fetches zones.
    @preconcurrency
    public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>) -> Void
    ) {
        deliver(to: completionHandler) { try await self.recordZones(for: zoneIDs) }
    }

    /// All zones of the database.
    @preconcurrency
    public func fetchAllRecordZones(completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void) {
        deliver(to: completionHandler) { try await self.allRecordZones() }
    }

    /// Creates a zone.
    @preconcurrency
    public func save(
        _ zone: CKRecordZone, completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        let zone = zone.copied
        deliver(to: completionHandler) { try await self.save(zone) }
    }

    /// Deletes a zone with all its records.
    @preconcurrency
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.deleteRecordZone(withID: zoneID) }
    }

    /// Creates and deletes zones, each with its own result.
    @preconcurrency
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
                        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        let zones = recordZonesToSave.map(\.copied)
        deliver(to: completionHandler) {
            try await self.modifyRecordZones(saving: zones, deleting: recordZoneIDsToDelete)
        }
    }
}
