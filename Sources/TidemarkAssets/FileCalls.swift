// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc
internal import TidemarkService

/// The system calls of files, as Swift functions; the only file of this target that reads `errno`.
///
/// Each is retried if a signal interrupts it, and throws ``AssetStoreError`` with the call's name.
enum FileCalls {
    /// - Throws: `unreadable` if the fault is this file's, as far as it can be told.
    static func openReading(_ path: String) throws(AssetStoreError) -> Int32 {
        let result = opened(path, O_RDONLY)
        guard !filesOwn.contains(Int32(clamping: -result)) else {
            throw AssetStoreError(.unreadable, detail: "open \(path): \(text(of: Int32(clamping: -result)))")
        }
        return Int32(try checked(result, "open", path))
    }

    /// A disk that does not read, a file system that finds itself damaged, and a link or socket in the place of a file. Missing rights and
    /// missing resources of the process are not among them.
    private static let filesOwn: Set<Int32> = [EIO, EUCLEAN, EBADMSG, ELOOP, ENXIO]

    static func openWriting(_ path: String) throws(AssetStoreError) -> Int32 {
        try open(path, O_RDWR)
    }

    private static func openDirectory(_ path: String) throws(AssetStoreError) -> Int32 {
        try open(path, O_RDONLY | O_DIRECTORY)
    }

    /// Creates the file if it is missing, and the directories above it.
    static func openCreating(_ path: String) throws(AssetStoreError) -> Int32 {
        try creatingDirectories(above: path) { () throws(AssetStoreError) in try open(path, O_RDWR | O_CREAT) }
    }

    /// Does something again when the directories above a path are made. A few times, because others remove directories
    /// that are empty.
    private static func creatingDirectories<Value>(
        above path: String, _ work: () throws(AssetStoreError) -> Value
    ) throws(AssetStoreError) -> Value {
        for _ in 0..<3 {
            do throws(AssetStoreError) {
                return try work()
            } catch {
                guard error.code == .missing else { throw error }
            }
            do throws(AssetStoreError) {
                try makeDirectory(parent(of: path))
            } catch {
                guard error.code == .missing else { throw error }
            }
        }
        return try work()
    }

    /// Creates a file that must not exist, with the directories above it.
    static func openNew(_ path: String) throws(AssetStoreError) -> Int32 {
        try creatingDirectories(above: path) { () throws(AssetStoreError) in try open(path, O_RDWR | O_CREAT | O_EXCL) }
    }

    private static func open(_ path: String, _ flags: Int32) throws(AssetStoreError) -> Int32 {
        Int32(try checked(opened(path, flags), "open", path))
    }

    private static func opened(_ path: String, _ flags: Int32) -> Int {
        retrying { Int(Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)) }
    }

    static func close(_ descriptor: Int32) {
        _ = Glibc.close(descriptor)
    }

    /// False if another process has locked the file.
    static func lock(_ descriptor: Int32) -> Bool {
        retrying { Int(flock(descriptor, LOCK_EX | LOCK_NB)) } == 0
    }

    /// Whether the file still has that name. Between opening and locking, it may have been moved or removed.
    static func isNamed(_ path: String, _ descriptor: Int32) -> Bool {
        var (named, open) = (stat(), stat())
        return lstat(path, &named) == 0 && fstat(descriptor, &open) == 0 && named.st_dev == open.st_dev
            && named.st_ino == open.st_ino
    }

    static func stamp(of descriptor: Int32) throws(AssetStoreError) -> FileStamp {
        var status = stat()
        _ = try checked(retrying { Int(fstat(descriptor, &status)) }, "fstat", "")
        let time = status.st_mtim
        let (seconds, _) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return FileStamp(
            number: UInt64(status.st_ino), byteCount: Int64(status.st_size),
            modifiedNanoseconds: seconds &+ Int64(time.tv_nsec))
    }

    /// Nil if there is no such file.
    static func status(of path: String) -> (byteCount: Int64, modifiedSeconds: Int64)? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return (Int64(status.st_size), Int64(status.st_mtim.tv_sec))
    }

    static func truncate(_ descriptor: Int32, to byteCount: Int64) throws(AssetStoreError) {
        _ = try checked(retrying { Int(ftruncate(descriptor, off_t(byteCount))) }, "ftruncate", "")
    }

    /// Writes all of the bytes.
    static func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(AssetStoreError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = retrying { pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done)) }
            done += try checked(count, "pwrite", "")
        }
    }

    /// Reads into the buffer, until it is full or the file ends.
    static func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(AssetStoreError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let result = retrying { pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done)) }
            let count = try checked(result, "pread", "")
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Stores some bytes with a file, under a name. A file system without attributes stores nothing.
    static func setAttribute(_ name: String, of descriptor: Int32, to bytes: [UInt8]) {
        _ = retrying { Int(fsetxattr(descriptor, name, bytes, bytes.count, 0)) }
    }

    /// The bytes under that name; nil also if there are more than `byteCountMax`.
    static func attribute(_ name: String, of descriptor: Int32, byteCountMax: Int) -> [UInt8]? {
        var length = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCountMax) { buffer, count in
            length = retrying { fgetxattr(descriptor, name, buffer.baseAddress, byteCountMax) }
            count = max(0, length)
        }
        return length < 0 ? nil : bytes
    }

    /// Waits until the bytes that were written to the file are on the disk.
    static func synchronizeContent(_ descriptor: Int32) throws(AssetStoreError) {
        _ = try checked(retrying { Int(fdatasync(descriptor)) }, "fdatasync", "")
    }

    /// Waits until the file, or the directory's list of names, is durable.
    static func synchronize(_ descriptor: Int32) throws(AssetStoreError) {
        _ = try checked(retrying { Int(fsync(descriptor)) }, "fsync", "")
    }

    /// Waits until the list of names in a directory is durable.
    static func synchronizeDirectory(_ path: String) throws(AssetStoreError) {
        let descriptor = try openDirectory(path)
        defer { close(descriptor) }
        try synchronize(descriptor)
    }

    /// Gives a file a second name, which must not exist, and makes the directories above it. Both are on one file system.
    static func link(_ path: String, to other: String) throws(AssetStoreError) {
        try creatingDirectories(above: other) { () throws(AssetStoreError) in
            _ = try checked(retrying { Int(Glibc.link(path, other)) }, "link", other)
        }
    }

    /// Lets an empty file share the blocks of another one (ioctl_ficlone(2)); false where the file system cannot.
    static func clone(_ source: Int32, into target: Int32) -> Bool {
        ioctl(target, 0x4004_9409, source) == 0
    }

    /// The bytes that a user may still write to the path's file system; nil if it cannot be told.
    static func freeByteCount(at path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let (count, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int64(clamping: count)
    }

    static func rename(_ path: String, to other: String) throws(AssetStoreError) {
        _ = try checked(retrying { Int(Glibc.rename(path, other)) }, "rename", other)
    }

    /// Creates missing directories above the new name.
    static func renameCreating(_ path: String, to other: String) throws(AssetStoreError) {
        try creatingDirectories(above: other) { () throws(AssetStoreError) in try rename(path, to: other) }
    }

    /// Removing a file that does not exist is not an error.
    static func remove(_ path: String) throws(AssetStoreError) {
        let result = retrying { Int(unlink(path)) }
        if result != -Int(ENOENT) { _ = try checked(result, "unlink", path) }
    }

    /// Creates a directory, and missing ones above it.
    ///
    /// - Returns: those that it created, from the top. Their names are not durable yet.
    @discardableResult
    static func makeDirectory(_ path: String) throws(AssetStoreError) -> [String] {
        var made: [String] = []
        var result = retrying { Int(mkdir(path, 0o700)) }
        if result == -Int(ENOENT), let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            made = try makeDirectory(String(path[..<slash]))
            result = retrying { Int(mkdir(path, 0o700)) }
        }
        if result == -Int(EEXIST) { return made }
        _ = try checked(result, "mkdir", path)
        return made + [path]
    }

    static func closeToOthers(_ path: String) throws(AssetStoreError) {
        _ = try checked(retrying { Int(chmod(path, 0o700)) }, "chmod", path)
    }

    /// Removes a directory, unless something is in it.
    static func removeDirectory(_ path: String) {
        _ = rmdir(path)
    }

    /// The directory that holds the path's name.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The names in a directory, without those that begin with a dot; none if it cannot be read.
    static func names(in path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    static var nowSeconds: Int64 { Int64(time(nil)) }

    // MARK: -

    @inline(__always)
    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { return -Int(code) }
        }
    }

    private static func checked(_ result: Int, _ call: String, _ path: String) throws(AssetStoreError) -> Int {
        guard result < 0 else { return result }
        let number = Int32(-result)
        let code: AssetStoreError.Code =
            switch number {
            case ENOENT: .missing
            case ENOSPC, EDQUOT, EFBIG: .full
            default: .unavailable
            }
        throw AssetStoreError(code, detail: "\(call) \(path): \(text(of: number))")
    }

    private static func text(of number: Int32) -> String { String(cString: strerror(number)) }
}
