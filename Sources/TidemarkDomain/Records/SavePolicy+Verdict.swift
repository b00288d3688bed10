// SPDX-License-Identifier: Apache-2.0

/// What a save policy makes of one save, before anything is merged.
package enum SaveVerdict: Sendable, Equatable {
    /// The record is new: a new creation date, also where one was deleted.
    case create
    /// The keys that were sent go over the stored ones, which stay otherwise.
    case update
    case refuse(FailureReason)
}

extension SavePolicy {
    /// The truth table of saving, R-090 … R-104.
    ///
    /// - Parameters:
    ///   - tag: what the client's copy carries; nil if it has none.
    ///   - current: the tag of the living record; nil if there is none, whether it was deleted or never existed.
    ///
    /// Tags are equal or they are not: one that names another incarnation of the zone or the store, or a number that
    /// the zone has not reached, equals no current tag, so that it is stale like any other.
    package func verdict(tag: ChangeTag?, current: ChangeTag?) -> SaveVerdict {
        switch (self, tag, current) {
        // there is nothing to conflict with.
        case (.ifServerRecordUnchanged, nil, nil): .create
        //
        case (.ifServerRecordUnchanged, nil, .some): .refuse(.recordExists)
        //
        case (.ifServerRecordUnchanged, let tag?, let current?): tag == current ? .update : .refuse(.recordChanged)
        // what the client changed is gone, be it by itself or with its zone.
        case (.ifServerRecordUnchanged, .some, nil): .refuse(.recordMissing)
        //
        case (.changedKeys, _, nil), (.allKeys, _, nil): .create
        // these policies compare no tags.
        case (.changedKeys, _, .some), (.allKeys, _, .some): .update
        }
    }
}
