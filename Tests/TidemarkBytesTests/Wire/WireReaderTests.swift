// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkTestSupport

@Suite struct WireReaderTests {
    private func reading<Value>(
        _ bytes: [UInt8], elementsMax: Int = 3, _ read: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> Value {
        try bytes.withUnsafeBufferPointer { (buffer) throws(WireError) -> Value in
            var reader = WireReader(buffer, of: bytes, elementsMax: elementsMax)
            return try read(&reader)
        }
    }

    private func code<Value>(
        _ bytes: [UInt8], elementsMax: Int = 3, _ read: (inout WireReader) throws(WireError) -> Value
    ) -> WireError.Code? {
        do throws(WireError) {
            _ = try reading(bytes, elementsMax: elementsMax, read)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `numbers of every length are written, measured and read`() throws {
        for shift in 0..<64 {
            for value in [UInt64(1) << UInt64(shift), (UInt64(1) << UInt64(shift)) - 1, .max] {
                var writer = WireWriter(capacity: 10)
                writer.number(value)
                #expect(writer.bytes.count == WireSize.number(value), "\(value)")
                #expect(try reading(writer.bytes) { (reader) throws(WireError) in try reader.number() } == value)
            }
        }
        for value: Int64 in [0, 1, -1, .min, .max] {
            var writer = WireWriter(capacity: 10)
            writer.zigzag(value)
            #expect(writer.bytes.count == WireSize.zigzag(value))
            #expect(try reading(writer.bytes) { (reader) throws(WireError) in try reader.zigzag() } == value)
        }
    }

    @Test func `a function that counts and writes fields has the size of both`() {
        func write(_ number: UInt64, to writer: inout WireWriter) {
            if writer.isMeasuring { writer.count(WireSize.number(number)) } else { writer.number(number) }
            writer.text("abc")
        }
        for number: UInt64 in [0, 127, 128, .max] {
            var writer = WireWriter(capacity: 16)
            write(number, to: &writer)
            #expect(writer.bytes.count == WireWriter.size { write(number, to: &$0) })
        }
    }

    private static let badNumbers: [([UInt8], WireError.Code?)] = [
        ([], .truncated), ([0x80], .truncated), ([0xFF, 0xFF], .truncated),
        ([UInt8](repeating: 0x80, count: 9) + [1], nil), ([UInt8](repeating: 0xFF, count: 9) + [0x7F], nil),
        ([UInt8](repeating: 0x80, count: 10) + [0], .overlong), ([UInt8](repeating: 0xFF, count: 12), .overlong),
    ]

    @Test(arguments: badNumbers)
    func `a number ends within ten bytes`(_ bytes: [UInt8], _ expected: WireError.Code?) {
        #expect(code(bytes) { (reader) throws(WireError) in try reader.number() } == expected)
    }

    private func shortest(_ bytes: [UInt8]) throws(WireError) -> UInt64 {
        var offset = 0
        let number = try WireNumber.readShortest(bytes.span, &offset, bytes.count)
        #expect(offset == bytes.count)
        return number
    }

    @Test(arguments: UInt64(0)..<64)
    func `where a number has one encoding, needless bytes are refused`(_ shift: UInt64) throws {
        for value in [UInt64(1) << shift, (UInt64(1) << shift) - 1, .max] {
            var bytes: [UInt8] = []
            WireNumber.append(value, to: &bytes)
            #expect(try shortest(bytes) == value)
            guard bytes.count < 10 else { continue }
            bytes[bytes.count - 1] |= 0x80
            #expect(throws: WireError.self) { try shortest(bytes + [0]) }
        }
        // A tenth byte has room for one bit.
        #expect(try shortest([UInt8](repeating: 0x80, count: 9) + [1]) == UInt64(1) << 63)
        #expect(throws: WireError.self) { try shortest([UInt8](repeating: 0x80, count: 9) + [2]) }
    }

    private static let badContents: [([UInt8], WireError.Code?)] = [
        ([0], nil), ([2, 0x61, 0x62], nil), ([4, 1, 2, 3, 4], .tooManyBytes), ([3, 0x61, 0x62], .truncated),
        ([UInt8](repeating: 0xFF, count: 9) + [1], .truncated), ([2, 0xC3, 0x28], .badText), ([1, 0xC3], .badText),
        ([3, 0xED, 0xA0, 0x80], .badText), ([2, 0xC3, 0xA9], nil),
    ]

    @Test(arguments: badContents)
    func `a string is UTF-8, whole, and no longer than it may be`(_ bytes: [UInt8], _ expected: WireError.Code?) {
        #expect(code(bytes) { (reader) throws(WireError) in try reader.text(atMost: 3) } == expected)
    }

    @Test func `elements are counted before they are read`() {
        let three: [UInt8] = [1, 0xFF, 1, 0xFF, 1, 0xFF]
        func read(_ count: Int, atMost elementsMax: Int) -> WireError.Code? {
            var list: [[UInt8]] = []
            let code = code(three + three) { (reader) throws(WireError) in
                for _ in 0..<count { try reader.append(to: &list, atMost: elementsMax) }
            }
            #expect(list.count <= elementsMax)
            return code
        }
        #expect(read(3, atMost: 3) == nil)
        #expect(read(3, atMost: 2) == .tooManyElements)
        // The reader allows three in all.
        #expect(read(4, atMost: 10) == .tooManyElements)
    }

    @Test func `a slice shares the bytes of the message`() throws {
        let bytes: [UInt8] = [3, 7, 8, 9, 1]
        let slice = try reading(bytes) { (reader) throws(WireError) in try reader.slice() }
        #expect(slice == [7, 8, 9] && slice.startIndex == 1)
        let shared = bytes.withUnsafeBytes { all in
            slice.withUnsafeBytes { all.baseAddress.map { $0 + 1 } == $0.baseAddress }
        }
        #expect(shared)
    }

    private static let unknown: [([UInt8], WireError.Code?)] = [
        ([0x08, 1], nil), ([0x09] + [UInt8](repeating: 1, count: 8), nil), ([0x0A, 2, 1, 2], nil),
        ([0x0D, 1, 2, 3, 4], nil), ([0x0B, 0x0C], nil), ([0x0B, 0x13, 0x08, 1, 0x14, 0x0C], nil),
        ([0x00, 1], .badTag), ([0x0E], .badTag), ([0x0F], .badTag), ([0x0C], .badTag), ([0x0B, 0x14], .badTag),
        ([0x0B], .truncated), ([0x09, 1, 2], .truncated), ([0x0D, 1], .truncated), ([0x0A, 5, 1], .truncated),
        ([UInt8](repeating: 0x0B, count: 101), .tooDeep), ([0x10, 1], .wrongType),
        ([0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0], .badTag),
    ]

    @Test(arguments: unknown)
    func `an unknown field of any type is skipped whole`(_ bytes: [UInt8], _ expected: WireError.Code?) {
        let code = code(bytes, elementsMax: 100) { (reader) throws(WireError) in
            while let tag = try reader.nextTag() { try reader.skip(tag, known: 1 << 2) }
        }
        #expect(code == expected)
    }
}
