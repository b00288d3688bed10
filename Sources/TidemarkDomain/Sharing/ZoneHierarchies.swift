// SPDX-License-Identifier: Apache-2.0

/// The place of a record in the shared hierarchies of a zone, as stored.
package struct CoveredRecord: Hashable, Sendable {
    /// The living share that covers the record.
    package let share: ShareNumber
    /// The number of the change with which it came under that share.
    package let enteredNumber: ChangeNumber

    package init(share: ShareNumber, enteredNumber: ChangeNumber) {
        self.share = share
        self.enteredNumber = enteredNumber
    }
}

/// A living record below one that may move.
package struct RecordBelow: Hashable, Sendable {
    package let name: String
    package let type: String
    package let parent: String
    package let cover: CoveredRecord?

    package init(name: String, type: String, parent: String, cover: CoveredRecord?) {
        self.name = name
        self.type = type
        self.parent = parent
        self.cover = cover
    }
}

/// What a transaction reads in a zone of which hierarchies are shared, beside its shares.
package struct ZoneHierarchies: Sendable {
    /// Of the records that the transaction reads, those that a living share covers.
    package var covers: [String: CoveredRecord] = [:]
    /// All living records below those of ``ZoneRead/movedNames``.
    package var below: [RecordBelow] = []
    /// Whether there are more of them than one request may move (``Limits/shareSubtreeMax``).
    package var isCut = false

    package init() {}
}

/// A row of what a share's participants see: the newest that happened in the share to a record of that name.
package struct ShareRecord: Hashable, Sendable {
    package let share: ShareNumber
    package let name: String
    /// The record's type, which is told of one that is gone.
    package let type: String
    /// When it happened, in the zone's numbering.
    package let number: ChangeNumber
    /// With which change the record came under the share.
    package let enteredNumber: ChangeNumber
    /// Whether the record has left the share since, or was deleted.
    package let hasLeft: Bool

    package init(
        share: ShareNumber, name: String, type: String, number: ChangeNumber, enteredNumber: ChangeNumber, hasLeft: Bool
    ) {
        self.share = share
        self.name = name
        self.type = type
        self.number = number
        self.enteredNumber = enteredNumber
        self.hasLeft = hasLeft
    }
}

extension ZoneSnapshot {
    /// Says of each record that was read which share covers it. Stores call it once all is read.
    package mutating func cover() {
        guard hierarchies != nil || sharing?.hasHierarchies == true else { return }
        let names = sharing?.rootShareNames ?? [:]
        for (name, record) in records where !record.isDeleted {
            records[name] = record.covered(by: hierarchies?.covers[name]?.share, asRootOf: names[name])
        }
    }

    /// The records that must be read beside those that the requests name, because one ends with the other: the CKShare
    /// record of each root that may be deleted, and the root of each CKShare record that may be.
    ///
    /// - Parameter read: what the requests need. Its action, if it has one, names CKShare records too.
    package func recordsOfShares(for read: ZoneRead) -> [String] {
        guard let sharing else { return [] }
        var names: Set<String> = []
        let deletes = Set(read.parentNames)
        for share in sharing.hierarchies {
            guard let root = share.rootName else { continue }
            // A cascade may take the root.
            if deletes.contains(root) || records[root] != nil && !deletes.isEmpty { names.insert(share.recordName) }
            if deletes.contains(share.recordName) { names.insert(root) }
        }
        if let action = read.action { names.formUnion(action.recordNames(in: sharing)) }
        return names.subtracting(records.keys).sorted()
    }
}
