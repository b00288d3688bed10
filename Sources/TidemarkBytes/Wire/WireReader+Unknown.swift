// SPDX-License-Identifier: Apache-2.0

extension WireReader {
    /// How deep groups of an unknown field may be nested.
    private static var groupsMax: Int { 100 }

    /// Skips a field that the message does not know.
    ///
    /// - Parameters:
    ///   - tag: the field's tag, which was read before.
    ///   - known: the numbers of the message's fields, as bits. A field with one of them has the wrong type.
    package mutating func skip(_ tag: UInt32, known: UInt64) throws(WireError) {
        let number = tag >> 3
        guard number > 0 else { throw WireError(.badTag, at: position) }
        // NB: a shift by 64 or more gives 0.
        guard known & (UInt64(1) << UInt64(number)) == 0 else { throw WireError(.wrongType, at: position) }
        guard tag & 7 == 3 else { return try skipValue(tag) }
        var open = [number]
        while let last = open.last {
            guard let tag = try nextTag() else { throw WireError(.truncated, at: position) }
            guard tag >> 3 > 0 else { throw WireError(.badTag, at: position) }
            switch tag & 7 {
            case 3:
                guard open.count < Self.groupsMax else { throw WireError(.tooDeep, at: position) }
                open.append(tag >> 3)
            case 4:
                guard tag >> 3 == last else { throw WireError(.badTag, at: position) }
                open.removeLast()
            default: try skipValue(tag)
            }
        }
    }

    /// As ``skip(_:known:)``, but appends the field with its tag to `fields`.
    package mutating func keep(_ tag: UInt32, known: UInt64, in fields: inout [UInt8]) throws(WireError) {
        let start = position
        try skip(tag, known: known)
        // An array that grows takes up to twice its content.
        occupy(2 * (position - start) + 16)
        WireWriter.add(to: &fields) { writer in
            writer.number(UInt64(tag))
            writer.raw(source[start..<position])
        }
    }

    private mutating func skipValue(_ tag: UInt32) throws(WireError) {
        switch tag & 7 {
        case 0: _ = try number()
        case 1: try advance(by: 8)
        case 2: try advance(by: try length())
        case 5: try advance(by: 4)
        default: throw WireError(.badTag, at: position)
        }
    }

    private mutating func advance(by count: Int) throws(WireError) {
        guard count <= end - position else { throw WireError(.truncated, at: position) }
        position += count
    }
}
