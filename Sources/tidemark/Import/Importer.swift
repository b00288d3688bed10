// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// What became of an input.
struct ImportTally: Sendable, Equatable {
    var savedCount = 0
    /// Were there already.
    var skippedCount = 0
    var failedCount = 0

    var count: Int { savedCount + skippedCount + failedCount }

    var text: String { "Imported \(savedCount), left \(skippedCount) that were there, refused \(failedCount)." }
}

/// Saves the records of an input in batches, one batch ahead of the reader, and tells what is wrong by line.
///
/// Every batch is durable when the next one is sent. Whoever begins again with the same input passes over what is there.
final class Importer {
    struct Target: Sendable {
        let service: CloudService
        let loop: EventLoop
        let database: DatabaseID
        let zoneName: String
        let user: UserID
        let recordType: String
        /// Whether records that are there already get the input's fields.
        let replaces: Bool
        let limits: Limits
    }

    private struct Item {
        let line: Int
        let save: RecordSave
    }

    /// For whoever has to begin again.
    static let advice = "What was imported is safe; run the same command again to go on."

    /// Bytes of fields in one batch; less than a request may have.
    private static let batchBytesMax = 1_048_576

    private let target: Target
    /// Says that a record is not imported; the line is where it begins.
    private let report: (_ line: Int, _ text: String) -> Void
    private(set) var tally = ImportTally()
    private var items: [Item] = []
    private var names: Set<String> = []
    private var byteCount = 0
    private var underWay: (items: [Item], outcome: Task<Result<RecordsOutcome, FailureReason>, Never>)?
    private var counter: UInt64 = 0
    /// Of this run alone.
    let device = DeviceID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))

    init(_ target: Target, report: @escaping (_ line: Int, _ text: String) -> Void) {
        self.target = target
        self.report = report
    }

    /// - Throws: ``CommandError`` if the store fails: what comes after this is not imported.
    func add(_ row: InputRow, _ converter: inout RowConverter) async throws(CommandError) {
        let record: (name: String, fields: FieldMap)
        do throws(InputMistake) {
            record = try converter.record(of: try row.values.get())
        } catch {
            return fail(row.line, error.text)
        }
        // One request names a record once.
        if names.contains(record.name) || items.count == target.limits.itemsMax
            || byteCount + record.fields.byteCount > Self.batchBytesMax
        {
            try await flush()
        }
        let save = RecordSave(
            name: record.name, type: target.recordType, tag: nil, fields: record.fields, parent: .unchanged)
        items.append(Item(line: row.line, save: save))
        names.insert(record.name)
        byteCount += record.fields.byteCount
    }

    /// Saves what is left, and returns when all is durable.
    func finish() async throws(CommandError) {
        try await flush()
        try await settle()
    }

    private func fail(_ line: Int, _ text: String) {
        tally.failedCount += 1
        report(line, text)
    }

    /// Sends the batch, once the one before it has its answer.
    private func flush() async throws(CommandError) {
        try await settle()
        guard !items.isEmpty else { return }
        counter += 1
        let target = target
        let request = RecordsRequest(
            id: RequestID(
                device: device, counter: counter, lowestUnanswered: counter),
            zoneName: target.zoneName, saves: items.map(\.save), deletes: [],
            policy: target.replaces ? .allKeys : .ifServerRecordUnchanged, isAtomic: false, user: target.user)
        underWay = (items, Task { await target.service.modifyRecords(in: target.database, [request])[0] })
        (items, names, byteCount) = ([], [], 0)
    }

    /// Takes the answer to the batch that is under way.
    private func settle() async throws(CommandError) {
        guard let (items, task) = underWay else { return }
        underWay = nil
        switch await task.value {
        case .failure(let reason):
            throw CommandError("Stopped before line \(items.first?.line ?? 0): \(reason.text) \(Self.advice)")
        case .success(let outcome):
            for (item, save) in zip(items, outcome.saves) {
                switch save {
                case .saved: tally.savedCount += 1
                case .failed(let failure) where failure.reason == .recordExists && !target.replaces:
                    tally.skippedCount += 1
                case .failed(let failure):
                    fail(item.line, "\(item.save.name): \(failure.detail ?? failure.reason.text)")
                }
            }
        }
    }
}
