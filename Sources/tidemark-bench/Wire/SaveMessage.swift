// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SwiftProtobuf
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
            save.fields = Data(fields)
            do {
                bytes = try save.serializedBytes()
            } catch {
                preconditionFailure("Our own messages can be encoded: \(error)")
            }
        }
    }

    /// A `ZoneModifications` without its zone.
    static func zone(_ saves: [SaveMessage]) -> [UInt8] {
        var zone: [UInt8] = []
        zone.reserveCapacity(saves.reduce(0) { $0 + $1.byteCount + 4 })
        for save in saves {
            zone += field(2, save.byteCount)
            zone.append(1 << 3 | 2)
            zone.append(UInt8(save.name.utf8.count))
            zone += save.name.utf8
            zone += save.content.bytes
        }
        return zone
    }

    /// Of the message. Names are shorter than 128 bytes, so that a byte says how long one is.
    private var byteCount: Int { 2 + name.utf8.count + content.bytes.count }

    /// The head of a field (number up to 15) of so many bytes.
    static func field(_ number: UInt8, _ count: Int) -> [UInt8] {
        var head = [number << 3 | 2]
        var rest = count
        while rest >= 0x80 {
            head.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        head.append(UInt8(rest))
        return head
    }
}
