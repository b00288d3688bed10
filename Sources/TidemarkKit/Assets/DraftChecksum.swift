// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto

/// The checksum of a file, computed from its parts as they are read to be sent. After a cut some of them are read
/// again.
final class DraftChecksum {
    /// Nil once a part was left out, and at the end.
    private var checksum: Checksum? = Checksum()
    /// How far the checksum is.
    private var byteCount: Int64 = 0

    /// Adds those of the bytes that are new. There is no checksum if bytes before them were never read, because an
    /// earlier draft has sent them.
    func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        guard offset <= byteCount else {
            checksum = nil
            return
        }
        let known = Int(min(byteCount - offset, Int64(bytes.count)))
        checksum?.update(UnsafeRawBufferPointer(rebasing: bytes[known...]))
        byteCount += Int64(bytes.count - known)
    }

    /// Takes in the last bytes.
    ///
    /// - Returns: the checksum of everything; empty if some bytes were never read.
    func finish(with last: [UInt8], at offset: Int64) -> [UInt8] {
        last.withUnsafeBytes { add($0, at: offset) }
        return checksum.take()?.finish() ?? []
    }
}
