// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto
internal import TidemarkFields

/// An asset on its way down: a file that grows. What comes from one server in one go is proved by the checksum that the server
/// says, if it does and if that fits; anything else by its hash, which takes longer. Blocks: on ``FileThread`` only.
final class StagedAsset: @unchecked Sendable {
    private let url: URL
    private let content: FieldAsset
    private let descriptor: Int32
    private var expectedChecksum: [UInt8]?
    private var checksum: Checksum?
    private var hash: ContentHash? = ContentHash()
    /// How far it is.
    private(set) var byteCount: Int64 = 0

    private static let blockBytes = ContentHash.pieceByteCount

    /// Nil if somebody else has the file.
    ///
    /// - Throws: `assetNotAvailable` if it cannot be written.
    init?(_ url: URL, _ content: FieldAsset) throws(CKError) {
        self.url = url
        self.content = content
        descriptor = Foundation.open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw AssetStaging.refused(url.path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        // It may have been finished, and so renamed, between the two calls.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink == 1 else { return nil }
        if Int64(status.st_size) > content.byteCount { restart() } else { readAgain(Int64(status.st_size)) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// What is asked for has this checksum, says the server from which all of it comes.
    ///
    /// Of a file that has begun it is not heeded: what is there may be of another server, and made to fit.
    func expect(_ checksum: [UInt8]) {
        guard byteCount == 0 else { return }
        expectedChecksum = checksum
        begin()
    }

    func append(_ content: some ContiguousBytes) throws(CKError) {
        let (count, refusal) = content.withUnsafeBytes { bytes -> (Int, Int32?) in
            var done = 0
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(byteCount) + off_t(done))
                let code = errno
                if count < 0, code == EINTR { continue }
                if count <= 0 { return (done, code) }
                done += count
            }
            prove(bytes)
            return (done, nil)
        }
        if let refusal {
            // A full disk is not made worse by what nobody can use.
            ftruncate(descriptor, off_t(byteCount))
            throw AssetStaging.refused(url.path, refusal)
        }
        byteCount += Int64(count)
    }

    /// Proves what has come, and gives the file a name of its own.
    ///
    /// - Returns: nil if it is not the content that was asked for: it is empty again.
    func finish() throws(CKError) -> URL? {
        guard isGenuine() else {
            restart()
            return nil
        }
        let final = url.deletingLastPathComponent().appendingPathComponent(UUID().uuidString)
        guard rename(url.path, final.path) == 0 else { throw AssetStaging.refused(final.path) }
        return final
    }

    private func begin() {
        checksum = expectedChecksum == nil ? nil : Checksum()
        hash = expectedChecksum == nil ? ContentHash() : nil
    }

    private func prove(_ bytes: UnsafeRawBufferPointer) {
        checksum?.update(bytes)
        hash?.update(bytes)
    }

    private func isGenuine() -> Bool {
        if let checksum = checksum.take()?.finish() {
            if checksum == expectedChecksum { return true }
            // Whoever uploaded it may have said a wrong one.
            hash = ContentHash()
            byteCount = 0
            readAgain(content.byteCount)
        }
        return hash.take()?.finish() == content.sha256
    }

    private func restart() {
        begin()
        byteCount = 0
        ftruncate(descriptor, 0)
    }

    /// What is there already counts, for the proof as well.
    private func readAgain(_ size: Int64) {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockBytes, alignment: 64)
        defer { block.deallocate() }
        while byteCount < size {
            let count = pread(descriptor, block.baseAddress, block.count, off_t(byteCount))
            guard count > 0 else { return restart() }
            prove(UnsafeRawBufferPointer(rebasing: block[..<count]))
            byteCount += Int64(count)
        }
    }
}
