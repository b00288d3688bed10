// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// Saves and deletes in one zone: the unit that is atomic, ordered (I-3) and remembered.
///
/// A client's request over several zones is cut into one of these a zone, all with the same id.
///
/// NB: a class, as is ``RecordSave``: what has so many parts and goes through so many hands costs more to copy than all
/// that the rules do with it.
package final class RecordsRequest: Sendable {
    package let id: RequestID
    package let zoneName: String
    package let saves: [RecordSave]
    package let deletes: [String]
    package let policy: SavePolicy
    /// Whether one failing item fails all of them.
    package let isAtomic: Bool
    package let user: UserID
    /// What the user may do in this database. In the public one the grants are those of the schema that holds when the
    /// request is decided.
    package let access: RecordAccess
    /// The client's own mark, given back with the zone's changes; empty: none.
    package let clientToken: [UInt8]
    /// Of the fields of all saves; counted once, and asked for at every door, as is the next.
    package let fieldsByteCount: Int
    ///
    let namesRecordTwice: Bool

    package init(
        id: RequestID, zoneName: String, saves: [RecordSave], deletes: [String], policy: SavePolicy, isAtomic: Bool,
        user: UserID, access: RecordAccess? = nil, clientToken: [UInt8] = []
    ) {
        self.id = id
        self.zoneName = zoneName
        self.saves = saves
        self.deletes = deletes
        self.policy = policy
        self.isAtomic = isAtomic
        self.user = user
        self.access = access ?? .owner(user)
        self.clientToken = clientToken
        fieldsByteCount = saves.reduce(0) { $0 + $1.fields.byteCount }
        let count = saves.count + deletes.count
        namesRecordTwice = count > 1 && Set(saves.map(\.name) + deletes).count < count
    }

    /// The same request with what only the transaction knows.
    ///
    /// - Parameter refusals: why saves do not fit the schema, by their places.
    package func with(access: RecordAccess, refusals: [(save: Int, refusal: SchemaRefusal)]) -> RecordsRequest {
        var saves = saves
        for (index, refusal) in refusals { saves[index] = saves[index].refused(refusal) }
        return RecordsRequest(
            id: id, zoneName: zoneName, saves: saves, deletes: deletes, policy: policy, isAtomic: isAtomic, user: user,
            access: access, clientToken: clientToken)
    }

    /// Whose memory the outcome goes to. All users of a public database share its zone, so there it is the
    /// life with the user mixed in: two accounts may use the same bits.
    package var memoryLife: DeviceID {
        access.scope == .private ? id.life : id.life.marked(with: user)
    }
}

/// One record to be saved.
package final class RecordSave: Sendable {
    package let name: String
    package let type: String
    /// The tag that the client's copy carries; nil if it has none (the client made the record itself).
    package let tag: ChangeTag?
    /// The keys that the policy sends (R-090 ff.), those set to nil as `removed`.
    package let fields: FieldMap
    package let parent: ParentChange
    /// What was found wrong with the fields when they were read: the item fails with it, and alone. The
    /// size of a record is not among it, that is for the rules to judge.
    package let fieldsFailure: FailureReason?
    /// Why the save does not fit the schema, once it has been held against it.
    package let schemaRefusal: SchemaRefusal?
    /// The assets that the fields name; they must have been uploaded before.
    package let assets: [FieldAsset]
    /// The ids of the zone's keys with which values are encrypted.
    package let zoneKeyIDs: [[UInt8]]
    /// Whether this is the user record of whoever saves it, in a default zone: it has a name that no other record may have,
    /// and the type `Users`.
    package let isOwnUser: Bool

    package init(
        name: String, type: String, tag: ChangeTag?, fields: FieldMap, parent: ParentChange,
        fieldsFailure: FailureReason? = nil, isOwnUser: Bool = false
    ) {
        self.name = name
        self.type = type
        self.tag = tag
        self.fields = fields
        self.parent = parent
        self.isOwnUser = isOwnUser
        schemaRefusal = nil
        let zoneKeyIDs = fields.sealingKeyIDs
        self.zoneKeyIDs = zoneKeyIDs ?? []
        self.fieldsFailure = fieldsFailure ?? (zoneKeyIDs == nil ? .valueNotEncrypted : nil)
        assets = fields.assets
    }

    private init(_ save: RecordSave, _ refusal: SchemaRefusal) {
        (name, type, tag, fields, parent) = (save.name, save.type, save.tag, save.fields, save.parent)
        (fieldsFailure, assets, zoneKeyIDs) = (save.fieldsFailure, save.assets, save.zoneKeyIDs)
        isOwnUser = save.isOwnUser
        schemaRefusal = refusal
    }

    /// The same save, which does not fit the schema.
    func refused(_ refusal: SchemaRefusal) -> RecordSave { RecordSave(self, refusal) }
}

/// What a save does to a record's parent.
package enum ParentChange: Sendable, Equatable {
    case unchanged
    case set(String)
    case removed
}

/// What a save may overwrite (section 5 of the rules). Raw values are those of CloudKit.
package enum SavePolicy: Int, Sendable, CaseIterable {
    case ifServerRecordUnchanged = 0
    case changedKeys = 1
    case allKeys = 2
}
