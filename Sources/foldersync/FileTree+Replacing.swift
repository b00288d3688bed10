// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// How files are replaced without losing what somebody else wrote in the same moment.
extension FileTree {
    /// A file that was not what it was expected to be, and is kept.
    struct Kept: Equatable {
        let path: RelativePath
        /// Where it is now; the same if it could stay.
        let newPath: RelativePath
    }

    /// Makes a file hold what `content` says.
    ///
    /// The old file is taken out of the way in one step, and only then looked at. So if somebody wrote it since it was
    /// synced last, be it a moment ago, that content is in our hands and is kept under another name. The new content
    /// never replaces a file, it only takes an empty place; if it cannot, the old file is put back.
    ///
    /// Where one device has a file and another a directory of that name, the directory stays and the file moves aside.
    ///
    /// - Parameters:
    ///   - version: of what may go; nil: nothing may.
    ///   - copyOf: a version that moves aside under a name that is the same on all devices; if it is there already, it goes.
    func replace(
        _ content: FileRecord.Content, expecting version: String?, copyOf: String? = nil, deviceName: String
    ) throws -> [Kept] {
        let path = content.path
        // What is behind a linked directory is not ours to change, and the link itself is left as it is.
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
                // The place has been taken again: what was taken out of it before has a successor.
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

    /// Everything that was written so far is on the disk when this returns: one call for all files of a page, where an
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
            // The file of a fetched asset is ours to take. From another disk it can only be copied.
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

    /// What was in a place that is empty now.
    private enum Taken {
        case nothing
        /// It is as it was expected to be, and here: it may go as soon as it is not needed any more.
        case expected(String)
        case other(Kept)
    }

    private func takeAway(
        _ path: RelativePath, expecting version: String?, copyOf: String? = nil, deviceName: String, mayStay: Bool
    ) throws -> Taken {
        let old = staged(path, .old)
        // Something that could not be put anywhere before must not be overwritten.
        if access(old, F_OK) == 0 { _ = try keepAside(old, path: path, deviceName: deviceName) }
        guard !isDirectory(absolute(path)) else { throw FolderSyncError.directoryInTheWay(path) }
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
            if mkdir(absolute(directory), 0o777) == 0 || isDirectory(absolute(directory)) { continue }
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

    private func isDirectory(_ path: String) -> Bool {
        isKind(S_IFDIR, path)
    }

    /// Gives a file another name that is free.
    ///
    /// - Returns: false, and nothing was done, if the name is taken.
    private func place(_ file: String, at name: String) throws -> Bool {
        if makeLink(file, name) == 0 {
            unlink(file)
            return true
        }
        if errno == EEXIST { return false }
        guard Self.saysThatThereAreNoLinks(errno) else { throw FolderSyncError.system(errno, name) }
        // The next best: somebody who takes the name between these two calls is not seen. (Glibc's Swift module lacks
        // renameat2.)
        var status = Glibc.stat()
        guard lstat(name, &status) != 0 else { return false }
        guard errno == ENOENT, rename(file, name) == 0 else { throw FolderSyncError.system(errno, name) }
        return true
    }

    /// FAT and some file systems of networks have no hard links, and each says so in its own way.
    private static func saysThatThereAreNoLinks(_ code: Int32) -> Bool {
        [EPERM, EOPNOTSUPP, ENOSYS].contains(code)
    }

    // MARK: After a crash

    /// New content that was not placed comes from the server again. Old content that was taken out of the way goes back
    /// if its place is empty, and is kept beside the new one if it may be nowhere else.
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

    /// A name in the staging directory says whose content it is, in letters that a name may have, so that a crash orphans
    /// nothing. A path that is too long for that is named by its hash.
    private func staged(_ path: RelativePath, _ stage: Stage) -> String {
        let name = Data(path.text.utf8).base64EncodedString().replacing("/", with: "_")
        return "\(stagingDirectory)/" + (name.utf8.count <= 250 ? name : "#" + FileRecord.name(of: path))
            + stage.rawValue
    }

    /// Where old content belongs; nil: it is new content.
    private static func path(ofStaged name: String) -> RelativePath? {
        guard name.hasSuffix(Stage.old.rawValue) else { return nil }
        let name = String(name.dropLast(Stage.old.rawValue.count))
        let path = Data(base64Encoded: name.replacing("_", with: "/")).flatMap { String(data: $0, encoding: .utf8) }
        if let path = path.map({ RelativePath($0) }), path.isSafe { return path }
        return RelativePath("recovered \(name)")
    }
}
