// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// A record as it is stored: its latest version, or the tombstone that it left.
package struct RecordState: Sendable, Equatable {
    package let name: String
    package var type: String
    /// Empty in a tombstone.
    package var fields: FieldMap
    /// The number of the change that made this version; it is the record's change tag within the zone's incarnation.
    package var changeNumber: ChangeNumber
    package var isDeleted: Bool
    /// The record name of the parent in the same zone.
    package var parent: String?
    package var createdAt: Timestamp
    package var createdBy: UserID
    /// The device that created the record: a first fetch by it also gets the record's tombstone.
    package var createdByDevice: DeviceID
    package var modifiedAt: Timestamp
    package var modifiedBy: UserID
    /// The last change number of the atomic batch in which this version was written: a page ends there if it can (I-3).
    package var batchEnd: ChangeNumber

    package init(
        name: String, type: String, fields: FieldMap, changeNumber: ChangeNumber, isDeleted: Bool, parent: String?,
        createdAt: Timestamp, createdBy: UserID, createdByDevice: DeviceID, modifiedAt: Timestamp, modifiedBy: UserID,
        batchEnd: ChangeNumber
    ) {
        self.name = name
        self.type = type
        self.fields = fields
        self.changeNumber = changeNumber
        self.isDeleted = isDeleted
        self.parent = parent
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.createdByDevice = createdByDevice
        self.modifiedAt = modifiedAt
        self.modifiedBy = modifiedBy
        self.batchEnd = batchEnd
    }
}
