// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// How much a process's resident memory has grown at its peak.
struct PeakMemory {
    private let process: Int32
    private let start: Double

    /// From now on.
    init(process: Int32) throws {
        self.process = process
        // proc(5): 5 sets the peak to what is in use.
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(process)/clear_refs"))
        start = try Self.mebibytes("VmRSS:", of: process)
    }

    /// In MiB; at least a little, so that there is something to divide.
    func growth() throws -> Double {
        max(0.1, try Self.mebibytes("VmHWM:", of: process) - start)
    }

    private static func mebibytes(_ name: String, of process: Int32) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix(name) {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count > 1, let kibibytes = Double(words[1]) { return kibibytes / 1_024 }
        }
        throw BenchError("The system does not tell the memory of process \(process).")
    }
}
