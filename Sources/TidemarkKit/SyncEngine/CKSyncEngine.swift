// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Keeps an app's records and a database in sync: sends the app's pending changes, fetches others' changes, and reports
/// everything to the app's delegate.
///
/// Making an engine never fails and never blocks: without an account or a network it waits for them. Engines of
/// one process are independent of each other, even on one database: each is a device of its own. When an engine
/// is released, its work ends.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    /// The database that the engine keeps in sync.
    public let database: CKDatabase

    /// The pending changes, and more.
    public let state: State

    let driver: SyncEngineDriver

    /// Starts an engine. It begins when the app first uses it, or after 10 ms. So its delegate is called only after
    /// this has returned, unless the calling thread is delayed for that long just before.
    ///
    /// An engine cannot know whether the app has stored it by then. Callbacks get it as a parameter. A delegate that is
    /// isolated to the actor on which the engine is made is not called before that actor is free.
    public init(_ configuration: Configuration) {
        // the public database is refused.
        precondition(
            configuration.database.databaseScope != .public,
            "CKSyncEngine works on the private and the shared database, not on the public one")
        database = configuration.database
        driver = SyncEngineDriver(configuration)
        state = State(driver: driver)
        driver.start(for: self)
    }

    deinit {
        driver.stop()
    }

    /// Fetches changes from the server. Returns when the delegate has handled all of them.
    ///
    /// Simultaneous calls share one fetch if its scope includes theirs. Cancelling the calling task cancels the
    /// fetch unless another caller wants it. Do not await it in the delegate's callbacks.
    ///
    /// - Throws: `CKError`: the error of the request, or of the zone that failed, or `partialFailure` for several zones
    ///   `notAuthenticated` or `accountTemporarilyUnavailable` without an account;
    ///   `operationCancelled`.
    public func fetchChanges(_ options: FetchChangesOptions = .init()) async throws {
        driver.forbidCallback(to: "fetchChanges")
        try await driver.call { $0.fetchCalled($1, options, at: $2) }.get()
    }

    /// Sends pending changes. Returns when the delegate has handled all results.
    ///
    /// Simultaneous calls share one send if its scope includes theirs. Cancelling the calling task cancels the
    /// send unless another caller wants it. Do not await it in the delegate's callbacks.
    ///
    /// - Throws: `CKError`: the error of the request if it failed as a whole, otherwise `partialFailure` for the items
    ///   that failed; `notAuthenticated` or `accountTemporarilyUnavailable` without an account;
    ///   `operationCancelled`.
    public func sendChanges(_ options: SendChangesOptions = .init()) async throws {
        driver.forbidCallback(to: "sendChanges")
        try await driver.call { $0.sendCalled($1, options, at: $2) }.get()
    }

    /// Cancels current and planned operations. Returns when the last event has been handled.
    ///
    /// Changes that were being sent are pending again. Automatic sync goes on with the next change, push or call, or
    /// when another user signs in. Time, the network or a signal about the same account do not start it. Do not await
    /// it in the delegate's callbacks.
    public func cancelOperations() async {
        driver.forbidCallback(to: "cancelOperations")
        _ = await driver.call { $0.cancelCalled($1, at: $2) }
    }

    /// For logs.
    public var description: String { "CKSyncEngine(\(database.databaseScope), \(driver.description))" }
}
