// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Directories and links: what the start of a PostgreSQL needs of the file system.
enum Directory {
    /// The names in a directory, without `.` and `..`; none if it cannot be read.
    static func names(in path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Creates a directory and missing ones above it; false (and errno) if that fails.
    static func create(_ path: String, mode: mode_t) -> Bool {
        if mkdir(path, mode) == 0 || (errno == EEXIST && isDirectory(path)) { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return false }
        return create(String(path[..<slash]), mode: 0o755) && mkdir(path, mode) == 0
    }

    /// Removes a directory with its content. Removing one that does not exist is no error. Symbolic links are not
    /// followed.
    static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else { return _ = unlink(path) }
        for name in names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The target of a symbolic link; nil if it is not a link.
    static func target(ofLink path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { chars in
                chars.baseAddress.map { readlink(path, $0, chars.count) } ?? -1
            }
        }
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// The path without symbolic links; nil if it does not exist.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The last `count` bytes of a file as text.
    static func tail(of path: String, count: Int) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        lseek(descriptor, max(0, lseek(descriptor, 0, SEEK_END) - count), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: count)
        let got = read(descriptor, &bytes, count)
        return String(decoding: bytes[..<max(0, got)], as: UTF8.self)
    }

    /// The first 4 KiB of a file as text.
    static func beginning(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let got = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, got)], as: UTF8.self)
    }
}
