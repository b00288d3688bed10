// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// The events that an engine sends to its delegate.
    public enum Event: Sendable, CustomStringConvertible {
        /// The engine's state changed: store it together with the app's data.
        case stateUpdate(StateUpdate)
        /// Somebody signed in or out.
        case accountChange(AccountChange)
        /// Zones were created, changed or deleted on the server.
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        /// Records of one zone were changed or deleted on the server.
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        /// Changes of zones were sent.
        case sentDatabaseChanges(SentDatabaseChanges)
        /// One batch of changes of records was sent.
        case sentRecordZoneChanges(SentRecordZoneChanges)
        /// A fetch begins.
        case willFetchChanges(WillFetchChanges)
        /// The fetch of one zone's records begins.
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        /// The fetch of one zone's records has ended. There is exactly one for each beginning.
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        /// A fetch has ended. There is exactly one for each beginning.
        case didFetchChanges(DidFetchChanges)
        /// A send begins.
        case willSendChanges(WillSendChanges)
        /// A send has ended. There is exactly one for each beginning.
        case didSendChanges(DidSendChanges)

        /// For logs.
        public var description: String {
            switch self {
            case .stateUpdate(let event): event.description
            case .accountChange(let event): event.description
            case .fetchedDatabaseChanges(let event): event.description
            case .fetchedRecordZoneChanges(let event): event.description
            case .sentDatabaseChanges(let event): event.description
            case .sentRecordZoneChanges(let event): event.description
            case .willFetchChanges(let event): event.description
            case .willFetchRecordZoneChanges(let event): event.description
            case .didFetchRecordZoneChanges(let event): event.description
            case .didFetchChanges(let event): event.description
            case .willSendChanges(let event): event.description
            case .didSendChanges(let event): event.description
            }
        }
    }
}

extension CKSyncEngine.Event {
    /// The engine's state changed.
    public struct StateUpdate: Sendable, CustomStringConvertible {
        /// The state to store, and to pass to the next engine.
        public let stateSerialization: CKSyncEngine.State.Serialization

        /// For logs.
        public var description: String { "StateUpdate" }
    }

    /// Somebody signed in or out. Unsent changes of the previous account are in
    /// ``unsentRecordZoneChanges``.
    public struct AccountChange: Sendable, CustomStringConvertible {
        /// What changed, and for whom.
        public let changeType: ChangeType

        /// Changes that the engine will not send any more.
        var unsent: [SyncEngineUnsentChanges] = []

        /// For logs.
        public var description: String { "AccountChange(\(changeType))" }

        /// The kinds of account changes, with their users.
        public enum ChangeType: Equatable, Sendable, CustomStringConvertible {
            /// Somebody signed in, and nobody was signed in before. Pending changes stay pending.
            case signIn(currentUser: CKRecord.ID)
            /// Nobody is signed in any more. The engine has forgotten everything about the account.
            case signOut(previousUser: CKRecord.ID)
            /// Another user is signed in. The engine has forgotten everything about the previous account.
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)

            /// For logs.
            public var description: String {
                switch self {
                case .signIn: "signIn"
                case .signOut: "signOut"
                case .switchAccounts: "switchAccounts"
                }
            }
        }
    }

    /// A fetch begins.
    public struct WillFetchChanges: Sendable, CustomStringConvertible {
        /// Why the fetch takes place, and what it should bring.
        public let context: CKSyncEngine.FetchChangesContext

        /// For logs.
        public var description: String { "WillFetchChanges(\(context))" }
    }

    /// A fetch has ended.
    public struct DidFetchChanges: Sendable, CustomStringConvertible {
        /// The context with which it began.
        public let context: CKSyncEngine.FetchChangesContext

        /// For logs.
        public var description: String { "DidFetchChanges(\(context))" }
    }

    /// The fetch of one zone's records begins.
    public struct WillFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone.
        public let zoneID: CKRecordZone.ID

        /// For logs.
        public var description: String { "WillFetchRecordZoneChanges(\(zoneID.shortDescription))" }
    }

    /// The fetch of one zone's records has ended.
    public struct DidFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone.
        public let zoneID: CKRecordZone.ID
        /// Why it ended early, if it did.
        public let error: CKError?
        /// If all records of the zone have arrived although the app had fetched it before: why, and which of the app's
        /// records are not on the server. CloudKit has no such property.
        public internal(set) var fullFetch: TidemarkFullFetch?

        /// For logs.
        public var description: String {
            let outcome = error.map { ", \($0.code)" } ?? ""
            return "DidFetchRecordZoneChanges(\(zoneID.shortDescription)\(outcome))"
        }
    }

    /// A send begins.
    public struct WillSendChanges: Sendable, CustomStringConvertible {
        /// Why the send takes place, and what it should bring.
        public let context: CKSyncEngine.SendChangesContext

        /// For logs.
        public var description: String { "WillSendChanges(\(context))" }
    }

    /// A send has ended.
    public struct DidSendChanges: Sendable, CustomStringConvertible {
        /// The context with which it began.
        public let context: CKSyncEngine.SendChangesContext

        /// For logs.
        public var description: String { "DidSendChanges(\(context))" }
    }
}
