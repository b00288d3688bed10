// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFields

/// Writes a page of a zone's feed as the bytes of a `ServerEnvelope` with a `FetchZoneChangesAnswer`, without message
/// objects: a record's fields are copied once, from the store's answer to the message.
///
/// It writes what the generated code would write, byte for byte, which a test compares.
package enum ZonePageEncoder {
    // Numbers of the fields in Envelope.proto, Changes.proto and Records.proto.
    private enum Field {
        static let envelopeID: UInt8 = 1
        static let envelopeZoneChanges: UInt8 = 9
        static let changes: UInt8 = 1
        static let token: UInt8 = 2
        static let moreComing: UInt8 = 3
        static let clientToken: UInt8 = 4
        static let changeRecord: UInt8 = 1
        static let changeDeleted: UInt8 = 2
        static let endName: UInt8 = 1
        static let endType: UInt8 = 2
        static let name: UInt8 = 1
        static let type: UInt8 = 2
        static let fields: UInt8 = 3
        static let tag: UInt8 = 4
        static let createdAt: UInt8 = 5
        static let modifiedAt: UInt8 = 6
        static let parent: UInt8 = 9
    }

    /// The answer to request `id`.
    ///
    /// - Parameter selection: the keys that the client wants; nil: all.
    package static func message(
        _ id: UInt64, _ page: ZonePage, selection: FieldSelection?, seenFrom viewpoint: Viewpoint
    ) -> [UInt8] {
        let token = page.token.bytes
        let changes = page.entries.map { record in
            guard let selection, !record.isDeleted else { return Change(record, page.zone, viewpoint) }
            var selected = record
            selected.fields = record.fields.selecting(selection)
            return Change(selected, page.zone, viewpoint)
        }
        let length =
            changes.reduce(0) { $0 + MessageWriter.size(message: $1.length) }
            + MessageWriter.size(field: token.count) + MessageWriter.size(flag: page.moreComing)
            + MessageWriter.size(field: page.clientToken.count)
        var writer = MessageWriter(capacity: length + 24)
        writer.append(field: Field.envelopeID, number: Int64(bitPattern: id))
        writer.beginMessage(Field.envelopeZoneChanges, length: length)
        for change in changes { change.append(to: &writer) }
        writer.append(field: Field.token, token)
        writer.append(field: Field.moreComing, flag: page.moreComing)
        writer.append(field: Field.clientToken, page.clientToken)
        return writer.bytes
    }

    /// One record with the sizes of its messages.
    private struct Change {
        let record: RecordState
        let tag: [UInt8]
        /// Of the `Record` or `RecordEnd`.
        let contentLength: Int
        /// Of the `ZoneChange` around it.
        var length: Int { MessageWriter.size(message: contentLength) }

        init(_ record: RecordState, _ zone: ZoneID, _ viewpoint: Viewpoint) {
            self.record = record
            let nameAndType =
                MessageWriter.size(field: record.name.utf8.count) + MessageWriter.size(field: record.type.utf8.count)
            guard !record.isDeleted else {
                tag = []
                contentLength = nameAndType
                return
            }
            tag = viewpoint.tag(zone: zone, number: record.changeNumber)
            contentLength =
                nameAndType + MessageWriter.size(field: record.fields.byteCount) + MessageWriter.size(field: tag.count)
                + MessageWriter.size(number: record.createdAt.milliseconds)
                + MessageWriter.size(number: record.modifiedAt.milliseconds)
                + MessageWriter.size(field: record.parent?.utf8.count ?? 0)
        }

        func append(to writer: inout MessageWriter) {
            writer.beginMessage(Field.changes, length: length)
            guard !record.isDeleted else {
                writer.beginMessage(Field.changeDeleted, length: contentLength)
                writer.append(field: Field.endName, record.name)
                writer.append(field: Field.endType, record.type)
                return
            }
            writer.beginMessage(Field.changeRecord, length: contentLength)
            writer.append(field: Field.name, record.name)
            writer.append(field: Field.type, record.type)
            writer.append(field: Field.fields, record.fields.bytes)
            writer.append(field: Field.tag, tag)
            writer.append(field: Field.createdAt, number: record.createdAt.milliseconds)
            writer.append(field: Field.modifiedAt, number: record.modifiedAt.milliseconds)
            if let parent = record.parent { writer.append(field: Field.parent, parent) }
        }
    }
}
