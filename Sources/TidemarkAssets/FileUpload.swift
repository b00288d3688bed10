// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkService

/// A file that grows into an asset. Confined to one thread.
final class FileUpload {
    let path: String
    private let wholeByteCount: Int64
    private let descriptor: Int32
    private var hash: ContentHash? = ContentHash()
    private(set) var byteCount: Int64 = 0
    /// Whether no part of it was read again from a disk, which may have lost some of it in a crash.
    private(set) var cameWithoutBreak = true
    /// When the upload was last used, by the thread's clock.
    var lastUsed: Duration

    private static let blockBytes = ContentHash.pieceByteCount

    /// Continues with the file if it exists: its content is read again, for the hash.
    ///
    /// - Throws: `busy` if another server has the same upload open, or has just completed or removed it.
    init(path: String, byteCount: Int64, now: Duration) throws(AssetStoreError) {
        self.path = path
        wholeByteCount = byteCount
        lastUsed = now
        descriptor = try FileCalls.openCreating(path)
        guard FileCalls.lock(descriptor), FileCalls.isNamed(path, descriptor) else { throw AssetStoreError(.busy) }
        let size = try FileCalls.size(of: descriptor)
        if size > wholeByteCount { try restart() } else { try readAgain(size) }
    }

    deinit { FileCalls.close(descriptor) }

    var isWhole: Bool { byteCount == wholeByteCount }

    func append(_ chunk: ArraySlice<UInt8>) throws(AssetStoreError) {
        let failure: AssetStoreError? = chunk.withUnsafeBytes { bytes in
            do throws(AssetStoreError) {
                try FileCalls.write(descriptor, bytes, at: byteCount)
                hash?.update(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let failure {
            // The bytes after a failed write are unknown.
            try? FileCalls.truncate(descriptor, to: byteCount)
            throw failure
        }
        byteCount += Int64(chunk.count)
    }

    /// Checks that the file is what was announced, and waits until it is durable.
    ///
    /// - Parameters:
    ///   - announced: its hash; nil if none was announced.
    ///   - checksum: stored with it.
    /// - Returns: its hash.
    /// - Throws: `modified` if it is not what was announced; it then begins anew.
    func finish(_ announced: [UInt8]?, keeping checksum: [UInt8]?) throws(AssetStoreError) -> [UInt8] {
        guard let sha256 = hash.take()?.finish(), announced == nil || announced == sha256 else {
            try restart()
            throw AssetStoreError(.modified)
        }
        do {
            if let checksum { FileLayout.keep(checksum, with: descriptor) }
            try FileCalls.synchronize(descriptor)
        } catch {
            // The kernel will not retry a write that failed: only a complete new upload is safe.
            try? restart()
            throw error
        }
        return sha256
    }

    private func restart() throws(AssetStoreError) {
        hash = ContentHash()
        byteCount = 0
        cameWithoutBreak = true
        try FileCalls.truncate(descriptor, to: 0)
    }

    private func readAgain(_ size: Int64) throws(AssetStoreError) {
        cameWithoutBreak = size == 0
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockBytes, alignment: 64)
        defer { block.deallocate() }
        while byteCount < size {
            let count = try FileCalls.read(descriptor, into: block, at: byteCount)
            guard count > 0 else { return }
            hash?.update(UnsafeRawBufferPointer(rebasing: block[..<count]))
            byteCount += Int64(count)
        }
    }
}
