// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkZlib

/// The sending half of permessage-deflate (RFC 7692 §7.2.1).
///
/// zlib allocates memory when the first message is compressed. Without context takeover the memory is freed after each
/// message.
package final class Deflater {
    /// Shorter messages are to be sent uncompressed.
    package let messageBytesMin: Int
    private let direction: DeflateParameters.Direction
    private let level: Int32
    private var stream: UnsafeMutablePointer<z_stream>?

    /// Nil if zlib cannot write the negotiated window (8 bits). Messages are then sent uncompressed, which RFC 7692 §6
    /// allows.
    package init?(role: WebSocketRole, parameters: DeflateParameters, level: Int, messageBytesMin: Int = 0) {
        self.messageBytesMin = messageBytesMin
        direction = parameters.outgoing(role)
        guard direction.windowBits >= 9 else { return nil }
        self.level = Int32(level)
    }

    deinit {
        release()
    }

    /// The compressed payload of a message; nil if zlib has no memory (then the message is sent uncompressed).
    package func compress(_ payload: UnsafeRawBufferPointer) -> [UInt8]? {
        // RFC 7692 §7.2.3.6: an empty message is one empty block. After an earlier flush, zlib would write nothing.
        guard !payload.isEmpty else { return [0x00] }
        guard let stream = started() else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(payload.count / 2 + 64)
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: payload.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(payload.count)
        while step(stream, &output) {}
        stream.pointee.next_in = nil
        if !direction.keepsContext { release() }
        // The flush ended in an empty stored block, whose 00 00 FF FF is left out.
        output.removeLast(4)
        return output
    }

    /// True if there is more to come.
    private func step(_ stream: UnsafeMutablePointer<z_stream>, _ output: inout [UInt8]) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.chunkBytes, alignment: 16) { chunk in
            stream.pointee.next_out = chunk.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(Self.chunkBytes)
            let status = deflate(stream, Z_SYNC_FLUSH)
            precondition(status == Z_OK || status == Z_BUF_ERROR, "zlib lost its state")
            let written = Self.chunkBytes - Int(stream.pointee.avail_out)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<written]))
            return stream.pointee.avail_out == 0
        }
    }

    private static let chunkBytes = 16_384

    private func started() -> UnsafeMutablePointer<z_stream>? {
        if let stream { return stream }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard tidemark_deflate_init(stream, level, -Int32(direction.windowBits), Self.memoryLevel) == Z_OK else {
            stream.deallocate()
            return nil
        }
        self.stream = stream
        return stream
    }

    /// zlib's default; with a window of 15 bits a stream takes 256 KiB.
    private static let memoryLevel: Int32 = 8

    private func release() {
        guard let stream else { return }
        deflateEnd(stream)
        stream.deallocate()
        self.stream = nil
    }
}
