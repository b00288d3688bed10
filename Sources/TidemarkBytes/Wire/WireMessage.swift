// SPDX-License-Identifier: Apache-2.0

/// A message of the protocol. `tidemark-wire-generator` makes all conforming types from the `.proto` files.
@usableFromInline
package protocol WireMessage: Sendable, Equatable {
    /// The most nested messages and elements that one message may have in total, at all depths. Within another message
    /// it also bounds what that may have from there on.
    static var elementsInAllMax: Int { get }

    /// A message whose fields all have their defaults.
    init()

    /// Reads fields into this message, up to its end.
    ///
    /// A field replaces an earlier value. A nested message is merged, and elements are appended.
    mutating func read(_ reader: inout WireReader) throws(WireError)

    /// How many bytes ``write(to:)`` writes.
    var size: Int { get }

    /// Writes the fields that do not have their defaults, in the order of their numbers.
    func write(to writer: inout WireWriter)
}

extension WireMessage {
    @usableFromInline package static var elementsInAllMax: Int { 1 << 20 }

    /// - Throws: ``WireError`` if the bytes are not such a message, or exceed a bound.
    package init(reading bytes: [UInt8]) throws(WireError) {
        let (message, error, _) = Self.read(bytes)
        if let error { throw error }
        self = message
    }

    /// The fields that could be read, and why reading stopped. The error is nil if everything was read.
    ///
    /// `memory` is how many bytes the message takes in memory, at most.
    package static func read(_ bytes: [UInt8]) -> (message: Self, error: WireError?, memory: Int) {
        var message = Self()
        var memory = MemoryLayout<Self>.stride
        let error = bytes.withUnsafeBufferPointer { buffer -> WireError? in
            var reader = WireReader(buffer, of: bytes, elementsMax: Self.elementsInAllMax)
            defer { memory += reader.memory }
            do throws(WireError) {
                try message.read(&reader)
                return nil
            } catch {
                return error
            }
        }
        return (message, error, memory)
    }

    /// The bytes of the message.
    package var encoded: [UInt8] {
        var writer = WireWriter(capacity: size)
        write(to: &writer)
        return writer.bytes
    }
}

/// An enumeration of the protocol. It keeps unknown numbers, so that an old program passes on a new value.
@usableFromInline
package protocol WireChoice: RawRepresentable, Hashable, Sendable where RawValue == Int32 {
    /// The choice with the number 0.
    init()
    init(rawValue: Int32)
}
