// SPDX-License-Identifier: Apache-2.0

extension TidemarkReplica {
    /// What an app is to do with its own data after an event, in this order.
    public enum Step: Sendable {
        /// Store what is in this record: somebody else's edit, or what came of merging it with an edit that is still to be sent.
        case store(CKRecord)
        /// Delete what is stored of this record: it is gone, and nothing of the user's is lost with it.
        case remove(CKRecord.ID)
        /// Delete all records: they are of an account that is signed in no more. What was still to be sent of them is
        /// in the replica, and comes back with `store` when that account signs in again. Files of assets are not in it: keep those
        /// of ``TidemarkReplica/unsentIDs``, as they were before this event.
        case removeAll
        /// A zone is gone; what is to be removed with it was removed by the steps before.
        ///
        /// `unsent` are records with edits that were still to be sent. They are saved as new records, in a new zone. If the
        /// user erased the zone (`purged`), that is only done if the app says so by ``TidemarkReplica/send(_:_:)``; or it
        /// drops them by ``TidemarkReplica/discard(_:_:)``.
        case zoneDeleted(CKRecordZone.ID, CKDatabase.DatabaseChange.Deletion.Reason, unsent: [CKRecord.ID])
        /// The server takes this edit for no time, and will not until something changes: tell the user. The edit stays on this
        /// device, and is sent again with the record's next edit, the next start, or ``TidemarkReplica/send(_:_:)``.
        case refused(CKRecord.ID, CKError)
        /// The server does not take this zone, and so none of its records; or it does not delete it. That is tried again at the next
        /// start.
        case zoneRefused(CKRecordZone.ID, CKError)
    }
}
