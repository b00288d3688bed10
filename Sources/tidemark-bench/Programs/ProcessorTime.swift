// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The processor time that a process has taken, in the kernel and outside.
struct ProcessorTime {
    private let process: Int32

    /// What a process takes at most in ``lookInterval`` while it has nothing to do: two ticks of the kernel's clock.
    private static let idleSeconds = 0.02
    private static let lookInterval = 0.2
    private static let patience = 60.0

    init(process: Int32) {
        self.process = process
    }

    /// Since it began. The kernel counts in hundredths of a second.
    func seconds() throws -> Double {
        // proc(5): the second word is a name in brackets, and may have any character.
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let words = (text.lastIndex(of: ")").map { text[$0...] } ?? "").split(separator: " ")
        guard words.count > 13, let inside = Double(words[12]), let outside = Double(words[13]) else {
            throw BenchError("The system does not tell the processor time of process \(process).")
        }
        return (inside + outside) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Waits until it has nothing to do, so that what was measured before does not disturb what comes next.
    func awaitIdleness() throws {
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        var last = try seconds()
        while Date() < deadline {
            Thread.sleep(forTimeInterval: Self.lookInterval)
            let now = try seconds()
            if now - last <= Self.idleSeconds { return }
            last = now
        }
        throw BenchError("Process \(process) does not come to rest.")
    }
}
