// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkTestSupport
import TidemarkWire

/// Every message of the protocol, read and written by our code and by swift-protobuf's. The shapes are made from the `.proto`
/// files, so that a new field or message is tested here without a thought.
@Suite struct JudgeTests {
    /// Both refuse the bytes, or both take them for the same message. Ours refuses more: what is larger than the `.proto` file
    /// allows, and a known field of another type, which swift-protobuf keeps as an unknown one.
    private func expectSameReading(
        _ shape: MessageShape, _ bytes: [UInt8], _ note: @autoclosure () -> String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let theirs = try? shape.theirs(bytes, false)
        do throws(WireError) {
            let (encoded, size) = try shape.ours(bytes)
            let again = try? shape.theirs(encoded, false)
            if theirs == nil || again != theirs || size != encoded.count {
                Issue.record("\(note()): \(bytes) is read as \(encoded)", sourceLocation: sourceLocation)
            }
        } catch {
            guard theirs != nil, !error.isBound else { return }
            let known = (try? shape.theirs(bytes, true)).map { $0.count > (theirs ?? []).count } ?? false
            if error.code != .wrongType || !known {
                Issue.record("\(note()): \(bytes) is refused: \(error)", sourceLocation: sourceLocation)
            }
        }
    }

    /// The message with all fields, once for each member of its largest oneof.
    private func fullMessages(
        _ shape: MessageShape, depthMax: Int, isShort: Bool = false, seed: UInt64
    ) -> [[UInt8]] {
        let members = Dictionary(grouping: shape.fields.compactMap(\.oneof), by: \.self).values.map(\.count).max() ?? 1
        return (0..<members).map { member in
            var maker = MessageMaker(random: SeededRandom(seed: seed), filling: .every(member: member))
            maker.depthMax = depthMax
            maker.isShort = isShort
            return maker.bytes(of: shape)
        }
    }

    @Test(arguments: MessageShape.all)
    func `every field is read and written as swift-protobuf does, byte for byte`(_ shape: MessageShape) throws {
        let seed = SeededRandom().seed
        for bytes in fullMessages(shape, depthMax: 4, seed: seed) {
            #expect(try shape.ours(bytes).encoded == bytes, "seed \(seed)")
            #expect(try shape.theirs(bytes, false) == bytes, "seed \(seed)")
        }
    }

    @Test func `each kind of request has the name and the place of its field`() throws {
        let shape = try #require(MessageShape.all.first { $0.name == "WireClientEnvelope" })
        let fields = shape.fields.filter { $0.oneof != nil }
        #expect(WireRequestKind.allCases.map(\.name) == fields.map(\.name) + ["unread"])
        for (place, field) in fields.enumerated() {
            var writer = WireWriter(capacity: 8)
            writer.number(UInt64(field.number << 3 | 2))
            writer.content([])
            #expect(try WireClientEnvelope(reading: writer.bytes).request?.kind.rawValue == place, "\(field.name)")
        }
    }

    @Test(arguments: MessageShape.all)
    func `random messages are read and written as swift-protobuf does`(_ shape: MessageShape) throws {
        let seed = SeededRandom().seed
        var maker = MessageMaker(random: SeededRandom(seed: seed), filling: .random)
        for _ in 0..<50 {
            let bytes = maker.bytes(of: shape)
            let (encoded, size) = try shape.ours(bytes)
            #expect(encoded == bytes && size == bytes.count, "seed \(seed)")
            #expect(try shape.theirs(bytes, false) == bytes, "seed \(seed)")
            // Fields that come twice, and in any order: the last one counts, messages are merged, elements are added.
            expectSameReading(shape, bytes + maker.bytes(of: shape), "seed \(seed)")
        }
    }

    @Test(arguments: MessageShape.all)
    func `a message that is cut or changed at any byte is read as by swift-protobuf, or refused`(
        _ shape: MessageShape
    ) {
        var random = SeededRandom()
        for bytes in fullMessages(shape, depthMax: 2, isShort: true, seed: random.seed) {
            for index in bytes.indices {
                expectSameReading(shape, Array(bytes[..<index]), "cut at \(index), seed \(random.seed)")
                var changed = bytes
                changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                expectSameReading(shape, changed, "changed at \(index), seed \(random.seed)")
                changed[index] = UInt8.random(in: 0...255, using: &random)
                expectSameReading(shape, changed, "changed at \(index), seed \(random.seed)")
            }
        }
    }

    /// A field with a number that no message has.
    private static func unknownField(
        _ wireType: UInt32, _ content: [UInt8], number: UInt32 = MessageShape.unknownNumber
    ) -> [UInt8] {
        var writer = WireWriter(capacity: 16)
        writer.number(UInt64(number << 3 | wireType))
        writer.raw(content)
        return writer.bytes
    }

    /// Unknown fields of each wire type; groups too, and the highest number that a field can have.
    private static let unknownFields: [[UInt8]] = [
        unknownField(0, [1]), unknownField(1, [1, 2, 3, 4, 5, 6, 7, 8]), unknownField(2, [2, 0xFF, 0xFF]),
        unknownField(5, [1, 2, 3, 4]), unknownField(3, unknownField(0, [1]) + unknownField(4, [])),
        unknownField(0, [1], number: 1 << 29 - 1),
    ]

    @Test(arguments: MessageShape.all)
    func `fields that are not known are skipped, or kept where the file says so`(_ shape: MessageShape) throws {
        for bytes in fullMessages(shape, depthMax: 2, seed: 1) {
            for field in Self.unknownFields {
                let kept = try shape.theirs(bytes + field, true)
                #expect(try shape.ours(bytes + field).encoded == (shape.keepsUnknownFields ? kept : bytes))
                expectSameReading(shape, field + bytes, "an unknown field first")
                for index in field.indices { expectSameReading(shape, bytes + field[..<index], "cut at \(index)") }
            }
        }
    }
}
