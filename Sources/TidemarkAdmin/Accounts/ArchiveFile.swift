// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A new file with an archive that only its owner can read. It has its name once it is whole and on the disk.
struct ArchiveFile {
    private let path: String
    private let partial: String
    private let handle: FileHandle

    /// - Throws: ``AdminFailure`` if there is such a file, which nothing replaces.
    static func requireNone(at path: String) throws(AdminFailure) {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw AdminFailure(.refused, "There is already a file \(path). Name a new one.")
        }
    }

    init(_ path: String) throws(AdminFailure) {
        try Self.requireNone(at: path)
        self.path = path
        partial = "\(path).partial"
        guard
            FileManager.default.createFile(atPath: partial, contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = FileHandle(forWritingAtPath: partial)
        else {
            throw AdminFailure(
                .refused, "Cannot write \(path). Check that its directory exists, and who may write there.")
        }
        self.handle = handle
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
            try FileManager.default.moveItem(atPath: partial, toPath: path)
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

    private func failure(_ error: any Error) -> AdminFailure {
        AdminFailure(
            .refused, "Cannot write \(path): \(error.localizedDescription) Make room, or check who may write there.")
    }
}
