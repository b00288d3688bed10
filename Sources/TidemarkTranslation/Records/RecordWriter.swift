// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkWire

/// Writes records as `Record` messages, without message objects.
struct RecordWriter {
    /// It must know the names of users before their records are written.
    var viewpoint: Viewpoint
    /// For the zone of the previous record. Records of one zone follow each other.
    private var tags: (zone: ZoneID, encoder: ChangeTagEncoder)?

    init(_ viewpoint: Viewpoint) {
        self.viewpoint = viewpoint
    }

    /// The size of the message.
    ///
    /// - Parameter fields: the record's fields that the caller wants.
    mutating func size(of record: RecordState, _ fields: FieldMap, in zone: ZoneID) -> Int {
        WireRecord.size(
            name: record.name, type: record.type, fields: fields.bytes, tag: tag(of: record, in: zone),
            createdAt: record.createdAt.milliseconds, modifiedAt: record.modifiedAt.milliseconds,
            createdBy: viewpoint.name(of: record.createdBy), modifiedBy: viewpoint.name(of: record.modifiedBy),
            parent: record.parent ?? "")
    }

    mutating func write(_ record: RecordState, _ fields: FieldMap, in zone: ZoneID, to writer: inout WireWriter) {
        WireRecord.write(
            name: record.name, type: record.type, fields: fields.bytes, tag: tag(of: record, in: zone),
            createdAt: record.createdAt.milliseconds, modifiedAt: record.modifiedAt.milliseconds,
            createdBy: viewpoint.name(of: record.createdBy), modifiedBy: viewpoint.name(of: record.modifiedBy),
            parent: record.parent ?? "", to: &writer)
    }

    private mutating func tag(of record: RecordState, in zone: ZoneID) -> EncodedTag {
        if let tags, tags.zone == zone { return EncodedTag(encoder: tags.encoder, number: record.changeNumber) }
        let encoder = ChangeTagEncoder(store: viewpoint.store, zone: zone)
        tags = (zone, encoder)
        return EncodedTag(encoder: encoder, number: record.changeNumber)
    }
}

/// A record's change tag, as content of a message.
struct EncodedTag: WireContent {
    let encoder: ChangeTagEncoder
    let number: ChangeNumber

    var byteCount: Int { encoder.byteCount(of: number) }
    func append(to bytes: inout [UInt8]) { encoder.append(number, to: &bytes) }
}
