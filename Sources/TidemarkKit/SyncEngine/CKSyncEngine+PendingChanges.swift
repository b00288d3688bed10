// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKSyncEngine {
    /// A change of a record that must still be sent.
    ///
    /// In the list of pending changes, two changes of the same record replace each other.
    public enum PendingRecordZoneChange: Hashable, Sendable, CustomStringConvertible {
        /// The record must be saved.
        case saveRecord(CKRecord.ID)
        /// The record must be deleted.
        case deleteRecord(CKRecord.ID)

        /// For logs.
        public var description: String {
            switch self {
            case .saveRecord(let id): "saveRecord(\(id.shortDescription))"
            case .deleteRecord(let id): "deleteRecord(\(id.shortDescription))"
            }
        }

        package var recordID: CKRecord.ID {
            switch self {
            case .saveRecord(let id), .deleteRecord(let id): id
            }
        }
    }

    /// A change of a zone that must still be sent.
    ///
    /// In the list of pending changes, two changes of the same zone replace each other.
    public enum PendingDatabaseChange: Hashable, Sendable, CustomStringConvertible {
        /// The zone must be saved.
        case saveZone(CKRecordZone)
        /// The zone must be deleted.
        case deleteZone(CKRecordZone.ID)

        /// Zones are equal if their IDs are.
        public static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.saveZone(let left), .saveZone(let right)): left.zoneID == right.zoneID
            case (.deleteZone(let left), .deleteZone(let right)): left == right
            default: false
            }
        }

        /// Consistent with `==`.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(isSave)
            hasher.combine(zoneID)
        }

        /// For logs.
        public var description: String {
            switch self {
            case .saveZone(let zone): "saveZone(\(zone.zoneID.shortDescription))"
            case .deleteZone(let id): "deleteZone(\(id.shortDescription))"
            }
        }

        package var zoneID: CKRecordZone.ID {
            switch self {
            case .saveZone(let zone): zone.zoneID
            case .deleteZone(let id): id
            }
        }

        package var isSave: Bool {
            switch self {
            case .saveZone: true
            case .deleteZone: false
            }
        }

        /// The same with a zone that nobody else changes.
        var copied: Self {
            switch self {
            case .saveZone(let zone): .saveZone(zone.copied)
            case .deleteZone: self
            }
        }
    }
}

extension CKRecord.ID {
    /// "zone/name", for logs.
    var shortDescription: String { "\(zoneID.shortDescription)/\(recordName)" }
}

extension CKRecordZone.ID {
    /// The zone's name, with its owner if that is another user; for logs.
    var shortDescription: String {
        ownerName == CKCurrentUserDefaultName ? zoneName : "\(ownerName):\(zoneName)"
    }
}
