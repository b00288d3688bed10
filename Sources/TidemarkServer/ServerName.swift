// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How operators know one server among several: its host and its process.
enum ServerName {
    /// Longer names of hosts are cut.
    private static let hostBytesMax = 64

    static var current: String { "\(host)/\(getpid())" }

    private static var host: String {
        var bytes = [UInt8](repeating: 0, count: hostBytesMax + 1)
        let isKnown = bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return false }
            // The last byte stays 0, so a name that is cut ends as well.
            return gethostname(start.assumingMemoryBound(to: CChar.self), hostBytesMax) == 0
        }
        // It is in notices and in the name of a connection, which both take plain ASCII.
        let name = String(
            decoding: bytes.prefix { $0 != 0 }.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self)
        return isKnown && !name.isEmpty ? name : "host"
    }
}
