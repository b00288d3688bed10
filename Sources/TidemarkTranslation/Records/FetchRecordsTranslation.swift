// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkFields
package import TidemarkWire

/// The records of one zone that a `FetchRecords` names.
package struct NamedRecords: Sendable, Equatable {
    /// Nil for a zone that the caller's database cannot have.
    package let key: ZoneKey?
    package let names: [String]
}

/// A `FetchRecords` in the types of the rules.
package struct RecordsQuery: Sendable {
    package let zones: [NamedRecords]
    /// Nil: all keys.
    package let selection: FieldSelection?

    /// - Throws: ``Refusal`` with `tooManyItems` or `requestInvalid`.
    package init(_ request: WireFetchRecords, by viewpoint: Viewpoint, limits: Limits) throws(Refusal) {
        try ItemCount.check(request.zones.reduce(0) { $0 + $1.names.count }, limits)
        try ItemCount.check(request.zones.count, limits)
        zones = request.zones.map { zone in
            NamedRecords(
                key: viewpoint.zoneKey(of: zone.zone), names: zone.names.map(viewpoint.recordName))
        }
        selection = request.hasDesiredKeys ? try FieldSelection(request.desiredKeys) : nil
    }
}

extension FieldSelection {
    /// The most desired keys in one request.
    private static let keysMax = 4_096

    init(_ keys: WireDesiredKeys) throws(Refusal) {
        guard keys.keys.count <= Self.keysMax else {
            throw Refusal(
                .requestInvalid,
                "Too many desired keys. The limit is \(Self.keysMax) a request, and this has \(keys.keys.count).")
        }
        self.init(keys.keys)
    }
}

/// Makes the answer to a `FetchRecords`, in the order of the names, up to a number of bytes.
///
/// All fields of a record count, whichever of them are wanted. So the number also bounds what is read.
package struct RecordsFetchAnswer {
    private let selection: FieldSelection?
    private var bytesLeft: Int
    private var records: RecordWriter
    private var body = WireWriter(capacity: 1_024)
    /// How many names the answer covers.
    private var count: UInt32 = 0
    /// Why the first of the records that are not there is not. Nil: all are.
    package private(set) var failure: FailureReason?

    package init(viewpoint: Viewpoint, selection: FieldSelection?, limits: Limits) {
        self.selection = selection
        records = RecordWriter(viewpoint)
        bytesLeft = limits.answerBytesMax
    }

    /// It must know the names of users before their records are added.
    package var viewpoint: Viewpoint {
        get { records.viewpoint }
        set { records.viewpoint = newValue }
    }

    /// Whether the answer is full. The client must ask again for the rest.
    package var isFull: Bool { bytesLeft <= 0 }

    /// Adds the result for the next name. Ignored once the answer is full.
    package mutating func append(_ result: Result<RecordState, FailureReason>, in zone: ZoneID?) {
        guard !isFull else { return }
        count += 1
        switch result {
        case .success(let record):
            let fields = selection.map { record.fields.selecting($0) } ?? record.fields
            records.zone = zone ?? ZoneID(0)
            bytesLeft -= records.byteCount(of: record)
            let length = records.size(of: record, fields)
            WireFetchRecordsAnswer.begin(results: WireRecordResult.size(record: length), to: &body)
            WireRecordResult.begin(record: length, to: &body)
            records.write(record, fields, to: &body)
        case .failure(let reason):
            if failure == nil { failure = reason }
            var result = WireRecordResult()
            result.failure = reason.wire()
            WireFetchRecordsAnswer.begin(results: result.size, to: &body)
            result.write(to: &body)
        }
    }

    /// Adds names that all failed for the same reason.
    package mutating func append(_ reason: FailureReason, count: Int) {
        for _ in 0..<count { append(.failure(reason), in: nil) }
    }

    package func message(_ id: UInt64) -> [UInt8] {
        let length = body.bytes.count + WireWriter.size { writeEnd(to: &$0) }
        var envelope = WireWriter(capacity: length + 24)
        WireServerEnvelope.write(id: id, to: &envelope)
        WireServerEnvelope.begin(fetchRecords: length, to: &envelope)
        envelope.raw(body.bytes)
        writeEnd(to: &envelope)
        return envelope.bytes
    }

    /// The fields behind the results.
    private func writeEnd(to writer: inout WireWriter) {
        WireFetchRecordsAnswer.write(covered: count, to: &writer)
    }
}
