// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkFields
internal import TidemarkWire

/// Writes a page of a query's results as the bytes of a `ServerEnvelope` with a `QueryRecordsAnswer`. It makes no message objects.
package enum QueryPageEncoder {
    /// The answer to request `id`.
    ///
    /// - Parameter selected: of each match the fields that the client wants. Nil: all.
    /// - Throws: ``Refusal`` with `serverFault` if the viewpoint does not know the owner of the zones.
    package static func message(
        _ id: UInt64, _ page: QueryPage, to search: RecordsSearch, selected: [FieldMap]?, seenFrom viewpoint: Viewpoint
    ) throws(Refusal) -> [UInt8] {
        // A query of one zone does not name it with each match.
        let owner = search.query.zoneName == nil ? try viewpoint.ownerName(ofZonesIn: search.database) : nil
        let allFields = selected ?? page.matches.map(\.record.fields)
        let fieldBytes = allFields.reduce(0) { $0 + $1.byteCount }
        var answer = WireWriter(capacity: fieldBytes + page.matches.count * 128)
        var records = RecordWriter(viewpoint)
        for (match, fields) in zip(page.matches, allFields) {
            records.zone = match.zone
            let length = records.size(of: match.record, fields)
            func writeZone(to writer: inout WireWriter) {
                guard let owner else { return }
                WireZoneID.write(name: match.zoneName, owner: owner, to: &writer)
            }
            let zoneLength = owner == nil ? nil : WireWriter.size { writeZone(to: &$0) }
            WireQueryRecordsAnswer.begin(
                matches: WireQueryMatch.size(record: length) + (zoneLength.map { WireQueryMatch.size(zone: $0) } ?? 0),
                to: &answer)
            WireQueryMatch.begin(record: length, to: &answer)
            records.write(match.record, fields, to: &answer)
            if let zoneLength {
                WireQueryMatch.begin(zone: zoneLength, to: &answer)
                writeZone(to: &answer)
            }
        }
        WireQueryRecordsAnswer.write(cursor: page.cursor?.bytes ?? [], to: &answer)
        var envelope = WireWriter(capacity: answer.bytes.count + 24)
        WireServerEnvelope.write(id: id, to: &envelope)
        WireServerEnvelope.begin(queryRecords: answer.bytes.count, to: &envelope)
        envelope.raw(answer.bytes)
        return envelope.bytes
    }
}
