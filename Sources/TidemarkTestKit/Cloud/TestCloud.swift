// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkKit

/// A cloud in memory for an app's tests. It has a server with Tidemark's own rules, accounts and devices, and a clock
/// that the test moves.
///
/// The code under test is real: `CKContainer`, `CKDatabase`, `CKSyncEngine` and the server's sessions, rules and feeds.
/// Only sockets, PostgreSQL and time are replaced. The container is in development: its schema grows with what apps
/// save.
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
/// Clouds are independent: tests with one each may run side by side. Safe to use from any thread.
public final class TestCloud: Sendable {
    let core: TestCore
    /// The time of the cloud and of the engines on its devices.
    public let clock: TestClock

    /// An empty cloud.
    ///
    /// - Parameters:
    ///   - containerIdentifier: of the one container that its devices have.
    ///   - start: the first time of its clock. It is always the same, so that tests are too.
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

    /// The account of that name. It is created on first use, and then always the same object. It has a credential
    /// and no data.
    public func account(_ name: String) -> TestAccount {
        core.account(name)
    }

    // MARK: Waiting

    /// Waits until nothing is under way: no request, no push, no callback of a delegate. No time passes except pauses
    /// of engines (``TestClock``).
    ///
    /// It sees the work of servers, connections and engines. It sees a task of the app itself only once that has called
    /// them. A callback that waits for an answer or for a time is not under way.
    ///
    /// - Throws: ``TestCloudError`` with `neverSettles` if the devices go on for thousands of pauses.
    public func settle() async throws {
        guard await core.loop.settle() else { throw TestCloudError.neverSettles }
    }

    /// Lets time pass, from one planned event to the next, until `condition` holds.
    ///
    /// - Parameters:
    ///   - limit: how much of the cloud's time may pass.
    ///   - condition: called whenever nothing is under way.
    /// - Throws: ``TestCloudError`` with `notInTime` if the condition does not hold when `limit` is over, or when
    ///   nothing more is planned. ``TestCloudError`` with `neverSettles`. The errors of `condition`.
    public func run(
        within limit: Duration = .seconds(3_600), until condition: () async throws -> Bool
    ) async throws {
        let end = clock.elapsed + limit
        try await settle()
        while try await !condition() {
            guard clock.elapsed < end, try await clock.advanceToNext(within: end - clock.elapsed) else {
                throw TestCloudError(
                    .notInTime,
                    "The condition did not become true within \(limit). Allow more time, or check the condition.")
            }
        }
    }

    // MARK: Events at the server

    /// Makes every existing change token expire, as after a restore from a backup. The next fetch with one fails with
    /// `changeTokenExpired`, and a save with an old change tag is a conflict. Engines start again from
    /// the beginning on their own. All connections are cut.
    public func expireTokens() {
        core.database.renewIncarnation()
        core.cutConnections()
    }

    /// The server's data at one moment, which can be restored.
    public struct Backup: Sendable {
        let contents: MemoryBackup
    }

    /// Copies everything that the server stores, as an operator's backup does. Call ``settle()`` first.
    public func backUp() -> Backup {
        Backup(contents: core.database.backUp())
    }

    /// Restores a backup, as an operator does after a disaster. Later saves and deletions are gone, and the server
    /// restarts. All change tokens and tags belong to an earlier incarnation of the store. Engines start
    /// again from the beginning on their own. Accounts stay. Call ``settle()`` first.
    public func restore(_ backup: Backup) {
        core.database.restore(backup.contents)
        core.restartServer()
    }

    /// Forgets deletions of records and zones, as `tidemark admin compact` does. Change tokens from before a deletion
    /// expire.
    public func forgetDeletions() {
        core.database.compact()
    }

    /// Begins work of an app. Unlike other tasks of apps, ``settle()`` sees each of its steps.
    package func start<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        Task(executorPreference: core.loop, operation: work)
    }

    /// Reports every later commit of the server to a judge. It must not call the cloud.
    package func observe(_ observer: @escaping @Sendable (MemoryCommit) -> Void) {
        core.database.observe(observer)
    }

    /// Restarts the server: all connections are cut, and nothing is lost. Requests under way are sent again, and are
    /// carried out once.
    public func restartServer() {
        core.restartServer()
    }
}
