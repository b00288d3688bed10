// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// Replaces a socket for libssl: memory borrowed for one call, and a buffer.
///
/// Measured against two memory BIOs of OpenSSL, it saves a copy and 2 KB for each connection.
struct TLSPipe: ~Copyable {
    /// The rest of the memory that ``TLSSession/receive(_:plaintext:)`` borrows.
    var input: UnsafeRawPointer?
    var inputCount = 0
    /// Whether libssl wanted more input than there was, and has done nothing since.
    var isStarved = false
    /// Steps of handshakes that libssl has taken (``TLSSession/handshakeStepsMax``). It is a field here, where it takes no extra memory.
    var handshakeSteps: UInt32 = 0
    var output = TLSOutput()
    /// Where libssl last put the bytes that it read. It will put the next record there too, and decrypt it in place.
    var lastRead: UnsafeRawPointer?
    /// Where libssl encrypted its last record in place. The next one will lie there too.
    var lastRecord: UnsafeRawPointer?

    /// A BIO over `pipe`, which must outlive it. Nil if memory has run out.
    static func makeBIO(over pipe: UnsafeMutablePointer<TLSPipe>) -> OpaquePointer? {
        guard let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, pipe)
        BIO_set_init(bio, 1)
        return bio
    }

    /// Written once, on first use. libssl only reads it.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(tidemark_bio_new_type(), "tidemark") else { return nil }
        BIO_meth_set_read(method) { bio, buffer, count in TLSPipe.read(bio, buffer, count) }
        BIO_meth_set_write(method) { bio, bytes, count in TLSPipe.write(bio, bytes, count) }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP ? 1 : 0
        }
        return method
    }()

    private static func read(_ bio: OpaquePointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int32) -> Int32
    {
        tidemark_bio_clear_retry(bio)
        guard let pipe = BIO_get_data(bio)?.assumingMemoryBound(to: TLSPipe.self), let buffer else { return -1 }
        let count = min(Int(capacity), pipe.pointee.inputCount)
        guard count > 0, let input = pipe.pointee.input else {
            pipe.pointee.isStarved = true
            tidemark_bio_set_retry_read(bio)
            return -1
        }
        pipe.pointee.isStarved = false
        pipe.pointee.lastRead = UnsafeRawPointer(buffer)
        UnsafeMutableRawPointer(buffer).copyMemory(from: input, byteCount: count)
        pipe.pointee.input = input + count
        pipe.pointee.inputCount -= count
        return Int32(count)
    }

    private static func write(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
        tidemark_bio_clear_retry(bio)
        guard let pipe = BIO_get_data(bio)?.assumingMemoryBound(to: TLSPipe.self) else { return -1 }
        pipe.pointee.lastRecord = UnsafeRawPointer(bytes)
        pipe.pointee.output.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return count
    }
}
