// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

/// The request that devices make most, written without the generated code: what it writes is what that would write.
enum SaveMessage {
    /// Nil for every other request.
    static func bytes(of envelope: WireClientEnvelope) -> [UInt8]? {
        guard case .modifyRecords(let request)? = envelope.request else { return nil }
        // NB: 60, of the group, is the one number here whose tag takes two bytes.
        let group = envelope.hasOperationGroup ? size(envelope.operationGroup) : nil
        let groupSize = group.map { MessageWriter.size(message: $0) + 1 } ?? 0
        let length = size(request)
        let idSize = MessageWriter.size(number: Int64(bitPattern: envelope.id))
        var writer = MessageWriter(capacity: idSize + MessageWriter.size(message: length) + groupSize)
        writer.append(field: 1, number: Int64(bitPattern: envelope.id))
        writer.beginMessage(3, length: length)
        append(request, to: &writer)
        if let group {
            writer.append(varint: 60 << 3 | 2)
            writer.append(varint: UInt64(group))
            writer.append(field: 1, envelope.operationGroup.id)
            writer.append(field: 2, envelope.operationGroup.name)
        }
        return writer.bytes
    }

    // MARK: Sizes

    private static func size(_ text: String) -> Int { MessageWriter.size(field: text.utf8.count) }
    private static func size(_ data: Data) -> Int { MessageWriter.size(field: data.count) }
    private static func size(_ choice: Int) -> Int { MessageWriter.size(number: Int64(choice)) }
    private static func size(_ number: UInt64) -> Int { MessageWriter.size(number: Int64(bitPattern: number)) }

    private static func size(_ group: WireOperationGroup) -> Int { size(group.id) + size(group.name) }
    private static func size(_ zone: WireZoneID) -> Int { size(zone.name) + size(zone.owner) }

    private static func size(_ stamp: WireRequestStamp) -> Int {
        size(stamp.counter) + size(stamp.lowestUnanswered) + MessageWriter.size(number: stamp.issuedAt)
            + MessageWriter.size(flag: stamp.repeated) + size(stamp.epoch) + size(stamp.nonce)
    }

    private static func size(_ request: WireModifyRecords) -> Int {
        let head = size(request.database.rawValue) + size(request.policy.rawValue)
        let stamp = request.hasStamp ? MessageWriter.size(message: size(request.stamp)) : 0
        let tail = MessageWriter.size(flag: request.atomic) + size(request.clientChangeToken)
        return request.zones.reduce(head + stamp + tail) { $0 + MessageWriter.size(message: size($1)) }
    }

    private static func size(_ part: WireZoneModifications) -> Int {
        let zone = part.hasZone ? MessageWriter.size(message: size(part.zone)) : 0
        let saves = part.saves.reduce(0) { $0 + MessageWriter.size(message: size($1)) }
        return part.deletes.reduce(zone + saves) { $0 + MessageWriter.size(message: $1.utf8.count) }
    }

    private static func size(_ save: WireRecordSave) -> Int {
        let names = size(save.name) + size(save.type) + size(save.parent)
        return names + size(save.tag) + size(save.fields) + size(save.parentChange.rawValue)
    }

    // MARK: Fields

    private static func append(_ request: WireModifyRecords, to writer: inout MessageWriter) {
        writer.append(field: 1, number: Int64(request.database.rawValue))
        if request.hasStamp {
            let stamp = request.stamp
            writer.beginMessage(2, length: size(stamp))
            writer.append(field: 1, number: Int64(bitPattern: stamp.counter))
            writer.append(field: 2, number: Int64(bitPattern: stamp.lowestUnanswered))
            writer.append(field: 3, number: stamp.issuedAt)
            writer.append(field: 4, flag: stamp.repeated)
            writer.append(field: 5, number: Int64(bitPattern: stamp.epoch))
            writer.append(field: 6, number: Int64(bitPattern: stamp.nonce))
        }
        writer.append(field: 3, number: Int64(request.policy.rawValue))
        writer.append(field: 4, flag: request.atomic)
        for part in request.zones {
            writer.beginMessage(5, length: size(part))
            append(part, to: &writer)
        }
        writer.append(field: 6, request.clientChangeToken)
    }

    private static func append(_ part: WireZoneModifications, to writer: inout MessageWriter) {
        if part.hasZone {
            writer.beginMessage(1, length: size(part.zone))
            writer.append(field: 1, part.zone.name)
            writer.append(field: 2, part.zone.owner)
        }
        for save in part.saves {
            writer.beginMessage(2, length: size(save))
            writer.append(field: 1, save.name)
            writer.append(field: 2, save.type)
            writer.append(field: 3, save.tag)
            writer.append(field: 4, save.fields)
            writer.append(field: 5, number: Int64(save.parentChange.rawValue))
            writer.append(field: 6, save.parent)
        }
        for name in part.deletes {
            writer.beginMessage(3, length: name.utf8.count)
            if !name.isEmpty { writer.append(raw: Array(name.utf8)) }
        }
    }
}

extension MessageWriter {
    fileprivate mutating func append(field number: UInt8, _ content: Data) {
        guard !content.isEmpty else { return }
        append(field: number, length: content.count) { bytes in
            content.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
    }
}
