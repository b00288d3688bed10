// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkLocalPostgres
internal import TidemarkPostgres

/// A tablespace in memory. A copy of a database is some 350 files, and costs a disk's file system ten times as much.
struct MemoryTablespace: Sendable {
    static let name = "memory"

    /// What stays free in memory, and in its file system: 4 GiB for the tests and the programs that they start.
    private static let reserve: UInt64 = 4 << 30

    let directory: TestDirectory

    /// - Parameter data: the directory of the server's data, whose owner PostgreSQL runs as.
    init?(on server: LocalPostgres, data: TestDirectory?) throws {
        guard let data, let directory = TestDirectory.inMemory() else { return nil }
        self.directory = directory
        var owner = stat()
        guard stat(data.path + "/data", &owner) == 0, chown(directory.path, owner.st_uid, owner.st_gid) == 0, hasRoom
        else {
            directory.remove()
            return nil
        }
        do {
            let statement = "CREATE TABLESPACE \(Self.name) LOCATION '\(directory.path)'"
            try PostgresAdministration.execute([statement], url: server.databaseURL("postgres"))
        } catch {
            directory.remove()
            throw error
        }
    }

    /// Whether one more database may be there. Without room it goes to the disk.
    var hasRoom: Bool {
        var system = statvfs()
        guard statvfs(directory.path, &system) == 0 else { return false }
        return UInt64(system.f_bavail) * UInt64(system.f_frsize) > Self.reserve && Self.availableMemory > Self.reserve
    }

    /// MemAvailable of /proc/meminfo (proc_meminfo(5)), in bytes; 0 if it cannot be read.
    private static var availableMemory: UInt64 {
        guard let file = fopen("/proc/meminfo", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let words = text.split { $0 == " " || $0 == ":" }
            if words.first == "MemAvailable", words.count > 1, let kibibytes = UInt64(words[1]) {
                return kibibytes << 10
            }
        }
        return 0
    }
}
