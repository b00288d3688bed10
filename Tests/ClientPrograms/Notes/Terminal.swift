// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Lines from and to whoever uses the program.
enum Terminal {
    /// What is typed, split at tabs, to the end of the input.
    static let commands = AsyncStream<[String]> { continuation in
        // Reading waits: on a thread of its own.
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line.components(separatedBy: "\t")) }
            continuation.finish()
        }
    }

    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(
            contentsOf: Data((line.replacingOccurrences(of: "\n", with: " ") + "\n").utf8))
    }

    static func show(_ items: [String: [String: String]], _ pendingCount: Int) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = (try? encoder.encode(items)) ?? Data()
        say("data \(pendingCount) \(String(decoding: json, as: UTF8.self))")
    }
}
