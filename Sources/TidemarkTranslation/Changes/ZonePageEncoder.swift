// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkFields
package import TidemarkWire

/// Writes a page of a zone's feed as the bytes of a `ServerEnvelope` with a `FetchZoneChangesAnswer`. It makes no message
/// objects. A record's fields are copied once, from the store's answer to the message.
package enum ZonePageEncoder {
    /// The answer to request `id`.
    ///
    /// - Parameter selected: of each entry the fields that the client wants. Nil: all.
    package static func message(
        _ id: UInt64, _ page: ZonePage, selected: [FieldMap]?, seenFrom viewpoint: Viewpoint
    ) -> [UInt8] {
        message(page, selected: selected, seenFrom: viewpoint) { writer, length in
            WireServerEnvelope.write(id: id, to: &writer)
            WireServerEnvelope.begin(fetchZoneChanges: length, to: &writer)
        }
    }

    /// The answer to request `id`, with a page of a database's feed and this page.
    ///
    /// - Parameters:
    ///   - lacksSubscription: whether the subscription that the client relies on no longer exists.
    ///   - selected: as above.
    /// - Throws: as `WireFetchDatabaseChangesAnswer.init`.
    package static func message(
        _ id: UInt64, _ database: DatabasePage, lacksSubscription: Bool = false, then page: ZonePage,
        selected: [FieldMap]?, seenFrom viewpoint: Viewpoint
    ) throws(Refusal) -> [UInt8] {
        let answer = try WireFetchDatabaseChangesAnswer(
            database, seenFrom: viewpoint, lacksSubscription: lacksSubscription)
        let size = answer.size
        return message(page, selected: selected, seenFrom: viewpoint, headLength: size) { writer, length in
            let answerLength = size + WireFetchDatabaseChangesAnswer.size(then: length)
            WireServerEnvelope.write(id: id, to: &writer)
            WireServerEnvelope.begin(fetchDatabaseChanges: answerLength, to: &writer)
            answer.write(to: &writer)
            WireFetchDatabaseChangesAnswer.begin(then: length, to: &writer)
        }
    }

    /// A push with a page of a database's feed and this page.
    ///
    /// - Parameter after: the tokens from which both pages continue.
    /// - Throws: as `WireFetchDatabaseChangesAnswer.init`.
    package static func push(
        _ push: WirePush, _ database: DatabasePage, then page: ZonePage,
        after: (database: ChangeToken, zone: ChangeToken), seenFrom viewpoint: Viewpoint
    ) throws(Refusal) -> [UInt8] {
        let answer = try WireFetchDatabaseChangesAnswer(database, seenFrom: viewpoint)
        var changes = WirePushedChanges()
        changes.databaseToken = after.database.bytes
        changes.zone = answer.changed.first ?? WireZoneID()
        changes.zoneToken = after.zone.bytes
        let (pushSize, changesSize, answerSize) = (push.size, changes.size, answer.size)
        let headLength = pushSize + changesSize + answerSize
        return message(page, selected: nil, seenFrom: viewpoint, headLength: headLength) { [changes] writer, length in
            let answerLength = answerSize + WireFetchDatabaseChangesAnswer.size(then: length)
            let changesLength = changesSize + WirePushedChanges.size(answer: answerLength)
            WireServerEnvelope.begin(push: pushSize + WirePush.size(changes: changesLength), to: &writer)
            push.write(to: &writer)
            WirePush.begin(changes: changesLength, to: &writer)
            changes.write(to: &writer)
            WirePushedChanges.begin(answer: answerLength, to: &writer)
            answer.write(to: &writer)
            WireFetchDatabaseChangesAnswer.begin(then: length, to: &writer)
        }
    }

    /// - Parameter begin: gets the length of the page, and writes what comes before it.
    private static func message(
        _ page: ZonePage, selected: [FieldMap]?, seenFrom viewpoint: Viewpoint, headLength: Int = 0,
        begin: (inout WireWriter, Int) -> Void
    ) -> [UInt8] {
        let writer = PageWriter(page: page, token: page.token.bytes, records: RecordWriter(viewpoint, in: page.zone))
        // NB: entries are read in place. A copy would retain and release each.
        return page.entries.withUnsafeBufferPointer { entries in
            writer.message(
                entries, headLength: headLength, fields: { selected?[$0] ?? entries[$0].fields }, begin: begin)
        }
    }

    private struct PageWriter {
        let page: ZonePage
        let token: [UInt8]
        let records: RecordWriter

        func message(
            _ entries: UnsafeBufferPointer<RecordState>, headLength: Int, fields: (Int) -> FieldMap,
            begin: (inout WireWriter, Int) -> Void
        ) -> [UInt8] {
            let changeLengths = entries.indices.map { size(of: entries[$0], fields($0)) }
            let length =
                changeLengths.reduce(0) { sum, length in
                    // The tags of both fields, `record` and `deleted`, have the same size.
                    sum + WireFetchZoneChangesAnswer.size(changes: WireZoneChange.size(record: length))
                } + WireWriter.size { writeEnd(to: &$0) }
            var writer = WireWriter(capacity: headLength + length + 64)
            begin(&writer, length)
            for index in entries.indices {
                write(entries[index], fields(index), length: changeLengths[index], to: &writer)
            }
            writeEnd(to: &writer)
            return writer.bytes
        }

        /// The fields behind the changes.
        private func writeEnd(to writer: inout WireWriter) {
            WireFetchZoneChangesAnswer.write(
                token: token, moreComing: page.moreComing, clientChangeToken: page.clientToken, to: &writer)
        }

        /// The size of the `Record` or `RecordEnd`.
        private func size(of record: RecordState, _ fields: FieldMap) -> Int {
            record.isDeleted
                ? WireWriter.size { records.writeEnd(of: record, to: &$0) } : records.size(of: record, fields)
        }

        private func write(_ record: RecordState, _ fields: FieldMap, length: Int, to writer: inout WireWriter) {
            guard !record.isDeleted else {
                WireFetchZoneChangesAnswer.begin(changes: WireZoneChange.size(deleted: length), to: &writer)
                WireZoneChange.begin(deleted: length, to: &writer)
                return records.writeEnd(of: record, to: &writer)
            }
            WireFetchZoneChangesAnswer.begin(changes: WireZoneChange.size(record: length), to: &writer)
            WireZoneChange.begin(record: length, to: &writer)
            records.write(record, fields, to: &writer)
        }
    }
}
