// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkWire

/// One `RecordSave`: whoever measures the server must cost little, and encodes what its records have in common once.
struct SaveMessage: Sendable {
    private let name: String
    private let content: Content

    init(name: String, _ content: Content) {
        self.name = name
        self.content = content
    }

    /// What records of other names may share.
    struct Content: Sendable {
        fileprivate let bytes: [UInt8]

        init(type: String, fields: [UInt8]) {
            var save = WireRecordSave()
            save.type = type
            save.fields = fields
            bytes = save.encoded
        }
    }

    /// A `ZoneModifications` without its zone.
    static func zone(_ saves: [SaveMessage]) -> [UInt8] {
        var writer = WireWriter(capacity: saves.reduce(0) { $0 + $1.byteCount + 4 })
        for save in saves {
            WireZoneModifications.begin(saves: save.byteCount, to: &writer)
            save.writeName(to: &writer)
            writer.raw(save.content.bytes)
        }
        return writer.bytes
    }

    /// Of the message.
    private var byteCount: Int { WireWriter.size { writeName(to: &$0) } + content.bytes.count }

    private func writeName(to writer: inout WireWriter) { WireRecordSave.write(name: name, to: &writer) }
}
