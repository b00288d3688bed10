// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields

/// Counts the records from whose fields the wanted ones were selected, so that others have their turn on the event loop
/// in between.
struct SelectionTurns {
    /// Stored bytes of fields in one turn. A field has 8 bytes at least. To look it up among thousands of keys takes up
    /// to some 50 ns, so a turn takes a millisecond or two.
    private static let bytesPerTurn = 262_144

    private var bytesLeft = Self.bytesPerTurn

    /// Fields of one more record were selected. Others have their turn if it is time.
    mutating func took(_ record: RecordState) async {
        bytesLeft -= record.fields.byteCount
        guard bytesLeft < 0 else { return }
        bytesLeft = Self.bytesPerTurn
        await Task.yield()
    }
}

extension FieldSelection {
    /// The wanted fields of each record, in the order of the records. Others have their turn in between.
    func fields(of records: [RecordState]) async -> [FieldMap] {
        var turns = SelectionTurns()
        var selected: [FieldMap] = []
        selected.reserveCapacity(records.count)
        for record in records {
            selected.append(record.fields.selecting(self))
            await turns.took(record)
        }
        return selected
    }
}
