// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkZlib

/// Decompresses gzip, in pieces of any size. Several gzip files one after the other count as one (RFC 1952 §2.2).
final class Gunzip {
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether a member has begun and not ended yet.
    private(set) var isInMember = false

    private static let chunkBytes = 65_536
    /// zlib: the largest window, and gzip's head and tail.
    private static let gzipWindowBits: Int32 = 15 + 16

    init() throws(AdminFailure) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard tidemark_inflate_init(stream, Self.gzipWindowBits) == Z_OK else {
            throw AdminFailure(
                .usage, "There is not enough memory to decompress the file. Decompress it first, with gunzip.")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// - Throws: ``AdminFailure`` for bytes that are damaged.
    func inflate(_ input: [UInt8]) throws(AdminFailure) -> [UInt8] {
        var output: [UInt8] = []
        var isGood = true
        input.withUnsafeBufferPointer { input in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            defer { stream.pointee.next_in = nil }
            while isGood, step(&output, &isGood) {}
        }
        guard isGood else {
            throw AdminFailure(.usage, "The file is damaged and cannot be decompressed. Download it again.")
        }
        return output
    }

    /// Calls zlib once.
    ///
    /// - Returns: whether there may be more.
    private func step(_ output: inout [UInt8], _ isGood: inout Bool) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.chunkBytes) { chunk in
            stream.pointee.next_out = chunk.baseAddress
            stream.pointee.avail_out = UInt32(Self.chunkBytes)
            if stream.pointee.avail_in > 0 { isInMember = true }
            let status = CTidemarkZlib.inflate(stream, Z_NO_FLUSH)
            let count = Self.chunkBytes - Int(stream.pointee.avail_out)
            output.append(contentsOf: chunk[..<count])
            switch status {
            case Z_OK, Z_BUF_ERROR: return count == Self.chunkBytes || (count > 0 && stream.pointee.avail_in > 0)
            case Z_STREAM_END:
                isInMember = false
                isGood = inflateReset(stream) == Z_OK
                return stream.pointee.avail_in > 0
            default:
                isGood = false
                return false
            }
        }
    }
}
