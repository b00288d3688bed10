// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A new file with an archive that only its owner can read. It has its name once it is whole and on the disk.
struct ArchiveFile {
    private let path: String
    private let partial: String
    private let handle: FileHandle

    /// - Throws: ``AdminFailure`` if there is such a file, which nothing replaces, or no directory for it.
    static func requireRoom(at path: String) throws(AdminFailure) {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw AdminFailure(.refused, "There is already a file \(path). Name a new one.")
        }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: directory) else { throw noPlace(path) }
    }

    private static func noPlace(_ path: String) -> AdminFailure {
        AdminFailure(.refused, "Cannot write \(path). Check that its directory exists, and who may write there.")
    }

    init(_ path: String) throws(AdminFailure) {
        try Self.requireRoom(at: path)
        self.path = path
        // A name of its own, because several may write to one path.
        partial = "\(path).\(UUID().uuidString).partial"
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.noPlace(path) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ text: String) throws(AdminFailure) {
        do {
            try handle.write(contentsOf: Data(text.utf8))
        } catch {
            throw failure(error)
        }
    }

    /// Puts it on the disk, and gives it its name.
    func finish() throws(AdminFailure) {
        do {
            try handle.synchronize()
            try handle.close()
        } catch {
            throw failure(error)
        }
        // Unlike a rename, it replaces no file that somebody has made meanwhile.
        do {
            try FileManager.default.linkItem(atPath: partial, toPath: path)
            try FileManager.default.removeItem(atPath: partial)
            let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
            try FileHandle(forReadingAtPath: directory)?.synchronize()
        } catch {
            throw failure(error)
        }
    }

    func discard() {
        try? handle.close()
        try? FileManager.default.removeItem(atPath: partial)
    }

    private func failure(_ error: any Error) -> AdminFailure { failure(error.localizedDescription) }

    private func failure(_ reason: String) -> AdminFailure {
        AdminFailure(.refused, "Cannot write \(path): \(reason) Make room, or check who may write there.")
    }
}
