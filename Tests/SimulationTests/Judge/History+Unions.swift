// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields

/// What must be so at each commit of clients that unite: a record's text is a list of edits, and whoever saves keeps those
/// that are there and adds some. Drafts are deleted by who made them, nothing else is, and they never come back.
extension History {
    static func edits(in text: String) -> Set<String> {
        Set(text.split(separator: ",").map(String.init))
    }

    /// Remembers what an atomic batch is to save. Each of its records carries its id in the field `batch`.
    mutating func planBatch(_ id: String, saving names: [String: Set<String>]) {
        unitedBatches[id] = names
    }

    /// A device was copied that had made these drafts and not saved them yet: either device may be the one that saves them,
    /// also after the other has deleted them. So it is if a restored store lacks them, and whoever has them saves them again.
    mutating func copied(drafts names: [String]) {
        copiedDrafts.formUnion(names)
    }

    /// I-1: nothing is lost, and nothing is done twice.
    mutating func checkUnion(_ record: RecordState, _ previous: Version?, in zone: ZoneID) {
        // Of shares the judge of access knows.
        guard record.name != Share.zoneWideName else { return }
        let isDraft = record.name.hasPrefix("draft-")
        guard !record.isDeleted, let text = record.text else {
            if !isDraft { accuse("I-1: nobody deleted \(record.name)") }
            return
        }
        if let old = previous?.text {
            let (before, after) = (Self.edits(in: old), Self.edits(in: text))
            if !before.isSubset(of: after) {
                accuse("I-1: lost in \(record.name): \(before.subtracting(after).sorted())")
            }
            // A request of the same group may have deleted the draft before: only the end state reaches the store.
            let mayBeDeleted = isDraft && copiedDrafts.contains(record.name)
            if before == after, !mayBeDeleted { accuse("I-1: doubled in \(record.name): \(text)") }
        } else if isDraft, !copiedDrafts.contains(record.name), zones[zone]?.wasDeleted(record.name, since: 0) == true {
            accuse("I-1: came back: \(record.name)")
        }
    }

    /// I-3: all saves of an atomic batch in one zone are in one commit, or were replaced in it.
    mutating func checkUnitedBatches(_ changes: ZoneChanges) {
        guard let zone = zones[changes.zone]?.name else { return }
        let written = Set(changes.records.map(\.name))
        for id in Set(changes.records.compactMap(\.batch)).sorted() {
            let planned = unitedBatches[id]?[zone] ?? []
            if !planned.isSubset(of: written) { accuse("I-3: a part of atomic batch \(id) was committed") }
        }
    }
}

extension RecordState {
    fileprivate var batch: String? {
        guard case .string(let batch)? = try? fields["batch"]?.value() else { return nil }
        return batch
    }
}
