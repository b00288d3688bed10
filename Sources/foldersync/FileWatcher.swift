// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc

/// Reports which files may have changed (inotify). A hint: the syncer checks each file itself.
final class FileWatcher: @unchecked Sendable {
    enum Paths: Sendable {
        case some(Set<RelativePath>)
        /// Too much happened at once: check every file.
        case everything
        /// From now on changes may be missed.
        case unknown(any Error)
    }

    /// Changes within this time are reported together, because editors write a file in several steps.
    private static let settlingTime = DispatchTimeInterval.milliseconds(50)

    private let tree: FileTree
    private let onChange: @Sendable (Paths) -> Void
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    /// Everything below is used on this queue alone.
    private let queue = DispatchQueue(label: "foldersync.watcher")
    private var directories: [Int32: RelativePath] = [:]
    private var changed: Set<RelativePath> = []
    /// Entries whose names are not UTF-8. They can only be counted.
    private var nameless: Set<[UInt8]> = []
    private var lostCount = false
    private var failure: (any Error)?
    private var isWaiting = false

    /// Begins to watch before it returns: every later change is reported.
    init(tree: FileTree, onChange: @escaping @Sendable (Paths) -> Void) throws {
        self.tree = tree
        self.onChange = onChange
        descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        guard descriptor >= 0 else { throw FolderSyncError.cannotWatch(String(cString: strerror(errno))) }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let descriptor = descriptor
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in self?.read() }
        source.resume()
        try queue.sync { try watch("") }
    }

    func stop() {
        source.cancel()
    }

    /// Watches a directory and those below it. Existing files count as changed.
    private func watch(_ directory: RelativePath) throws {
        let mask = UInt32(
            IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR
                | IN_EXCL_UNLINK)
        for path in try tree.directories(below: directory) {
            // A link that replaced a directory is not followed. The folder itself may be a link.
            let linkFlag = path.text.isEmpty ? 0 : UInt32(IN_DONT_FOLLOW)
            let watch = inotify_add_watch(descriptor, tree.absolute(path), mask | linkFlag)
            if watch >= 0 {
                directories[watch] = path
            } else if errno == ENOSPC {
                throw FolderSyncError.cannotWatch("too many directories for fs.inotify.max_user_watches")
            }
        }
    }

    private func read() {
        let size = 65_536
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { buffer.deallocate() }
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, size)
            guard count > 0 else { break }
            var offset = 0
            while offset + MemoryLayout<inotify_event>.size <= count {
                let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let start = offset + MemoryLayout<inotify_event>.size
                let name = buffer[start..<start + Int(event.len)].prefix { $0 != 0 }
                happened(event, name: Array(name))
                offset = start + Int(event.len)
            }
        }
        tellSoon()
    }

    private func happened(_ event: inotify_event, name bytes: [UInt8]) {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
            // Lost events may have been about new directories.
            return watchAgain("")
        }
        guard let directory = directories[event.wd] else { return }
        if event.mask & UInt32(IN_IGNORED) != 0 {
            directories[event.wd] = nil
            return
        }
        guard let name = String(validating: bytes, as: UTF8.self) else {
            // The next full check reports it.
            if nameless.insert(bytes).inserted { lostCount = true }
            return
        }
        guard !name.isEmpty, name != FileTree.stateDirectoryName else { return }
        let path = directory.appending(name)
        if event.mask & UInt32(IN_ISDIR) != 0 {
            // A whole tree appeared or was removed.
            watchAgain(path)
        } else {
            changed.insert(path)
        }
    }

    /// A check finds its contents.
    private func watchAgain(_ directory: RelativePath) {
        lostCount = true
        do { try watch(directory) } catch { failure = error }
    }

    private func tellSoon() {
        guard !isWaiting, lostCount || !changed.isEmpty else { return }
        isWaiting = true
        queue.asyncAfter(deadline: .now() + Self.settlingTime) { [weak self] in self?.tell() }
    }

    private func tell() {
        isWaiting = false
        onChange(failure.map { .unknown($0) } ?? (lostCount ? .everything : .some(changed)))
        lostCount = false
        changed = []
    }
}
