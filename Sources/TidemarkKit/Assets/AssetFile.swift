// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto
internal import TidemarkFields

/// A file of the app's that is to be uploaded: what was in it when it was first read, and its bytes once more.
///
/// Everything here blocks: on ``FileThread`` only.
struct AssetFile: Sendable {
    /// What tells that a file was changed or replaced, as far as a file system says.
    private struct Stamp: Equatable {
        let file: UInt64
        let byteCount: Int64
        let seconds: Int
        let nanoseconds: Int

        init(_ status: stat) {
            file = UInt64(status.st_ino)
            byteCount = Int64(status.st_size)
            #if canImport(Darwin)
                (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
            #else
                (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
            #endif
        }
    }

    let content: FieldAsset
    private let path: String
    private let stamp: Stamp

    private static let blockBytes = 262_144

    /// Reads the file to its end, for its hash.
    ///
    /// - Throws: `assetFileNotFound`, `assetNotAvailable` if it cannot be read or is no file, `assetFileModified` if it
    ///   changes meanwhile.
    init(_ url: URL) throws(CKError) {
        path = url.path
        let (descriptor, stamp) = try Self.open(path)
        defer { close(descriptor) }
        guard let hash = Self.hash(of: descriptor, byteCount: stamp.byteCount) else { throw Self.modified(path) }
        self.stamp = stamp
        content = FieldAsset(sha256: hash, byteCount: stamp.byteCount)
        try checkUnchanged()
    }

    /// Some bytes of it. Opened each time, so that any number of files can be under way.
    ///
    /// - Parameters:
    ///   - head: what the result begins with.
    ///   - room: bytes that can be added to the result without a copy.
    /// - Throws: `assetFileModified` if it is not as it was when it was first read.
    func bytes(
        at offset: Int64, count: Int, after head: [UInt8] = [], before room: Int = 0
    ) throws(CKError) -> [UInt8] {
        let descriptor = try openUnchanged()
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: head.count + count + room) { buffer, filled in
            let place = UnsafeMutableRawBufferPointer(buffer)
            place.copyBytes(from: head)
            let rest = UnsafeMutableRawBufferPointer(rebasing: place[head.count..<head.count + count])
            filled = head.count + Self.read(descriptor, rest, at: offset)
        }
        guard bytes.count == head.count + count else { throw Self.modified(path) }
        return bytes
    }

    /// - Throws: `assetFileModified` if it is not as it was when it was first read.
    func checkUnchanged() throws(CKError) {
        close(try openUnchanged())
    }

    private func openUnchanged() throws(CKError) -> Int32 {
        guard let (descriptor, stamp) = try? Self.open(path) else { throw Self.modified(path) }
        guard stamp == self.stamp else {
            close(descriptor)
            throw Self.modified(path)
        }
        return descriptor
    }

    private static func open(_ path: String) throws(CKError) -> (descriptor: Int32, stamp: Stamp) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let code = errno
        guard descriptor >= 0 else {
            throw code == ENOENT || code == ENOTDIR ? notFound(path) : notAvailable(path)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw notAvailable(path)
        }
        return (descriptor, Stamp(status))
    }

    /// Nil: the file is shorter, or cannot be read.
    private static func hash(of descriptor: Int32, byteCount: Int64) -> [UInt8]? {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockBytes, alignment: 64)
        defer { block.deallocate() }
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < byteCount {
            let wanted = Int(min(Int64(blockBytes), byteCount - offset))
            let count = read(descriptor, UnsafeMutableRawBufferPointer(rebasing: block[..<wanted]), at: offset)
            guard count == wanted else { return nil }
            hash.update(UnsafeRawBufferPointer(rebasing: block[..<count]))
            offset += Int64(count)
        }
        return hash.finish()
    }

    /// Fewer than asked for at the end of the file, and when it cannot be read.
    private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            let code = errno
            if count < 0, code == EINTR { continue }
            if count <= 0 { break }
            done += count
        }
        return done
    }

    private static func notFound(_ path: String) -> CKError {
        CKError(.assetFileNotFound, text: "There is no file at \(path).")
    }

    private static func notAvailable(_ path: String) -> CKError {
        CKError(.assetNotAvailable, text: "The file at \(path) cannot be read.")
    }

    private static func modified(_ path: String) -> CKError {
        CKError(.assetFileModified, text: "The file at \(path) changed while it was uploaded. Save the record again.")
    }
}
