// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A folder for files that must not wait for a disk: in memory, if the system has a place for that.
///
/// For root it is a file system of its own with large pages. Finding, clearing and freeing small pages costs more than
/// writing into them. It costs twice as much as a file of ext4, whose pages in memory are large too.
final class MemoryFolder {
    let path: String
    private let isMounted: Bool

    /// - Parameter fallback: the folder's parent if there is no such place.
    init(fallback: String) throws {
        let memory = "/dev/shm"
        guard FileManager.default.isWritableFile(atPath: memory) else {
            (path, isMounted) = (fallback, false)
            return
        }
        path = "\(memory)/tidemark-bench-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let flags = UInt(MS_NOSUID | MS_NODEV)
        isMounted = mount("tidemark-bench", path, "tmpfs", flags, "huge=always,mode=0700") == 0
    }

    func remove() {
        if isMounted { umount2(path, Int32(MNT_DETACH)) }
        try? FileManager.default.removeItem(atPath: path)
    }
}
