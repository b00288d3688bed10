// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Which program runs on which core, so that server and client do not take each other's time. A machine with one core
/// has no choice.
enum Cores {
    private static let count = ProcessInfo.processInfo.processorCount
    private static let taskset = "/usr/bin/taskset"

    /// The prefix of a command that must run on that core only.
    static func command(_ core: Int?) -> [String] {
        guard let core, core < count else { return [] }
        return [taskset, "--cpu-list", "\(core)"]
    }

    /// The calling thread alone.
    static func pinThisThread(to core: Int) throws {
        guard core < count else { return }
        let thread = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        guard let number = thread.split(separator: "/").last else { throw BenchError("There is no /proc.") }
        try run(["--pid", "--cpu-list", "\(core)", "\(number)"])
    }

    /// All threads of this process; nil: anywhere.
    static func pinThisProcess(to core: Int?) throws {
        if let core, core >= count { return }
        try run(["--all-tasks", "--pid", "--cpu-list", core.map { "\($0)" } ?? "0-\(count - 1)", "\(getpid())"])
    }

    private static func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: taskset)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
    }
}
