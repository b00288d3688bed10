// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkWire

/// One `RecordSave`: whoever measures the server must cost little, and encodes what its records have in common once.
struct SaveMessage: Sendable {
    let name: String
    private let content: Content

    init(name: String, _ content: Content) {
        self.name = name
        self.content = content
    }

    /// What records of other names may share.
    struct Content: Sendable {
        fileprivate let bytes: [UInt8]

        /// - Parameter parent: the name of the new parent. Empty: the record loses the one that it has. Nil: it stays.
        init(type: String, fields: [UInt8], parent: String? = nil) {
            var save = WireRecordSave()
            save.type = type
            save.fields = fields
            if let parent {
                save.parentChange = parent.isEmpty ? .parentRemoved : .parentSet
                save.parent = parent
            }
            bytes = save.encoded
        }
    }

    /// A `ZoneModifications` without its zone.
    ///
    /// - Parameter tags: of the versions that the device knows, by name.
    static func zone(_ saves: [SaveMessage], tags: [String: [UInt8]]) -> [UInt8] {
        var writer = WireWriter(capacity: saves.reduce(0) { $0 + $1.content.bytes.count + 100 })
        for save in saves {
            let tag = tags[save.name] ?? []
            let headCount = WireWriter.size { save.writeHead(tag, to: &$0) }
            WireZoneModifications.begin(saves: headCount + save.content.bytes.count, to: &writer)
            save.writeHead(tag, to: &writer)
            writer.raw(save.content.bytes)
        }
        return writer.bytes
    }

    private func writeHead(_ tag: [UInt8], to writer: inout WireWriter) {
        WireRecordSave.write(name: name, tag: tag, to: &writer)
    }
}
