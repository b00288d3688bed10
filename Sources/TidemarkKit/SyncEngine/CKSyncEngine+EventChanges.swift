// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine.Event {
    /// One page of the server's list of changed zones. Never empty.
    public struct FetchedDatabaseChanges: Sendable, CustomStringConvertible {
        /// Zones that were created, or in which records changed.
        public let modifications: [CKDatabase.DatabaseChange.Modification]
        /// Zones that are gone, with the reason. Process them before the modifications: a zone that was deleted and
        /// created again is in both.
        public let deletions: [CKDatabase.DatabaseChange.Deletion]
        /// Why all zones are listed although the app knows them; nil if these are changes. CloudKit has no such
        /// property.
        public internal(set) var fullFetchReason: TidemarkFullFetch.Reason?

        /// For logs.
        public var description: String {
            "FetchedDatabaseChanges(modifications: \(modifications.count), deletions: \(deletions.count))"
        }
    }

    /// One page of the changed records of one zone, oldest change first. Never empty.
    public struct FetchedRecordZoneChanges: Sendable, CustomStringConvertible {
        /// Records in their newest version. Records that this device sent are included.
        public let modifications: [CKDatabase.RecordZoneChange.Modification]
        /// Records that are gone.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]
        /// Why all records of the zone arrive although the app has fetched it before; nil if these are changes. With
        /// `anotherLife` they may be older than what the app has (``CKRecord/versionOrder(relativeTo:)``). CloudKit has
        /// no such property.
        public internal(set) var fullFetchReason: TidemarkFullFetch.Reason?
        /// Whether they arrive because the app called ``CKSyncEngine/resync(_:)``. Then store even those of which you have
        /// this version already. CloudKit has no such property.
        public internal(set) var isResync = false

        /// For logs.
        public var description: String {
            "FetchedRecordZoneChanges(modifications: \(modifications.count), deletions: \(deletions.count))"
        }
    }

    /// The result of sending changes of zones.
    public struct SentDatabaseChanges: Sendable, CustomStringConvertible {
        /// Saved zones in their current state on the server.
        public let savedZones: [CKRecordZone]
        /// Zones that could not be saved.
        public let failedZoneSaves: [FailedZoneSave]
        /// Zones that were deleted.
        public let deletedZoneIDs: [CKRecordZone.ID]
        /// Zones that could not be deleted.
        public let failedZoneDeletes: [CKRecordZone.ID: CKError]

        /// For logs.
        public var description: String {
            """
            SentDatabaseChanges(saved: \(savedZones.count), failed saves: \(failedZoneSaves.count), \
            deleted: \(deletedZoneIDs.count), failed deletes: \(failedZoneDeletes.count))
            """
        }

        /// A zone that could not be saved.
        public struct FailedZoneSave: Sendable, CustomStringConvertible {
            /// The zone as it was sent.
            public let zone: CKRecordZone
            /// Why it failed. After the errors of R-373 the engine tries again on its own.
            public let error: CKError

            /// For logs.
            public var description: String { "FailedZoneSave(\(zone.zoneID.shortDescription), \(error.code))" }
        }
    }

    /// The result of sending one batch of changes of records. It names only what was in that batch.
    public struct SentRecordZoneChanges: Sendable, CustomStringConvertible {
        /// Saved records in their current version on the server, with their new tags.
        public let savedRecords: [CKRecord]
        /// Records that could not be saved.
        public let failedRecordSaves: [FailedRecordSave]
        /// Records that were deleted.
        public let deletedRecordIDs: [CKRecord.ID]
        /// Records that could not be deleted.
        public let failedRecordDeletes: [CKRecord.ID: CKError]

        /// For logs.
        public var description: String {
            """
            SentRecordZoneChanges(saved: \(savedRecords.count), failed saves: \(failedRecordSaves.count), \
            deleted: \(deletedRecordIDs.count), failed deletes: \(failedRecordDeletes.count))
            """
        }

        /// A record that could not be saved.
        public struct FailedRecordSave: Sendable, CustomStringConvertible {
            /// The record as it was sent.
            public let record: CKRecord
            /// Why it failed. After the errors of R-373 the engine keeps the change pending and tries again on its own.
            /// After any other error the change is no longer pending; the app adds it again if it is still wanted
            ///
            public let error: CKError

            /// For logs.
            public var description: String { "FailedRecordSave(\(record.recordID.shortDescription), \(error.code))" }
        }
    }
}
