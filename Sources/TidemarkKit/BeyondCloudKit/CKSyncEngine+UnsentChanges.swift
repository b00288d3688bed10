// SPDX-License-Identifier: Apache-2.0

/// The unsent changes of an account that is gone. CloudKit drops them silently.
///
/// They are never sent for another account. If the app deletes the account's data when the account is gone, it does not
/// have to do anything. If it keeps the data, it keeps this list too, and adds the changes again when that account is
/// back. If it gives the data to the new account, it adds them at once.
extension CKSyncEngine.Event.AccountChange {
    /// Changes of records that were not sent yet, and changes that were being sent. Some of the latter may have
    /// arrived. The list includes changes that were added before this event, even just now, after another account was
    /// signed in.
    public var unsentRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
        unsent.flatMap(\.records.elements)
    }

    /// Changes of zones, as ``unsentRecordZoneChanges``.
    public var unsentDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] { unsent.flatMap(\.zones.elements) }

    /// Whether `hasPendingUntrackedChanges` was set for an account that is gone.
    public var hasUnsentUntrackedChanges: Bool { unsent.contains(where: \.hasUntrackedChanges) }
}
