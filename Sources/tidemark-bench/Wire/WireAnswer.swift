// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkWire

/// What a client that measures wants to know of an answer.
struct WireAnswer {
    var id: UInt64
    /// What the answer has, if it is a page of changes, records by name, or a page of a query.
    var page: Page?
    /// A page of the feed of zones that changed. Its records are zones.
    var databaseFeed: Page?
    /// The tags of what was saved, in the order of the request.
    var savedTags: [[UInt8]] = []
    /// What failed; nil: nothing.
    var failure: String?

    struct Page {
        var token: [UInt8]
        var recordCount: Int
        var isLast: Bool
    }

    /// Nil: not an answer.
    init?(_ message: UnsafeRawBufferPointer) {
        if let page = try? PageScanner.scan(message) {
            (id, self.page) = page
            return
        }
        if let saves = try? SavesScanner.scan(message) {
            (id, savedTags) = saves
            return
        }
        // An answer with records of which some are missing comes here too, and is none that was asked for.
        guard let envelope = try? WireServerEnvelope(reading: Array(message)) else { return nil }
        id = envelope.id
        switch envelope.answer {
        case .hello: break
        case .modifyZones(let answer): failure = Self.failure(of: answer)
        case .modifyRecords(let answer): failure = Self.failure(of: answer)
        case .fetchDatabaseChanges(let answer):
            databaseFeed = Page(
                token: answer.token, recordCount: answer.changed.count + answer.ended.count,
                isLast: !answer.moreComing)
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
    static func scan(_ message: UnsafeRawBufferPointer) throws(WireError) -> (UInt64, tags: [[UInt8]])? {
        var id: UInt64 = 0
        var tags: [[UInt8]]?
        var reader = WireReader(message)
        while let tag = try reader.nextTag() {
            switch tag {
            case WireServerEnvelope.Tag.id: id = try reader.number()
            case WireServerEnvelope.Tag.modifyRecords: tags = try Self.tags(in: try reader.bytes(in: message))
            default: return nil
            }
        }
        return tags.map { (id, $0) }
    }

    /// At least one, and every one of them is saved.
    private static func tags(in zones: UnsafeRawBufferPointer) throws(WireError) -> [[UInt8]]? {
        var tags: [[UInt8]] = []
        var reader = WireReader(zones)
        while let tag = try reader.nextTag() {
            guard tag == WireModifyRecordsAnswer.Tag.zones else { return nil }
            let content = try reader.bytes(in: zones)
            var results = WireReader(content)
            while let tag = try results.nextTag() {
                guard tag == WireZoneModificationResults.Tag.saves else { return nil }
                let result = try results.bytes(in: content)
                var parts = WireReader(result)
                guard try parts.nextTag() == WireSaveResult.Tag.saved else { return nil }
                var saved = WireReader(try parts.bytes(in: result))
                guard try saved.nextTag() == WireSavedRecord.Tag.tag else { return nil }
                tags.append(try saved.content())
            }
        }
        return tags.isEmpty ? nil : tags
    }
}

/// Looks through an answer with records without decoding these: their number, and of a page of changes the token and
/// whether more comes.
///
/// Whoever measures the server must cost little; an engine decodes every record, in a process of its own.
enum PageScanner {
    /// Nil: another answer, or one of the records is a failure.
    static func scan(_ message: UnsafeRawBufferPointer) throws(WireError) -> (UInt64, WireAnswer.Page)? {
        var id: UInt64 = 0
        var reader = WireReader(message)
        while let tag = try reader.nextTag() {
            switch tag {
            case WireServerEnvelope.Tag.id: id = try reader.number()
            case WireServerEnvelope.Tag.fetchZoneChanges:
                return (id, try scanPage(try reader.bytes(in: message)))
            case WireServerEnvelope.Tag.fetchRecords:
                let list = WireFetchRecordsAnswer.Tag.results
                return try scanRecords(try reader.bytes(in: message), list, WireRecordResult.Tag.record).map {
                    (id, $0)
                }
            case WireServerEnvelope.Tag.queryRecords:
                let list = WireQueryRecordsAnswer.Tag.matches
                return try scanRecords(try reader.bytes(in: message), list, WireQueryMatch.Tag.record).map { (id, $0) }
            default: return nil
            }
        }
        return nil
    }

    /// Results and matches alike are messages that begin with the record.
    private static func scanRecords(
        _ bytes: UnsafeRawBufferPointer, _ list: UInt32, _ record: UInt32
    ) throws(WireError) -> WireAnswer.Page? {
        var page = WireAnswer.Page(token: [], recordCount: 0, isLast: true)
        var reader = WireReader(bytes)
        while let tag = try reader.nextTag() {
            guard tag == list else {
                try reader.skip(tag, known: 0)
                continue
            }
            var parts = WireReader(try reader.bytes(in: bytes))
            guard try parts.nextTag() == record else { return nil }
            page.recordCount += 1
        }
        return page
    }

    private static func scanPage(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> WireAnswer.Page {
        var page = WireAnswer.Page(token: [], recordCount: 0, isLast: true)
        var reader = WireReader(bytes)
        while let tag = try reader.nextTag() {
            switch tag {
            case WireFetchZoneChangesAnswer.Tag.changes:
                _ = try reader.bytes(in: bytes)
                page.recordCount += 1
            case WireFetchZoneChangesAnswer.Tag.token: page.token = try reader.content()
            case WireFetchZoneChangesAnswer.Tag.moreComing: page.isLast = try reader.number() == 0
            default: try reader.skip(tag, known: 0)
            }
        }
        return page
    }
}

extension WireReader {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes.bindMemory(to: UInt8.self), of: [], elementsMax: .max)
    }

    /// The content of a field, where it is.
    fileprivate mutating func bytes(in all: UnsafeRawBufferPointer) throws(WireError) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: all[try range(atMost: .max)])
    }
}
