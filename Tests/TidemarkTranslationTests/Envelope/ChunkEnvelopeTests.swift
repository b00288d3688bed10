// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftProtobuf
import Testing
import TidemarkTranslation
import TidemarkWire

@Suite struct ChunkEnvelopeTests {
    private static let sizes = [0, 1, 4_095, 4_096, 20_000, 262_144]

    private static func content(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }) }

    private static func upload(_ count: Int) -> WireClientEnvelope {
        var envelope = WireClientEnvelope()
        envelope.id = 300
        envelope.uploadAssetChunk.database = .private
        envelope.uploadAssetChunk.zone.name = "notes"
        envelope.uploadAssetChunk.sha256 = Data(repeating: 9, count: 32)
        envelope.uploadAssetChunk.byteCount = 1 << 40
        envelope.uploadAssetChunk.offset = 77
        envelope.uploadAssetChunk.content = content(count)
        return envelope
    }

    private static func answer(_ count: Int) -> WireServerEnvelope {
        var envelope = WireServerEnvelope()
        envelope.id = 300
        envelope.fetchAssetChunk.content = content(count)
        return envelope
    }

    /// The content is in one of the two places.
    private func whole(_ bytes: [UInt8]) throws -> WireClientEnvelope {
        let message = try ClientMessage(bytes)
        var envelope = WireClientEnvelope()
        envelope.id = message.id
        envelope.request = message.request
        if let content = message.content {
            #expect(envelope.uploadAssetChunk.content.isEmpty)
            envelope.uploadAssetChunk.content = Data(content)
        }
        return envelope
    }

    private func whole(answer bytes: [UInt8]) throws -> WireServerEnvelope {
        guard let (envelope, range) = try ChunkEnvelope.answer(bytes) else {
            return try WireServerEnvelope(serializedBytes: bytes)
        }
        var whole = envelope
        whole.fetchAssetChunk.content = Data(bytes[range])
        return whole
    }

    /// As the generated code reads it; nil for what is refused. A message does not keep what it does not know.
    private static func expected(_ bytes: [UInt8]) -> WireClientEnvelope? {
        guard let read = try? WireClientEnvelope(serializedBytes: bytes), read.id != 0 else { return nil }
        var envelope = WireClientEnvelope()
        envelope.id = read.id
        envelope.request = read.request
        return envelope
    }

    @Test(arguments: sizes) func `what is written without a copy is the message`(_ count: Int) throws {
        var chunk = Self.upload(count).uploadAssetChunk
        chunk.content = Data()
        var request = ChunkEnvelope.head(of: chunk, contentCount: count) + Self.content(count)
        let before = request.count
        ChunkEnvelope.append(id: 300, to: &request)
        #expect(request.count - before <= ChunkEnvelope.idBytesMax)
        #expect(try WireClientEnvelope(serializedBytes: request) == Self.upload(count))
        #expect(try whole(request) == Self.upload(count))

        let answer = ChunkEnvelope.answerHead(id: 300, contentCount: count) + Self.content(count)
        #expect(try WireServerEnvelope(serializedBytes: answer) == Self.answer(count))
        #expect(try whole(answer: answer) == Self.answer(count))
    }

    @Test(arguments: sizes) func `R-403: a chunk has the operation group of its request`(_ count: Int) throws {
        var expected = Self.upload(count)
        expected.operationGroup.id = "group"
        expected.operationGroup.name = "tap"
        var others = expected
        others.id = 0
        others.request = nil
        var chunk = expected.uploadAssetChunk
        chunk.content = Data()
        var request = ChunkEnvelope.head(of: chunk, in: others, contentCount: count) + Self.content(count)
        ChunkEnvelope.append(id: 300, to: &request)
        #expect(try WireClientEnvelope(serializedBytes: request) == expected)
        #expect(try whole(request) == Self.upload(count))
        #expect(try ClientMessage(request).operationGroup == expected.operationGroup)
    }

    @Test(arguments: sizes) func `what the generated code writes is read`(_ count: Int) throws {
        #expect(try whole(try Self.upload(count).serializedBytes()) == Self.upload(count))
        #expect(try whole(answer: try Self.answer(count).serializedBytes()) == Self.answer(count))
    }

    @Test func `unusual messages mean what they mean to the generated code`() throws {
        let one: [UInt8] = try Self.upload(5_000).serializedBytes()
        var other = WireClientEnvelope()
        other.uploadAssetChunk.content = Self.content(6_000)
        other.uploadAssetChunk.offset = 99
        let twice: [UInt8] = one + (try other.serializedBytes())
        #expect(try whole(twice) == WireClientEnvelope(serializedBytes: twice))

        var hello = WireClientEnvelope()
        hello.hello.credential = "x"
        let replaced: [UInt8] = one + (try hello.serializedBytes())
        #expect(try whole(replaced) == WireClientEnvelope(serializedBytes: replaced))

        // Field 99 with four bytes, before and behind.
        let unknown: [UInt8] = [0x9D, 0x06, 1, 2, 3, 4]
        #expect(try whole(unknown + one + unknown).uploadAssetChunk == Self.upload(5_000).uploadAssetChunk)
    }

    @Test func `a message that is cut or damaged is refused or read, as by the generated code`() throws {
        let bytes: [UInt8] = try Self.upload(5_000).serializedBytes()
        for count in [0, 1, 2, 3, 60, 80, 4_200, bytes.count - 1] {
            let cut = Array(bytes.prefix(count))
            #expect((try? whole(cut)) == Self.expected(cut), "\(count) bytes")
        }
        for index in 0..<90 {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                #expect((try? whole(damaged)) == Self.expected(damaged), "byte \(index), bit \(bit)")
            }
        }
    }
}
