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

/// A save that may move a record, or that may make it the root of a share.
package struct RecordMove: Hashable, Sendable {
    package let name: String
    /// The parent that the record gets; nil: none.
    fileprivate let parent: String?
    /// The name of the CKShare record whose root it may become; nil: it gets the parent.
    fileprivate let shareName: String?
    /// Whether it is a participant's: then a root keeps its parent, whatever is saved.
    fileprivate let isParticipants: Bool

    /// Nil if the save does not change the parent.
    init?(_ save: RecordSave, in scope: DatabaseScope) {
        switch save.parent {
        case .unchanged: return nil
        case .set(let parent): self.parent = parent
        case .removed: parent = nil
        }
        name = save.name
        shareName = nil
        isParticipants = scope == .shared
    }

    init(root name: String, shareName: String) {
        (self.name, parent, self.shareName, isParticipants) = (name, nil, shareName, false)
    }
}

/// The data that a transaction reads in a zone with shared hierarchies, beside its shares.
package struct ZoneHierarchies: Sendable {
    /// The records that a living share covers, among those that the transaction reads.
    package var covers: [String: CoveredRecord] = [:]
    /// All living records below those of ``ZoneSnapshot/movedNames(for:)``.
    package var below: [RecordBelow] = []
    /// Whether there are more of them than one request may move (``Limits/shareSubtreeMax``).
    package var isCut = false

    package init() {}
}

/// A row of what a share's participants see: the newest that happened in the share to a record of that name.
///
/// These rows are in no quota. A record, or its tombstone, has at most ``rowsMax`` of them, in any shares, living and ended. So an
/// account's rows are in proportion to its records, which a quota counts, and to its tombstones, whose number is bounded.
package struct ShareRecord: Hashable, Sendable {
    /// Rows of one record: of the share that covers it, which is the newest, and of those that it was in before. More: the
    /// oldest are forgotten, and tokens that could tell of them are expired.
    ///
    /// NB: a zone that knows fewer shares has no more rows of a record. It forgets shares only while it knows as many as this
    /// (``Limits/endedSharesMax``, and a living one).
    package static let rowsMax = 21

    package let share: ShareNumber
    package let name: String
    /// The record's type. A deletion of the record is reported with it.
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

    /// The records below which all must be read, because they move or become roots. Sorted, each once. Stores call it once the
    /// records and shares are read. Most saves that name a parent name the one that the record has: then it stays with all that
    /// is below it.
    package func movedNames(for read: ZoneRead) -> [String] {
        guard !read.moves.isEmpty else { return [] }
        // NB: what a request of the group deletes, a later one may share again.
        let roots = read.parentNames.isEmpty ? sharing?.rootShareNames ?? [:] : [:]
        let moved = read.moves.filter { move in
            if let shareName = move.shareName { return roots[move.name] != shareName }
            if move.isParticipants, roots[move.name] != nil { return false }
            guard let record = records[move.name], !record.isDeleted else { return true }
            return record.parent != move.parent
        }
        return Set(moved.map(\.name)).sorted()
    }

    /// The records that must be read beside those that the requests name, because one ends with the other. These are
    /// the CKShare record of each root that may be deleted, and the root of each CKShare record that may be deleted.
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
