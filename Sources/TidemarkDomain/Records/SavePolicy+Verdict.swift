// SPDX-License-Identifier: Apache-2.0

/// The decision of a save policy on one save, before anything is merged.
package enum SaveVerdict: Sendable, Equatable {
    /// The record is new, with a new creation date, even if a record with its name was deleted.
    case create
    /// The sent keys overwrite the stored ones; all others stay.
    case update
    case refuse(FailureReason)
}

extension SavePolicy {
    /// The truth table of saving, R-090 … R-104.
    ///
    /// - Parameters:
    ///   - tag: the tag of the client's copy; nil if it has none.
    ///   - current: the tag of the living record; nil if there is none, because it was deleted or never existed.
    ///
    /// Tags are either equal or not. A tag of another incarnation of the zone or the store, or with a number that the
    /// zone has not reached, equals no current tag. So it is stale like any other.
    package func verdict(tag: ChangeTag?, current: ChangeTag?) -> SaveVerdict {
        switch (self, tag, current) {
        // there is nothing to conflict with.
        case (.ifServerRecordUnchanged, nil, nil): .create
        //
        case (.ifServerRecordUnchanged, nil, .some): .refuse(.recordExists)
        //
        case (.ifServerRecordUnchanged, let tag?, let current?): tag == current ? .update : .refuse(.recordChanged)
        // the record that the client changed is gone, alone or with its zone.
        case (.ifServerRecordUnchanged, .some, nil): .refuse(.recordMissing)
        //
        case (.changedKeys, _, nil), (.allKeys, _, nil): .create
        // these policies compare no tags.
        case (.changedKeys, _, .some), (.allKeys, _, .some): .update
        }
    }
}
