// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Memory for a file that is still to be written, held by another file until then.
///
/// A virtual machine gives free memory back to its host, and gets it again when it is touched, which takes ten times as long
/// as to write to it: who measures what is done with files in memory sees to it that the machine has the memory.
struct HeldMemory {
    private let path: String

    init(_ bench: Bench, megabytes: Int) throws {
        path = "\(bench.filesDirectory)/held-\(UUID().uuidString)"
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw BenchError("\(path) cannot be written.") }
        defer { try? file.close() }
        let block = Data(count: 1_048_576)
        for _ in 0..<megabytes { try file.write(contentsOf: block) }
    }

    /// Now it is free. Twice it does nothing.
    func release() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
