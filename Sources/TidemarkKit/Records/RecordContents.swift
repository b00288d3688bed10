// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// Everything in a record that can change, under the record's lock.
struct RecordContents {
    /// A set of keys with their values: the plain or the encrypted ones.
    struct KeySpace {
        /// Immutable objects, from ``RecordObject``.
        var values: [CKRecord.FieldKey: NSObject] = [:]

        /// The keys that were set since the record was made, fetched or saved, with the ``generation`` of the change.
        var changes: [CKRecord.FieldKey: Int] = [:]

        /// Takes over the server's values, except where there are changes newer than `generation`.
        ///
        /// - Parameter kept: the keys of values that are the same, and whose objects stay.
        mutating func follow(_ server: KeySpace, after generation: Int, keeping kept: [CKRecord.FieldKey]) {
            changes = changes.filter { $0.value > generation }
            var values = server.values
            for key in kept { values[key] = self.values[key] ?? values[key] }
            for key in changes.keys { values[key] = self.values[key] }
            self.values = values
        }
    }

    var metadata: ServerMetadata?
    var parent: CKRecord.Reference?
    var share: CKRecord.Reference?

    /// The server's parent, as far as it was fetched or saved: an ancestor's.
    var originalParent: CKRecord.Reference?

    /// The generation in which the parent was changed, if it was.
    var parentChange: Int?

    /// The server's share, as far as it was fetched or saved: an ancestor's.
    var originalShare: CKRecord.Reference?

    /// The generation in which a share of this record was made, if it was not saved yet.
    var shareChange: Int?

    var plain = KeySpace()
    var encrypted = KeySpace()

    /// The server's fields, as far as they were fetched or saved: those of an ancestor.
    var original = FieldMap()

    /// The files of downloaded assets in `original`, one for each place.
    var files: [FieldAsset: [URL]] = [:]

    /// Whether `original` still has to be unpacked into the key spaces. Most records of a large fetch are never read.
    var isPacked = false

    /// Grows with every change, so that a save forgets only the changes that it carried.
    var generation = 0
    /// The generation of the last save whose answer was taken over.
    private var savedGeneration = 0

    /// Whether the answer to a save must be applied. An answer to an earlier save than the last comes too late.
    mutating func takesAnswer(to changes: RecordChanges) -> Bool {
        guard changes.generation >= savedGeneration else { return false }
        savedGeneration = changes.generation
        return true
    }

    mutating func set(_ object: NSObject?, forKey key: CKRecord.FieldKey, in space: WritableKeyPath<Self, KeySpace>) {
        generation += 1
        self[keyPath: space].values[key] = object
        self[keyPath: space].changes[key] = generation
    }

    mutating func setParent(_ reference: CKRecord.Reference?) {
        generation += 1
        parent = reference
        parentChange = generation
    }

    /// a share of this record was made, which must be saved with it.
    mutating func setShare(_ reference: CKRecord.Reference?) {
        generation += 1
        share = reference
        shareChange = generation
    }

    /// Takes over the server's share, or that there is none, unless a share was made after `generation`.
    mutating func followShare(_ reference: CKRecord.Reference?, after generation: Int) {
        originalShare = reference
        guard shareChange ?? 0 <= generation else { return }
        shareChange = nil
        share = reference
    }

    /// The state of a new record.
    init() {}

    /// The state of a record from a server.
    init(
        fields: FieldMap, metadata: ServerMetadata, parentName: String?, share: CKRecord.Reference?,
        zoneID: CKRecordZone.ID
    ) {
        self.metadata = metadata
        parent = parentName.map {
            CKRecord.Reference(recordID: CKRecord.ID(recordName: $0, zoneID: zoneID), action: .none)
        }
        originalParent = parent
        self.share = share
        originalShare = share
        original = fields
        isPacked = true
    }

    /// Makes objects of the server's fields.
    mutating func unpack(zoneID: CKRecordZone.ID) {
        guard isPacked else { return }
        isPacked = false
        var files = files
        func file(_ asset: FieldAsset) -> URL? {
            // There may be more places than files: an ancestor whose record was saved with one more.
            if let all = files[asset], all.count > 1 { return files[asset]?.removeFirst() }
            return files[asset]?.first
        }
        for entry in original {
            // A map from the server was validated on arrival, so every value can be decoded.
            guard let value = try? entry.value(),
                let object = FieldObjects.object(of: value, zoneID: zoneID, file: file)
            else { continue }
            if entry.isEncrypted {
                encrypted.values[entry.key] = object
            } else {
                plain.values[entry.key] = object
            }
        }
    }
}

/// The metadata that a server adds to a record.
package struct ServerMetadata: Sendable, Hashable {
    /// The change tag.
    package var tag: [UInt8]
    /// Milliseconds since 1970.
    package var createdAt: Int64
    package var modifiedAt: Int64
    /// The user record's name; for the current user, the name that stands for them.
    package var createdBy: String
    package var modifiedBy: String
    /// `RecordVersion.historyNumber` of a record from a full fetch. It is not archived.
    package var historyNumber: UInt64 = 0

    /// An empty user name means the current user.
    package init(tag: [UInt8], createdAt: Int64, modifiedAt: Int64, createdBy: String = "", modifiedBy: String = "") {
        self.tag = tag
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
        self.createdBy = createdBy.isEmpty ? CKCurrentUserDefaultName : createdBy
        self.modifiedBy = modifiedBy.isEmpty ? CKCurrentUserDefaultName : modifiedBy
    }
}
