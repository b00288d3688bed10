// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkKit

/// A cloud in memory, for an app's tests: a server with Tidemark's own rules, the accounts and devices on it, and a clock that
/// the test moves.
///
/// What is under test is real: `CKContainer`, `CKDatabase`, `CKSyncEngine` and the server's sessions, rules and feeds. Only sockets,
/// PostgreSQL and time are left out.
///
/// ```swift
/// let cloud = TestCloud()
/// let alice = cloud.account("alice")
/// let phone = alice.device("phone")
/// let notes = try await Notes(in: phone.container.privateCloudDatabase)   // the app's own code
/// try await notes.write("milk", to: "shopping")
/// try await cloud.settle()                                                // everything that can happen has happened
/// ```
///
/// Each cloud is a world of its own: tests with one each may run side by side. Safe to use from any thread.
public final class TestCloud: Sendable {
    let core: TestCore
    /// The time of the cloud and of the engines on its devices.
    public let clock: TestClock

    /// An empty cloud.
    ///
    /// - Parameters:
    ///   - containerIdentifier: of the one container that its devices have.
    ///   - start: what its clock shows at first; always the same, so that tests are, too.
    public init(
        containerIdentifier: String = "iCloud.org.example.test",
        startingAt start: Date = Date(timeIntervalSince1970: 1_700_000_000)
    ) {
        core = TestCore(
            containerIdentifier: containerIdentifier, wallClockStart: Int64(start.timeIntervalSince1970 * 1_000))
        clock = TestClock(core.loop)
    }

    deinit {
        core.forgetAccounts()
    }

    /// The account of that name; it comes into being when it is first asked for, and is the same object from then on.
    public func account(_ name: String) -> TestAccount {
        core.account(name)
    }

    // MARK: Waiting

    /// Waits until nothing is under way: no request, no push, no callback of a delegate. Time does not pass but for pauses of
    /// engines (``TestClock``).
    ///
    /// It sees what servers, connections and engines do. A task of the app's own counts from when it has called them.
    ///
    /// - Throws: ``TestCloudError`` with `neverSettles`.
    public func settle() async throws {
        guard await core.loop.settle() else { throw TestCloudError.neverSettles }
    }

    /// Lets time pass, from one thing that is planned to the next, until `condition` holds.
    ///
    /// - Parameters:
    ///   - limit: how much of the cloud's time may pass.
    ///   - condition: asked whenever nothing is under way.
    /// - Throws: ``TestCloudError``: `notInTime`, `neverSettles`; what `condition` throws.
    public func run(
        within limit: Duration = .seconds(3_600), until condition: () async throws -> Bool
    ) async throws {
        let end = clock.elapsed + limit
        try await settle()
        while try await !condition() {
            guard clock.elapsed < end, try await clock.advanceToNext(within: end - clock.elapsed) else {
                throw TestCloudError(.notInTime, "What was waited for did not come about within \(limit).")
            }
        }
    }

    // MARK: What happens to the server

    /// Makes every change token that was ever handed out expire, as after a restore from a backup: the next fetch with one is
    /// refused with `changeTokenExpired`, and a save with an old change tag is a conflict. Engines begin from
    /// the start by themselves. All connections are cut.
    public func expireTokens() {
        core.database.renewIncarnation()
        core.cutConnections()
    }

    /// What the server stored at one moment, to go back to.
    public struct Backup: Sendable {
        let contents: MemoryBackup
    }

    /// Copies all that the server stores, as an operator's backup does. Call ``settle()`` before.
    public func backUp() -> Backup {
        Backup(contents: core.database.backUp())
    }

    /// Restores a backup, as an operator does after a disaster: what was saved and deleted since is gone, all change tokens and
    /// tags are of an earlier life of the store, and the server starts anew. Accounts stay. Call ``settle()``
    /// before.
    public func restore(_ backup: Backup) {
        core.database.restore(backup.contents)
        core.restartServer()
    }

    /// Forgets what was deleted, records and zones, as `tidemark admin compact` does: change tokens from before a deletion
    /// expire.
    public func forgetDeletions() {
        core.database.compact()
    }

    /// Tells of all that the server commits from now on. For judges; must not call the cloud.
    package func observe(_ observer: @escaping @Sendable (MemoryCommit) -> Void) {
        core.database.observe(observer)
    }

    /// The server starts anew: all connections are cut, and nothing is lost.
    public func restartServer() {
        core.restartServer()
    }
}
