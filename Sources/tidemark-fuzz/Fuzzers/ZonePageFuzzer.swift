// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkTranslation
internal import TidemarkWire

extension Fuzzer {
    /// A page of a feed, made of what the input says. The encoder writes it field by field, and gives the same bytes as the
    /// message objects.
    static let zonePage = Fuzzer(name: "zone-page", seeds: { Pages.seeds }) { input throws(Finding) in
        var script = FuzzInput(input)
        let id = script.number()
        let selection = script.bit() ? FieldSelection([script.text(), "title"]) : nil
        guard let page = Pages.page(&script) else { return false }
        let selected = selection.map { selection in page.entries.map { $0.fields.selecting(selection) } }
        let bytes = ZonePageEncoder.message(id, page, selected: selected, seenFrom: Pages.viewpoint)
        let expected = Pages.reference(id, page, selection).encoded
        try Finding.unless(bytes == expected, "written as \(bytes), not \(expected)")
        return true
    }
}

private enum Pages {
    static let viewpoint = Viewpoint(
        user: UserID(7), userRecordName: "_0123456789abcdef0123456789abcdef", database: DatabaseID(3),
        device: DeviceID(high: 1, low: 2), store: StoreIncarnation(0xFEED))

    /// Nil for records that no store holds: their numbers grow.
    static func page(_ script: inout FuzzInput) -> ZonePage? {
        let key = ZoneKey(database: viewpoint.database, name: "notes")
        let zoneNumber = script.signed()
        let hasMore = script.bit()
        var records: [RecordState] = []
        while !script.isAtEnd, records.count < 20 {
            let record = record(&script, after: records.last?.changeNumber ?? 0)
            guard record.changeNumber < .max - 1_000_000 else { return nil }
            records.append(record)
        }
        let zone = ZoneState(
            id: ZoneID(zoneNumber), key: key, createdAt: Timestamp(milliseconds: 0),
            changeNumber: records.last?.changeNumber ?? 0)
        let read = ZonePageRead(zone: zone, lastRemoval: nil, records: records, hasMore: hasMore)
        let query = ZonePageQuery(
            key: key, after: .init(zone: zone.id, number: 0), recordsMax: 10, bytesMax: 4_194_304,
            device: viewpoint.device, reader: nil, tombstonesPassedMax: 0)
        return try? ZonePage.make(of: read, for: query, store: viewpoint.store).get()
    }

    private static func record(_ script: inout FuzzInput, after number: ChangeNumber) -> RecordState {
        let flags = script.byte()
        let step: UInt64 = flags & 4 == 0 ? UInt64(script.byte()) : script.number() >> 24
        let isDeleted = flags & 1 == 1
        let text = script.text()
        let fields =
            (try? FieldMap([Field("title", .string(text)), Field("count", .int64(script.signed()))])) ?? .init()
        let changeNumber = number + 1 + ChangeNumber(clamping: step)
        return RecordState(
            name: script.text(), type: script.text(), fields: isDeleted ? FieldMap() : fields,
            changeNumber: changeNumber, isDeleted: isDeleted, parent: flags & 2 == 2 ? script.text() : nil,
            createdAt: Timestamp(milliseconds: script.signed()), createdBy: UserID(7),
            createdByDevice: viewpoint.device, modifiedAt: Timestamp(milliseconds: script.signed()),
            modifiedBy: UserID(7), batchEnd: changeNumber)
    }

    static func reference(_ id: UInt64, _ page: ZonePage, _ selection: FieldSelection?) -> WireServerEnvelope {
        var answer = WireFetchZoneChangesAnswer()
        answer.token = page.token.bytes
        answer.moreComing = page.moreComing
        answer.changes = page.entries.map { entry in
            var change = WireZoneChange()
            guard !entry.isDeleted else {
                change.deleted.name = entry.name
                change.deleted.type = entry.type
                return change
            }
            change.record.name = entry.name
            change.record.type = entry.type
            change.record.fields = [UInt8]((selection.map { entry.fields.selecting($0) } ?? entry.fields).bytes)
            let tag = ChangeTag.version(store: viewpoint.store, zone: page.zone, number: entry.changeNumber)
            change.record.tag = tag.bytes
            change.record.createdAt = entry.createdAt.milliseconds
            change.record.modifiedAt = entry.modifiedAt.milliseconds
            change.record.parent = entry.parent ?? ""
            return change
        }
        var envelope = WireServerEnvelope()
        envelope.id = id
        envelope.fetchZoneChanges = answer
        return envelope
    }

    static let seeds: [[UInt8]] = {
        let empty: [UInt8] = FuzzScript().number(9).byte(0).number(11).byte(0).bytes
        let record: [UInt8] = FuzzScript().byte(2).byte(0).text("h\u{E9}llo").number(3).text("a").text("Note")
            .text("root").number(1_700_000_000_000).number(.max).bytes
        let deleted: [UInt8] = FuzzScript().byte(1).byte(200).text("").number(0).text("b").text("Note").number(0)
            .number(0).bytes
        let selected = FuzzScript().number(.max).byte(1).text("count").number(.max).byte(1)
        return [
            empty, empty + record, empty + record + deleted, selected.adding(record).adding(deleted).bytes,
        ]
    }()
}
