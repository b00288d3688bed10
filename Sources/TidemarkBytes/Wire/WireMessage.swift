// SPDX-License-Identifier: Apache-2.0

/// A message of the protocol. All types that conform are made from the `.proto` files by `tidemark-wire-generator`.
package protocol WireMessage: Sendable, Equatable {
    /// The most nested messages and elements that one message may have in all, at every depth.
    static var elementsInAllMax: Int { get }

    /// A message whose fields all have their defaults.
    init()

    /// Reads fields into this message until the reader is at the end of the message.
    ///
    /// A field that is there already is replaced, a nested message is merged, elements are added.
    mutating func read(_ reader: inout WireReader) throws(WireError)

    /// How many bytes ``write(to:)`` writes.
    var size: Int { get }

    /// Writes the fields that do not have their defaults, in the order of their numbers.
    func write(to writer: inout WireWriter)
}

extension WireMessage {
    package static var elementsInAllMax: Int { 1 << 20 }

    /// - Throws: ``WireError`` for bytes that are not such a message, or a larger one than may be.
    package init(reading bytes: [UInt8]) throws(WireError) {
        let (message, error) = Self.read(bytes)
        if let error { throw error }
        self = message
    }

    /// What could be read of the bytes, and why no more could: nil if all was.
    package static func read(_ bytes: [UInt8]) -> (message: Self, error: WireError?) {
        var message = Self()
        let error = bytes.withUnsafeBufferPointer { buffer -> WireError? in
            var reader = WireReader(buffer, of: bytes, elementsMax: Self.elementsInAllMax)
            do throws(WireError) {
                try message.read(&reader)
                return nil
            } catch {
                return error
            }
        }
        return (message, error)
    }

    /// The bytes of the message.
    package var encoded: [UInt8] {
        var writer = WireWriter(capacity: size)
        write(to: &writer)
        return writer.bytes
    }
}

/// An enumeration of the protocol. It keeps numbers that it does not know, so that an old program passes on what a new one says.
package protocol WireChoice: RawRepresentable, Hashable, Sendable where RawValue == Int32 {
    /// The choice with the number 0.
    init()
    init(rawValue: Int32)
}
