// SPDX-License-Identifier: Apache-2.0

package import SwiftProtobuf

/// Reads protobuf messages of the usual form: known fields of the right types, single ones once, strings in UTF-8. Whatever
/// is not so stops it (`nil`), and is left to the generated code to judge.
package struct PlainReader {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var position = 0
    /// Numbers of the single fields that were there, as bits.
    @usableFromInline var seen: UInt64 = 0

    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// What a field holds, by its wire type.
    package enum Value {
        case number(UInt64)
        case content(UnsafeRawBufferPointer)
    }

    @inlinable package var isAtEnd: Bool { position == bytes.count }

    /// - Parameter repeated: fields that may be there more than once, as bits.
    @inlinable
    package mutating func next(repeated: UInt64 = 0) -> (field: UInt64, value: Value)? {
        guard let tag = varint(), tag >> 3 < 64 else { return nil }
        let bit = UInt64(1) << (tag >> 3)
        guard seen & bit == 0 else { return nil }
        seen |= bit & ~repeated
        switch tag & 7 {
        case 0: return varint().map { (tag >> 3, .number($0)) }
        case 2:
            guard let count = varint(), count <= UInt64(bytes.count - position) else { return nil }
            defer { position += Int(count) }
            return (tag >> 3, .content(UnsafeRawBufferPointer(rebasing: bytes[position..<position + Int(count)])))
        default: return nil
        }
    }

    /// A message that has two strings, its fields 1 and 2, and no other field.
    @inlinable
    package static func twoTexts(_ bytes: UnsafeRawBufferPointer) -> (String, String)? {
        var texts = ("", "")
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            guard let (field, value) = reader.next(), case .content(let bytes) = value, let text = bytes.text else {
                return nil
            }
            switch field {
            case 1: texts.0 = text
            case 2: texts.1 = text
            default: return nil
            }
        }
        return texts
    }

    @inlinable
    mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}

extension UnsafeRawBufferPointer {
    /// Nil unless they are UTF-8. Names are nearly always ASCII, of which there is less to check.
    @inlinable package var text: String? {
        if allSatisfy({ $0 < 0x80 }) { return String(decoding: self, as: UTF8.self) }
        return String(validating: bindMemory(to: UInt8.self), as: UTF8.self)
    }
}

extension Enum where RawValue == Int {
    /// Nil for what the generated code may read as another number: more than 32 bits.
    package init?(number: UInt64) {
        guard number <= UInt64(Int32.max) else { return nil }
        self.init(rawValue: Int(number))
    }
}
