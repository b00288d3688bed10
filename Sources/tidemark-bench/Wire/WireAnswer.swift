// SPDX-License-Identifier: Apache-2.0

internal import SwiftProtobuf
internal import TidemarkWire

/// What a client that measures wants to know of an answer.
struct WireAnswer {
    var id: UInt64
    /// Of a page of changes, records by name, or a page of a query.
    var page: Page?
    /// What failed; nil: nothing.
    var failure: String?

    struct Page {
        var token: [UInt8]
        var recordCount: Int
        var isLast: Bool
    }

    /// Nil: not an answer.
    init?(_ message: UnsafeRawBufferPointer) {
        if let page = PageScanner.scan(message) {
            (id, self.page) = page
            return
        }
        if let id = SavesScanner.scan(message) {
            self.id = id
            return
        }
        // An answer with records of which some are missing comes here too, and is none that was asked for.
        guard let envelope = try? WireServerEnvelope(serializedBytes: Array(message)) else { return nil }
        id = envelope.id
        switch envelope.answer {
        case .hello: break
        case .modifyZones(let answer): failure = Self.failure(of: answer)
        case .modifyRecords(let answer): failure = Self.failure(of: answer)
        case .failure(let answer): failure = Self.text(answer)
        default: failure = "an answer that was not asked for"
        }
    }

    private static func text(_ failure: WireFailure) -> String { "\(failure.code) \(failure.message)" }

    private static func failure(of answer: WireModifyZonesAnswer) -> String? {
        for result in answer.saves {
            if case .failure(let failure) = result.result { return text(failure) }
        }
        return nil
    }

    private static func failure(of answer: WireModifyRecordsAnswer) -> String? {
        for zone in answer.zones {
            for save in zone.saves {
                if case .failure(let failure) = save.result { return text(failure.failure) }
            }
        }
        return nil
    }
}

/// Looks through the answer to a request that saves without decoding it. Nil: another answer, or not all is saved.
private enum SavesScanner {
    // Numbers of fields in Envelope.proto and Records.proto.
    private static let idField: UInt64 = 1
    private static let modifyRecordsField: UInt64 = 4
    private static let zonesField: UInt64 = 1
    private static let savesField: UInt64 = 1
    private static let savedField: UInt64 = 1

    static func scan(_ message: UnsafeRawBufferPointer) -> UInt64? {
        var reader = ProtobufReader(message)
        guard let id = reader.next(), id.number == idField, case .number(let number) = id.value,
            let answer = reader.next(), answer.number == modifyRecordsField, case .bytes(let zones) = answer.value
        else { return nil }
        return reader.isAtEnd && isSaved(zones) ? number : nil
    }

    /// At least one, every one of them, and nothing that cannot be read.
    private static func isSaved(_ zones: UnsafeRawBufferPointer) -> Bool {
        var savedCount = 0
        var reader = ProtobufReader(zones)
        while let zone = reader.next() {
            guard zone.number == zonesField, case .bytes(let content) = zone.value else { return false }
            var results = ProtobufReader(content)
            while let result = results.next() {
                guard result.number == savesField, case .bytes(let outcome) = result.value else { return false }
                var parts = ProtobufReader(outcome)
                guard parts.next()?.number == savedField else { return false }
                savedCount += 1
            }
            guard results.isAtEnd else { return false }
        }
        return reader.isAtEnd && savedCount > 0
    }
}

/// Looks through an answer with records without decoding these: their number, and of a page of changes the token and
/// whether more comes.
///
/// Whoever measures the server must cost little; an engine decodes every record, in a process of its own.
enum PageScanner {
    // Numbers of fields in Envelope.proto, and in Changes.proto, Records.proto and Queries.proto.
    private static let idField: UInt64 = 1
    private static let fetchRecordsField: UInt64 = 5
    private static let fetchZoneChangesField: UInt64 = 9
    private static let queryRecordsField: UInt64 = 12
    private static let changesField: UInt64 = 1
    private static let tokenField: UInt64 = 2
    private static let moreComingField: UInt64 = 3
    private static let recordsField: UInt64 = 1
    private static let recordField: UInt64 = 1

    /// Nil: another answer, or not well-formed, or one of the records is a failure.
    static func scan(_ message: UnsafeRawBufferPointer) -> (UInt64, WireAnswer.Page)? {
        var id: UInt64 = 0
        var reader = ProtobufReader(message)
        while let field = reader.next() {
            switch (field.number, field.value) {
            case (idField, .number(let number)): id = number
            case (fetchZoneChangesField, .bytes(let bytes)): return scanPage(bytes).map { (id, $0) }
            case (fetchRecordsField, .bytes(let bytes)), (queryRecordsField, .bytes(let bytes)):
                return scanRecords(bytes).map { (id, $0) }
            default: return nil
            }
        }
        return nil
    }

    /// Results and matches alike are messages whose field 1 is the record; the fields after them are of no interest.
    private static func scanRecords(_ bytes: UnsafeRawBufferPointer) -> WireAnswer.Page? {
        var page = WireAnswer.Page(token: [], recordCount: 0, isLast: true)
        var reader = ProtobufReader(bytes)
        while let field = reader.next() {
            guard field.number == recordsField, case .bytes(let result) = field.value else { continue }
            var parts = ProtobufReader(result)
            guard let record = parts.next(), record.number == recordField else { return nil }
            page.recordCount += 1
        }
        return page
    }

    private static func scanPage(_ bytes: UnsafeRawBufferPointer) -> WireAnswer.Page? {
        var page = WireAnswer.Page(token: [], recordCount: 0, isLast: true)
        var reader = ProtobufReader(bytes)
        while let field = reader.next() {
            switch (field.number, field.value) {
            case (changesField, .bytes): page.recordCount += 1
            case (tokenField, .bytes(let token)): page.token = Array(token)
            case (moreComingField, .number(let number)): page.isLast = number == 0
            default: return nil
            }
        }
        return page
    }
}

/// Reads the fields of a protobuf message one after the other.
private struct ProtobufReader {
    enum Value {
        case number(UInt64)
        case bytes(UnsafeRawBufferPointer)
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    /// Nil at the end, or at something that is neither a number nor bytes.
    mutating func next() -> (number: UInt64, value: Value)? {
        guard let tag = varint() else { return nil }
        switch tag & 7 {
        case 0: return varint().map { (tag >> 3, .number($0)) }
        case 2:
            guard let count = varint(), count <= bytes.count - offset else { return nil }
            defer { offset += Int(count) }
            return (tag >> 3, .bytes(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])))
        default: return nil
        }
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count, shift < 64 {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 127) << shift
            if byte < 128 { return value }
            shift += 7
        }
        return nil
    }
}
