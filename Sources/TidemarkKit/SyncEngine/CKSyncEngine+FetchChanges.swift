// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKSyncEngine {
    /// Why a fetch or a send takes place.
    public enum SyncReason: Equatable, Hashable, Sendable, CustomStringConvertible {
        /// The engine decided to.
        case scheduled
        /// The app called ``CKSyncEngine/fetchChanges(_:)`` or ``CKSyncEngine/sendChanges(_:)``.
        case manual

        /// For logs.
        public var description: String {
            switch self {
            case .scheduled: "scheduled"
            case .manual: "manual"
            }
        }
    }

    /// What a fetch should bring, and in which order.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// The zones whose records are fetched. The list of changed zones is always read.
        public var scope: Scope

        /// For the server's logs only. A new group if none was given.
        public var operationGroup: CKOperationGroup

        /// Zones to fetch first, in this order. Those without changes are skipped.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// - Parameters:
        ///   - scope: the zones whose records are fetched.
        ///   - operationGroup: for the server's logs; nil for a new one.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// For logs.
        public var description: String {
            "FetchChangesOptions(scope: \(scope), prioritizedZoneIDs: \(prioritizedZoneIDs.shortDescription))"
        }

        /// A set of zones.
        public enum Scope: Equatable, Sendable, CustomStringConvertible {
            /// All zones.
            case all
            /// All zones except these.
            case allExcluding([CKRecordZone.ID])
            /// Only these zones.
            case zoneIDs([CKRecordZone.ID])

            /// Whether the zone is in the scope.
            public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let excluded): !excluded.contains(zoneID)
                case .zoneIDs(let included): included.contains(zoneID)
                }
            }

            /// For logs.
            public var description: String {
                switch self {
                case .all: "all"
                case .allExcluding(let excluded): "allExcluding(\(excluded.shortDescription))"
                case .zoneIDs(let included): "zoneIDs(\(included.shortDescription))"
                }
            }
        }
    }

    /// Why a fetch takes place, and what it should bring.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// Whether the app or the engine started it.
        public let reason: SyncReason
        /// What it should bring.
        public let options: FetchChangesOptions

        /// For logs.
        public var description: String { "FetchChangesContext(\(reason), \(options))" }
    }
}

extension CKSyncEngine.FetchChangesOptions.Scope {
    /// Whether this scope includes everything in `other`. Then a call for `other` may join.
    func covers(_ other: Self) -> Bool {
        switch (self, other) {
        case (.all, _): true
        case (.allExcluding(let excluded), .all): excluded.isEmpty
        case (.allExcluding(let excluded), .allExcluding(let otherExcluded)):
            excluded.allSatisfy { otherExcluded.contains($0) }
        case (_, .zoneIDs(let included)): included.allSatisfy { contains($0) }
        case (.zoneIDs, _): false
        }
    }
}

extension [CKRecordZone.ID] {
    var shortDescription: String { "[" + map(\.shortDescription).joined(separator: ", ") + "]" }
}

extension [CKRecord.ID] {
    var shortDescription: String { "[" + map(\.shortDescription).joined(separator: ", ") + "]" }
}
