// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto

/// A file of the app, as it was when it was first looked at.
///
/// Everything here blocks: use it on ``FileThread`` only.
struct AssetSource: Sendable {
    /// Shows that a file was changed or replaced, as far as the file system tells.
    private struct Stamp: Equatable {
        let file: UInt64
        let byteCount: Int64
        let seconds: Int
        let nanoseconds: Int
        /// The time of the last change of any kind, which nobody can set back.
        let changeSeconds: Int
        let changeNanoseconds: Int

        init(_ status: stat) {
            file = UInt64(status.st_ino)
            byteCount = Int64(status.st_size)
            #if canImport(Darwin)
                (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
                (changeSeconds, changeNanoseconds) = (status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec)
            #else
                (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
                (changeSeconds, changeNanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
            #endif
        }

        /// Whether a change now would get another time. A file system with less than millisecond resolution takes the
        /// time of the last tick, some milliseconds ago. Others may count in seconds, even in steps of two.
        func isSettled(at now: TimeInterval) -> Bool {
            let isFine = !nanoseconds.isMultiple(of: 1_000_000) && !changeNanoseconds.isMultiple(of: 1_000_000)
            let content = Double(seconds) + Double(nanoseconds) / 1e9
            let change = Double(changeSeconds) + Double(changeNanoseconds) / 1e9
            return max(content, change) + (isFine ? 0.1 : 2.1) < now
        }

        /// Whether the content is the same. A link to the file or other permissions do not matter.
        func hasSameContent(as other: Stamp) -> Bool {
            file == other.file && byteCount == other.byteCount && seconds == other.seconds
                && nanoseconds == other.nanoseconds
        }
    }

    private let path: String
    /// The name of the file without its folder.
    var name: String { (path as NSString).lastPathComponent }
    private let stamp: Stamp
    /// Whether the file had been unchanged for a while when it was first looked at. Then every change since shows in
    /// its stamp.
    let isSettled: Bool

    /// - Throws: `assetFileNotFound`; `assetNotAvailable` if it cannot be read or is not a file.
    init(_ url: URL) throws(CKError) {
        path = url.path
        let (descriptor, stamp) = try Self.open(path)
        close(descriptor)
        self.stamp = stamp
        isSettled = stamp.isSettled(at: Date().timeIntervalSince1970)
    }

    var byteCount: Int64 { stamp.byteCount }

    /// 32 bytes that identify the file in its current state, while its hash is unknown.
    var draft: [UInt8] {
        let content = "\(stamp.file) \(stamp.byteCount) \(stamp.seconds) \(stamp.nanoseconds)"
        let change = "\(stamp.changeSeconds) \(stamp.changeNanoseconds) \(isSettled)"
        return SHA256.hash(Array("\(path)\u{0}\(content) \(change)".utf8))
    }

    /// Some bytes of the file. It is opened each time, so that any number of files can be under way.
    ///
    /// - Parameters:
    ///   - head: bytes that the result begins with.
    ///   - room: bytes that can be added to the result without a copy.
    /// - Throws: as ``openUnchanged()``.
    func bytes(
        at offset: Int64, count: Int, after head: [UInt8] = [], before room: Int = 0
    ) throws(CKError) -> [UInt8] {
        let descriptor = try openUnchanged()
        defer { close(descriptor) }
        var refusal: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: head.count + count + room) { buffer, filled in
            let place = UnsafeMutableRawBufferPointer(buffer)
            place.copyBytes(from: head)
            let rest = UnsafeMutableRawBufferPointer(rebasing: place[head.count..<head.count + count])
            let outcome = Self.read(descriptor, rest, at: offset)
            refusal = outcome.refusal
            filled = head.count + outcome.count
        }
        if let refusal { throw notAvailable(refusal) }
        guard bytes.count == head.count + count else { throw modified }
        return bytes
    }

    /// - Throws: as ``openUnchanged()``.
    func checkUnchanged() throws(CKError) {
        close(try openUnchanged())
    }

    /// As ``checkUnchanged()``, but also notices changes that do not concern the content.
    ///
    /// - Returns: whether nothing at all has happened to a file that was settled.
    func isUntouched() throws(CKError) -> Bool {
        let (descriptor, stamp) = try openAgain()
        close(descriptor)
        return isSettled && stamp == self.stamp
    }

    /// - Throws: `assetFileModified` if the file is gone, or has changed since it was first looked at;
    ///   `assetNotAvailable` if it cannot be opened now.
    func openUnchanged() throws(CKError) -> Int32 {
        try openAgain().descriptor
    }

    private func openAgain() throws(CKError) -> (descriptor: Int32, stamp: Stamp) {
        let opened: (descriptor: Int32, stamp: Stamp)
        do throws(CKError) {
            opened = try Self.open(path)
        } catch {
            throw error.code == .assetFileNotFound ? modified : error
        }
        guard opened.stamp.hasSameContent(as: stamp) else {
            close(opened.descriptor)
            throw modified
        }
        return opened
    }

    private static func open(_ path: String) throws(CKError) -> (descriptor: Int32, stamp: Stamp) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let code = errno
        guard descriptor >= 0 else {
            throw code == ENOENT || code == ENOTDIR ? notFound(path) : notAvailable(path, code)
        }
        var status = stat()
        let failure = fstat(descriptor, &status) == 0 ? nil : errno
        guard failure == nil, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw notAvailable(path, failure ?? EINVAL)
        }
        return (descriptor, Stamp(status))
    }

    /// - Returns: the bytes that were read, fewer at the end of the file, and the system's error number if it cannot be
    ///   read.
    static func read(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> (count: Int, refusal: Int32?) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            let code = errno
            if count < 0, code == EINTR { continue }
            if count < 0 { return (done, code) }
            if count == 0 { break }
            done += count
        }
        return (done, nil)
    }

    private static func notFound(_ path: String) -> CKError {
        CKError(.assetFileNotFound, text: "There is no file at \(path). Keep it until the save has returned.")
    }

    /// - Parameter number: the system's error number.
    func notAvailable(_ number: Int32) -> CKError {
        Self.notAvailable(path, number)
    }

    private static func notAvailable(_ path: String, _ number: Int32) -> CKError {
        FileFault(number: number).error(
            "The file at \(path) cannot be read.", advice: "Check that it is a file, and who may read it.")
    }

    var modified: CKError {
        CKError(.assetFileModified, text: "The file at \(path) changed while it was uploaded. Save the record again.")
    }
}
