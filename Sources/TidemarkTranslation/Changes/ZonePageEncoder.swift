// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFields
package import TidemarkWire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes a page of a zone's feed as the bytes of a `ServerEnvelope` with a `FetchZoneChangesAnswer`, without message
/// objects: a record's fields are copied once, from the store's answer to the message.
///
/// It writes what the generated code would write, byte for byte, which a test compares.
package enum ZonePageEncoder {
    // Numbers of the fields in Envelope.proto, Changes.proto and Records.proto.
    private enum Field {
        static let envelopeID: UInt8 = 1
        static let envelopeDatabaseChanges: UInt8 = 8
        static let databaseThen: UInt8 = 5
        static let envelopePush: UInt8 = 15
        static let pushChanges: UInt8 = 5
        static let pushedAnswer: UInt8 = 4
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
        static let createdBy: UInt8 = 7
        static let modifiedBy: UInt8 = 8
        static let parent: UInt8 = 9
    }

    /// The answer to request `id`.
    ///
    /// - Parameter selection: the keys that the client wants; nil: all.
    package static func message(
        _ id: UInt64, _ page: ZonePage, selection: FieldSelection?, seenFrom viewpoint: Viewpoint
    ) -> [UInt8] {
        message(page, selection: selection, seenFrom: viewpoint) { writer, length in
            writer.append(field: Field.envelopeID, number: Int64(bitPattern: id))
            writer.beginMessage(Field.envelopeZoneChanges, length: length)
        }
    }

    /// The answer to request `id` that a page of a database's feed goes with.
    ///
    /// - Parameter lacksSubscription: whether the one is gone that the client relies on.
    package static func message(
        _ id: UInt64, _ database: DatabasePage, lacksSubscription: Bool = false, then page: ZonePage,
        selection: FieldSelection?, seenFrom viewpoint: Viewpoint
    ) -> [UInt8] {
        var head = WireFetchDatabaseChangesAnswer(database)
        head.subscriptionMissing = lacksSubscription
        let answer = head.encoded
        return message(page, selection: selection, seenFrom: viewpoint, headLength: answer.count) { writer, length in
            writer.append(field: Field.envelopeID, number: Int64(bitPattern: id))
            writer.beginMessage(
                Field.envelopeDatabaseChanges, length: answer.count + MessageWriter.size(message: length))
            writer.append(raw: answer)
            writer.beginMessage(Field.databaseThen, length: length)
        }
    }

    /// A push that brings a page of a database's feed and this one.
    ///
    /// - Parameter after: the tokens that both go on from.
    package static func push(
        _ push: WirePush, _ database: DatabasePage, then page: ZonePage,
        after: (database: ChangeToken, zone: ChangeToken), seenFrom viewpoint: Viewpoint
    ) -> [UInt8] {
        let (push, answer) = (push.encoded, WireFetchDatabaseChangesAnswer(database).encoded)
        var changes = WirePushedChanges()
        changes.databaseToken = Data(after.database.bytes)
        changes.zone.name = database.changed.first?.key.name ?? ""
        changes.zoneToken = Data(after.zone.bytes)
        let start = changes.encoded
        let headLength = push.count + start.count + answer.count
        return message(page, selection: nil, seenFrom: viewpoint, headLength: headLength) { writer, length in
            let answerLength = answer.count + MessageWriter.size(message: length)
            let changesLength = start.count + MessageWriter.size(message: answerLength)
            writer.beginMessage(Field.envelopePush, length: push.count + MessageWriter.size(message: changesLength))
            writer.append(raw: push)
            writer.beginMessage(Field.pushChanges, length: changesLength)
            writer.append(raw: start)
            writer.beginMessage(Field.pushedAnswer, length: answerLength)
            writer.append(raw: answer)
            writer.beginMessage(Field.databaseThen, length: length)
        }
    }

    /// - Parameter begin: writes what comes before the page, of which it gets the length.
    private static func message(
        _ page: ZonePage, selection: FieldSelection?, seenFrom viewpoint: Viewpoint, headLength: Int = 0,
        begin: (inout MessageWriter, Int) -> Void
    ) -> [UInt8] {
        let selected = selection.map { selection in
            page.entries.map { $0.isDeleted ? FieldMap() : $0.fields.selecting(selection) }
        }
        let writer = Writer(
            tags: ChangeTagEncoder(store: viewpoint.store, zone: page.zone),
            names: viewpoint.access.scope == .private ? nil : viewpoint)
        // NB: the records stay where they are: to copy one is to count five references up and down.
        return page.entries.withUnsafeBufferPointer { records in
            writer.message(
                page, records, headLength: headLength, fields: { selected?[$0] ?? records[$0].fields }, begin: begin)
        }
    }

    private struct Writer {
        let tags: ChangeTagEncoder
        /// Who knows the names of users; nil in a private database, where all of them are the caller, who has none.
        let names: Viewpoint?

        func message(
            _ page: ZonePage, _ records: UnsafeBufferPointer<RecordState>, headLength: Int, fields: (Int) -> FieldMap,
            begin: (inout MessageWriter, Int) -> Void
        ) -> [UInt8] {
            let token = page.token.bytes
            let contentLengths = records.indices.map { contentLength(of: records, $0, fields($0).byteCount) }
            let length =
                contentLengths.reduce(0) { $0 + MessageWriter.size(message: MessageWriter.size(message: $1)) }
                + MessageWriter.size(field: token.count) + MessageWriter.size(flag: page.moreComing)
                + MessageWriter.size(field: page.clientToken.count)
            var writer = MessageWriter(capacity: headLength + length + 32)
            begin(&writer, length)
            for index in records.indices {
                append(records, index, fields(index), contentLength: contentLengths[index], to: &writer)
            }
            writer.append(field: Field.token, token)
            writer.append(field: Field.moreComing, flag: page.moreComing)
            writer.append(field: Field.clientToken, page.clientToken)
            return writer.bytes
        }

        /// Of the `Record` or `RecordEnd`.
        private func contentLength(
            of records: UnsafeBufferPointer<RecordState>, _ index: Int, _ fieldsByteCount: Int
        ) -> Int {
            let nameAndType =
                MessageWriter.size(field: records[index].name.utf8.count)
                + MessageWriter.size(field: records[index].type.utf8.count)
            guard !records[index].isDeleted else { return nameAndType }
            return nameAndType + MessageWriter.size(field: fieldsByteCount)
                + MessageWriter.size(field: tags.byteCount(of: records[index].changeNumber))
                + MessageWriter.size(number: records[index].createdAt.milliseconds)
                + MessageWriter.size(number: records[index].modifiedAt.milliseconds)
                + MessageWriter.size(field: records[index].parent?.utf8.count ?? 0)
                + MessageWriter.size(field: name(of: records[index].createdBy).utf8.count)
                + MessageWriter.size(field: name(of: records[index].modifiedBy).utf8.count)
        }

        private func name(of user: UserID) -> String { names?.name(of: user) ?? "" }

        private func append(
            _ records: UnsafeBufferPointer<RecordState>, _ index: Int, _ fields: FieldMap, contentLength: Int,
            to writer: inout MessageWriter
        ) {
            writer.beginMessage(Field.changes, length: MessageWriter.size(message: contentLength))
            guard !records[index].isDeleted else {
                writer.beginMessage(Field.changeDeleted, length: contentLength)
                writer.append(field: Field.endName, records[index].name)
                writer.append(field: Field.endType, records[index].type)
                return
            }
            writer.beginMessage(Field.changeRecord, length: contentLength)
            writer.append(field: Field.name, records[index].name)
            writer.append(field: Field.type, records[index].type)
            writer.append(field: Field.fields, fields.bytes)
            writer.append(field: Field.tag, tags, records[index].changeNumber)
            writer.append(field: Field.createdAt, number: records[index].createdAt.milliseconds)
            writer.append(field: Field.modifiedAt, number: records[index].modifiedAt.milliseconds)
            writer.append(field: Field.createdBy, name(of: records[index].createdBy))
            writer.append(field: Field.modifiedBy, name(of: records[index].modifiedBy))
            if let parent = records[index].parent { writer.append(field: Field.parent, parent) }
        }
    }
}
