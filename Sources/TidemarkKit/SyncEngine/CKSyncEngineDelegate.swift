// SPDX-License-Identifier: Apache-2.0

/// What an app does with its engine: it is told what happened, and asked for what is to be sent.
///
/// All calls of one engine come one after another: the next starts only when the previous returned. None comes
/// before the engine's `init` has returned, as far as an engine can see to that. Do not await the engine's
/// ``CKSyncEngine/fetchChanges(_:)``, ``CKSyncEngine/sendChanges(_:)`` or ``CKSyncEngine/cancelOperations()`` in them, nor in a task
/// made there while they run: that stops the process. Such a task may when they have returned.
///
/// Calls never run on a thread that serves connections: they may take their time.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Something happened. When this returns, the engine takes it as done: what was fetched counts as stored.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// The next changes to send; nil: no more for now. Asked again and again until the answer is nil.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Asked before each request of a fetch: the answer replaces scope and priorities from then on.
    ///
    /// The default is to leave them as they are.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// Leaves the options as they are.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
