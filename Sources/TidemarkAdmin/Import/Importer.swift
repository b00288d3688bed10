// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// How many records of an input were imported.
struct ImportTally: Sendable, Equatable {
    var savedCount = 0
    /// Records that existed already.
    var skippedCount = 0
    var failedCount = 0
    /// Encrypted values that were left out.
    var unreadableCount = 0

    init() {}

    init(_ tally: RecordSaver.Tally) {
        savedCount = tally.savedCount
        skippedCount = tally.skippedCount
        failedCount = tally.failedCount
        unreadableCount = tally.unreadableCount
    }

    var count: Int { savedCount + skippedCount + failedCount }

    /// What an import would do, as far as the file tells.
    var plannedText: String {
        "Would import up to \(savedCount), and refuse \(failedCount).\(leftOut)"
    }

    var text: String {
        "Imported \(savedCount), skipped \(skippedCount) that existed, refused \(failedCount).\(leftOut)"
    }

    private var leftOut: String {
        unreadableCount > 0 ? " Left out \(Amount.text(unreadableCount, "encrypted value"))." : ""
    }
}

/// Saves the records of an input in batches, one batch ahead of the reader, and reports failures by line.
///
/// Every batch is durable when the next one is sent. A second run with the same input skips existing records.
final class Importer {
    struct Target: Sendable {
        let service: CloudService
        let loop: EventLoop
        let zone: ZoneKey
        let user: UserID
        let recordType: String
        /// Whether existing records get the input's fields.
        let replaces: Bool
        let limits: Limits
        /// Whether records are only looked at.
        let isDryRun: Bool
    }

    private struct Item {
        let line: Int
        let save: RecordSave
    }

    /// The advice for a run that failed.
    static let advice = "Imported records are saved. Run the same command again to continue."

    /// Bytes of fields in one batch: fewer than a request may have.
    private static let batchBytesMax = 1_048_576

    private let target: Target
    /// Reports that a record is not imported, with the line where it begins.
    private let report: (_ line: Int, _ text: String) -> Void
    private(set) var tally = ImportTally()
    private var items: [Item] = []
    private var names: Set<String> = []
    private var byteCount = 0
    private var underWay: (items: [Item], outcome: Task<Result<RecordsOutcome, FailureReason>, Never>)?
    private var counter: UInt64 = 0
    /// Unique to this run.
    let device = DeviceID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))

    init(_ target: Target, report: @escaping (_ line: Int, _ text: String) -> Void) {
        self.target = target
        self.report = report
    }

    /// - Throws: ``AdminFailure`` if the store fails; later records are not imported.
    func add(_ row: InputRow, _ converter: inout RowConverter) async throws(AdminFailure) {
        let record: (name: String, fields: FieldMap)
        do throws(InputMistake) {
            record = try converter.record(of: try row.values.get())
        } catch {
            return fail(row.line, error.text)
        }
        // One request may name a record only once.
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

    /// Saves the rest. Returns when everything is durable.
    func finish() async throws(AdminFailure) {
        try await flush()
        try await settle()
    }

    private func fail(_ line: Int, _ text: String) {
        tally.failedCount += 1
        report(line, text)
    }

    /// Sends the batch, once the previous one has been answered.
    private func flush() async throws(AdminFailure) {
        try await settle()
        guard !items.isEmpty else { return }
        if target.isDryRun {
            tally.savedCount += items.count
            (items, names, byteCount) = ([], [], 0)
            return
        }
        counter += 1
        let target = target
        // An operator may do everything, whatever the grants are.
        let request = RecordsRequest(
            id: RequestID(
                device: device, counter: counter, lowestUnanswered: counter),
            key: target.zone, saves: items.map(\.save), deletes: [],
            policy: target.replaces ? .allKeys : .ifServerRecordUnchanged, isAtomic: false, user: target.user,
            access: .owner(target.user))
        underWay = (items, Task { await target.service.modifyRecords([request], for: .nobody)[0] })
        (items, names, byteCount) = ([], [], 0)
    }

    /// Takes the answer to the batch under way.
    private func settle() async throws(AdminFailure) {
        guard let (items, task) = underWay else { return }
        underWay = nil
        switch await task.value {
        case .failure(let reason):
            throw AdminFailure(
                AdminFailure(reason).status,
                "Stopped before line \(items.first?.line ?? 0): \(reason.text) \(Self.advice)")
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
