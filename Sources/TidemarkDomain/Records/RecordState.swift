// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// One version of a record as it is stored: the latest version, or the tombstone of a deleted record.
///
/// NB: a class whose objects do not change, like ``RecordsRequest``. A record passes through many functions, and a
/// structure with so many parts would be copied by most of them. Only its change number is set later, with the two
/// properties that belong to it. The code that made it sets them once, before the object is shared. So it is safe to
/// send.
package final class RecordState: @unchecked Sendable {
    package let name: String
    package let type: String
    /// Empty in a tombstone.
    package let fields: FieldMap
    /// The number of the change that made this version. Within the zone's incarnation it is the record's change tag. 0
    /// until the version is written.
    package private(set) var changeNumber: ChangeNumber
    package let isDeleted: Bool
    /// The record name of the parent in the same zone.
    package let parent: String?
    package let createdAt: Timestamp
    package let createdBy: UserID
    /// The device that created the record, as ``RecordsRequest/memoryDevice``. Its first fetch includes the record's
    /// tombstone.
    package let createdByDevice: DeviceID
    package let modifiedAt: Timestamp
    package let modifiedBy: UserID
    /// The last change number of the atomic batch that wrote this version. If possible, a page ends there (I-3).
    package private(set) var batchEnd: ChangeNumber
    /// The cause of this version; nil: it is not known, or was not read. It is not part of the version: two versions are equal
    /// whatever their causes.
    package private(set) var cause: ChangeCause?
    /// The living share of a hierarchy that covers the record; nil: none does, or it was not read. It is not part of the version either: a
    /// record gets another share without a change when one of its ancestors moves.
    package let share: ShareNumber?
    /// For the root of a hierarchy: the name of its living CKShare record. It is read with the record, as ``share`` is.
    package let shareName: String?

    package init(
        name: String, type: String, fields: FieldMap, changeNumber: ChangeNumber, isDeleted: Bool, parent: String?,
        createdAt: Timestamp, createdBy: UserID, createdByDevice: DeviceID, modifiedAt: Timestamp, modifiedBy: UserID,
        batchEnd: ChangeNumber, cause: ChangeCause? = nil, share: ShareNumber? = nil,
        shareName: String? = nil
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
        self.cause = cause
        self.share = share
        self.shareName = shareName
    }

    /// The version that a save makes of the record, without its change number.
    func version(
        _ fields: FieldMap, parent: String?, isDeleted: Bool = false, at modifiedAt: Timestamp, by modifiedBy: UserID
    ) -> RecordState {
        RecordState(
            name: name, type: type, fields: fields, changeNumber: 0, isDeleted: isDeleted, parent: parent,
            createdAt: createdAt, createdBy: createdBy, createdByDevice: createdByDevice, modifiedAt: modifiedAt,
            modifiedBy: modifiedBy, batchEnd: 0, share: share, shareName: shareName)
    }

    /// The same version, in this place of the zone's shared hierarchies.
    package func covered(by share: ShareNumber?, asRootOf shareName: String? = nil) -> RecordState {
        guard share != self.share || shareName != self.shareName else { return self }
        return RecordState(
            name: name, type: type, fields: fields, changeNumber: changeNumber, isDeleted: isDeleted, parent: parent,
            createdAt: createdAt, createdBy: createdBy, createdByDevice: createdByDevice, modifiedAt: modifiedAt,
            modifiedBy: modifiedBy, batchEnd: batchEnd, cause: cause, share: share,
            shareName: shareName)
    }

    /// As somebody is shown it who sees it through a share of a hierarchy: a root's own parent is outside.
    package var withoutRootParent: RecordState {
        guard shareName != nil, parent != nil else { return self }
        return RecordState(
            name: name, type: type, fields: fields, changeNumber: changeNumber, isDeleted: isDeleted, parent: nil,
            createdAt: createdAt, createdBy: createdBy, createdByDevice: createdByDevice, modifiedAt: modifiedAt,
            modifiedBy: modifiedBy, batchEnd: batchEnd, cause: cause, share: share, shareName: shareName)
    }

    /// the date of the next version. It is later than those of all versions until now, even if the clock stood
    /// still or was set back.
    func nextDate(at now: Timestamp) -> Timestamp {
        modifiedAt < now ? now : Timestamp(milliseconds: modifiedAt.milliseconds + 1)
    }

    /// A version of a CKShare record in which nothing differs but the date: its share has changed. It was not
    /// edited, so it names the same user as before.
    func touched(at now: Timestamp) -> RecordState {
        version(fields, parent: parent, at: nextDate(at: now), by: modifiedBy)
    }

    /// The tombstone that the record leaves.
    func tombstone(at now: Timestamp, by user: UserID) -> RecordState {
        version(FieldMap(), parent: nil, isDeleted: true, at: nextDate(at: now), by: user)
    }

    /// Sets the change number of a new version.
    func place(at changeNumber: ChangeNumber, batchEnd: ChangeNumber, cause: ChangeCause?) {
        precondition(self.changeNumber == 0)
        self.changeNumber = changeNumber
        self.batchEnd = batchEnd
        self.cause = cause
    }

    /// The cost of a record in the store beside its fields and names: an estimate of its row and the entries of
    /// indexes.
    package static let overheadBytes = 128

    /// The bytes of the tombstone that count beside a quota; 0 for a living record.
    package var tombstoneBytes: Int64 { isDeleted ? Int64(name.utf8.count + Self.overheadBytes) : 0 }

    /// The bytes of the record that count in a quota. A tombstone counts nothing, so a deletion always makes
    /// room.
    ///
    /// - Parameter fieldBytes: the bytes of its fields, which may not have been read.
    func countedBytes(fieldBytes: Int) -> Int64 {
        guard !isDeleted else { return 0 }
        let nameBytes = name.utf8.count + type.utf8.count + (parent?.utf8.count ?? 0)
        return Int64(fieldBytes + nameBytes + Self.overheadBytes)
    }

    /// The bytes of the assets that the record names, each once; 0 if its fields were not read.
    var assetBytes: Int64 { fields.assets.reduce(0) { $0 + $1.byteCount } }

    /// The version without its fields, for readers that need only its relations to others.
    package var withoutFields: RecordState {
        let version = version(FieldMap(), parent: parent, isDeleted: isDeleted, at: modifiedAt, by: modifiedBy)
        version.place(at: changeNumber, batchEnd: batchEnd, cause: cause)
        return version
    }
}

extension RecordState: Equatable {
    package static func == (left: RecordState, right: RecordState) -> Bool {
        if left === right { return true }
        return left.name == right.name && left.type == right.type && left.fields == right.fields
            && left.changeNumber == right.changeNumber && left.isDeleted == right.isDeleted
            && left.parent == right.parent && left.createdAt == right.createdAt && left.createdBy == right.createdBy
            && left.createdByDevice == right.createdByDevice && left.modifiedAt == right.modifiedAt
            && left.modifiedBy == right.modifiedBy && left.batchEnd == right.batchEnd
    }
}
