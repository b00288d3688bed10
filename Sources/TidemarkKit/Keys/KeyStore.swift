// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Where a device keeps the keys of accounts with end-to-end encryption. Each call is one step, also among processes.
package protocol KeyStore: Sendable {
    /// - Throws: `internalError` if what is kept cannot be read.
    func key(for account: String) throws(CKError) -> [UInt8]?

    /// Keeps the key unless there is one; durable when it returns.
    ///
    /// - Returns: the one that is kept.
    func keep(_ key: [UInt8], for account: String) throws(CKError) -> [UInt8]

    /// Puts another key in the place of `old`, or none; does nothing if another one than `old` is kept.
    func replace(_ old: [UInt8]?, by key: [UInt8]?, for account: String) throws(CKError)
}

/// In a file that only its owner can read, one line of JSON an account.
package struct KeyFile: KeyStore {
    let url: URL

    package init(_ url: URL) {
        self.url = url
    }

    /// Where applications of this user keep their data.
    package static let standard: KeyFile = {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.homeDirectoryForCurrentUser
        return KeyFile(base.appendingPathComponent("tidemark/keys.json"))
    }()

    package func key(for account: String) throws(CKError) -> [UInt8]? {
        try read()[account]
    }

    package func keep(_ key: [UInt8], for account: String) throws(CKError) -> [UInt8] {
        try changing { keys in
            if let kept = keys[account] { return kept }
            keys[account] = key
            return key
        }
    }

    package func replace(_ old: [UInt8]?, by key: [UInt8]?, for account: String) throws(CKError) {
        try changing { keys in
            if keys[account] == old { keys[account] = key }
        }
    }

    // MARK: The file

    private typealias Keys = [String: [UInt8]]

    private func read() throws(CKError) -> Keys {
        guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
        guard let data = try? Data(contentsOf: url),
            let texts = try? JSONDecoder().decode([String: Data].self, from: data)
        else { throw failure("cannot be read") }
        return texts.mapValues(Array.init)
    }

    private func changing<Value>(_ change: (inout Keys) -> Value) throws(CKError) -> Value {
        let directory = url.deletingLastPathComponent()
        try? FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // Held until it is closed; another process, or thread, waits for it.
        let lock = open(url.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw failure("cannot be locked") }
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { throw failure("cannot be locked") }
        var keys = try read()
        let before = keys
        let value = change(&keys)
        if keys != before { try write(keys) }
        return value
    }

    /// The file appears whole or not at all.
    private func write(_ keys: Keys) throws(CKError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(keys.mapValues { Data($0) }) else { throw failure("cannot be written") }
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
        CKError(.internalError, message: "The file of account keys \(what): \(url.path)")
    }
}
