// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Replaces files without losing what somebody else writes at the same moment.
extension FileTree {
    /// A file that differed from what was expected, and is kept.
    struct Kept: Equatable {
        let path: RelativePath
        /// Its current place; the same if it could stay.
        let newPath: RelativePath
    }

    /// Makes a file hold `content`.
    ///
    /// The old file is first taken out of the way in one step, and only then read. So if somebody wrote it since the
    /// last sync, even a moment ago, we have that content and keep it under another name. The new content never
    /// replaces a file; it only takes an empty place. If it cannot, the old file is put back.
    ///
    /// If one device has a file where another has a directory, the directory stays and the file gets another name.
    ///
    /// - Parameters:
    ///   - version: of the file that may be removed; nil if none may.
    ///   - copyOf: a version that is kept under a name that is the same on all devices. If that name exists already,
    ///     the file is removed.
    func replace(
        _ content: FileRecord.Content, expecting version: String?, copyOf: String? = nil, deviceName: String
    ) throws -> [Kept] {
        let path = content.path
        // What is behind a linked directory is not ours to change, and the link itself stays.
        if let obstacle = obstacle(to: path) { throw obstacle }
        guard let bytes = content.bytes else {
            switch try takeAway(path, expecting: version, deviceName: deviceName, mayStay: true) {
            case .nothing: return []
            case .expected(let old):
                unlink(old)
                removeEmptyDirectories(above: path)
                return []
            case .other(let kept): return [kept]
            }
        }
        var kept = try makeDirectories(for: path, deviceName: deviceName)
        let new = staged(path, .new)
        defer { unlink(new) }
        try write(bytes, isExecutable: content.isExecutable, to: new)
        var old: String?
        do {
            while try !place(new, at: absolute(path)) {
                // The place is taken again, so what was taken out of it has a successor.
                if let old { unlink(old) }
                old = nil
                switch try takeAway(
                    path, expecting: version, copyOf: copyOf, deviceName: deviceName, mayStay: false)
                {
                case .nothing: break
                case .expected(let file): old = file
                case .other(let other): kept.append(other)
                }
            }
        } catch {
            if let old { _ = try? place(old, at: absolute(path)) }
            throw error
        }
        if let old { unlink(old) }
        return kept
    }

    /// When this returns, everything that was written so far is on the disk. It is one call for all files of a page; an
    /// fsync for each would take longer than fetching them.
    func flush() {
        sync()
    }

    private func write(_ bytes: FileRecord.Bytes, isExecutable: Bool, to file: String) throws {
        unlink(file)
        let mode: mode_t = isExecutable ? 0o777 : 0o666
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FolderSyncError.system(errno, file) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        switch bytes {
        case .small(let data):
            try handle.write(contentsOf: data)
        case .large(let url):
            var status = Glibc.stat()
            fstat(descriptor, &status)
            // The file of a fetched asset is ours to move. Between disks it can only be copied.
            if rename(url.path, file) == 0 {
                chmod(file, status.st_mode & 0o777)
                return
            }
            let source = try FileHandle(forReadingFrom: url)
            while let block = try source.read(upToCount: FileRecord.blockBytes), !block.isEmpty {
                try handle.write(contentsOf: block)
            }
        }
    }

    /// What was in a place that is now empty.
    private enum Taken {
        case nothing
        /// The expected file, which is here now. It may be removed once it is not needed any more.
        case expected(String)
        case other(Kept)
    }

    private func takeAway(
        _ path: RelativePath, expecting version: String?, copyOf: String? = nil, deviceName: String, mayStay: Bool
    ) throws -> Taken {
        let old = staged(path, .old)
        // A file that could not be put anywhere earlier must not be overwritten.
        if access(old, F_OK) == 0 { _ = try keepAside(old, path: path, deviceName: deviceName) }
        guard !isDirectory(path) else { throw FolderSyncError.directoryInTheWay(path) }
        guard rename(absolute(path), old) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw FolderSyncError.system(errno, path.text) }
            guard isInPlace else { throw FolderSyncError.moved(root) }
            return .nothing
        }
        if version != nil, look(atAbsolute: old).version == version { return .expected(old) }
        if mayStay, try place(old, at: absolute(path)) { return .other(Kept(path: path, newPath: path)) }
        do {
            if let copyOf, look(atAbsolute: old).version == copyOf {
                return .other(try keepAside(old, path: path, version: copyOf))
            }
            return .other(try keepAside(old, path: path, deviceName: deviceName))
        } catch {
            _ = try? place(old, at: absolute(path))
            throw error
        }
    }

    private func keepAside(_ file: String, path: RelativePath, deviceName: String) throws -> Kept {
        for attempt in 0..<1_000 {
            let aside = ConflictName.make(path, deviceName: deviceName, time: Date(), attempt: attempt)
            if try place(file, at: absolute(aside)) { return Kept(path: path, newPath: aside) }
        }
        throw FolderSyncError.system(EEXIST, path.text)
    }

    private func keepAside(_ file: String, path: RelativePath, version: String) throws -> Kept {
        for attempt in 0..<1_000 {
            let aside = ConflictName.make(path, version: version, attempt: attempt)
            if try place(file, at: absolute(aside)) { return Kept(path: path, newPath: aside) }
            guard look(at: aside).version == version else { continue }
            unlink(file)
            return Kept(path: path, newPath: aside)
        }
        throw FolderSyncError.system(EEXIST, path.text)
    }

    private func makeDirectories(for path: RelativePath, deviceName: String) throws -> [Kept] {
        var kept: [Kept] = []
        for directory in path.directories {
            if mkdir(absolute(directory), 0o777) == 0 || isDirectory(directory) { continue }
            guard errno == EEXIST else { throw FolderSyncError.system(errno, directory.text) }
            guard !isKind(S_IFLNK, absolute(directory)) else { throw FolderSyncError.linkedDirectory }
            kept.append(try keepAside(absolute(directory), path: directory, deviceName: deviceName))
            guard mkdir(absolute(directory), 0o777) == 0 else { throw FolderSyncError.system(errno, directory.text) }
        }
        return kept
    }

    private func removeEmptyDirectories(above path: RelativePath) {
        for directory in path.directories.reversed() {
            guard rmdir(absolute(directory)) == 0 else { return }
        }
    }

    /// Gives a file another name if the name is free.
    ///
    /// - Returns: false, with nothing changed, if the name is taken.
    private func place(_ file: String, at name: String) throws -> Bool {
        if makeLink(file, name) == 0 {
            unlink(file)
            return true
        }
        if errno == EEXIST { return false }
        guard Self.saysThatThereAreNoLinks(errno) else { throw FolderSyncError.system(errno, name) }
        // Second best: if somebody takes the name between these two calls, it goes unnoticed. (Glibc's Swift module
        // lacks renameat2.)
        var status = Glibc.stat()
        guard lstat(name, &status) != 0 else { return false }
        guard errno == ENOENT, rename(file, name) == 0 else { throw FolderSyncError.system(errno, name) }
        return true
    }

    /// FAT and some network file systems have no hard links, and each reports it with another error.
    private static func saysThatThereAreNoLinks(_ code: Int32) -> Bool {
        [EPERM, EOPNOTSUPP, ENOSYS].contains(code)
    }

    // MARK: After a crash

    /// New content that was not placed comes from the server again. Old content that was taken out of the way goes back
    /// if its place is empty. Otherwise it is kept beside the new content, if it may be nowhere else.
    func recoverLeftovers(journal: Journal, deviceName: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: stagingDirectory) {
            let file = "\(stagingDirectory)/\(name)"
            guard let path = Self.path(ofStaged: name) else {
                unlink(file)
                continue
            }
            // It waits here until there is a directory again.
            if obstacle(to: path) == .linkedDirectory { continue }
            _ = try makeDirectories(for: path, deviceName: deviceName)
            if try place(file, at: absolute(path)) { continue }
            let version = look(atAbsolute: file).version
            if version != nil, version == journal[path]?.version || version == look(at: path).version {
                unlink(file)
            } else {
                _ = try keepAside(file, path: path, deviceName: deviceName)
            }
        }
    }

    private enum Stage: String {
        case new = ".new"
        case old = ".old"
    }

    /// The name in the staging directory encodes the path, in letters that a name may have. So a crash leaves no file
    /// of unknown origin. If the path is too long, the name is its hash.
    private func staged(_ path: RelativePath, _ stage: Stage) -> String {
        let name = Data(path.text.utf8).base64EncodedString().replacing("/", with: "_")
        return "\(stagingDirectory)/" + (name.utf8.count <= 250 ? name : "#" + FileRecord.name(of: path))
            + stage.rawValue
    }

    /// The path of old content; nil if it is new content.
    private static func path(ofStaged name: String) -> RelativePath? {
        guard name.hasSuffix(Stage.old.rawValue) else { return nil }
        let name = String(name.dropLast(Stage.old.rawValue.count))
        let path = Data(base64Encoded: name.replacing("_", with: "/")).flatMap { String(data: $0, encoding: .utf8) }
        if let path = path.map({ RelativePath($0) }), path.isSafe { return path }
        return RelativePath("recovered \(name)")
    }
}
