// SPDX-License-Identifier: Apache-2.0

/// What permission on a record depends on, of all that is stored of it.
///
/// ``RecordAccess/effectivePermission(on:)`` is asked of it, so that a record that is stored, one that would be new and
/// one of which only this was read are judged alike.
package struct RecordPlace: Hashable, Sendable {
    package let type: String
    /// The user who created the record; nil if it does not exist yet.
    package let creator: UserID?

    /// - Parameter creator: nil for a record that does not exist yet.
    package init(type: String, creator: UserID?) {
        self.type = type
        self.creator = creator
    }

    package init(of record: RecordState) {
        self.init(type: record.type, creator: record.createdBy)
    }
}
