// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkBytes

@Suite struct ByteBufferTests {
    @Test(arguments: 0..<12)
    func `whatever is appended comes out once and in order`(seed: UInt64) {
        var random = SplitMix(state: seed)
        var buffer = ByteBuffer()
        var model: [UInt8] = []
        for _ in 0..<200 {
            step(&buffer, &model, &random)
            #expect(buffer.readableCount == model.count)
            #expect(buffer.isEmpty == model.isEmpty)
        }
        #expect(buffer.readableBytes == model)
        #expect(buffer.takeAll() == model)
        #expect(buffer.isEmpty)
    }

    /// One operation on the buffer and on the array that it should be equal to.
    private func step(_ buffer: inout ByteBuffer, _ model: inout [UInt8], _ random: inout SplitMix) {
        let count = Int(random.next() % (random.next() % 20 == 0 ? 20_000 : 50))
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ model.count) }
        switch random.next() % 10 {
        case 0:
            buffer.append(bytes)
            model += bytes
        case 1:
            buffer.append(bytes[...])
            model += bytes
        case 2:
            bytes.withUnsafeBytes { buffer.append($0) }
            model += bytes
        case 3:
            buffer.reserve(count)
            buffer.append(7)
            model.append(7)
        case 4:
            buffer.appendWritten(capacity: count + 10) { room in
                room.copyBytes(from: bytes)
                return count
            }
            model += bytes
        case 5, 6:
            let taken = min(count, model.count)
            buffer.discard(taken)
            model.removeFirst(taken)
        case 7:
            let read = buffer.read(count)
            #expect(read == (count <= model.count ? Array(model[..<count]) : nil))
            if count <= model.count { model.removeFirst(count) }
        case 8:
            buffer.withReadable { #expect($0.elementsEqual(model)) }
        default:
            buffer.withMutableReadable { if !$0.isEmpty { $0[0] ^= 0xFF } }
            if !model.isEmpty { model[0] ^= 0xFF }
        }
    }

    @Test func `integers are in network order, and too few bytes give none`() {
        var buffer = ByteBuffer()
        buffer.append(integer: UInt8(1))
        buffer.append(integer: UInt16(0x0203))
        buffer.append(integer: UInt32(0x0405_0607))
        buffer.append(integer: Int64(-2))
        #expect(buffer.readableBytes == [1, 2, 3, 4, 5, 6, 7, 255, 255, 255, 255, 255, 255, 255, 254])
        #expect(buffer.read(integer: UInt8.self) == 1)
        #expect(buffer.read(integer: UInt16.self) == 0x0203)
        #expect(buffer.read(integer: UInt32.self) == 0x0405_0607)
        #expect(buffer.read(integer: Int64.self) == -2)
        buffer.append(utf8: "é")
        #expect(buffer.read(integer: UInt32.self) == nil)
        #expect(buffer.readableBytes == [0xC3, 0xA9])
        #expect(buffer.read(-1) == nil)
        #expect(buffer.read(3) == nil)
        #expect(buffer.read(0) == [])
    }

    @Test func `a body that throws leaves what was there`() {
        struct Failure: Error {}
        var buffer = ByteBuffer([1, 2, 3])
        buffer.discard(1)
        #expect(throws: Failure.self) {
            try buffer.appendWritten(capacity: 10) { room throws(Failure) in
                room[0] = 9
                throw Failure()
            }
        }
        #expect(buffer.readableBytes == [2, 3])
    }

    @Test func `a long queue is not moved for every piece that comes and goes`() {
        var buffer = ByteBuffer([UInt8](repeating: 1, count: 4_000_000))
        // Moving four megabytes for each of these would take minutes.
        for _ in 0..<50_000 {
            buffer.discard(4)
            buffer.appendWritten(capacity: 8) { room in
                room[0] = 2
                return 1
            }
            buffer.reserve(3)
            buffer.append([3, 3, 3])
        }
        #expect(buffer.readableCount == 4_000_000)
        #expect(buffer.memoryBytes < 16_000_000)
    }

    @Test func `memory is given back when a long queue has been emptied`() {
        var buffer = ByteBuffer()
        buffer.append([UInt8](repeating: 0, count: 1_000_000))
        buffer.discard(1_000_000)
        #expect(buffer.memoryBytes == 0)
        buffer.append([1])
        buffer.clear()
        buffer.release()
        #expect(buffer.memoryBytes == 0)
    }
}

struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
