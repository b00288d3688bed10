// SPDX-License-Identifier: Apache-2.0

/// The order of two versions of a record, as far as their change tags tell. CloudKit has no such type.
///
/// A tag names the incarnation of the server's store in which its version was saved. When an operator restores a
/// backup, a new incarnation begins. The next fetch may then bring older versions than the app has.
public enum TidemarkVersionOrder: Sendable, Equatable {
    /// They are the same version.
    case same
    /// It was saved after the other version, which is in its history.
    case newer
    /// It was saved before the other version: keep the other one. If a server returns such a version as its newest, it
    /// was restored without being told. Then save the other version again, as with `wentBack`.
    case older
    /// It was saved before the other version, and comes from a server that was restored since: **the server went
    /// back**. The other version, with its edits, is no longer on the server. Nobody made this version as an edit of
    /// the other one. Keep the other one: save it again, with this one's tag.
    case wentBack
    /// They belong to different incarnations of the store or of the zone, or one was never saved. It is unknown whether
    /// one follows from the other. Neither may be dropped for the other, unless they are equal.
    case unrelated
}

extension CKRecord {
    /// The order of this version relative to another one of the same record. It does not depend on clocks.
    ///
    /// If two versions differ:
    /// ```swift
    /// switch fetched.versionOrder(relativeTo: mine) {
    /// case .newer: store(fetched)
    /// case .same, .older, .wentBack: saveAgain(mine, withTagOf: fetched)
    /// case .unrelated: keepBoth(mine, fetched)
    /// }
    /// ```
    /// Unsaved edits do not matter either: a record with edits counts as the version that was fetched.
    ///
    /// - Parameter other: a record with its system fields, for example from an archive of these.
    /// - Returns: `unrelated` for different records, and if one of them has no tag.
    public func versionOrder(relativeTo other: CKRecord) -> TidemarkVersionOrder {
        guard recordID == other.recordID, let version, let others = other.version else { return .unrelated }
        return version.order(relativeTo: others)
    }

    /// Whether to keep the other version, because this one was saved before it. This one was saved in the same
    /// incarnation of the store, or in the one that was restored. False if that is unknown.
    public func isOlder(than other: CKRecord) -> Bool {
        switch versionOrder(relativeTo: other) {
        case .older, .wentBack: true
        case .same, .newer, .unrelated: false
        }
    }

    /// Nil for a record that was never saved, or whose tag is of a kind that this client does not know.
    var version: RecordVersion? { state.withLock { $0.metadata?.version } }

    /// The store was restored: adds what is known of its history to the record.
    func note(_ history: inout RestoredHistory) {
        guard let number = version.map({ history.numberBefore($0) }) else { return }
        _ = state.withLock { $0.metadata?.historyNumber = number }
    }
}
