// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto
internal import TidemarkFields

/// An asset that is being downloaded to a file. If this download brings all of it, the server's checksum can prove it,
/// if there is one and it fits. Otherwise its hash proves it, which takes longer. It blocks: use it on ``FileThread``
/// only.
final class StagedAsset: @unchecked Sendable {
    private let url: URL
    private let content: FieldAsset
    /// Whether no other download looks for the file.
    private let isOwn: Bool
    private let descriptor: Int32
    private var expectedChecksum: [UInt8]?
    private var checksum: Checksum?
    private var hash: ContentHash? = ContentHash()
    /// How many bytes have been written.
    private(set) var byteCount: Int64 = 0
    /// How many bytes an earlier download left.
    private var leftByteCount: Int64 = 0
    private var isFinished = false

    static let blockBytes = ContentHash.pieceByteCount

    /// Nil if somebody else is using the file. Call ``resume()`` first.
    ///
    /// - Parameter isOwn: whether no other download looks for the file. It is removed unless it is finished.
    /// - Throws: `assetNotAvailable` if it cannot be written.
    init?(_ url: URL, _ content: FieldAsset, isOwn: Bool = false) throws(CKError) {
        self.url = url
        self.content = content
        self.isOwn = isOwn
        descriptor = Foundation.open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw AssetStaging.refused(url.path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        // Between the two calls it may have been finished, and so renamed.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink == 1 else { return nil }
        if Int64(status.st_size) > content.byteCount { restart() } else { leftByteCount = Int64(status.st_size) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        if isOwn, !isFinished { unlink(url.path) }
        close(descriptor)
    }

    /// Reads the bytes that an earlier download left. The check includes them.
    ///
    /// - Throws: `operationCancelled`.
    func resume() async throws(CKError) {
        try await readAgain(leftByteCount)
    }

    /// Sets the checksum that the server gives for the content.
    ///
    /// It is ignored if the file already has a part of the content: that part may come from another server, and be made
    /// to fit.
    func expect(_ checksum: [UInt8]) {
        guard byteCount == 0 else { return }
        expectedChecksum = checksum
        begin()
    }

    func append(_ content: some ContiguousBytes) throws(CKError) {
        let (count, refusal) = content.withUnsafeBytes { bytes in
            let outcome = Self.write(bytes, at: byteCount, to: descriptor)
            if outcome.refusal == nil { prove(bytes) }
            return outcome
        }
        if let refusal {
            // Frees the space of bytes that nobody can use, because the disk is full.
            ftruncate(descriptor, off_t(byteCount))
            throw AssetStaging.refused(url.path, refusal)
        }
        byteCount += Int64(count)
    }

    /// - Returns: the bytes that were written, and the system's error number if they are not all.
    static func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, to descriptor: Int32
    ) -> (count: Int, refusal: Int32?) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            let code = errno
            if count < 0, code == EINTR { continue }
            if count <= 0 { return (done, code) }
            done += count
        }
        return (done, nil)
    }

    /// Checks the content, and moves the file to its final name.
    ///
    /// - Returns: nil if it is not the wanted content; the file is then empty again.
    /// - Throws: `assetNotAvailable` if the file cannot be read, or cannot get its name; `operationCancelled`.
    func finish() async throws(CKError) -> URL? {
        guard try await isGenuine() else {
            restart()
            return nil
        }
        // The app has a day from now on, however long ago the last byte came.
        futimens(descriptor, nil)
        let final = url.deletingLastPathComponent().appendingPathComponent(UUID().uuidString)
        guard rename(url.path, final.path) == 0 else { throw AssetStaging.refused(final.path) }
        isFinished = true
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

    private func isGenuine() async throws(CKError) -> Bool {
        if let checksum = checksum.take()?.finish() {
            if checksum == expectedChecksum { return true }
            // The device that uploaded it may have given a wrong checksum.
            hash = ContentHash()
            byteCount = 0
            try await readAgain(content.byteCount)
            guard byteCount == content.byteCount else { throw AssetStaging.refused(url.path, EIO) }
        }
        return hash.take()?.finish() == content.sha256
    }

    private func restart() {
        begin()
        byteCount = 0
        ftruncate(descriptor, 0)
    }

    private func readAgain(_ size: Int64) async throws(CKError) {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockBytes, alignment: 64)
        defer { block.deallocate() }
        while byteCount < size {
            try await FileThread.giveWay()
            let count = pread(descriptor, block.baseAddress, block.count, off_t(byteCount))
            guard count > 0 else { return restart() }
            prove(UnsafeRawBufferPointer(rebasing: block[..<count]))
            byteCount += Int64(count)
        }
    }
}
