// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkWire

/// The bounds that the `.proto` files give their fields, all of them.
@Suite struct BoundTests {
    private func code(_ shape: MessageShape, _ bytes: [UInt8]) -> WireError.Code? {
        do throws(WireError) {
            _ = try shape.ours(bytes)
            return nil
        } catch {
            return error.code
        }
    }

    /// So many elements, each as small as can be.
    private func elements(_ count: Int, of field: FieldShape) -> [UInt8] {
        var writer = WireWriter(capacity: count * 2)
        if field.isPacked {
            writer.number(UInt64(field.number << 3 | 2))
            writer.content([UInt8](repeating: 0, count: count))
        } else {
            for _ in 0..<count {
                writer.number(UInt64(field.number << 3 | 2))
                writer.number(0)
            }
        }
        return writer.bytes
    }

    private func field(_ name: String, of message: String) throws -> FieldShape {
        try #require(MessageShape.byName[message]?.fields.first { $0.name == name })
    }

    @Test(arguments: MessageShape.all)
    func `a repeated field has as many elements as the file says, and no more`(_ shape: MessageShape) {
        for field in shape.fields {
            guard let elementsMax = field.elementsMax else { continue }
            let count = min(elementsMax, shape.elementsInAllMax)
            #expect(code(shape, elements(count, of: field)) == nil, "\(field.name)")
            #expect(code(shape, elements(count + 1, of: field)) == .tooManyElements, "\(field.name)")
        }
    }

    @Test(arguments: MessageShape.all)
    func `bytes and strings are as long as the file says, and no longer`(_ shape: MessageShape) {
        for field in shape.fields {
            guard let bytesMax = field.bytesMax else { continue }
            for (count, expected) in [(bytesMax, nil), (bytesMax + 1, WireError.Code.tooManyBytes)] {
                var writer = WireWriter(capacity: count + 8)
                writer.number(UInt64(field.number << 3 | 2))
                writer.content([UInt8](repeating: 0x61, count: count))
                #expect(code(shape, writer.bytes) == expected, "\(field.name)")
            }
        }
    }

    /// The fields that lead from a message to itself.
    private func wayBack(_ shape: MessageShape) -> [FieldShape]? {
        var waiting = [(shape, [FieldShape]())]
        var seen: Set<String> = []
        while !waiting.isEmpty {
            let (next, way) = waiting.removeFirst()
            for field in next.fields {
                guard case .message(let name) = field.kind, let inner = MessageShape.byName[name] else { continue }
                if name == shape.name { return way + [field] }
                if seen.insert(name).inserted { waiting.append((inner, way + [field])) }
            }
        }
        return nil
    }

    @Test func `a message contains itself as often as the file says, and no more`() throws {
        var count = 0
        for shape in MessageShape.all {
            guard let depthMax = shape.depthMax else { continue }
            count += 1
            let way = try #require(wayBack(shape))
            var bytes: [UInt8] = []
            for depth in 2...depthMax + 1 {
                for field in way.reversed() {
                    var writer = WireWriter(capacity: bytes.count + 8)
                    writer.number(UInt64(field.number << 3 | 2))
                    writer.content(bytes)
                    bytes = writer.bytes
                }
                #expect(code(shape, bytes) == (depth <= depthMax ? nil : .tooDeep), "\(shape.name), \(depth)")
            }
        }
        #expect(count > 0)
    }

    /// The bytes as the content of a field, whose message is that of the next one, and so on.
    private func wrapped(_ bytes: [UInt8], in way: [(message: String, field: String)]) throws -> [UInt8] {
        try way.reversed().reduce(bytes) { bytes, step in
            let field = try field(step.field, of: step.message)
            var writer = WireWriter(capacity: bytes.count + 8)
            writer.number(UInt64(field.number << 3 | 2))
            writer.content(bytes)
            return writer.bytes
        }
    }

    private let wayToPredicate: [(message: String, field: String)] = [
        ("WireClientEnvelope", "query_records"), ("WireQueryRecords", "query"), ("WireQuery", "predicate"),
    ]

    private func refusal(_ bytes: [UInt8]) -> WireError? {
        do throws(WireError) {
            _ = try WireClientEnvelope(reading: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func `two million empty conditions are refused at the first one that is too many`() throws {
        let parts = elements(2_000_000, of: try field("parts", of: "WirePredicates"))
        let error = try #require(refusal(try wrapped(parts, in: wayToPredicate + [("WirePredicate", "and")])))
        #expect(error.code == .tooManyElements)
        #expect(error.offset < 5_000)
    }

    @Test func `lists within lists are bounded in all`() throws {
        let parts = try field("parts", of: "WirePredicates")
        let some = elements(1_000, of: parts)
        let part = try wrapped(some, in: [("WirePredicates", "parts"), ("WirePredicate", "and")])
        let few = try wrapped(
            part + elements(1, of: parts), in: wayToPredicate + [("WirePredicate", "and")])
        #expect(refusal(few) == nil)
        let many = try wrapped(
            [UInt8](repeatElement(part, count: 2).joined()), in: wayToPredicate + [("WirePredicate", "and")])
        #expect(refusal(many)?.code == .tooManyElements)
    }

    /// The messages that a client sends, with all that are in them.
    private var sent: [MessageShape] {
        var seen: Set<String> = []
        var waiting = ["WireClientEnvelope"]
        while let name = waiting.popLast() {
            guard seen.insert(name).inserted else { continue }
            for field in MessageShape.byName[name]?.fields ?? [] {
                if case .message(let inner) = field.kind { waiting.append(inner) }
            }
        }
        return seen.sorted().compactMap { MessageShape.byName[$0] }
    }

    /// What has a rule of its own. The rest are items, of which a request may have 4,000 if the operator says so, or desired
    /// keys, of which it may have 4,096.
    private static let mostOfOthers = [
        "WireQuery.sorts": 20, "WirePredicates.parts": 2_000, "WireKeyValues.values": 2_000, "WireFetchKeys.zones": 104,
        "WireShareSave.participants": 256, "WireFetchShareMetadata.links": 100, "WireAcceptShares.links": 100,
        "WireFetchShareParticipants.lookups": 100, "WireRequestShareAccess.links": 100, "WireShareSave.denied": 512,
        "WireShareSave.blocked": 512, "WireShareSave.unblocked": 512,
    ]

    @Test func `R-720: every list, string and tree that a client sends has a bound that fits its rule`() throws {
        #expect(sent.count > 30)
        for name in Self.mostOfOthers.keys {
            let parts = name.split(separator: ".").map(String.init)
            _ = try field(parts[1], of: parts[0])
        }
        for shape in sent {
            for field in shape.fields {
                if let elementsMax = field.elementsMax {
                    let most = Self.mostOfOthers["\(shape.name).\(field.name)"] ?? 4_096
                    #expect(elementsMax <= most, "\(shape.name).\(field.name)")
                }
                guard field.kind == .string || field.kind == .bytes else { continue }
                #expect(field.bytesMax != nil, "\(shape.name).\(field.name)")
            }
            if let depthMax = shape.depthMax { #expect(depthMax <= 40 && (shape.countInAllMax ?? .max) <= 2_000) }
        }
        #expect(WireQueryRecords.elementsInAllMax < WireClientEnvelope.elementsInAllMax)
    }

    @Test func `R-720: a request in pieces has the bounds of one in one piece`() throws {
        let values = try field("values", of: "WireKeyValues")
        // Merged: the lists of all pieces become one, and what is in them counts together.
        let some = try wrapped(
            elements(1_500, of: values),
            in: wayToPredicate + [("WirePredicate", "is_in")])
        #expect(refusal(some) == nil)
        #expect(refusal(some + some)?.code == .tooManyElements)
        let small = try wrapped(elements(1, of: values), in: wayToPredicate + [("WirePredicate", "is_in")])
        let pieces = [UInt8](repeatElement(small, count: 1_500).joined())
        #expect(refusal(pieces) == nil)
        #expect(refusal(pieces + pieces)?.code == .tooManyElements)
    }

    @Test func `R-723: fields without elements are bounded too, known or not`() throws {
        let bound = 8 * WireClientEnvelope.elementsInAllMax
        for number in [try field("id", of: "WireClientEnvelope").number, MessageShape.unknownNumber] {
            var writer = WireWriter(capacity: 8)
            writer.number(UInt64(number << 3))
            writer.number(1)
            let field = writer.bytes
            #expect(refusal([UInt8](repeatElement(field, count: bound - 1).joined())) == nil)
            #expect(refusal([UInt8](repeatElement(field, count: bound + 1).joined()))?.code == .tooManyElements)
        }
    }
}
