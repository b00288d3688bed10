// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkWire

/// Writes what clients learn of records, without message objects. All answers and pushes use it, so that each list of fields
/// stands here alone.
struct RecordWriter {
    /// It must know the names of users before their records are written.
    var viewpoint: Viewpoint
    /// The zone of the records that are written next.
    var zone: ZoneID {
        didSet { if zone != oldValue { tags = ChangeTagEncoder(store: viewpoint.store, zone: zone) } }
    }
    private var tags: ChangeTagEncoder
    /// Whether the records are the caller's own.
    var showsRootParents: Bool

    init(_ viewpoint: Viewpoint, in zone: ZoneID = ZoneID(0)) {
        self.viewpoint = viewpoint
        self.zone = zone
        showsRootParents = viewpoint.access.scope != .shared
        tags = ChangeTagEncoder(store: viewpoint.store, zone: zone)
    }

    /// A `Record`.
    ///
    /// - Parameter fields: the record's fields that the caller wants.
    func write(_ record: RecordState, _ fields: FieldMap, to writer: inout WireWriter) {
        WireRecord.write(
            name: record.name, type: record.type, fields: fields.bytes, tag: tag(record.changeNumber),
            createdAt: record.createdAt.milliseconds, modifiedAt: record.modifiedAt.milliseconds,
            createdBy: viewpoint.name(of: record.createdBy), modifiedBy: viewpoint.name(of: record.modifiedBy),
            parent: parent(of: record) ?? "", to: &writer)
        if let share = share(of: record) {
            WireRecord.begin(share: share.size, to: &writer)
            share.write(to: &writer)
        }
        if let name = record.shareName, !record.isDeleted { WireRecord.write(shareName: name, to: &writer) }
    }

    /// A root's own parent is outside of its share, so nobody but the owner hears its name.
    private func parent(of record: RecordState) -> String? {
        record.shareName != nil && !showsRootParents ? nil : record.parent
    }

    /// What comes with a CKShare record. Nil for all others, and if the viewpoint does not know the share.
    private func share(of record: RecordState) -> WireShare? {
        // NB: most answers have no share, and no record is looked at for it.
        guard !viewpoint.shares.isEmpty, Share.isType(record.type), !record.isDeleted else { return nil }
        return viewpoint.shares[zone]?[record.name].map { WireShare($0, seenFrom: viewpoint) }
    }

    /// What a record counts in an answer whose bytes are bounded: all its fields, and the share that comes with it.
    func byteCount(of record: RecordState) -> Int {
        guard !viewpoint.shares.isEmpty, Share.isType(record.type) else { return record.fields.byteCount }
        return record.fields.byteCount + (viewpoint.shares[zone]?[record.name]?.byteCount ?? 0)
    }

    /// The same `Record` as an object, for answers that are rare. Nil if it cannot be read, which is a fault.
    ///
    /// - Parameter fields: those of the record's fields that the caller wants; nil: all.
    func message(of record: RecordState, _ fields: FieldMap? = nil) -> WireRecord? {
        let fields = fields ?? record.fields
        var writer = WireWriter(capacity: fields.byteCount + 256)
        write(record, fields, to: &writer)
        return try? WireRecord(reading: writer.bytes)
    }

    /// The size of a `Record`.
    func size(of record: RecordState, _ fields: FieldMap) -> Int {
        WireWriter.size { write(record, fields, to: &$0) }
    }

    /// A `RecordEnd`, for a tombstone.
    func writeEnd(of record: RecordState, to writer: inout WireWriter) {
        WireRecordEnd.write(name: record.name, type: record.type, to: &writer)
    }

    /// A `SavedRecord`.
    func write(_ saved: RecordMetadata, to writer: inout WireWriter) {
        WireSavedRecord.write(
            tag: tag(saved.changeNumber), createdAt: saved.createdAt.milliseconds,
            modifiedAt: saved.modifiedAt.milliseconds, createdBy: viewpoint.name(of: saved.createdBy),
            modifiedBy: viewpoint.name(of: saved.modifiedBy), mustFetch: saved.content.isWithheld, to: &writer)
        guard case .record(let record) = saved.content else { return }
        WireSavedRecord.begin(record: size(of: record, record.fields), to: &writer)
        write(record, record.fields, to: &writer)
    }

    private func tag(_ number: ChangeNumber) -> EncodedTag { EncodedTag(encoder: tags, number: number) }
}

/// A record's change tag, as content of a message.
private struct EncodedTag: WireContent {
    let encoder: ChangeTagEncoder
    let number: ChangeNumber

    var byteCount: Int { encoder.byteCount(of: number) }
    func append(to bytes: inout [UInt8]) { encoder.append(number, to: &bytes) }
}
