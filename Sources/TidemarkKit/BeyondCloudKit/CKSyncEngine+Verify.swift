// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// Compares the app's records of a zone with the server's. CloudKit has no such method.
    ///
    /// The engine fetches the zone first. It asks its delegate for the app's records
    /// (``TidemarkSyncEngineDelegate/heldChangeTags(in:syncEngine:)``), and the server for a digest of names and versions. If both digests
    /// are equal, so are the records, and the check ends. Otherwise the engine reads the names and versions of all of the zone's records,
    /// page by page. Nothing is changed on either side: to mend the app's data, call ``resync(_:)``.
    ///
    /// It compares versions and not fields. It does not find a field that the app has damaged in a record with the right tag.
    ///
    /// Do not await it in the delegate's callbacks.
    ///
    /// - Throws: `CKError` as ``fetchChanges(_:)``; `invalidArguments` if the delegate does not say what the app has, or for
    ///   the default zone; `zoneBusy` if others change the zone again and again meanwhile.
    public func verify(_ zoneID: CKRecordZone.ID) async throws -> TidemarkZoneComparison {
        driver.forbidCallback(to: "verify")
        return try await SyncEngineVerification(driver: driver, zoneID: zoneID).run()
    }
}
