// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Keeps an app's records and a database in sync: sends what the app says is pending, fetches what others changed, and
/// tells the app's delegate of everything.
///
/// Making an engine never fails and never blocks: without an account or a network it waits for them. Engines
/// of one process are independent of each other, also on one database: each is a device of its own. When an
/// engine is released, its work ends.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    /// The database that the engine keeps in sync.
    public let database: CKDatabase

    /// What is pending, and more.
    public let state: State

    let driver: SyncEngineDriver

    /// Starts an engine. It begins when the app uses it first, or after 10 ms, so its delegate hears from it only after this
    /// has returned, unless the calling thread is held up for that long just before.
    ///
    /// That the app has stored the engine by then is more than an engine can know. Callbacks get it as a parameter; and a
    /// delegate that is isolated to the actor on which the engine is made hears nothing before that actor is free.
    public init(_ configuration: Configuration) {
        //
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

    /// Fetches what changed on the server, and returns when the delegate has handled all of it.
    ///
    /// Calls at the same time share one fetch if its scope covers theirs. Cancelling the calling task cancels
    /// the fetch unless somebody else wants it. Not to be awaited in the delegate's callbacks.
    ///
    /// - Throws: `CKError`: that of the request, or of the zone that failed, or `partialFailure` over several zones
    ///   `notAuthenticated` or `accountTemporarilyUnavailable` without an account;
    ///   `operationCancelled`.
    public func fetchChanges(_ options: FetchChangesOptions = .init()) async throws {
        driver.forbidCallback(to: "fetchChanges")
        try await driver.call { $0.fetchCalled($1, options, at: $2) }.get()
    }

    /// Sends what is pending, and returns when the delegate has handled all that came of it.
    ///
    /// Calls at the same time share one send if its scope covers theirs. Cancelling the calling task cancels
    /// the send unless somebody else wants it. Not to be awaited in the delegate's callbacks.
    ///
    /// - Throws: `CKError`: that of the request if it failed as a whole, else `partialFailure` over the items that
    ///   failed; `notAuthenticated` or `accountTemporarilyUnavailable` without an account;
    ///   `operationCancelled`.
    public func sendChanges(_ options: SendChangesOptions = .init()) async throws {
        driver.forbidCallback(to: "sendChanges")
        try await driver.call { $0.sendCalled($1, options, at: $2) }.get()
    }

    /// Cancels what is under way and what is planned, and returns when its last event has been handled.
    ///
    /// Changes that were being sent are pending again. Automatic sync goes on with the next change, push or call, or when
    /// somebody else signs in; time, the network or a signal about the same account do not begin it. Not to be awaited in
    /// the delegate's callbacks.
    public func cancelOperations() async {
        driver.forbidCallback(to: "cancelOperations")
        _ = await driver.call { $0.cancelCalled($1, at: $2) }
    }

    /// For logs.
    public var description: String { "CKSyncEngine(\(database.databaseScope), \(driver.description))" }
}
