// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// Fetches a zone from its beginning again, for an app whose data of it is damaged or in doubt. CloudKit has
    /// no such method.
    ///
    /// Pending changes stay pending, and no data of the app is lost. All records of the zone arrive as modifications, with
    /// ``CKSyncEngine/Event/FetchedRecordZoneChanges/isResync``. The end tells which of the app's records were not among them
    /// (``CKSyncEngine/Event/DidFetchRecordZoneChanges/fullFetch``): with `deletionsForgotten` those were deleted. Records with a pending
    /// save are never among these. If the store was restored, the reason is `anotherLife` as always.
    ///
    /// A delegate may drop its data of a zone at ``TidemarkStoreEvent/willFetchFromNothing(zoneID:reason:)`` with
    /// `deletionsForgotten`. It gets all of it back, except unsent edits: keep those. A `stateUpdate` that knows of the
    /// resync comes before. So if the process ends in the middle, the next engine reads the zone from its beginning.
    ///
    /// A fetch under way ends first. If the call fails or is cancelled, the resync stays planned. The next fetch of the zone carries it
    /// out, and with automatic sync the engine makes one. The resync ends with the account. A zone that the engine has not read yet is
    /// fetched as usual.
    ///
    /// Do not await it in the delegate's callbacks.
    ///
    /// - Throws: `CKError` as ``fetchChanges(_:)``; `invalidArguments` for the default zone, which engines do not sync.
    public func resync(_ zoneID: CKRecordZone.ID) async throws {
        driver.forbidCallback(to: "resync")
        try await driver.call { $0.resyncCalled($1, zoneID, at: $2) }.get()
    }

    /// As ``resync(_:)``, for the list of zones and all zones that the engine has read. Zones that are not in the
    /// list are reported as deleted, as after an expired token.
    public func resync() async throws {
        driver.forbidCallback(to: "resync")
        try await driver.call { $0.resyncCalled($1, nil, at: $2) }.get()
    }
}
