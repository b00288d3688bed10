// SPDX-License-Identifier: Apache-2.0

import TidemarkBytes
import TidemarkTestSupport

/// Makes the bytes of messages from their shapes alone, in the order of the fields and without defaults, as both writers do.
struct MessageMaker {
    /// Which fields are there.
    enum Filling: Equatable {
        /// All; of a oneof the member with this index.
        case every(member: Int)
        case random
    }

    var random: SeededRandom
    let filling: Filling
    /// Messages nested deeper are empty.
    var depthMax = 4
    /// Whether strings and bytes are as short as can be, so that each byte of the message can be changed in turn.
    var isShort = false

    mutating func bytes(of shape: MessageShape, depth: Int = 0) -> [UInt8] {
        var writer = WireWriter(capacity: 64)
        guard depth < depthMax else { return [] }
        let chosen = chosenMembers(of: shape)
        for field in shape.fields.sorted(by: { $0.number < $1.number }) {
            if let oneof = field.oneof, chosen[oneof] != field.number { continue }
            if field.oneof == nil, filling == .random, Bool.random(using: &random) { continue }
            append(field, to: &writer, depth: depth)
        }
        return writer.bytes
    }

    private mutating func chosenMembers(of shape: MessageShape) -> [Int: UInt32] {
        var chosen: [Int: UInt32] = [:]
        for (oneof, members) in Dictionary(grouping: shape.fields.filter { $0.oneof != nil }, by: { $0.oneof ?? 0 }) {
            switch filling {
            case .every(let member): chosen[oneof] = members[member % members.count].number
            case .random: chosen[oneof] = members.randomElement(using: &random)?.number
            }
        }
        return chosen
    }

    private mutating func append(_ field: FieldShape, to writer: inout WireWriter, depth: Int) {
        guard field.elementsMax != nil else {
            return appendElement(field, isDefaultAllowed: field.isWrittenWithDefault, to: &writer, depth: depth)
        }
        let count = filling == .random ? Int.random(in: 1...3, using: &random) : 2
        if field.isPacked {
            var content = WireWriter(capacity: 16)
            for _ in 0..<count { appendValue(field, isDefaultAllowed: true, to: &content, depth: depth) }
            writer.number(UInt64(field.number << 3 | 2))
            writer.content(content.bytes)
        } else {
            for _ in 0..<count { appendElement(field, isDefaultAllowed: true, to: &writer, depth: depth) }
        }
    }

    private mutating func appendElement(
        _ field: FieldShape, isDefaultAllowed: Bool, to writer: inout WireWriter, depth: Int
    ) {
        let wireType: UInt32 =
            switch field.kind {
            case .string, .bytes, .message: 2
            case .double: 1
            default: 0
            }
        writer.number(UInt64(field.number << 3 | wireType))
        appendValue(field, isDefaultAllowed: isDefaultAllowed && filling == .random, to: &writer, depth: depth)
    }

    private mutating func appendValue(
        _ field: FieldShape, isDefaultAllowed: Bool, to writer: inout WireWriter, depth: Int
    ) {
        let isDefault = isDefaultAllowed && Int.random(in: 0..<4, using: &random) == 0
        switch field.kind {
        case .string:
            let many = ["a", "Notes", "Zoë", "\u{1F30A}", "\u{0}", String(repeating: "n", count: 200)]
            let texts = isShort ? ["é"] : many
            let allowed = texts.filter { $0.utf8.count <= field.bytesMax ?? .max }
            writer.text(isDefault ? "" : allowed.randomElement(using: &random) ?? "a")
        case .bytes:
            let count = isShort ? 1 : [1, 2, 16, 32, 300].randomElement(using: &random) ?? 1
            writer.content(isDefault ? [] : random.bytes(count: min(count, field.bytesMax ?? .max)))
        case .bool: writer.flag(!isDefault)
        case .double:
            let numbers = [1.5, -0.0, .infinity, .nan, .leastNonzeroMagnitude]
            writer.double(isDefault ? 0 : numbers.randomElement(using: &random) ?? 1.5)
        case .choice: writer.int32(isDefault ? 0 : [1, 2, 3, 99, .max, -1].randomElement(using: &random) ?? 1)
        case .int32: writer.int32(isDefault ? 0 : [1, -1, .max, .min].randomElement(using: &random) ?? 1)
        case .uint32: writer.uint32(isDefault ? 0 : [1, 127, 128, .max].randomElement(using: &random) ?? 1)
        case .int64: writer.int64(isDefault ? 0 : [1, -1, .max, .min, 300].randomElement(using: &random) ?? 1)
        case .sint64: writer.zigzag(isDefault ? 0 : [1, -1, .max, .min, 300].randomElement(using: &random) ?? 1)
        case .uint64: writer.uint64(isDefault ? 0 : [1, 127, 128, .max].randomElement(using: &random) ?? 1)
        case .message(let name):
            guard let shape = MessageShape.byName[name] else { return }
            writer.content(bytes(of: shape, depth: depth + 1))
        }
    }
}
