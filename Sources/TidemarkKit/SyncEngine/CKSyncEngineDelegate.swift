// SPDX-License-Identifier: Apache-2.0

/// Connects an app with its engine: receives events, and provides the changes to send.
///
/// All calls of one engine come one after another: the next starts only when the previous one has returned.
/// None comes before the engine's `init` has returned, as far as the engine can ensure that. Do not await the
/// engine's ``CKSyncEngine/fetchChanges(_:)``, ``CKSyncEngine/sendChanges(_:)`` or ``CKSyncEngine/cancelOperations()``
/// in a call, nor in a task made there while the call runs: that stops the process. Such a task may await them
/// when the call has returned.
///
/// Calls never run on a thread that serves connections, so they may take their time.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Something happened. When this returns, the engine considers it done: fetched changes count as stored.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// The next changes to send; nil if there are no more for now. Called until the answer is nil.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Called before each request of a fetch. The answer replaces scope and priorities from then on.
    ///
    /// The default leaves them unchanged.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// Leaves the options unchanged.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
