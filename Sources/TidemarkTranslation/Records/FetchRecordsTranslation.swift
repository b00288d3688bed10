// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFields
package import TidemarkWire

/// The records of one zone that a `FetchRecords` names.
package struct NamedRecords: Sendable, Equatable {
    /// Nil: a zone of somebody else.
    package let zoneName: String?
    package let names: [String]
}

/// A `FetchRecords` as the server understands it.
package struct RecordsQuery: Sendable {
    package let zones: [NamedRecords]
    /// Nil: all keys.
    package let selection: FieldSelection?

    /// - Throws: ``Refusal`` with `tooManyItems` or `requestInvalid`.
    package init(_ request: WireFetchRecords, by viewpoint: Viewpoint, limits: Limits) throws(Refusal) {
        try ItemCount.check(request.zones.reduce(0) { $0 + $1.names.count }, limits)
        try ItemCount.check(request.zones.count, limits)
        zones = request.zones.map { zone in
            NamedRecords(zoneName: ZoneNames.read(zone.zone, by: viewpoint), names: zone.names)
        }
        selection = request.hasDesiredKeys ? try FieldSelection(request.desiredKeys) : nil
    }
}

extension FieldSelection {
    /// Desired keys that one request may name; a record cannot have that many.
    private static let keysMax = 4_096

    init(_ keys: WireDesiredKeys) throws(Refusal) {
        guard keys.keys.count <= Self.keysMax else { throw Refusal(.requestInvalid, "Too many desired keys.") }
        self.init(keys.keys)
    }
}

/// Makes the answer of a `FetchRecords`, in the order of the names, up to its bound of bytes.
package struct RecordsFetchAnswer {
    /// Must know the names of users before their records are added.
    package var viewpoint: Viewpoint
    private let selection: FieldSelection?
    private var bytesLeft: Int
    private var answer = WireFetchRecordsAnswer()

    package init(viewpoint: Viewpoint, selection: FieldSelection?, limits: Limits) {
        self.viewpoint = viewpoint
        self.selection = selection
        bytesLeft = limits.answerBytesMax
    }

    /// Whether the answer is full: what follows must be asked for again.
    package var isFull: Bool { bytesLeft <= 0 }

    /// Adds what became of the next name. Ignored once the answer is full.
    package mutating func append(_ result: Result<RecordState, FailureReason>, in zone: ZoneID?) {
        guard !isFull else { return }
        var item = WireRecordResult()
        switch result {
        case .success(var record):
            if let selection { record.fields = record.fields.selecting(selection) }
            bytesLeft -= record.fields.byteCount
            item.record = WireRecord(record, in: zone ?? ZoneID(0), seenFrom: viewpoint)
        case .failure(let reason):
            item.failure = reason.wire()
        }
        answer.results.append(item)
        answer.covered += 1
    }

    /// Adds names that have all failed for one reason.
    package mutating func append(_ reason: FailureReason, count: Int) {
        for _ in 0..<count { append(.failure(reason), in: nil) }
    }

    package func message(_ id: UInt64) -> [UInt8] {
        ServerMessage.answer(id, .fetchRecords(answer))
    }
}
