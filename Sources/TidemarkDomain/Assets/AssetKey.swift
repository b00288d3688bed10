// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// One asset of one database: what is uploaded, kept and collected.
///
/// The same content in two databases is kept twice: nobody learns from an upload what others have (I-5).
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

/// What a change of one record did to the assets that it names.
package struct AssetUse: Sendable, Equatable {
    package let recordName: String
    /// When: the grace time of what is no longer named begins.
    package let at: Timestamp
    package let added: [FieldAsset]
    package let removed: [FieldAsset]
    /// Whether a cascade took the record along, whose fields nobody read: first of all, whatever it named it no
    /// longer does.
    package let removesUnread: Bool

    package init(
        recordName: String, at: Timestamp, added: [FieldAsset], removed: [FieldAsset], removesUnread: Bool = false
    ) {
        self.recordName = recordName
        self.at = at
        self.added = added
        self.removed = removed
        self.removesUnread = removesUnread
    }
}
