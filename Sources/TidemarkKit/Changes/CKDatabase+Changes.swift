// SPDX-License-Identifier: Apache-2.0

extension CKDatabase {
    /// The changes in a database's feed.
    public enum DatabaseChange {
        /// A zone that is new, or in which something changed.
        public struct Modification: Sendable, Equatable, Hashable {
            /// The zone.
            public let zoneID: CKRecordZone.ID

            package init(zoneID: CKRecordZone.ID) {
                self.zoneID = zoneID
            }
        }

        /// A zone that is gone.
        public struct Deletion: Sendable, Equatable, Hashable {
            /// Why a zone is gone, and so what to do with its local copy.
            public enum Reason: Sendable, Equatable, Hashable {
                /// Somebody deleted it: drop the local copy.
                case deleted
                /// The user purged the zone, which deleted its data. Drop the local copy, and send nothing again without the
                /// user's consent.
                case purged
                /// The keys to its encrypted data were lost: send local data again.
                case encryptedDataReset
            }

            /// The zone.
            public let zoneID: CKRecordZone.ID

            /// Why it is gone.
            public let reason: Reason

            package init(zoneID: CKRecordZone.ID, reason: Reason) {
                self.zoneID = zoneID
                self.reason = reason
            }

            /// Whether the user purged the zone.
            @available(*, deprecated, message: "Use reason")
            public var purged: Bool { reason == .purged }
        }
    }

    /// The changes in a zone's feed.
    public enum RecordZoneChange {
        /// A record that is new or changed.
        public struct Modification: Sendable, Equatable, Hashable {
            /// Its newest version.
            public let record: CKRecord

            package init(record: CKRecord) {
                self.record = record
            }
        }

        /// A record that is gone.
        public struct Deletion: Sendable, Equatable, Hashable {
            /// The ID of the record.
            public let recordID: CKRecord.ID

            /// The type of the record.
            public let recordType: CKRecord.RecordType

            package init(recordID: CKRecord.ID, recordType: CKRecord.RecordType) {
                self.recordID = recordID
                self.recordType = recordType
            }
        }
    }
}
