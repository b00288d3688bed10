// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKSyncEngine {
    /// What a send should bring to the server.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// The changes to send.
        public var scope: Scope

        /// For the server's logs only. A new group if none was given.
        public var operationGroup: CKOperationGroup

        /// - Parameters:
        ///   - scope: the changes to send.
        ///   - operationGroup: for the server's logs; nil for a new one.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// For logs.
        public var description: String { "SendChangesOptions(scope: \(scope))" }

        /// A set of changes.
        ///
        /// It applies to changes of zones too: `zoneIDs` includes those of these zones. `recordIDs` includes
        /// the saves, not the deletions, of the zones of these records.
        public enum Scope: Equatable, Sendable, CustomStringConvertible {
            /// All changes.
            case all
            /// All changes except those in these zones.
            case allExcluding([CKRecordZone.ID])
            /// Only changes in these zones.
            case zoneIDs([CKRecordZone.ID])
            /// Only changes of these records.
            case recordIDs([CKRecord.ID])

            /// Whether changes of the record are in the scope.
            public func contains(_ recordID: CKRecord.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let excluded): !excluded.contains(recordID.zoneID)
                case .zoneIDs(let included): included.contains(recordID.zoneID)
                case .recordIDs(let included): included.contains(recordID)
                }
            }

            /// Whether the change is in the scope.
            public func contains(_ pendingChange: PendingRecordZoneChange) -> Bool {
                contains(pendingChange.recordID)
            }

            /// For logs.
            public var description: String {
                switch self {
                case .all: "all"
                case .allExcluding(let excluded): "allExcluding(\(excluded.shortDescription))"
                case .zoneIDs(let included): "zoneIDs(\(included.shortDescription))"
                case .recordIDs(let included): "recordIDs(\(included.shortDescription))"
                }
            }
        }
    }

    /// Why a send takes place, and what it should bring.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// Whether the app or the engine started it.
        public let reason: SyncReason
        /// What it should bring.
        public let options: SendChangesOptions

        /// For logs.
        public var description: String { "SendChangesContext(\(reason), \(options))" }
    }
}

extension CKSyncEngine.SendChangesOptions.Scope {
    /// Whether this scope includes the change of a zone.
    func contains(_ change: CKSyncEngine.PendingDatabaseChange) -> Bool {
        switch self {
        case .all: true
        case .allExcluding(let excluded): !excluded.contains(change.zoneID)
        case .zoneIDs(let included): included.contains(change.zoneID)
        case .recordIDs(let included): change.isSave && included.contains { $0.zoneID == change.zoneID }
        }
    }

    /// Whether this scope includes everything in `other`. Then a call for `other` may join.
    func covers(_ other: Self) -> Bool {
        switch (self, other) {
        case (.all, _): true
        case (.allExcluding(let excluded), .all): excluded.isEmpty
        case (.allExcluding(let excluded), .allExcluding(let otherExcluded)):
            excluded.allSatisfy { otherExcluded.contains($0) }
        case (.allExcluding(let excluded), .zoneIDs(let included)): included.allSatisfy { !excluded.contains($0) }
        case (.zoneIDs(let zoneIDs), .zoneIDs(let included)): included.allSatisfy { zoneIDs.contains($0) }
        case (.zoneIDs, .all), (.zoneIDs, .allExcluding): false
        case (.recordIDs, .all), (.recordIDs, .allExcluding), (.recordIDs, .zoneIDs): false
        case (_, .recordIDs(let included)): included.allSatisfy { contains($0) }
        }
    }
}
