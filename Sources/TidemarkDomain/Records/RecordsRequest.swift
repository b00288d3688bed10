// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// Saves and deletes in one zone. The request is atomic, ordered (I-3) and remembered as a unit.
///
/// A client's request for several zones is split into one of these for each zone, all with the same id. The zones may
/// be in several databases.
///
/// NB: a class, as is ``RecordSave``. Copying a value with so many parts through so many functions costs more than the
/// work of the rules.
package final class RecordsRequest: Sendable {
    package let id: RequestID
    package let key: ZoneKey
    package let saves: [RecordSave]
    package let deletes: [String]
    package let policy: SavePolicy
    /// Whether all items fail if one of them fails.
    package let isAtomic: Bool
    package let user: UserID
    /// The user's permissions in this database. In the public database, the grants come from the schema that holds when
    /// the request is decided. It has no default, so that a caller who forgets it does not act as an owner.
    package let access: RecordAccess
    /// The client change token, returned with the zone's changes; empty if there is none.
    package let clientToken: [UInt8]
    /// Bytes of the fields of all saves. It and the next property are computed once, because every layer asks for them.
    package let fieldsByteCount: Int
    /// whether two items have the same record.
    let namesRecordTwice: Bool

    package init(
        id: RequestID, key: ZoneKey, saves: [RecordSave], deletes: [String], policy: SavePolicy, isAtomic: Bool,
        user: UserID, access: RecordAccess, clientToken: [UInt8] = []
    ) {
        self.id = id
        self.key = key
        self.saves = saves
        self.deletes = deletes
        self.policy = policy
        self.isAtomic = isAtomic
        self.user = user
        self.access = access
        self.clientToken = clientToken
        fieldsByteCount = saves.reduce(0) { $0 + $1.fields.byteCount }
        let count = saves.count + deletes.count
        namesRecordTwice = count > 1 && Set(saves.map(\.name) + deletes).count < count
    }

    /// The same request, with the data that is known only within the transaction.
    ///
    /// - Parameter refusals: saves that do not fit the schema, by their positions, and why.
    package func with(access: RecordAccess, refusals: [(save: Int, refusal: SchemaRefusal)]) -> RecordsRequest {
        var saves = saves
        for (index, refusal) in refusals { saves[index] = saves[index].refused(refusal) }
        return RecordsRequest(
            id: id, key: key, saves: saves, deletes: deletes, policy: policy, isAtomic: isAtomic, user: user,
            access: access, clientToken: clientToken)
    }

    /// Whether it saves a CKShare record.
    package var savesShare: Bool { saves.contains { $0.share != nil } }

    /// Whether it invites somebody by a one-time link.
    package var invitesByLink: Bool { saves.contains { $0.share?.invitesByLink ?? false } }

    /// The same request, with a new random secret for each one-time link.
    package func givingLinks(_ secret: () -> [UInt8]) -> RecordsRequest {
        guard invitesByLink else { return self }
        return RecordsRequest(
            id: id, key: key, saves: saves.map { $0.givingLinks(secret) }, deletes: deletes, policy: policy,
            isAtomic: isAtomic, user: user, access: access, clientToken: clientToken)
    }

    /// The life in whose memory the outcome is kept, and which gets no push for its own changes.
    package var memoryLife: DeviceID { access.marking(id.life) }

    /// The device that is named as the creator of records and with client change tokens.
    package var memoryDevice: DeviceID { access.marking(id.device) }
}

/// One record to be saved.
package final class RecordSave: Sendable {
    package let name: String
    package let type: String
    /// The tag of the client's copy; nil if the copy has none, because the client made the record itself.
    package let tag: ChangeTag?
    /// The keys that the policy sends (R-090 ff.). Keys that were set to nil are `removed`.
    package let fields: FieldMap
    package let parent: ParentChange
    /// The fault of the fields when they were read. Only this item fails with it. The size of the record
    /// is not checked here: the rules judge it.
    package let fieldsFailure: FailureReason?
    /// Why the save does not fit the schema, once it has been checked.
    package let schemaRefusal: SchemaRefusal?
    /// The assets that the fields name; they must have been uploaded before.
    package let assets: [FieldAsset]
    /// The ids of the zone's keys with which values are encrypted.
    package let zoneKeyIDs: [[UInt8]]
    /// Whether this is the caller's own user record in a default zone. Only it may have a user record's name and the
    /// type `Users`.
    package let isOwnUser: Bool
    private let shareSaved: SavedShare?

    /// - Parameters:
    ///   - share: of a CKShare record: what becomes of the share. If nothing is said of it, only fields change.
    ///   - freshSecret: with it: a random secret for the URL, which is used if the zone has none.
    package init(
        name: String, type: String, tag: ChangeTag?, fields: FieldMap, parent: ParentChange,
        fieldsFailure: FailureReason? = nil, isOwnUser: Bool = false, share: ShareSave? = nil,
        freshSecret: [UInt8] = []
    ) {
        self.name = name
        self.type = type
        self.tag = tag
        self.fields = fields
        self.parent = parent
        self.isOwnUser = isOwnUser
        let said = share ?? (Share.isType(type) ? ShareSave(recordName: name, tag: tag) : nil)
        shareSaved = said.map { SavedShare(save: $0, freshSecret: freshSecret) }
        schemaRefusal = nil
        let zoneKeyIDs = fields.sealingKeyIDs
        self.zoneKeyIDs = zoneKeyIDs ?? []
        self.fieldsFailure = fieldsFailure ?? (zoneKeyIDs == nil ? .valueNotEncrypted : nil)
        assets = fields.assets
    }

    private init(_ save: RecordSave, _ refusal: SchemaRefusal?, _ share: SavedShare?) {
        (name, type, tag, fields, parent) = (save.name, save.type, save.tag, save.fields, save.parent)
        (fieldsFailure, assets, zoneKeyIDs) = (save.fieldsFailure, save.assets, save.zoneKeyIDs)
        isOwnUser = save.isOwnUser
        schemaRefusal = refusal
        shareSaved = share
    }

    /// The same save, refused because it does not fit the schema.
    func refused(_ refusal: SchemaRefusal) -> RecordSave { RecordSave(self, refusal, shareSaved) }

    /// The same save of a CKShare record, with a random secret for the URL.
    package func with(freshSecret: [UInt8]) -> RecordSave {
        RecordSave(self, schemaRefusal, shareSaved.map { SavedShare(save: $0.save, freshSecret: freshSecret) })
    }

    /// The same save, with a new random secret for each one-time link.
    func givingLinks(_ secret: () -> [UInt8]) -> RecordSave {
        guard let saved = shareSaved, saved.save.invitesByLink else { return self }
        return RecordSave(
            self, schemaRefusal,
            SavedShare(save: saved.save.givingLinks(secret), freshSecret: saved.freshSecret))
    }

    /// Whether a CKShare record is saved.
    var isShare: Bool { shareSaved != nil }
    /// The share's part of the save; nil for all other records.
    package var share: ShareSave? { shareSaved?.save }
    /// A random secret for the URL of the share.
    var freshSecret: [UInt8] { shareSaved?.freshSecret ?? [] }
}

/// The data in a save of a CKShare record beside its fields.
///
/// NB: an object, so that in other saves it takes the room of a pointer.
private final class SavedShare: Sendable {
    let save: ShareSave
    let freshSecret: [UInt8]

    init(save: ShareSave, freshSecret: [UInt8]) {
        self.save = save
        self.freshSecret = freshSecret
    }
}

/// A save's effect on a record's parent.
package enum ParentChange: Sendable, Equatable {
    case unchanged
    case set(String)
    case removed
}

/// The versions that a save may overwrite (section 5 of the rules). Raw values are CloudKit's.
package enum SavePolicy: Int, Sendable, CaseIterable {
    case ifServerRecordUnchanged = 0
    case changedKeys = 1
    case allKeys = 2
}
