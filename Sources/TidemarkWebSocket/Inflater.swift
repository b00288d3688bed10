// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkZlib

/// The receiving half of permessage-deflate (RFC 7692 §7.2.2).
///
/// zlib allocates memory with the first compressed message. Without context takeover the memory is freed after each
/// message.
final class Inflater {
    private let direction: DeflateParameters.Direction
    private var stream: UnsafeMutablePointer<z_stream>?
    private var finalBlockCount = 0

    init(direction: DeflateParameters.Direction) {
        self.direction = direction
    }

    deinit {
        release()
    }

    /// Inflates a piece of a message and appends it to `output`, which never grows past `limits.messageBytesMax`.
    func inflate(
        _ input: UnsafeRawBufferPointer, into output: inout [UInt8], limits: MessageLimits
    ) throws(WebSocketError) {
        guard !input.isEmpty else { return }
        let stream = try started()
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(input.count)
        defer { stream.pointee.next_in = nil }
        while true {
            let (status, isFull) = step(stream, &output)
            guard output.count <= limits.messageBytesMax else { throw WebSocketError(.tooBig) }
            switch status {
            case Z_OK where isFull, Z_BUF_ERROR where isFull: continue
            case Z_OK, Z_BUF_ERROR:
                guard stream.pointee.avail_in == 0 else { throw WebSocketError(.invalidDeflate) }
                return
            case Z_STREAM_END:
                try restart(stream, limits: limits)
                if stream.pointee.avail_in == 0 { return }
            default: throw WebSocketError(.invalidDeflate)
            }
        }
    }

    /// Adds the four bytes that the sender left out, and ends the message.
    func finishMessage(into output: inout [UInt8], limits: MessageLimits) throws(WebSocketError) {
        let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
        let result: Result<Void, WebSocketError> = tail.withUnsafeBytes { bytes in
            do throws(WebSocketError) {
                return .success(try inflate(bytes, into: &output, limits: limits))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        finalBlockCount = 0
        if !direction.keepsContext { release() }
    }

    /// Calls zlib once, with room for a chunk of output. Returns whether that room was used up.
    private func step(_ stream: UnsafeMutablePointer<z_stream>, _ output: inout [UInt8]) -> (Int32, isFull: Bool) {
        withUnsafeTemporaryAllocation(byteCount: Self.chunkBytes, alignment: 16) { chunk in
            stream.pointee.next_out = chunk.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(Self.chunkBytes)
            let status = CTidemarkZlib.inflate(stream, Z_SYNC_FLUSH)
            let written = Self.chunkBytes - Int(stream.pointee.avail_out)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<written]))
            return (status, written == Self.chunkBytes)
        }
    }

    private static let chunkBytes = 16_384

    /// RFC 7692 §7.2.3.4: a final block ends zlib's stream but not the connection's. Later data may refer back to it.
    private func restart(
        _ stream: UnsafeMutablePointer<z_stream>, limits: MessageLimits
    ) throws(WebSocketError) {
        finalBlockCount += 1
        guard finalBlockCount <= limits.finalBlockCountMax else { throw WebSocketError(.noProgress) }
        var window = [UInt8](repeating: 0, count: 32_768)
        var count = UInt32(window.count)
        guard inflateGetDictionary(stream, &window, &count) == Z_OK, inflateReset(stream) == Z_OK,
            count == 0 || inflateSetDictionary(stream, window, count) == Z_OK
        else { throw WebSocketError(.invalidDeflate) }
    }

    private func started() throws(WebSocketError) -> UnsafeMutablePointer<z_stream> {
        if let stream { return stream }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard tidemark_inflate_init(stream, -Int32(direction.inflateWindowBits)) == Z_OK else {
            stream.deallocate()
            throw WebSocketError(.tooBig)
        }
        self.stream = stream
        return stream
    }

    private func release() {
        guard let stream else { return }
        inflateEnd(stream)
        stream.deallocate()
        self.stream = nil
    }
}
