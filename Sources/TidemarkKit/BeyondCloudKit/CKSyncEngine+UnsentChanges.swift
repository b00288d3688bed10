// SPDX-License-Identifier: Apache-2.0

/// What an account that is gone has left. CloudKit forgets it without a word.
///
/// It is never sent for another account. An app that deletes an account's data when it is told that the account is gone has
/// nothing to do. One that keeps the data keeps this list with it, and adds the changes again when that account is back; one
/// that hands the data over to the new account adds them at once.
extension CKSyncEngine.Event.AccountChange {
    /// Changes of records that were still to be sent, and those that were being sent: some of these may have arrived. With
    /// them is what was added before this event, also just now, after another account was signed in.
    public var unsentRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
        unsent.flatMap(\.records.elements)
    }

    /// Changes of zones, as ``unsentRecordZoneChanges``.
    public var unsentDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] { unsent.flatMap(\.zones.elements) }

    /// Whether `hasPendingUntrackedChanges` was set for an account that is gone.
    public var hasUnsentUntrackedChanges: Bool { unsent.contains(where: \.hasUntrackedChanges) }
}
