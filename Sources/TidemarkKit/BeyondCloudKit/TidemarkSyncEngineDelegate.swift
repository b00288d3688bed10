// SPDX-License-Identifier: Apache-2.0

/// A delegate that also hears what happened to the server's store. CloudKit has no such protocol.
///
/// The engine finds out by itself whether its delegate conforms. Apps that keep to CloudKit's protocol find the most
/// important part in its events: ``CKSyncEngine/Event/DidFetchRecordZoneChanges/fullFetch``.
public protocol TidemarkSyncEngineDelegate: CKSyncEngineDelegate {
    /// Something happened to the store. Like all calls of an engine, it comes one after another with the others.
    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async

    /// The change tag (`recordChangeTag`) of each record of the zone that the app has and that has one, for
    /// ``CKSyncEngine/verify(_:)``. Records that were never sent are left out. Nil, the default: the app does not
    /// say. An app with a ``TidemarkReplica`` returns its ``TidemarkReplica/changeTags(in:)``.
    func heldChangeTags(in zoneID: CKRecordZone.ID, syncEngine: CKSyncEngine) async -> [CKRecord.ID: String]?
}

extension TidemarkSyncEngineDelegate {
    /// Does not say.
    public func heldChangeTags(in zoneID: CKRecordZone.ID, syncEngine: CKSyncEngine) async -> [CKRecord.ID: String]? {
        nil
    }
}
