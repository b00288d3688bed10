// SPDX-License-Identifier: Apache-2.0

/// The rows of one share that one change writes. The same transaction gives the CKShare record a new version with the
/// same number, so it is in everybody's feed.
package struct SharingChanges: Hashable, Sendable {
    package let share: ShareNumber
    /// The number of the change in the zone.
    package let number: ChangeNumber
    /// The share's row, if it is new.
    package var insertedShare: Share?
    /// The share's row, if it is changed or ended.
    package var updatedShare: Share?
    /// The secret of the URL, if the zone had none.
    package var insertedSecret: [UInt8]?
    /// New rows. Insert them after the others are written: a user has one row.
    package var inserted: [Participant] = []
    /// Rows with other values, by their IDs.
    package var updated: [Participant] = []
    /// Rows that end with this change, as they are afterwards.
    package var ended: [Participant] = []
    /// Rows to delete, before all others are written.
    package var forgotten: [ParticipantID] = []
    /// New rows of those who have asked for access, or may not.
    package var insertedRequests: [AccessRequest] = []
    /// The same rows with other values, by their users.
    package var updatedRequests: [AccessRequest] = []
    /// The users whose rows of requests are deleted.
    package var droppedRequests: [UserID] = []
    /// Ended shares to delete with their participants.
    package var forgottenShares: [ShareNumber] = []
    /// Shares of hierarchies that have ended: stored rows of the records that they covered have no meaning any more. Some of it is deleted
    /// with this change, no more than one request may add (``Limits/shareSubtreeMax``).
    package var endedHierarchies: [ShareNumber] = []

    /// How many rows there are more afterwards. The link of a root may be there already.
    var addedRowCount: Int {
        inserted.count + (insertedShare.map { $0.isOfHierarchy ? 2 : 1 } ?? 0) - forgotten.count
            + insertedRequests.count - droppedRequests.count
    }

    package init(_ share: ShareNumber, at number: ChangeNumber) {
        self.share = share
        self.number = number
    }
}
