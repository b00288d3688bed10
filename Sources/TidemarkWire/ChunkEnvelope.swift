// SPDX-License-Identifier: Apache-2.0

internal import SwiftProtobuf

/// The two messages that carry a part of an asset, put together and taken apart so that the part is copied nowhere: it is
/// most of the message, and there are thousands of them.
///
/// What is written is what the generated code understands, and what is read is what it would have read: a message of any
/// other form than the usual one is left to it.
package enum ChunkEnvelope {
    /// The fields' numbers: of the part's message in its envelope, and of the content in that.
    private enum Field {
        static let id: UInt64 = 1
        static let upload: UInt64 = 21
        static let uploadContent: UInt64 = 6
        static let fetch: UInt64 = 22
        static let fetchContent: UInt64 = 1
    }

    /// Below this a copy costs less than to look for the content.
    private static let contentBytesMin = 4_096
    /// Bytes that ``append(id:to:)`` adds at most.
    package static let idBytesMax = 11

    // MARK: Writing

    /// What stands before the content of a request; behind it comes ``append(id:to:)``.
    ///
    /// - Parameters:
    ///   - chunk: without content.
    ///   - envelope: what else is in it, such as the group of operations; without id and request.
    package static func head(
        of chunk: WireUploadAssetChunk, in envelope: WireClientEnvelope = WireClientEnvelope(), contentCount: Int
    ) -> [UInt8] {
        // Proto3 messages without required fields cannot fail to encode below 2 GiB.
        let fields: [UInt8] = (try? chunk.serializedBytes()) ?? []
        let others: [UInt8] = (try? envelope.serializedBytes()) ?? []
        return others + head(Field.upload, fields, Field.uploadContent, contentCount)
    }

    /// What stands before the content of request `id`'s answer.
    package static func answerHead(id: UInt64, contentCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        append(id: id, to: &bytes)
        return bytes + head(Field.fetch, [], Field.fetchContent, contentCount)
    }

    /// An envelope's id, which may stand anywhere in it.
    package static func append(id: UInt64, to bytes: inout [UInt8]) {
        append(varint: Field.id << 3, to: &bytes)
        append(varint: id, to: &bytes)
    }

    private static func head(_ chunk: UInt64, _ fields: [UInt8], _ content: UInt64, _ count: Int) -> [UInt8] {
        var start: [UInt8] = []
        append(varint: content << 3 | 2, to: &start)
        append(varint: UInt64(count), to: &start)
        var bytes: [UInt8] = []
        append(varint: chunk << 3 | 2, to: &bytes)
        append(varint: UInt64(fields.count + start.count + count), to: &bytes)
        return bytes + fields + start
    }

    private static func append(varint value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    // MARK: Reading

    /// A request without the content of the chunk that it carries, and where that lies in the bytes; nil if it carries
    /// none, or a small one.
    package static func request(_ bytes: [UInt8]) throws -> (envelope: WireClientEnvelope, content: Range<Int>)? {
        guard let (rest, content) = taken(from: bytes, Field.upload, Field.uploadContent) else { return nil }
        let envelope = try WireClientEnvelope(serializedBytes: rest)
        guard case .uploadAssetChunk = envelope.request else { return nil }
        return (envelope, content)
    }

    /// As ``request(_:)``, of an answer.
    package static func answer(_ bytes: [UInt8]) throws -> (envelope: WireServerEnvelope, content: Range<Int>)? {
        guard let (rest, content) = taken(from: bytes, Field.fetch, Field.fetchContent) else { return nil }
        let envelope = try WireServerEnvelope(serializedBytes: rest)
        guard case .fetchAssetChunk = envelope.answer else { return nil }
        return (envelope, content)
    }

    /// The message without the content, and where that lies. Nil if it is small, or there is anything unusual about it: then
    /// it is not for this to say what it means.
    private static func taken(
        from bytes: [UInt8], _ chunk: UInt64, _ content: UInt64
    ) -> (rest: [UInt8], content: Range<Int>)? {
        guard bytes.count >= contentBytesMin else { return nil }
        return bytes.withUnsafeBytes { all in
            guard let outer = only(chunk, in: all, 0..<all.count), let inner = only(content, in: all, outer.value),
                inner.value.count >= contentBytesMin
            else { return nil }
            var rest = Array(all[..<outer.start])
            append(varint: chunk << 3 | 2, to: &rest)
            append(varint: UInt64(outer.value.count - (inner.value.upperBound - inner.start)), to: &rest)
            rest += all[outer.value.lowerBound..<inner.start]
            rest += all[inner.value.upperBound...]
            return (rest, inner.value)
        }
    }

    /// The field of that number, which has a length and is there once: where it starts, and its value.
    private static func only(
        _ number: UInt64, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> (start: Int, value: Range<Int>)? {
        var found: (Int, Range<Int>)?
        var position = range.lowerBound
        while position < range.upperBound {
            let start = position
            guard let tag = varint(bytes, &position, range.upperBound) else { return nil }
            var length: UInt64 = 0
            switch tag & 7 {
            case 0: guard varint(bytes, &position, range.upperBound) != nil else { return nil }
            case 1: length = 8
            case 2:
                guard let count = varint(bytes, &position, range.upperBound) else { return nil }
                length = count
            case 5: length = 4
            default: return nil
            }
            guard length <= UInt64(range.upperBound - position) else { return nil }
            let value = position..<position + Int(length)
            position = value.upperBound
            guard tag >> 3 == number else { continue }
            guard tag & 7 == 2, found == nil else { return nil }
            found = (start, value)
        }
        return found
    }

    private static func varint(_ bytes: UnsafeRawBufferPointer, _ position: inout Int, _ end: Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < end else { return nil }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
