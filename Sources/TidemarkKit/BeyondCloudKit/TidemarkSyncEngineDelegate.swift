// SPDX-License-Identifier: Apache-2.0

/// A delegate that also hears what happened to the server's store. CloudKit has no such protocol.
///
/// The engine finds out by itself whether its delegate conforms. Apps that keep to CloudKit's protocol find the most
/// important part in its events: ``CKSyncEngine/Event/DidFetchRecordZoneChanges/fullFetch``.
public protocol TidemarkSyncEngineDelegate: CKSyncEngineDelegate {
    /// Something happened to the store. Like all calls of an engine, it comes one after another with the others.
    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async
}
