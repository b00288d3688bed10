// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The folder: which files it holds, what is in them, and how they are replaced without losing what somebody else wrote
/// in the same moment.
struct FileTree: Sendable {
    let root: URL
    /// What this program keeps for itself; never synced.
    static let stateDirectoryName = ".foldersync"

    var stateDirectory: URL { root.appendingPathComponent(Self.stateDirectoryName, isDirectory: true) }

    /// Files on their way in or out; named for the record, so that a crash does not orphan them.
    private var stagingDirectory: URL { stateDirectory.appendingPathComponent("staging", isDirectory: true) }

    init(root: String) throws {
        self.root = URL(fileURLWithPath: root, isDirectory: true).standardizedFileURL.resolvingSymlinksInPath()
        try FileManager.default.createDirectory(at: stagingDirectory, withIntermediateDirectories: true)
    }

    // MARK: Looking

    /// Whether two looks saw the same file, without reading it.
    struct Stat: Codable, Equatable, Sendable {
        let size: Int64
        let modified: Int64
        let inode: UInt64
    }

    struct File: Sendable {
        let data: Data
        let hash: String
        let isExecutable: Bool
    }

    enum Look: Sendable {
        /// As `known` says.
        case same
        case missing
        case file(File)
        case unusable(String)

        var hash: String? {
            if case .file(let file) = self { file.hash } else { nil }
        }
    }

    /// - Parameter known: what the file was when it was looked at last; nil to read it in any case.
    func look(at path: String, known: Stat?) -> Look {
        var status = Glibc.stat()
        guard lstat(url(path).path, &status) == 0 else {
            return errno == ENOENT || errno == ENOTDIR ? .missing : .unusable(String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return status.st_mode & S_IFMT == S_IFDIR ? .missing : .unusable("not a regular file; skipped")
        }
        if let known, known == Stat(status) { return .same }
        guard status.st_size <= FileRecord.contentBytesMax else {
            return .unusable("\(status.st_size) bytes; files over \(FileRecord.contentBytesMax) are skipped")
        }
        do {
            let data = try Data(contentsOf: url(path))
            guard data.count <= FileRecord.contentBytesMax else { return .unusable("grew while it was read; skipped") }
            return .file(File(data: data, hash: FileRecord.hash(data), isExecutable: status.st_mode & S_IXUSR != 0))
        } catch {
            return access(url(path).path, F_OK) == 0 ? .unusable(error.localizedDescription) : .missing
        }
    }

    func stat(of path: String) -> Stat? {
        var status = Glibc.stat()
        guard lstat(url(path).path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Stat(status)
    }

    /// Paths of all regular files, relative to the folder.
    func files() throws -> Set<String> {
        var files: Set<String> = []
        try walk("") {
            files.insert($0)
        } onDirectory: { _ in
        }
        return files
    }

    /// Every directory below (and with) `path`, relative to the folder; the folder itself is "".
    func directories(below path: String) throws -> [String] {
        var directories: [String] = []
        try walk(path) { _ in
        } onDirectory: {
            directories.append($0)
        }
        return directories
    }

    private func walk(
        _ directory: String, onFile: (String) -> Void, onDirectory: (String) -> Void
    ) throws {
        var waiting = [directory]
        while let directory = waiting.popLast() {
            onDirectory(directory)
            guard let stream = opendir(url(directory).path) else {
                if directory.isEmpty { throw FolderSyncError.unreadable(root.path) }
                continue
            }
            defer { closedir(stream) }
            while let item = readdir(stream) {
                let name = withUnsafePointer(to: &item.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
                }
                guard let name, name != ".", name != "..", name != Self.stateDirectoryName else { continue }
                let path = directory.isEmpty ? name : directory + "/" + name
                var status = Glibc.stat()
                guard lstat(url(path).path, &status) == 0 else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: waiting.append(path)
                case S_IFREG: onFile(path)
                default: break
                }
            }
        }
    }

    /// Whether a path that somebody else chose stays inside the folder.
    static func isSafe(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && $0.utf8.count <= 255 }
            && parts.first.map(String.init) != stateDirectoryName && !path.utf8.contains(0) && path.utf8.count <= 4_000
    }

    func url(_ path: String) -> URL {
        path.isEmpty ? root : root.appendingPathComponent(path)
    }

    // MARK: Replacing

    /// Makes a file hold `data` (nil: not exist).
    ///
    /// The old file is taken out of the way in one step, and only then looked at. So if somebody wrote it since it was
    /// synced last, be it a moment ago, that content is in our hands and is kept under another name. The new content
    /// never replaces a file, it only takes an empty place.
    ///
    /// - Parameter expecting: the hash of what may go; nil: only nothing.
    /// - Returns: the path under which other content was kept; nil if there was none.
    func replace(
        _ path: String, with data: Data?, isExecutable: Bool, expecting hash: String?, deviceName: String
    ) throws -> String? {
        let old = stagingDirectory.appendingPathComponent(Staged(path, isNew: false).name)
        guard let data else {
            guard try move(url(path), to: old, unless: ENOENT) else { return nil }
            defer { removeEmptyDirectories(above: path) }
            return try settle(old, path: path, expecting: hash, deviceName: deviceName)
        }
        let new = stagingDirectory.appendingPathComponent(Staged(path, isNew: true).name)
        var aside = try makeRoom(for: path, deviceName: deviceName)
        try data.write(to: new)
        if isExecutable { chmod(new.path, 0o755) }
        while try !place(new, at: url(path)) {
            guard try move(url(path), to: old, unless: ENOENT) else { continue }
            aside = try settle(old, path: path, expecting: hash, deviceName: deviceName) ?? aside
        }
        return aside
    }

    /// What stood in the way: gone if it was as expected, else kept beside the new one.
    private func settle(_ old: URL, path: String, expecting hash: String?, deviceName: String) throws -> String? {
        guard FileRecord.hash(try Data(contentsOf: old)) != hash else {
            try FileManager.default.removeItem(at: old)
            return nil
        }
        return try keepAside(old, path: path, deviceName: deviceName)
    }

    private func keepAside(_ file: URL, path: String, deviceName: String) throws -> String {
        var attempt = 0
        while true {
            let aside = ConflictName.make(path, deviceName: deviceName, time: Date(), attempt: attempt)
            if try place(file, at: url(aside)) { return aside }
            attempt += 1
        }
    }

    /// Makes the directories of a path. A file that stands where a directory must be moves aside.
    private func makeRoom(for path: String, deviceName: String) throws -> String? {
        var displaced: String?
        var directory = ""
        for part in path.split(separator: "/").dropLast() {
            directory += directory.isEmpty ? String(part) : "/" + part
            if mkdir(url(directory).path, 0o777) == 0 { continue }
            var status = Glibc.stat()
            guard errno == EEXIST, lstat(url(directory).path, &status) == 0 else {
                throw FolderSyncError.system(errno, directory)
            }
            if status.st_mode & S_IFMT == S_IFDIR { continue }
            displaced = try keepAside(url(directory), path: directory, deviceName: deviceName)
            guard mkdir(url(directory).path, 0o777) == 0 else { throw FolderSyncError.system(errno, directory) }
        }
        return displaced
    }

    private func removeEmptyDirectories(above path: String) {
        var parts = path.split(separator: "/").dropLast()
        while !parts.isEmpty, rmdir(url(parts.joined(separator: "/")).path) == 0 { parts = parts.dropLast() }
    }

    /// Gives a file another name that is free.
    ///
    /// - Returns: false, and nothing was done, if the name is taken.
    private func place(_ file: URL, at name: URL) throws -> Bool {
        guard link(file.path, name.path) == 0 else {
            if errno == EEXIST { return false }
            throw FolderSyncError.system(errno, name.lastPathComponent)
        }
        unlink(file.path)
        return true
    }

    /// - Returns: false if it was not done because of the error `expected`.
    private func move(_ file: URL, to name: URL, unless expected: Int32) throws -> Bool {
        if rename(file.path, name.path) == 0 { return true }
        if errno == expected { return false }
        throw FolderSyncError.system(errno, file.lastPathComponent)
    }

    // MARK: After a crash

    /// New content that was not placed is on the server as well. Old content that was taken out of the way goes back if
    /// its place is empty, and is kept beside the new one if it may be nowhere else.
    func recoverLeftovers(journal: Journal, deviceName: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: stagingDirectory.path) {
            let file = stagingDirectory.appendingPathComponent(name)
            guard let staged = Staged(name: name), !staged.isNew, Self.isSafe(staged.path) else {
                try FileManager.default.removeItem(at: file)
                continue
            }
            _ = try makeRoom(for: staged.path, deviceName: deviceName)
            if try place(file, at: url(staged.path)) { continue }
            let hash = FileRecord.hash(try Data(contentsOf: file))
            if hash == journal[staged.path]?.hash || hash == look(at: staged.path, known: nil).hash {
                try FileManager.default.removeItem(at: file)
            } else {
                _ = try keepAside(file, path: staged.path, deviceName: deviceName)
            }
        }
    }

    /// A name in the staging directory: whose content it is, in letters that a name may have.
    private struct Staged {
        let path: String
        let isNew: Bool

        init(_ path: String, isNew: Bool) {
            self.path = path
            self.isNew = isNew
        }

        init?(name: String) {
            guard let data = Data(base64Encoded: String(name.dropLast(4)).replacing("_", with: "/")),
                let path = String(data: data, encoding: .utf8), !path.isEmpty
            else { return nil }
            self.init(path, isNew: name.hasSuffix(".new"))
        }

        /// A path too long for this is named by its hash: after a crash it is not recovered by its name.
        var name: String {
            let name = Data(path.utf8).base64EncodedString().replacing("/", with: "_")
            return (name.utf8.count <= 250 ? name : FileRecord.hash(Data(path.utf8))) + (isNew ? ".new" : ".old")
        }
    }
}

extension FileTree.Stat {
    init(_ status: Glibc.stat) {
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        inode = UInt64(status.st_ino)
    }
}
