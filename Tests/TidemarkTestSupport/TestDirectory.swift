// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A temporary directory with a short path (a Unix socket's has at most 107 bytes). Its name says which process made it.
package struct TestDirectory: Sendable {
    package let path: String

    /// Where files go that need not be fast, and those that stay in memory.
    private static let disk = "/tmp"
    private static let memory = "/dev/shm"
    private static let prefix = "tidemark-test-"

    package init() throws {
        try self.init(in: Self.disk)
    }

    /// A directory whose files are in memory; nil where the system has no place for that.
    static func inMemory() -> TestDirectory? {
        try? TestDirectory(in: memory)
    }

    private init(in parent: String) throws {
        var template = Array("\(parent)/\(Self.prefix)\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The user that PostgreSQL runs as when the tests run as root must be able to pass.
        chmod(path, 0o755)
    }

    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Removes what test processes left behind that were killed. A PostgreSQL that still ends has locked its directory.
    static func removeStale() {
        removeStale(in: disk)
        removeStale(in: memory)
    }

    private static func removeStale(in parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
            let maker = name.dropFirst(prefix.count).prefix { $0 != "-" }
            guard let maker = pid_t(maker), kill(maker, 0) != 0, errno == ESRCH else { continue }
            let path = "\(parent)/\(name)"
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                if let socket = try? FileManager.default.destinationOfSymbolicLink(atPath: path + "/run") {
                    try? FileManager.default.removeItem(atPath: socket)
                }
                try? FileManager.default.removeItem(atPath: path)
            }
            close(descriptor)
        }
    }
}
