// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkTestSupport
import TidemarkWire

/// How much memory a message says that it takes, and how much it takes.
@Suite struct MemoryTests {
    /// The memory of what the shape reads of the bytes is within what the reader counted.
    private func expectCounted(
        _ shape: MessageShape, _ bytes: [UInt8], _ note: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (message, stride, memory) = shape.reading(bytes)
        let taken = stride + OwnedMemory.bytes(of: message)
        if taken > memory {
            Issue.record("\(shape.name) takes \(taken) and says \(memory) \(note)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: MessageShape.all)
    func `R-722: no message takes more memory than it says`(_ shape: MessageShape) {
        let seed = SeededRandom().seed
        for member in 0..<20 {
            var maker = MessageMaker(random: SeededRandom(seed: seed), filling: .every(member: member))
            maker.depthMax = 6
            expectCounted(shape, maker.bytes(of: shape), "seed \(seed), member \(member)")
        }
        var maker = MessageMaker(random: SeededRandom(seed: seed), filling: .random)
        for _ in 0..<100 { expectCounted(shape, maker.bytes(of: shape), "seed \(seed)") }
    }

    @Test(arguments: MessageShape.all)
    func `R-722: no list of the smallest elements takes more memory than it says`(_ shape: MessageShape) {
        for field in shape.fields where field.elementsMax != nil {
            for count in [1, 2, 3, 5, 17, 100, 1_000, 1_025, 2_000] {
                var writer = WireWriter(capacity: count * 2 + 16)
                for _ in 0..<count {
                    // A packed field of one element has another tag, and its elements are not empty.
                    writer.number(UInt64(field.number << 3 | 2))
                    writer.content(field.isPacked ? [0] : [])
                }
                expectCounted(shape, writer.bytes, "\(count) of \(field.name)")
            }
        }
    }

    @Test func `R-722: unknown fields that are kept count`() throws {
        let shape = try #require(MessageShape.byName["WireNotificationInfo"])
        for count in [1, 10, 1_000] {
            var writer = WireWriter(capacity: 0)
            for _ in 0..<count {
                writer.number(UInt64(MessageShape.unknownNumber << 3 | 2))
                writer.content([UInt8](repeating: 1, count: 20))
            }
            expectCounted(shape, writer.bytes)
        }
    }

    @Test func `R-722: a record with long fields counts little more than its bytes`() throws {
        var save = WireRecordSave()
        save.name = String(repeating: "n", count: 100)
        save.type = "Note"
        save.tag = [UInt8](repeating: 1, count: 40)
        save.fields = [UInt8](repeating: 1, count: 5_000)
        var request = WireModifyRecords()
        request.zones = [WireZoneModifications()]
        request.zones[0].saves = Array(repeating: save, count: 400)
        let bytes = request.encoded
        #expect(WireModifyRecords.read(bytes).memory < bytes.count + bytes.count / 4)
    }
}

/// Walks through a value, and adds up the memory that it holds on the heap.
private enum OwnedMemory {
    /// What the heap adds to a block: its header and that of the object, and rounding to 16 bytes.
    private static let block = 16 + 32

    static func bytes(of value: Any) -> Int {
        switch value {
        case let text as String: text.utf8.count > 15 ? text.utf8.count + 1 + block : 0
        // The heap may give a block of 16 bytes more than was asked for, by chance.
        case let bytes as [UInt8]: bytes.capacity > 0 ? max(bytes.count, bytes.capacity - 16) + block : 0
        case let list as any MemoryHolder: list.heldBytes
        default:
            Mirror(reflecting: value).children.reduce(0) {
                $0 + bytes(of: $1.value) + (value is WirePredicate.OneOfNode ? box(of: $1.value) : 0)
            }
        }
    }

    static func element(_ value: Any) -> Int { bytes(of: value) }

    /// The cases of a predicate that hold predicates are in boxes.
    private static func box(of value: Any) -> Int {
        switch value {
        case is WirePredicates: MemoryLayout<WirePredicates>.stride + 32
        case is WirePredicate: MemoryLayout<WirePredicate>.stride + 32
        default: 0
        }
    }

    static func list(capacity: Int, stride: Int) -> Int { capacity > 0 ? capacity * stride + block : 0 }
}

private protocol MemoryHolder {
    var heldBytes: Int { get }
}

extension Array: MemoryHolder {
    fileprivate var heldBytes: Int {
        OwnedMemory.list(capacity: capacity, stride: MemoryLayout<Element>.stride)
            + reduce(0) { $0 + OwnedMemory.element($1) }
    }
}
