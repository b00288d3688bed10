// SPDX-License-Identifier: Apache-2.0

/// Values of protobuf's types. A number that is too large loses its upper bits, as protobuf requires.
extension WireReader {
    @inlinable
    package mutating func int64() throws(WireError) -> Int64 { Int64(bitPattern: try number()) }

    @inlinable
    package mutating func uint64() throws(WireError) -> UInt64 { try number() }

    @inlinable
    package mutating func int32() throws(WireError) -> Int32 { Int32(truncatingIfNeeded: try number()) }

    @inlinable
    package mutating func uint32() throws(WireError) -> UInt32 { UInt32(truncatingIfNeeded: try number()) }

    @inlinable
    package mutating func flag() throws(WireError) -> Bool { try number() != 0 }

    @inlinable
    package mutating func zigzag() throws(WireError) -> Int64 { WireNumber.signed(try number()) }

    @inlinable
    package mutating func double() throws(WireError) -> Double { Double(bitPattern: try fixed64()) }

    @inlinable
    package mutating func choice<Choice: WireChoice>() throws(WireError) -> Choice { Choice(rawValue: try int32()) }

    // MARK: Messages

    /// Reads a nested message. Its fields are merged into `message`.
    @inlinable
    package mutating func read<Message: WireMessage>(_ message: inout Message) throws(WireError) {
        let length = try length()
        try count()
        // It may be in a separate box.
        memory += MemoryLayout<Message>.stride + Self.heapBytes
        elementsLeft = min(elementsLeft, Message.elementsInAllMax)
        let outer = end
        end = position + length
        try message.read(&self)
        end = outer
    }

    @inlinable
    package mutating func message<Message: WireMessage>() throws(WireError) -> Message {
        var message = Message()
        try read(&message)
        return message
    }

    /// Counts one more nested message or element.
    @inlinable
    mutating func count() throws(WireError) {
        guard elementsLeft > 0 else { throw WireError(.tooManyElements, at: position) }
        elementsLeft -= 1
    }

    /// Begins a recursive message. ``leave()`` ends it.
    ///
    /// - Parameters:
    ///   - depthMax: how many may be open.
    ///   - countMax: how many there may be in all.
    package mutating func enter(atMost depthMax: Int, inAll countMax: Int) throws(WireError) {
        guard depth < depthMax else { throw WireError(.tooDeep, at: position) }
        guard recursiveCount < countMax else { throw WireError(.tooManyElements, at: position) }
        depth += 1
        recursiveCount += 1
    }

    package mutating func leave() { depth -= 1 }

    // MARK: Elements

    /// Appends one element of a repeated field.
    @inlinable
    package mutating func append<Message: WireMessage>(
        to list: inout [Message], atMost elementsMax: Int
    ) throws(WireError) {
        guard list.count < elementsMax else { throw WireError(.tooManyElements, at: position) }
        occupy(element: Message.self, of: list)
        list.append(try message())
    }

    @inlinable
    package mutating func append(
        to list: inout [String], atMost elementsMax: Int, bytesMax: Int = .max
    ) throws(WireError) {
        guard list.count < elementsMax else { throw WireError(.tooManyElements, at: position) }
        try count()
        occupy(element: String.self, of: list)
        list.append(try text(atMost: bytesMax))
    }

    @inlinable
    package mutating func append(
        to list: inout [[UInt8]], atMost elementsMax: Int, bytesMax: Int = .max
    ) throws(WireError) {
        guard list.count < elementsMax else { throw WireError(.tooManyElements, at: position) }
        try count()
        occupy(element: [UInt8].self, of: list)
        list.append(try content(atMost: bytesMax))
    }

    /// - Parameter value: reads the element.
    @inlinable
    package mutating func append<Value>(
        to list: inout [Value], atMost elementsMax: Int, _ value: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) {
        guard list.count < elementsMax else { throw WireError(.tooManyElements, at: position) }
        try count()
        occupy(element: Value.self, of: list)
        list.append(try value(&self))
    }

    /// Appends the elements of a packed field.
    @inlinable
    package mutating func appendPacked<Value>(
        to list: inout [Value], atMost elementsMax: Int, _ value: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) {
        let length = try length()
        let outer = end
        end = position + length
        while position < end { try append(to: &list, atMost: elementsMax, value) }
        end = outer
    }
}
