// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkWire

/// Writes records as the `Record` messages of an answer, without message objects.
struct RecordWriter {
    // Numbers of the fields in Records.proto.
    private enum Field {
        static let name: UInt8 = 1
        static let type: UInt8 = 2
        static let fields: UInt8 = 3
        static let tag: UInt8 = 4
        static let createdAt: UInt8 = 5
        static let modifiedAt: UInt8 = 6
        static let createdBy: UInt8 = 7
        static let modifiedBy: UInt8 = 8
        static let parent: UInt8 = 9
    }

    /// Must know the names of users before their records are written.
    var viewpoint: Viewpoint
    /// Of the zone of the record before: records of one zone come together.
    private var tags: (zone: ZoneID, encoder: ChangeTagEncoder)?

    init(_ viewpoint: Viewpoint) {
        self.viewpoint = viewpoint
    }

    /// Appends a message whose field 1 is the record; what follows it there is `tail`.
    ///
    /// - Parameter number: of the field that gets the message.
    mutating func append(
        _ record: RecordState, _ fields: FieldMap, in zone: ZoneID, tail: [UInt8] = [], as number: UInt8,
        to writer: inout MessageWriter
    ) {
        let tags = tagEncoder(zone)
        let createdBy = viewpoint.name(of: record.createdBy)
        let modifiedBy = viewpoint.name(of: record.modifiedBy)
        let names =
            MessageWriter.size(field: record.name.utf8.count) + MessageWriter.size(field: record.type.utf8.count)
            + MessageWriter.size(field: record.parent?.utf8.count ?? 0)
            + MessageWriter.size(field: createdBy.utf8.count) + MessageWriter.size(field: modifiedBy.utf8.count)
        let length =
            names + MessageWriter.size(field: fields.byteCount)
            + MessageWriter.size(field: tags.byteCount(of: record.changeNumber))
            + MessageWriter.size(number: record.createdAt.milliseconds)
            + MessageWriter.size(number: record.modifiedAt.milliseconds)
        writer.beginMessage(number, length: MessageWriter.size(message: length) + tail.count)
        writer.beginMessage(1, length: length)
        writer.append(field: Field.name, record.name)
        writer.append(field: Field.type, record.type)
        writer.append(field: Field.fields, fields.bytes)
        writer.append(field: Field.tag, tags, record.changeNumber)
        writer.append(field: Field.createdAt, number: record.createdAt.milliseconds)
        writer.append(field: Field.modifiedAt, number: record.modifiedAt.milliseconds)
        writer.append(field: Field.createdBy, createdBy)
        writer.append(field: Field.modifiedBy, modifiedBy)
        if let parent = record.parent { writer.append(field: Field.parent, parent) }
        writer.append(raw: tail)
    }

    private mutating func tagEncoder(_ zone: ZoneID) -> ChangeTagEncoder {
        if let tags, tags.zone == zone { return tags.encoder }
        let encoder = ChangeTagEncoder(store: viewpoint.store, zone: zone)
        tags = (zone, encoder)
        return encoder
    }
}

extension MessageWriter {
    mutating func append(field number: UInt8, _ tags: ChangeTagEncoder, _ change: ChangeNumber) {
        append(field: number, length: tags.byteCount(of: change)) { tags.append(change, to: &$0) }
    }

    /// The answer to request `id`.
    ///
    /// - Parameters:
    ///   - number: of the answer's field in a `ServerEnvelope`.
    ///   - body: the fields of the answer.
    static func answer(_ id: UInt64, _ number: UInt8, body: [UInt8]) -> [UInt8] {
        var writer = MessageWriter(capacity: body.count + 24)
        writer.append(field: 1, number: Int64(bitPattern: id))
        writer.append(message: number, body)
        return writer.bytes
    }
}
