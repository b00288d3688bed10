// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// By how much a process's resident memory has grown at its peak.
struct PeakMemory {
    private let process: Int32
    private let start: Double

    /// Begins to measure.
    init(process: Int32) throws {
        self.process = process
        // proc(5): writing 5 sets the peak to the current use.
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(process)/clear_refs"))
        start = try Self.mebibytes("VmRSS:", of: process)
    }

    /// In MiB. It is never zero, so that it can be a divisor.
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
