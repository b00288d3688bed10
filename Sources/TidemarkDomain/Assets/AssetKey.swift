// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// One asset of one database: the unit that is uploaded, kept and collected.
///
/// The same content in two databases is kept twice, so that nobody learns from an upload what others have (I-5).
package struct AssetKey: Hashable, Comparable, Sendable {
    package let database: DatabaseID
    package let content: FieldAsset

    package init(database: DatabaseID, content: FieldAsset) {
        self.database = database
        self.content = content
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.database == right.database
            ? left.content.sha256.lexicographicallyPrecedes(right.content.sha256) : left.database < right.database
    }
}

/// The effect of one record's change on the assets that it names.
package struct AssetUse: Sendable, Equatable {
    package let recordName: String
    /// When the change was made. The grace time of an asset that is no longer named begins here.
    package let at: Timestamp
    package let added: [FieldAsset]
    package let removed: [FieldAsset]
    /// Whether a cascade deleted the record without reading its fields. Whatever assets it named, it names them
    /// no longer. Apply this before the rest.
    package let removesUnread: Bool
    /// The record's creator, in whose share of a public database the added ones count; nil: the database is not public.
    package let addedBy: UserID?
    /// The creator of the version before, from whose share the removed ones and the unread ones are taken. Those that are
    /// removed are in ``ZoneChanges/creatorGrowth`` already.
    package let removedFrom: UserID?

    package init(
        recordName: String, at: Timestamp, added: [FieldAsset], removed: [FieldAsset], removesUnread: Bool = false,
        addedBy: UserID? = nil, removedFrom: UserID? = nil
    ) {
        self.recordName = recordName
        self.at = at
        self.added = added
        self.removed = removed
        self.removesUnread = removesUnread
        self.addedBy = addedBy
        self.removedFrom = removedFrom
    }
}
