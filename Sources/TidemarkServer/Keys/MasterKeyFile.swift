// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTelemetry

/// The file of a master key: 64 hexadecimal digits, readable by its owner only.
package struct MasterKeyFile: Sendable {
    package let path: String
    private static let log = Log("keys")

    package init(path: String) {
        self.path = path
    }

    /// Nil if there is no such file.
    ///
    /// - Throws: ``ServerError`` with `masterKeyUnusable` if it cannot be read, or holds anything else.
    package func read() throws(ServerError) -> MasterKey? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("cannot be read", "Let the user of the server read it.")
        }
        defer { close(descriptor) }
        var status = stat()
        // A file that root keeps for a group, or gives to a service as a credential, is meant for us.
        if fstat(descriptor, &status) == 0, status.st_mode & (status.st_uid == geteuid() ? 0o077 : 0o007) != 0 {
            Self.log.warning("others can read the master key: chmod 600", ["file": path])
        }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0, let key = MasterKey(text: String(decoding: bytes[..<max(0, count)], as: UTF8.self)) else {
            throw failure(
                "does not hold a key of 64 hexadecimal digits",
                "Put back the copy that you keep of it. Another key does not open what this one has encrypted.")
        }
        return key
    }

    /// Creates a file with a new key, which is durable before this returns. If another process was faster, returns the
    /// existing key.
    ///
    /// The file gets its name when it is whole, so nobody ever reads a part of it, also not after a crash.
    ///
    /// - Throws: ``ServerError`` with `masterKeyUnusable`.
    package func make() throws(ServerError) -> (key: MasterKey, isNew: Bool) {
        let secret = MasterKey.random()
        let draft = "\(path).\(Hex.encode(SecureRandom.bytes(8))).new"
        guard let key = MasterKey(secret), write(MasterKey.text(of: secret) + "\n", to: draft) else {
            throw failure("cannot be made", Self.roomAdvice)
        }
        defer { unlink(draft) }
        guard link(draft, path) == 0 else {
            if errno == EEXIST, let key = try read() { return (key, false) }
            throw failure("cannot be made", Self.roomAdvice)
        }
        guard syncDirectory() else { throw failure("cannot be made durable", Self.roomAdvice) }
        return (key, true)
    }

    /// Writes a new file. After that its content is durable, but its name is not. If that fails, there is no file.
    private func write(_ text: String, to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        let bytes = Array(text.utf8)
        let isWritten =
            Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fchmod(descriptor, 0o600) == 0
            && fsync(descriptor) == 0
        close(descriptor)
        if !isWritten { unlink(path) }
        return isWritten
    }

    private func syncDirectory() -> Bool {
        let end = path.lastIndex(of: "/")
        let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    private static let roomAdvice =
        "Let the user of the server write to its directory, or make the file with tidemark setup."

    private func failure(_ what: String, _ advice: String) -> ServerError {
        ServerError(.masterKeyUnusable, detail: "\(path) \(what). \(advice)")
    }

    // MARK: At a server's start

    /// The key of the file. If there is neither a file nor a master key of the database, the file is created.
    ///
    /// If the key is not the database's, it is still used: then requests for keys fail, and nothing else does.
    ///
    /// - Returns: nil if the file is missing and the database has a master key.
    /// - Throws: ``ServerError``: `masterKeyUnusable`, `databaseUnreachable`, `databaseNotMigrated`, `databaseRestoring`.
    func prepare(databaseURL: String) async throws(ServerError) -> MasterKey? {
        let loop: EventLoop
        do {
            loop = try EventLoop(name: "tidemark-keys")
        } catch {
            throw ServerError(.resourcesExhausted, detail: "\(error)", underlying: error)
        }
        defer { loop.stop() }
        let storage: PostgresStorage
        do {
            let migrator = Migrator(url: databaseURL, loop: loop)
            try await migrator.checkRestore()
            guard try await migrator.isCurrent() else {
                throw ServerError(.databaseNotMigrated, detail: "")
            }
            storage = try PostgresStorage(
                url: databaseURL, loop: loop, connections: 1, readConnections: 1, queryTimes: .patient)
        } catch let error as ServerError {
            throw error
        } catch let error as MigrationError {
            throw ServerError(error)
        } catch {
            throw ServerError(.databaseUnreachable, detail: "\(error)", underlying: error)
        }
        do {
            let key = try await key(of: storage)
            await storage.stop()
            return key
        } catch {
            await storage.stop()
            if let error = error as? ServerError { throw error }
            throw ServerError(.databaseUnreachable, detail: "\(error)", underlying: error)
        }
    }

    private func key(of storage: PostgresStorage) async throws -> MasterKey? {
        if let key = try read() {
            // Another server may have made it just now. The database must not name a key that a crash can take.
            _ = syncDirectory()
            if try await !storage.claimMasterKey(check: key.check) {
                Self.log.error(
                    "this is not the master key of the database: nobody gets keys of encrypted values",
                    ["file": path])
            }
            return key
        }
        guard try await storage.masterKeyCheck() == nil else {
            Self.log.error(
                "the database has a master key, and its file is not here: nobody gets keys of encrypted values",
                ["file": path])
            return nil
        }
        let (key, isNew) = try make()
        guard try await storage.claimMasterKey(check: key.check) else {
            if isNew { unlink(path) }
            Self.log.error(
                "another server made the master key of the database: copy its file here", ["file": path])
            return nil
        }
        if isNew {
            Self.log.warning(
                "made a master key. BACK UP THIS FILE, apart from the database: without it encrypted values are lost",
                ["file": path])
        }
        return key
    }
}
