// SPDX-License-Identifier: Apache-2.0

/// The stored data of a record on which permissions depend.
///
/// ``RecordAccess/effectivePermission(on:)`` takes it. So a stored record, a record that would be new, and one with
/// only this data are judged alike.
package struct RecordPlace: Hashable, Sendable {
    package let type: String
    /// The user who created the record; nil if it does not exist yet.
    package let creator: UserID?
    /// The living share of a hierarchy that covers the record; nil if none does. The share of a whole zone covers
    /// every record, and is not named here.
    package let share: ShareNumber?

    /// - Parameter creator: nil for a record that does not exist yet.
    package init(type: String, creator: UserID?, share: ShareNumber? = nil) {
        self.type = type
        self.creator = creator
        self.share = share
    }

    package init(of record: RecordState) {
        self.init(type: record.type, creator: record.createdBy, share: record.share)
    }
}
