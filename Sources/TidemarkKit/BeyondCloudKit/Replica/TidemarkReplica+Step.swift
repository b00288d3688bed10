// SPDX-License-Identifier: Apache-2.0

extension TidemarkReplica {
    /// A step that an app must carry out with its own data after an event, in this order.
    public enum Step: Sendable {
        /// Store the values of this record. It is somebody else's edit, or its merge with an unsent edit.
        case store(CKRecord)
        /// Delete the app's data of this record. It is gone, and no edit of the user is lost with it.
        case remove(CKRecord.ID)
        /// Delete all records of this replica's database: they belong to an account that is no longer signed in. The replica of
        /// another database has its own step. That replica may already have restored the new user's unsent edits there.
        ///
        /// The replica keeps their unsent edits, and returns them with `store` when that account signs in again. It does
        /// not keep files of assets: keep those of ``TidemarkReplica/unsentIDs``, as they were before this event.
        case removeAll
        /// A zone is gone. Earlier steps have removed what had to be removed with it.
        ///
        /// `unsent` are records with unsent edits. They are saved as new records, in a new zone. If the user purged the
        /// zone, that happens only if the app calls ``TidemarkReplica/send(_:_:)``. It may drop them with
        /// ``TidemarkReplica/discard(_:_:)``.
        ///
        /// Another user's zone has ended for this user. Its owner has removed the zone or the user, or a restored server does not list the
        /// zone. Then `unsent` can be sent only once the zone is shared again. If a record comes again with the zone, its edit is merged
        /// with it and sent, and no step asks before. Changes that were new in the zone wait for ``TidemarkReplica/send(_:_:)``. To keep
        /// these edits from being sent later, drop them now.
        case zoneDeleted(CKRecordZone.ID, CKDatabase.DatabaseChange.Deletion.Reason, unsent: [CKRecord.ID])
        /// The server refuses this edit until something changes: tell the user. The edit stays on this device. It is
        /// sent again with the record's next edit, at the next start, or by ``TidemarkReplica/send(_:_:)``.
        case refused(CKRecord.ID, CKError)
        /// The server refuses this zone, and so all of its records; or it refuses to delete the zone. The deletion is
        /// tried again at the next start.
        case zoneRefused(CKRecordZone.ID, CKError)
    }
}
