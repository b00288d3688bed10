// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TidemarkTestSupport

/// A file system in memory that is full soon.
struct SmallDisk {
    private struct Failed: Error {}

    private let directory: TestDirectory

    /// Whether this process may mount one.
    static let isPossible: Bool = {
        guard geteuid() == 0, let disk = try? SmallDisk(kilobytes: 64) else { return false }
        disk.remove()
        return true
    }()

    var path: String { directory.path }

    init(kilobytes: Int) throws {
        directory = try TestDirectory()
        do {
            try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", directory.path])
        } catch {
            directory.remove()
            throw error
        }
    }

    func resize(kilobytes: Int) throws {
        try Self.run("mount", ["-o", "remount,size=\(kilobytes)k", path])
    }

    func remove() {
        try? Self.run("umount", ["--lazy", path])
        directory.remove()
    }

    /// The programs of util-linux.
    private static func run(_ name: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed() }
    }
}
