// SPDX-License-Identifier: Apache-2.0

/// What one version of a record is to another version of it, as far as their change tags tell. CloudKit has nothing of this.
///
/// A tag says in which life of the server's store its version was saved. When an operator restores a backup a new life
/// begins, and what comes with the next fetch may be older than what the app has.
public enum TidemarkVersionOrder: Sendable, Equatable {
    /// They are the same version.
    case same
    /// It was saved after the other one, which is in its history.
    case newer
    /// It was saved before the other one. What is to be kept is the other one. If a server gives such a version as its newest,
    /// it was restored and not told so: then the other one is to be saved again, as with `wentBack`.
    case older
    /// It was saved before the other one, and comes from a server that was restored since: **the server went back**. The
    /// other version, and what was edited in it, is on the server no more, and this one is no edit of anybody. What is to be
    /// kept is the other one: save it again, with this one's tag.
    case wentBack
    /// They belong to different lives of the store or of the zone, or one was never saved. Whether one follows from the other
    /// cannot be told: neither may be dropped for the other, unless they are equal.
    case unrelated
}

extension CKRecord {
    /// What this version is to another one of the same record. Clocks have no part in it.
    ///
    /// Of two that differ:
    /// ```swift
    /// switch fetched.versionOrder(relativeTo: mine) {
    /// case .newer: store(fetched)
    /// case .same, .older, .wentBack: saveAgain(mine, withTagOf: fetched)
    /// case .unrelated: keepBoth(mine, fetched)
    /// }
    /// ```
    /// What the app has changed in a record since it was fetched has no part in it either: a record with unsaved edits is the
    /// version that it was fetched as.
    ///
    /// - Parameter other: with its system fields, for example from an archive of these.
    /// - Returns: `unrelated` for different records, and if one of them has no tag.
    public func versionOrder(relativeTo other: CKRecord) -> TidemarkVersionOrder {
        guard recordID == other.recordID, let version, let others = other.version else { return .unrelated }
        return version.order(relativeTo: others)
    }

    /// Whether the other version is what is to be kept: this one was saved before it, in the same life of the store or in the
    /// one that was restored. False if that cannot be told.
    public func isOlder(than other: CKRecord) -> Bool {
        switch versionOrder(relativeTo: other) {
        case .older, .wentBack: true
        case .same, .newer, .unrelated: false
        }
    }

    /// Nil for a record that was never saved, or whose tag is of no kind that this client knows.
    var version: RecordVersion? { state.withLock { $0.metadata?.version } }

    /// The store was restored; what is known of its history goes with the record.
    func note(_ history: inout RestoredHistory) {
        guard let number = version.map({ history.numberBefore($0) }) else { return }
        _ = state.withLock { $0.metadata?.historyNumber = number }
    }
}
