// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkLocalPostgres
internal import TidemarkPostgres

/// A tablespace in memory. A copy of a database is some 350 files, and costs a disk's file system ten times as much.
///
/// A database stays until the end of the run. Nothing tells when its test is over: most tests keep only the URL, and give it to
/// programs. To drop one also costs PostgreSQL a checkpoint. So a run has a bound instead.
package struct MemoryTablespace: Sendable {
    static let name = "memory"

    /// What stays free in memory, and in its file system: 4 GiB for the tests and the programs that they start.
    private static let reserve: UInt64 = 4 << 30
    /// What a database takes: 8 to 10 MiB when it is made, and what its test writes.
    private static let bytesEach: UInt64 = 12 << 20

    let directory: TestDirectory
    /// How many databases of this run may be there.
    private let countMax: Int

    /// A run may have half of what is available when it begins, beyond the reserve. So a second run beside it finds as much, and so
    /// does a compiler.
    package static func countMax(available: UInt64) -> Int {
        available > reserve ? Int((available - reserve) / 2 / bytesEach) : 0
    }

    /// - Parameter data: the directory of the server's data, whose owner PostgreSQL runs as.
    init?(on server: LocalPostgres, data: TestDirectory?) throws {
        guard let data, let directory = TestDirectory.inMemory() else { return nil }
        self.directory = directory
        countMax = Self.countMax(available: Self.availableMemory)
        var owner = stat()
        guard stat(data.path + "/data", &owner) == 0, chown(directory.path, owner.st_uid, owner.st_gid) == 0,
            hasRoom(beside: 0)
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
    ///
    /// - Parameter count: how many of this run are there.
    func hasRoom(beside count: Int) -> Bool {
        guard count < countMax else { return false }
        var system = statvfs()
        guard statvfs(directory.path, &system) == 0 else { return false }
        return UInt64(system.f_bavail) * UInt64(system.f_frsize) > Self.reserve && Self.availableMemory > Self.reserve
    }

    private static var availableMemory: UInt64 {
        available(
            memory: lines(of: "/proc/meminfo"), containerMax: lines(of: "/sys/fs/cgroup/memory.max").first,
            containerUse: lines(of: "/sys/fs/cgroup/memory.current").first)
    }

    /// Bytes that are available: MemAvailable of proc_meminfo(5), and in a container what is left of its own memory, in which files in
    /// memory count too. 0 if it cannot be read.
    ///
    /// - Parameters:
    ///   - containerMax: `memory.max` of the control group, a number or `max`; nil: there is none.
    ///   - containerUse: `memory.current` of it.
    package static func available(memory: [String], containerMax: String?, containerUse: String?) -> UInt64 {
        let words = memory.first { $0.hasPrefix("MemAvailable:") }?.split(separator: " ") ?? []
        let kibibytes = words.count > 1 ? UInt64(words[1]) ?? 0 : 0
        guard let containerMax = containerMax.flatMap({ UInt64($0) }) else { return kibibytes << 10 }
        let used = containerUse.flatMap { UInt64($0) } ?? 0
        return min(kibibytes << 10, containerMax - min(used, containerMax))
    }

    private static func lines(of path: String) -> [String] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var lines: [String] = []
        var line = [CChar](repeating: 0, count: 256)
        while lines.count < 256, fgets(&line, Int32(line.count), file) != nil {
            let bytes = line.prefix { $0 != 0 && $0 != CChar(bitPattern: UInt8(ascii: "\n")) }
            lines.append(String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return lines
    }
}
