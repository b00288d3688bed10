// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkTelemetry

/// The files of journals on the disk.
struct JournalDisk: JournalFiles {
    private static let log = Log("sync-engine")
    private static let lockAttempts = 50
    private static let lockPauseMicroseconds: UInt32 = 10_000
    private static let keptAsideMax = 9

    /// Two engines with one journal would each lose the other's changes.
    func lock(_ url: URL) throws(CKError) -> Int32 {
        try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let lock = open(url.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw SyncEngineJournal.failure("cannot be opened", url, "Check the path and who may write there.")
        }
        // While one process starts another, the new one briefly holds all open files of the first.
        for _ in 0..<Self.lockAttempts {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return lock }
            usleep(Self.lockPauseMicroseconds)
        }
        close(lock)
        throw SyncEngineJournal.failure("is in use by another engine", url, "Give each engine a file of its own.")
    }

    func keepAside(_ url: URL, damagedLineCount: Int) {
        let names = (1...Self.keptAsideMax).map { url.path + ($0 == 1 ? ".damaged" : ".damaged-\($0)") }
        // Neither call replaces an existing file. Not every file system has links.
        let kept = names.first { name in
            link(url.path, name) == 0 || (try? FileManager.default.copyItem(atPath: url.path, toPath: name)) != nil
        }
        Self.log.error(
            "a journal is damaged: changes may be sent once more, or have to be made again",
            ["file": url.path, "lines": "\(damagedLineCount)", "kept": kept ?? "nowhere"])
    }

    func remove(_ path: String) { unlink(path) }

    func create(_ path: String) throws -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ bytes: [UInt8], to file: FileHandle) throws { try file.write(contentsOf: Data(bytes)) }

    func synchronize(_ file: FileHandle) throws { try file.synchronize() }

    func replace(_ url: URL, by path: String) throws {
        guard rename(path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func synchronizeDirectory(of url: URL) {
        let directory = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }
}
