// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkFairness
internal import TidemarkService

/// A file that grows into an asset. Confined to one thread.
///
/// It can rest: then the file is closed, and the state of the hash is kept. If nobody else has touched the file
/// meanwhile, it goes on without reading anything. Otherwise its content is read for the hash, once: when all of it is
/// there, and in steps.
final class FileUpload {
    let path: String
    let owner: WorkOwner
    private let wholeByteCount: Int64
    private let durability: FileDurability
    /// Nil while it rests.
    private var descriptor: Int32?
    private var hash: ContentHash? = ContentHash()
    /// How many bytes the hash has seen.
    private var hashedByteCount: Int64 = 0
    private(set) var byteCount: Int64 = 0
    /// The number of bytes that do not have to be flushed any more.
    private var flushedByteCount: Int64 = 0
    /// Whether no part of it was read again from a disk, which may have lost some of it in a crash.
    private(set) var cameWithoutBreak = true
    /// The state of the file when it was closed.
    private var stamp: FileStamp?
    /// When the upload was last used, by the thread's clock.
    var lastUsed = Duration.zero

    private static let blockBytes = ContentHash.pieceByteCount
    /// The bytes that are read at once, before others have their turn.
    static let stepBytes: Int64 = 4_194_304
    /// The bytes that are written before a flush. Otherwise all of it would wait for the end, and hold the thread
    /// there.
    ///
    /// Measured on ext4 and a virtual disk, with 1 GiB that comes at 400 MB/s. Without steps the thread was held for 1.5
    /// to 2.2 s at the end, and the upload took 4.1 to 4.9 s. With `fdatasync` for each 16 MiB it was held for at most 44 ms, and then for
    /// 0.3 ms at the end. The upload took 4.7 to 5.0 s. `sync_file_range` was cheaper, but left 0.2 to 0.8 s for the end: it does not empty
    /// the disk's own cache.
    static let flushBytes: Int64 = 16_777_216

    /// At rest, with nothing known of the file.
    init(path: String, byteCount: Int64, owner: WorkOwner, durability: FileDurability) {
        self.durability = durability
        self.path = path
        self.owner = owner
        wholeByteCount = byteCount
    }

    deinit { if let descriptor { FileCalls.close(descriptor) } }

    /// Opens the file, which is made if it is missing.
    ///
    /// - Throws: `busy` if another server has the same upload open, or has just completed or removed it.
    func open(now: Duration) throws(AssetStoreError) {
        precondition(descriptor == nil)
        let opened = try FileCalls.openCreating(path)
        guard FileCalls.lock(opened), FileCalls.isNamed(path, opened) else {
            FileCalls.close(opened)
            throw AssetStoreError(.busy)
        }
        descriptor = opened
        lastUsed = now
        let found = try FileCalls.stamp(of: opened)
        if found == stamp { return }
        byteCount = found.byteCount
        // The server that wrote it flushed it in steps as well.
        flushedByteCount = byteCount
        cameWithoutBreak = byteCount == 0
        hash = ContentHash()
        hashedByteCount = 0
        if byteCount > wholeByteCount { try restart() }
    }

    /// Closes the file. Another server may continue it.
    func rest() {
        guard let descriptor else { return }
        stamp = try? FileCalls.stamp(of: descriptor)
        FileCalls.close(descriptor)
        self.descriptor = nil
    }

    var isWhole: Bool { byteCount == wholeByteCount }

    func append(_ chunk: ArraySlice<UInt8>) throws(AssetStoreError) {
        let descriptor = try opened()
        let failure: AssetStoreError? = chunk.withUnsafeBytes { bytes in
            do throws(AssetStoreError) {
                try FileCalls.write(descriptor, bytes, at: byteCount)
                if hashedByteCount == byteCount {
                    hash?.update(bytes)
                    hashedByteCount += Int64(bytes.count)
                }
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
        try flush(descriptor)
    }

    /// Leaves little to write at the end. A whole file is synchronized soon anyway.
    private func flush(_ descriptor: Int32) throws(AssetStoreError) {
        guard byteCount - flushedByteCount >= Self.flushBytes, !isWhole else { return }
        try orRestart { () throws(AssetStoreError) in try durability.flush(descriptor) }
        flushedByteCount = byteCount
    }

    /// If a write to the disk failed, the kernel will not retry it: only a complete new upload is safe.
    private func orRestart(_ write: () throws(AssetStoreError) -> Void) throws(AssetStoreError) {
        do {
            try write()
        } catch {
            try? restart()
            throw error
        }
    }

    /// Reads some of what the hash has not seen.
    ///
    /// - Returns: whether it has seen everything.
    func hashMore() throws(AssetStoreError) -> Bool {
        let end = min(byteCount, hashedByteCount + Self.stepBytes)
        guard hashedByteCount < end else { return true }
        let descriptor = try opened()
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockBytes, alignment: 64)
        defer { block.deallocate() }
        while hashedByteCount < end {
            let count = try FileCalls.read(descriptor, into: block, at: hashedByteCount)
            guard count > 0 else { throw AssetStoreError(.missing, detail: "a file was cut short") }
            let fresh = min(count, Int(byteCount - hashedByteCount))
            hash?.update(UnsafeRawBufferPointer(rebasing: block[..<fresh]))
            hashedByteCount += Int64(fresh)
        }
        return hashedByteCount == byteCount
    }

    /// Checks that the file matches the announced hash, and waits until it is durable. The hash covers all bytes.
    ///
    /// - Parameters:
    ///   - announced: its hash; nil if none was announced.
    ///   - checksum: stored with the file.
    /// - Returns: its hash.
    /// - Throws: `modified` if it does not match; it then starts again.
    func finish(_ announced: [UInt8]?, keeping checksum: [UInt8]?) throws(AssetStoreError) -> [UInt8] {
        precondition(hashedByteCount == byteCount)
        let descriptor = try opened()
        guard let sha256 = hash.take()?.finish(), announced == nil || announced == sha256 else {
            try restart()
            throw AssetStoreError(.modified)
        }
        if let checksum { FileLayout.keep(checksum, with: descriptor) }
        try orRestart { () throws(AssetStoreError) in try durability.synchronize(descriptor) }
        return sha256
    }

    private func opened() throws(AssetStoreError) -> Int32 {
        guard let descriptor else { throw AssetStoreError(.busy) }
        return descriptor
    }

    private func restart() throws(AssetStoreError) {
        hash = ContentHash()
        hashedByteCount = 0
        byteCount = 0
        flushedByteCount = 0
        cameWithoutBreak = true
        try FileCalls.truncate(try opened(), to: 0)
    }
}

/// The state that shows whether somebody has touched a file.
struct FileStamp: Equatable {
    let number: UInt64
    let byteCount: Int64
    let modifiedNanoseconds: Int64
}
