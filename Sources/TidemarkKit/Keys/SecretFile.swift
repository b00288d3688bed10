// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Named secrets in a file that only its owner can read, one line of JSON each. Each call is atomic, even between
/// processes.
struct SecretFile: Sendable {
    typealias Secrets = [String: [UInt8]]

    private let url: URL
    /// What the file contains, for error texts.
    private let content: String

    init(_ url: URL, of content: String) {
        self.url = url
        self.content = content
    }

    /// The file in this user's data directory (`~/.local/share`).
    static func standardURL(_ name: String) -> URL {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.homeDirectoryForCurrentUser
        return base.appendingPathComponent("tidemark/\(name)")
    }

    /// - Throws: `internalError` if the file exists and cannot be read.
    func read() throws(CKError) -> Secrets {
        guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
        guard let data = try? Data(contentsOf: url),
            let texts = try? JSONDecoder().decode([String: Data].self, from: data)
        else { throw failure("cannot be read") }
        return texts.mapValues(Array.init)
    }

    /// The file's path, for error texts.
    var path: String { url.path }

    /// Changes the secrets. The result is durable when this returns.
    ///
    /// - Throws: `internalError` if the file cannot be read or written.
    func changing<Value>(_ change: (inout Secrets) -> Value) throws(CKError) -> Value {
        let directory = url.deletingLastPathComponent()
        try? FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // Held until it is closed. Other processes and threads wait for it.
        let lock = open(url.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw failure("cannot be locked") }
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { throw failure("cannot be locked") }
        var secrets = try read()
        let before = secrets
        let value = change(&secrets)
        if secrets != before { try write(secrets) }
        return value
    }

    /// The file appears completely or not at all.
    private func write(_ secrets: Secrets) throws(CKError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(secrets.mapValues { Data($0) }) else {
            throw failure("cannot be written")
        }
        let temporary = url.path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: data)
            try file.synchronize()
            try file.close()
        } catch {
            unlink(temporary)
            throw failure("cannot be written")
        }
        guard rename(temporary, url.path) == 0 else { throw failure("cannot be written") }
        let directory = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private func failure(_ what: String) -> CKError {
        CKError(
            .internalError, message: "The file of \(content) \(what): \(url.path). Check who may read and write it.")
    }
}
