// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKSyncEngine {
    /// What an engine is made from (R-500, R-503).
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The private or the shared database to keep in sync; the public one is refused (R-016).
        public var database: CKDatabase

        /// The state of the last `stateUpdate` event; nil the first time.
        public var stateSerialization: State.Serialization?

        /// Who is told and asked. The engine itself holds it only during a callback (R-503): an app may let its
        /// delegate own the engine. When the delegate is gone, the engine stops.
        public var delegate: any CKSyncEngineDelegate

        /// Whether the engine fetches and sends by itself (R-505). False: only when the app calls
        /// ``CKSyncEngine/fetchChanges(_:)`` and ``CKSyncEngine/sendChanges(_:)``.
        public var automaticallySync = true

        /// The subscription to use for pushes, created if it does not exist; nil: whichever there is (R-507).
        public var subscriptionID: CKSubscription.ID?

        /// ``journalFile``.
        var journal: URL?

        /// Told after each operation on the journal's files, on the thread that did it; for tests.
        var afterJournalStep: @Sendable () -> Void = {}

        /// Where the engine lives, instead of where its database says; for tests and the simulation.
        package var host: SyncEngineHost?

        /// - Parameters:
        ///   - database: the private or the shared database.
        ///   - stateSerialization: the state of the last `stateUpdate` event; nil the first time.
        ///   - delegate: who is told and asked.
        public init(
            database: CKDatabase, stateSerialization: State.Serialization?, delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            self.delegate = delegate
        }

        /// For logs.
        public var description: String {
            """
            CKSyncEngine.Configuration(database: \(database.databaseScope), \
            stateSerialization: \(stateSerialization == nil ? "nil" : "present"), \
            automaticallySync: \(automaticallySync), subscriptionID: \(subscriptionID ?? "nil"))
            """
        }
    }
}
