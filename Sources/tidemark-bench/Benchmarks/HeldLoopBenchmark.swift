// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkTranslation

/// How long a processor works for the longest messages before an event loop does anything else: to read them, to begin
/// with them, to decide as much as is decided on a loop, and to write the longest answers.
enum HeldLoopBenchmark: Benchmark {
    static let name = "held-loop"
    /// Milliseconds for which no message may hold a loop.
    private static let heldMax = 5.0
    /// How often each is done in a repetition. The longest time counts.
    private static let (timesInAll, timesIfQuick) = (20, 3)

    private static let zone = ZoneID(11)
    private static let key = ZoneKey(database: LongestMessage.viewpoint.database, name: "zone")

    static func run(_ bench: Bench) throws -> [Row] {
        var rows: [Row] = []
        for message in try LongestMessage.all() {
            rows.append(try row(bench, "read-\(message.name)") { _ = try message.read() })
            let read = try message.read()
            rows.append(row(bench, "begin-\(message.name)") { LongestMessage.begin(read) })
        }
        return rows + (try decisions(bench)) + (try answers(bench))
    }

    /// The most that is decided on an event loop: half of it is saved, half of it is stored.
    private static func decisions(_ bench: Bench) throws -> [Row] {
        let byteCount = WriteSettings().fieldBytesOnLoopMax / 2
        let fields = try FieldMap(validating: LongestMessage.smallestFields(byteCount: byteCount))
        let before = try FieldMap(validating: LongestMessage.smallestFields(.int64(1), byteCount: byteCount))
        let user = UserID(7)
        let request = RecordsRequest(
            id: RequestID(device: LongestMessage.viewpoint.device, counter: 1, lowestUnanswered: 1), key: key,
            saves: [RecordSave(name: "record", type: "Note", tag: nil, fields: fields, parent: .unchanged)],
            deletes: [], policy: .changedKeys, isAtomic: false, user: user, access: .owner(user))
        let state = ZoneState(id: zone, key: key, createdAt: Timestamp(milliseconds: 0), changeNumber: 1)
        let snapshot = ZoneSnapshot(
            key: key, zone: state, lastRemoval: nil, records: ["record": record("record", before, number: 1)],
            children: [:], memories: [:])
        let store = LongestMessage.viewpoint.store
        return [
            try row(bench, "decide-fields") {
                let overlay = ZoneOverlay(snapshot: snapshot, store: store, limits: Bench.limits)
                _ = try overlay.apply(request, now: Timestamp(milliseconds: 1)).get()
            }
        ]
    }

    private static func answers(_ bench: Bench) throws -> [Row] {
        let viewpoint = LongestMessage.viewpoint
        let limits = Bench.limits
        let firstPage = try page(of: records(limits.pageRecordsMax), limits)
        let items = try records(limits.itemsMax)
        let conflicts = RecordsOutcome(
            saves: items.map { .failed(ItemFailure(.recordChanged, serverRecord: $0, serverZone: zone)) }, deletes: [])
        return [
            row(bench, "write-page") {
                _ = ZonePageEncoder.message(1, firstPage, selected: nil, seenFrom: viewpoint)
            },
            row(bench, "write-records") {
                var answer = RecordsFetchAnswer(viewpoint: viewpoint, selection: nil, limits: limits)
                for record in items { answer.append(.success(record), in: zone) }
                _ = answer.message(1)
            },
            row(bench, "write-conflicts") {
                var answer = RecordsAnswer(viewpoint: viewpoint, limits: limits)
                answer.append(conflicts)
                _ = answer.message(1)
            },
        ]
    }

    /// The page of a zone that a device fetches for the first time.
    private static func page(of records: [RecordState], _ limits: Limits) throws -> ZonePage {
        let viewpoint = LongestMessage.viewpoint
        let query = try ZonePageQuery.make(
            key: key, token: [], limit: records.count, device: viewpoint.device, reader: nil, store: viewpoint.store,
            limits: limits
        ).get()
        let state = ZoneState(
            id: zone, key: key, createdAt: Timestamp(milliseconds: 0), changeNumber: ChangeNumber(records.count))
        let read = ZonePageRead(zone: state, lastRemoval: nil, records: records, hasMore: false)
        return try ZonePage.make(of: read, for: query, store: viewpoint.store).get()
    }

    /// So many records, which fill an answer.
    private static func records(_ count: Int) throws -> [RecordState] {
        let text = String(repeating: "x", count: Bench.limits.answerBytesMax / count - 300)
        let fields = try FieldMap([Field("text", .string(text))])
        return (1...count).map { record("record \($0)", fields, number: $0) }
    }

    private static func record(_ name: String, _ fields: FieldMap, number: Int) -> RecordState {
        let (user, device, date) = (UserID(7), LongestMessage.viewpoint.device, Timestamp(milliseconds: 0))
        return RecordState(
            name: name, type: "Note", fields: fields, changeNumber: ChangeNumber(number), isDeleted: false, parent: nil,
            createdAt: date, createdBy: user, createdByDevice: device, modifiedAt: date, modifiedBy: user,
            batchEnd: ChangeNumber(number))
    }

    // MARK: Measuring

    private static func row(_ bench: Bench, _ name: String, _ work: () throws -> Void) rethrows -> Row {
        // What the first call needs once in the life of a process is left out.
        try work()
        var comparison = Comparison()
        for _ in 0..<bench.repetitions {
            var longest = 0.0
            for _ in 0..<(bench.isQuick ? timesIfQuick : timesInAll) {
                let start = processorMilliseconds
                try work()
                longest = max(longest, processorMilliseconds - start)
            }
            comparison.values.append(longest)
            comparison.references.append(heldMax)
        }
        return Row(name, unit: "milliseconds of a processor", comparison, goal: .atMost(1))
    }

    /// How long processors have worked for this thread.
    private static var processorMilliseconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }
}
