// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The folder as far as it is synced: its files and their content.
struct FileTree: Sendable {
    /// Absolute, without a trailing "/".
    let root: String
    /// The program's own data, which is never synced.
    static let stateDirectoryName = ".foldersync"

    var stateDirectory: String { "\(root)/\(Self.stateDirectoryName)" }

    /// Files that are being received or replaced (`FileTree+Replacing.swift`).
    var stagingDirectory: String { "\(stateDirectory)/staging" }

    /// How a file gets a second name: `link`.
    var makeLink: @Sendable (_ file: String, _ name: String) -> Int32 = { link($0, $1) }

    /// How a directory is opened whose entries are wanted: `open`.
    var openForListing: @Sendable (_ directory: String, _ flags: Int32) -> Int32 = { open($0, $1) }

    /// Creates missing directories.
    init(root: String) throws {
        self.root = URL(fileURLWithPath: root, isDirectory: true).standardizedFileURL.resolvingSymlinksInPath().path
        do {
            try FileManager.default.createDirectory(atPath: stagingDirectory, withIntermediateDirectories: true)
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
            throw FolderSyncError.cannotPersist(
                "\(stateDirectory): \(cause?.localizedDescription ?? error.localizedDescription)")
        }
    }

    func absolute(_ path: RelativePath) -> String {
        path.text.isEmpty ? root : "\(root)/\(path.text)"
    }

    // MARK: One file

    /// Shows whether a file is unchanged, without reading it. Every write and every `chmod` changes the time.
    struct Stat: Codable, Equatable, Sendable {
        let size: Int64
        let changedAt: Int64
        let inode: UInt64
    }

    struct File: Sendable {
        let bytes: FileRecord.Bytes
        let version: String
        let isExecutable: Bool
        /// Nil if the file changed so recently that the next change might have the same time.
        let stat: Stat?
    }

    enum Look: Sendable {
        /// The file is unchanged since `known`.
        case same
        case missing
        case file(File)
        /// The file cannot be synced, or not in the current state.
        case unusable(String)
        /// The file should be synced and cannot be read.
        case unreadable(String)

        /// Nil if there is no file that can be synced.
        var version: String? {
            if case .file(let file) = self { file.version } else { nil }
        }
    }

    /// - Parameter known: the file when it was last read; nil to read it in any case.
    func look(at path: RelativePath, known: Stat? = nil) -> Look {
        // No device could create it.
        guard path.isSafe else { return .unusable("its path is too long; skipped") }
        // Before anything is read: a link may lead anywhere.
        if isBelowLink(path) { return .unusable(FolderSyncError.linkedDirectory.description) }
        let look = look(atAbsolute: absolute(path), known: known)
        // A file counts as deleted only if the folder is there.
        if case .missing = look, let obstacle = obstacle(to: path) { return .unusable(obstacle.description) }
        return look
    }

    /// Why nothing is known of a path and nothing can be done there; nil if there is no such reason.
    func obstacle(to path: RelativePath) -> FolderSyncError? {
        guard isInPlace else { return .moved(root) }
        return isBelowLink(path) ? .linkedDirectory : nil
    }

    /// Whether the folder is still where it was when this program started. If not, none of its files counts as deleted.
    var isInPlace: Bool { isKind(S_IFDIR, stagingDirectory) }

    /// A linked directory leads to another folder, or to this one a second time.
    private func isBelowLink(_ path: RelativePath) -> Bool {
        path.directories.contains { isKind(S_IFLNK, absolute($0)) }
    }

    func isDirectory(_ path: RelativePath) -> Bool { isKind(S_IFDIR, absolute(path)) }

    /// Does not change `errno`.
    func isKind(_ kind: mode_t, _ path: String) -> Bool {
        let code = errno
        defer { errno = code }
        var status = Glibc.stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == kind
    }

    func look(atAbsolute path: String, known: Stat? = nil) -> Look {
        var status = Glibc.stat()
        guard lstat(path, &status) == 0 else { return Self.failure() }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return status.st_mode & S_IFMT == S_IFDIR ? .missing : .unusable("not a regular file; skipped")
        }
        if let known, known == Stat(status) { return .same }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        // From here on it is the same file, even if somebody puts another one in its place.
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return Self.failure() }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let isExecutable = status.st_mode & S_IXUSR != 0
        let bytes: FileRecord.Bytes
        let version: String?
        if status.st_size > FileRecord.contentBytesMax {
            bytes = .large(URL(fileURLWithPath: path))
            version = try? FileRecord.version(of: handle, isExecutable: isExecutable)
        } else {
            guard let data = try? handle.read(upToCount: FileRecord.contentBytesMax + 1) ?? Data() else {
                return .unreadable("cannot be read")
            }
            guard data.count <= FileRecord.contentBytesMax else { return .unreadable("grew while it was read") }
            bytes = .small(data)
            version = FileRecord.version(of: data, isExecutable: isExecutable)
        }
        guard let version else { return .unreadable("cannot be read") }
        return .file(
            File(bytes: bytes, version: version, isExecutable: isExecutable, stat: Stat(settled: status)))
    }

    private static func failure() -> Look {
        errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable(String(cString: strerror(errno)))
    }

    // MARK: All files

    /// All regular files.
    ///
    /// - Parameters:
    ///   - onSkipped: called for everything else in the folder, with the reason why it is skipped.
    ///   - onUnreadable: called for what may be or contain more files, with the reason why it cannot be read.
    func files(
        onSkipped: (String) -> Void = { _ in }, onUnreadable: (RelativePath, String) -> Void = { _, _ in }
    ) throws -> Set<RelativePath> {
        guard isInPlace else { throw FolderSyncError.moved(root) }
        var files: Set<RelativePath> = []
        try walk("", onFile: { files.insert($0) }, onSkipped: onSkipped, onUnreadable: onUnreadable)
        return files
    }

    /// `path` and every directory below it.
    func directories(below path: RelativePath) throws -> [RelativePath] {
        var directories: [RelativePath] = []
        try walk(path, onDirectory: { directories.append($0) })
        return directories
    }

    private func walk(
        _ top: RelativePath, onFile: (RelativePath) -> Void = { _ in }, onDirectory: (RelativePath) -> Void = { _ in },
        onSkipped: (String) -> Void = { _ in }, onUnreadable: (RelativePath, String) -> Void = { _, _ in }
    ) throws {
        var waiting = [top]
        while let directory = waiting.popLast() {
            onDirectory(directory)
            guard let stream = openDirectory(directory) else {
                let code = errno
                if directory.text.isEmpty { throw FolderSyncError.unreadable(root) }
                // It was removed meanwhile, or something else is in its place.
                if code == ENOENT || code == ENOTDIR || code == ELOOP { continue }
                onUnreadable(directory, String(cString: strerror(code)))
                continue
            }
            defer { closedir(stream) }
            while true {
                // Only errno tells the end from a failure.
                errno = 0
                guard let item = readdir(stream) else {
                    if errno != 0 { onUnreadable(directory, String(cString: strerror(errno))) }
                    break
                }
                let bytes = withUnsafeBytes(of: &item.pointee.d_name) { [UInt8]($0.prefix { $0 != 0 }) }
                let name = String(decoding: bytes, as: UTF8.self)
                guard name != ".", name != "..", name != Self.stateDirectoryName else { continue }
                let path = directory.appending(name)
                guard String(validating: bytes, as: UTF8.self) != nil else {
                    onSkipped("\(path): the name is not UTF-8; skipped")
                    continue
                }
                var status = Glibc.stat()
                guard lstat(absolute(path), &status) == 0 else {
                    if errno != ENOENT { onUnreadable(path, String(cString: strerror(errno))) }
                    continue
                }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: waiting.append(path)
                case S_IFREG: onFile(path)
                default: onSkipped("\(path): not a regular file; skipped")
                }
            }
        }
    }

    /// Does not follow a link that replaced the directory. The folder itself may be a link.
    private func openDirectory(_ directory: RelativePath) -> OpaquePointer? {
        let linkFlag = directory.text.isEmpty ? 0 : O_NOFOLLOW
        let descriptor = openForListing(absolute(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC | linkFlag)
        guard descriptor >= 0 else { return nil }
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        return stream
    }
}

extension FileTree.Stat {
    init(_ status: Glibc.stat) {
        size = Int64(status.st_size)
        changedAt = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        inode = UInt64(status.st_ino)
    }

    /// File systems count time in ticks of up to 10 ms. Two writes within one tick have the same time.
    private static let tickMax: Int64 = 20_000_000

    fileprivate init?(settled status: Glibc.stat) {
        self.init(status)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - changedAt
        guard age > Self.tickMax else { return nil }
    }
}
