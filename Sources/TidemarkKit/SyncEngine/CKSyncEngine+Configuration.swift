// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKSyncEngine {
    /// The parameters of an engine (R-500, R-503).
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The private or the shared database to keep in sync; the public one is refused (R-016).
        public var database: CKDatabase

        /// The state of the last `stateUpdate` event; nil for the first engine.
        public var stateSerialization: State.Serialization?

        /// The delegate, which receives events and provides changes. The engine retains it only during a callback
        /// (R-503), so the app may let its delegate own the engine. When the delegate is gone, the engine stops.
        public var delegate: any CKSyncEngineDelegate

        /// Whether the engine fetches and sends on its own (R-505). If false, it does so only when the app calls
        /// ``CKSyncEngine/fetchChanges(_:)`` and ``CKSyncEngine/sendChanges(_:)``.
        public var automaticallySync = true

        /// The subscription for pushes, which is created if it does not exist; nil for any existing one (R-507).
        public var subscriptionID: CKSubscription.ID?

        /// The value of ``journalFile``.
        var journal: URL?

        /// The value of ``reportsPendingChanges``.
        var reports = true

        /// Where the engine runs; nil: where its database's engines do (``CKDatabase/syncEngineHost``).
        package var host: SyncEngineHost?

        /// - Parameters:
        ///   - database: the private or the shared database.
        ///   - stateSerialization: the state of the last `stateUpdate` event; nil for the first engine.
        ///   - delegate: receives events and provides changes.
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
