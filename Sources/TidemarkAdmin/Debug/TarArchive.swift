// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkZlib

/// A tar archive (POSIX ustar) in memory, for few small files.
struct TarArchive {
    private var bytes: [UInt8] = []

    private static let blockBytes = 512
    private static let nameBytesMax = 100

    /// - Parameters:
    ///   - name: ASCII, at most 100 bytes.
    ///   - seconds: since 1970.
    mutating func add(_ name: String, _ content: [UInt8], at seconds: Int64) {
        precondition(name.utf8.count <= Self.nameBytesMax, "a name of ours is short")
        var head = [UInt8](repeating: 0, count: Self.blockBytes)
        func put(_ text: String, at place: Int) {
            for (index, byte) in text.utf8.enumerated() { head[place + index] = byte }
        }
        func octal(_ number: Int64, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        put(name, at: 0)
        put(octal(0o600, 7), at: 100)
        put(octal(0, 7), at: 108)
        put(octal(0, 7), at: 116)
        put(octal(Int64(content.count), 11), at: 124)
        put(octal(max(0, seconds), 11), at: 136)
        // The checksum is made with spaces in its place.
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        put(octal(head.reduce(0) { $0 + Int64($1) }, 6), at: 148)
        head[154] = 0
        bytes += head + content
        bytes += [UInt8](repeating: 0, count: (Self.blockBytes - content.count % Self.blockBytes) % Self.blockBytes)
    }

    /// The whole archive.
    var finished: [UInt8] { bytes + [UInt8](repeating: 0, count: 2 * Self.blockBytes) }

    /// The same compressed as gzip; nil if there is no memory.
    var gzipped: [UInt8]? {
        var stream = z_stream()
        guard tidemark_deflate_init(&stream, Z_DEFAULT_COMPRESSION, 15 + 16, 8) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let input = finished
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
        let status = input.withUnsafeBufferPointer { from in
            output.withUnsafeMutableBufferPointer { to in
                stream.next_in = UnsafeMutablePointer(mutating: from.baseAddress)
                stream.avail_in = UInt32(from.count)
                stream.next_out = to.baseAddress
                stream.avail_out = UInt32(to.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { return nil }
        return Array(output.prefix(Int(stream.total_out)))
    }
}
