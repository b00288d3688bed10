// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What an earlier PostgreSQL may have left in a data directory that we have locked. These are processes that are still
/// ending, because their parent was killed a moment ago, or the `postmaster.pid` of a process that is gone.
struct Orphans {
    let directory: DataDirectory

    /// A fast shutdown first writes a checkpoint. Processes that remain after this time are killed.
    static let shutdownSeconds = 20.0

    /// Waits until no process works in the data directory, and removes a stale `postmaster.pid`.
    func clear() throws(LocalPostgresError) {
        guard let data = Directory.resolved(directory.data), access(directory.processIDFile, F_OK) == 0 else { return }
        if !processes(in: data).isEmpty {
            stopPostmaster(in: data, SIGINT)
            if !waitUntilGone(data, seconds: Self.shutdownSeconds) {
                stopPostmaster(in: data, SIGQUIT)
                guard waitUntilGone(data, seconds: Self.shutdownSeconds) else {
                    throw LocalPostgresError(
                        .directoryInUse,
                        "Processes of an earlier PostgreSQL in \(directory.home) do not end. Stop them, or choose another "
                            + "directory.")
                }
            }
        }
        // PostgreSQL itself would take the file for another server's if another process of the same user now has its
        // number. That is usual after the restart of a container.
        unlink(directory.processIDFile)
    }

    private func stopPostmaster(in data: String, _ signal: Int32) {
        guard let id = PostmasterFile.read(directory.processIDFile)?.processID, processes(in: data).contains(id) else {
            return
        }
        kill(id, signal)
    }

    private func waitUntilGone(_ data: String, seconds: Double) -> Bool {
        let deadline = MonotonicTime.seconds + seconds
        while MonotonicTime.seconds < deadline {
            if processes(in: data).isEmpty { return true }
            usleep(5000)
        }
        return false
    }

    /// PostgreSQL's processes have its data directory as their working directory.
    private func processes(in data: String) -> [Int32] {
        Directory.names(in: "/proc").compactMap(Int32.init).filter { id in
            Directory.target(ofLink: "/proc/\(id)/cwd") == data
        }
    }
}

/// The content of `postmaster.pid` (miscadmin.h, LOCK_FILE_LINE_…).
struct PostmasterFile {
    let processID: Int32
    /// Whether it accepts connections.
    let isReady: Bool

    static func read(_ path: String) -> PostmasterFile? {
        let lines = Directory.beginning(of: path).split(separator: "\n", omittingEmptySubsequences: false)
        guard let id = lines.first.flatMap({ Int32($0) }) else { return nil }
        return PostmasterFile(processID: id, isReady: lines.count > 7 && lines[7].hasPrefix("ready"))
    }

    /// Whether that process accepts connections, or did until it was killed. One that ends in order removes the file.
    static func saysReady(_ path: String, processID: Int32) -> Bool {
        guard let file = read(path) else { return false }
        return file.isReady && file.processID == processID
    }
}

/// Seconds since an arbitrary origin.
enum MonotonicTime {
    static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
