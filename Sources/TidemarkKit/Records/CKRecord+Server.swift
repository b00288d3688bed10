// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import TidemarkFields

/// The data that is sent to save a record: a copy of its changes at one moment.
package struct RecordChanges: Sendable {
    /// The change that the save makes to the record's parent.
    package enum ParentEdit: Sendable, Hashable {
        case unchanged
        case set(recordName: String)
        case removed
    }

    package let recordID: CKRecord.ID
    package let recordType: CKRecord.RecordType
    /// Empty if the record was never fetched or saved.
    package let tag: [UInt8]
    /// The keys to write. Keys that were set to nil are removals.
    package let fields: FieldMap
    package let parent: ParentEdit
    /// For a share: what the save says of it beside the fields.
    let share: ShareEdit?
    /// The record of a new share, if this record is its root. The share is saved with it.
    let newShareID: CKRecord.ID?
    /// Tells ``CKRecord/apply(_:savedBy:)`` which changes these are.
    let generation: Int
}

extension CKRecord {
    /// A record from the server. `fields` must have been validated; they are decoded on first use.
    package convenience init(
        recordID: CKRecord.ID, recordType: CKRecord.RecordType, fields: FieldMap, metadata: ServerMetadata,
        parentName: String? = nil, share: CKRecord.Reference? = nil
    ) {
        let state = RecordContents(
            fields: fields, metadata: metadata, parentName: parentName, share: share, zoneID: recordID.zoneID)
        self.init(recordType: recordType, recordID: recordID, state: state)
    }

    /// An object of the record type's class: shares are `CKShare`s.
    ///
    /// - Parameter sharing: of a share, if it is known.
    static func object(
        recordType: RecordType, recordID: CKRecord.ID, state: RecordContents, sharing: ShareState? = nil
    ) -> CKRecord {
        recordType == SystemType.share
            ? CKShare(recordID: recordID, state: state, sharing: sharing)
            : CKRecord(recordType: recordType, recordID: recordID, state: state)
    }

    /// The server's fields, as far as they were fetched or saved.
    package var originalFields: FieldMap {
        state.withLock { $0.original }
    }

    /// The data that must be sent to save this record: its changed keys, or all its keys and the removed ones.
    ///
    /// - Parameter assets: the content of assets that were not fetched.
    /// - Throws: `invalidArguments` if a key or value cannot be saved.
    ///   `limitExceeded` if the record is too large. For a share, also the errors of ``CKShare/edit()``.
    func changes(all: Bool, assets: FieldObjects.Assets = [:]) throws(CKError) -> RecordChanges {
        let edit = try (self as? CKShare)?.edit()
        let snapshot = unpacked { $0 }
        var fields: [Field] = []
        for (key, object) in sent(snapshot.plain, all: all) {
            fields.append(Field(key, try value(of: object, key: key, assets)))
        }
        for (key, object) in sent(snapshot.encrypted, all: all) {
            if object is CKAsset { throw Self.notEncryptable(key) }
            let value = try value(of: object, key: key, assets)
            guard value == .removed || value.type.isEncryptable else { throw Self.notEncryptable(key) }
            fields.append(Field(key, value, isEncrypted: true))
        }
        return RecordChanges(
            recordID: recordID, recordType: recordType, tag: snapshot.metadata?.tag ?? [], fields: try map(of: fields),
            parent: try parentChange(snapshot), share: edit,
            newShareID: snapshot.shareChange == nil ? nil : snapshot.share?.recordID, generation: snapshot.generation)
    }

    /// The assets in the result of ``changes(all:assets:)``.
    func sentAssets(all: Bool) -> [CKAsset] {
        let snapshot = unpacked { $0 }
        return sent(snapshot.plain, all: all).flatMap { _, object -> [CKAsset] in
            if let asset = object as? CKAsset { return [asset] }
            return (object as? NSArray)?.compactMap { $0 as? CKAsset } ?? []
        }
    }

    /// The record's assets on the server, as far as its fields were fetched.
    var serverAssets: [FieldAsset] {
        state.withLock { $0.original.assets }
    }

    /// The asset of each place that has one.
    var serverAssetPlaces: [FieldAsset] {
        state.withLock { $0.original.assetPlaces }
    }

    /// Sets the files of the server's assets, one for each place. Only for a record that nobody has seen yet.
    func place(_ files: [FieldAsset: [URL]]) {
        state.withLock { $0.files = files }
    }

    /// The files of the server's assets, one for each place.
    var files: [FieldAsset: [URL]] { state.withLock { $0.files } }

    /// Applies the server's answer to a save: a new tag, and no changes left that were saved.
    ///
    /// Changes made after `changes` was taken remain.
    ///
    /// - Parameter metadata: nil if the record may lack what the server has. Then it keeps its tag, so that the next save
    ///   is a conflict.
    package func apply(_ metadata: ServerMetadata?, savedBy changes: RecordChanges) {
        let isTaken = state.withLock { state -> Bool in
            guard state.takesAnswer(to: changes) else { return false }
            state.unpack(zoneID: recordID.zoneID)
            if let metadata { state.metadata = metadata }
            state.original = state.original.merging(changes.fields)
            state.plain.changes = state.plain.changes.filter { $0.value > changes.generation }
            state.encrypted.changes = state.encrypted.changes.filter { $0.value > changes.generation }
            switch changes.parent {
            case .unchanged: break
            case .set(let recordName):
                let recordID = CKRecord.ID(recordName: recordName, zoneID: recordID.zoneID)
                state.originalParent = CKRecord.Reference(recordID: recordID, action: .none)
            case .removed: state.originalParent = nil
            }
            if let change = state.parentChange, change <= changes.generation { state.parentChange = nil }
            return true
        }
        if isTaken, let edit = changes.share { (self as? CKShare)?.saved(edit) }
    }

    /// Takes over the whole record as it is after a save, if the save changed a version that this record was not.
    ///
    /// Changes made after `changes` was taken remain. Assets that this record has keep their files. Others have none, as
    /// in a conflict.
    package func apply(_ server: CKRecord, savedBy changes: RecordChanges) {
        let share = server as? CKShare
        let server = server.unpacked { $0 }
        let isTaken = state.withLock { state -> Bool in
            guard state.takesAnswer(to: changes) else { return false }
            state.unpack(zoneID: recordID.zoneID)
            let mine = state.original.merging(changes.fields).assetFields
            let theirs = server.original.assetFields
            state.plain.follow(
                server.plain, after: changes.generation, keeping: theirs.keys.filter { mine[$0] == theirs[$0] })
            state.encrypted.follow(server.encrypted, after: changes.generation, keeping: [])
            state.metadata = server.metadata
            state.original = server.original
            state.originalParent = server.originalParent
            // Unless the server knows of a share, a new one is still to be saved.
            if server.originalShare != nil || state.shareChange == nil {
                state.followShare(server.originalShare, after: changes.generation)
            }
            guard state.parentChange ?? 0 <= changes.generation else { return true }
            state.parentChange = nil
            state.parent = server.parent
            return true
        }
        if isTaken, let share, let edit = changes.share { (self as? CKShare)?.follow(share, savedBy: edit) }
    }

    /// The record before its changes: with its tag, and with the fields and the parent as they were last fetched or
    /// saved. It has no fields if only its system fields were kept.
    package func ancestor() -> CKRecord {
        var state = state.withLock { $0 }
        state.plain = RecordContents.KeySpace()
        state.encrypted = RecordContents.KeySpace()
        state.parent = state.originalParent
        state.parentChange = nil
        state.share = state.originalShare
        state.shareChange = nil
        state.isPacked = true
        if let share = self as? CKShare { return share.ancestor(state) }
        return CKRecord.object(recordType: recordType, recordID: recordID, state: state)
    }

    /// Replaces the fields that arrived by their decrypted form. Only for a record that nobody has seen yet.
    func replaceOriginal(_ fields: FieldMap) {
        state.withLock { $0.original = fields }
    }

    // MARK: Parts

    ///
    private static func notEncryptable(_ key: FieldKey) -> CKError {
        CKError(
            .invalidArguments,
            message:
                "\(key) is in encryptedValues, but assets and references cannot be encrypted. Set it on the record."
        )
    }

    private func sent(_ space: RecordContents.KeySpace, all: Bool) -> [(key: FieldKey, object: NSObject?)] {
        let keys = all ? Set(space.values.keys).union(space.changes.keys) : Set(space.changes.keys)
        return keys.sorted().map { ($0, space.values[$0]) }
    }

    private func value(
        of object: NSObject?, key: FieldKey, _ assets: FieldObjects.Assets
    ) throws(CKError) -> FieldValue {
        guard let object else { return .removed }
        do throws(FieldObjects.UnstorableObject) {
            return try FieldObjects.value(of: object, zoneID: recordID.zoneID, assets: assets)
        } catch {
            throw CKError(.invalidArguments, message: "\(key) \(error.text)")
        }
    }

    ///
    private func map(of fields: [Field]) throws(CKError) -> FieldMap {
        let rule: FieldKeyRule = recordType == SystemType.share ? .share : .app
        if let field = fields.first(where: { !rule.allows($0.key) }) {
            throw CKError(
                .invalidArguments,
                message:
                    "\(field.key) is not a possible key. Use a letter, then letters, digits and underscores.")
        }
        do throws(FieldError) {
            return try FieldMap(fields, keys: rule)
        } catch {
            switch error.code {
            case .tooLarge:
                throw CKError(
                    .limitExceeded,
                    message:
                        "record too large: its fields have more than \(FieldLimits.standard.byteCountMax) bytes. Keep large "
                        + "data in an asset.")
            case .duplicateKey:
                throw CKError(
                    .invalidArguments,
                    message: "a key is both plain and encrypted. Use another key for one of the values.")
            default: throw CKError(.invalidArguments, message: error.description)
            }
        }
    }

    ///
    private func parentChange(_ state: RecordContents) throws(CKError) -> RecordChanges.ParentEdit {
        guard state.parentChange != nil else { return .unchanged }
        guard let parent = state.parent else { return .removed }
        guard parent.action == .none, parent.recordID.zoneID == recordID.zoneID else {
            throw CKError(
                .invalidArguments,
                message:
                    "the parent must be in the same zone, with a reference of the action none. Use setParent(_:)."
            )
        }
        return .set(recordName: parent.recordID.recordName)
    }
}

extension FieldMap {
    /// The fields with files, by key.
    fileprivate var assetFields: [CKRecord.FieldKey: FieldValue] {
        guard mayNameOthers else { return [:] }
        var fields: [CKRecord.FieldKey: FieldValue] = [:]
        for entry in self where entry.type == .asset || entry.type == .assetList {
            fields[entry.key] = try? entry.value()
        }
        return fields
    }
}
