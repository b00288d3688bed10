// SPDX-License-Identifier: Apache-2.0

/// How many bytes a value takes in a message, without its tag.
@usableFromInline
package enum WireSize {
    /// A varint.
    @inlinable
    package static func number(_ value: UInt64) -> Int {
        // Seven bits in each byte. 0 also takes one byte.
        (63 - (value | 1).leadingZeroBitCount) / 7 + 1
    }

    @inlinable package static func uint64(_ value: UInt64) -> Int { number(value) }
    @inlinable package static func int64(_ value: Int64) -> Int { number(UInt64(bitPattern: value)) }
    @inlinable package static func uint32(_ value: UInt32) -> Int { number(UInt64(value)) }
    /// A negative number takes ten bytes, as a number of 64 bits does.
    @inlinable package static func int32(_ value: Int32) -> Int { int64(Int64(value)) }
    @inlinable package static func zigzag(_ value: Int64) -> Int { number(WireNumber.zigzag(value)) }
    @inlinable package static func flag(_ value: Bool) -> Int { 1 }
    @inlinable package static func double(_ value: Double) -> Int { 8 }
    @inlinable package static func choice(_ value: some WireChoice) -> Int { int32(value.rawValue) }

    /// A length and that many bytes, also for a nested message.
    @inlinable
    package static func content(_ byteCount: Int) -> Int {
        number(UInt64(byteCount)) + byteCount
    }

    @inlinable package static func text(_ text: String) -> Int { content(text.utf8.count) }
    @inlinable package static func content(_ bytes: some WireContent) -> Int { content(bytes.byteCount) }
    @inlinable package static func message(_ message: some WireMessage) -> Int { content(message.size) }
}

/// Content of a message: an array, a slice, or a value that writes itself.
@usableFromInline
package protocol WireContent {
    var byteCount: Int { get }
    /// Appends exactly ``byteCount`` bytes.
    func append(to bytes: inout [UInt8])
}

extension [UInt8]: WireContent {
    @inlinable package var byteCount: Int { count }
    @inlinable package func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}

extension ArraySlice<UInt8>: WireContent {
    @inlinable package var byteCount: Int { count }
    @inlinable package func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}

/// Content that the caller appends after the message. Only its length is written.
///
/// So a part of a file is read directly into the buffer that is sent. Nothing may be written after it.
@usableFromInline
package struct ContentAhead: WireContent {
    @usableFromInline package let byteCount: Int

    package init(byteCount: Int) {
        self.byteCount = byteCount
    }

    @inlinable package func append(to bytes: inout [UInt8]) {}
}
