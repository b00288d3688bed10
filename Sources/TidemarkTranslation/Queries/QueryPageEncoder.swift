// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkWire

/// Writes a page of a query's results as the bytes of a `ServerEnvelope` with a `QueryRecordsAnswer`: what the generated code
/// would write, which a test compares.
package enum QueryPageEncoder {
    // Numbers of the fields in Envelope.proto, Queries.proto and Zones.proto.
    private enum Field {
        static let envelopeQueryRecords: UInt8 = 12
        static let matches: UInt8 = 1
        static let cursor: UInt8 = 2
        static let matchZone: UInt8 = 2
        static let zoneName: UInt8 = 1
    }

    /// The answer to request `id`.
    package static func message(
        _ id: UInt64, _ page: QueryPage, to search: RecordsSearch, seenFrom viewpoint: Viewpoint
    ) -> [UInt8] {
        let fieldBytes = page.matches.reduce(0) { $0 + $1.record.fields.byteCount }
        var body = MessageWriter(capacity: fieldBytes + page.matches.count * 128)
        var records = RecordWriter(viewpoint)
        for match in page.matches {
            let fields = search.selection.map { match.record.fields.selecting($0) } ?? match.record.fields
            let zone = search.query.zoneName == nil ? Self.zone(match.zoneName) : []
            records.append(match.record, fields, in: match.zone, tail: zone, as: Field.matches, to: &body)
        }
        body.append(field: Field.cursor, page.cursor?.bytes ?? [])
        return MessageWriter.answer(id, Field.envelopeQueryRecords, body: body.bytes)
    }

    private static func zone(_ name: String) -> [UInt8] {
        var writer = MessageWriter(capacity: name.utf8.count + 8)
        writer.beginMessage(Field.matchZone, length: MessageWriter.size(field: name.utf8.count))
        writer.append(field: Field.zoneName, name)
        return writer.bytes
    }
}
