// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Reserves memory for files that will be written, with another file that shrinks as they grow.
///
/// A virtual machine returns free memory to its host within a second or two, and gets it back when it is touched. That
/// takes ten times as long as writing to it. So a measurement of files in memory must make sure that the machine has
/// the memory.
final class HeldMemory: Sendable {
    private let path: String
    private let descriptor: Int32
    private let byteCount: Int
    private let hasEnded = Mutex(false)

    /// How much is kept free beyond what has been written. More would be returned before it is used.
    private static let aheadBytes = 32 * 1_048_576
    private static let lookInterval = 0.001

    init(_ bench: Bench, megabytes: Int) throws {
        path = "\(bench.filesDirectory)/held-\(UUID().uuidString)"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        byteCount = megabytes * 1_048_576
        guard descriptor >= 0 else { throw BenchError("\(path) cannot be written.") }
        let block = [UInt8](repeating: 1, count: 1_048_576)
        for _ in 0..<megabytes {
            guard write(descriptor, block, block.count) == block.count else { throw BenchError("There is no memory.") }
        }
        try Self.touch(path)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Reads a file in memory. Memory that nobody has touched for seconds takes a machine two to three times as long to
    /// reach.
    static func touch(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var block = [UInt8](repeating: 0, count: 1_048_576)
        while true {
            let count = read(file, &block, block.count)
            guard count >= 0 else { throw BenchError("\(path) cannot be read.") }
            if count == 0 { return }
        }
    }

    /// Runs `body`, and meanwhile frees as much as files in the same place take.
    ///
    /// - Parameter core: on which they are written, because the kernel keeps what a core has freed for that core.
    func replaced<Value>(on core: Int, by body: () throws -> Value) throws -> Value {
        let usedBefore = try usedBytes()
        let isReady = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            try? Cores.pinThisThread(to: core)
            var held = byteCount
            while !hasEnded.withLock({ $0 }), let used = try? usedBytes() {
                let written = used - usedBefore + byteCount - held
                let wanted = max(0, byteCount - written - Self.aheadBytes)
                if wanted < held {
                    held = wanted
                    ftruncate(descriptor, off_t(held))
                }
                isReady.signal()
                Thread.sleep(forTimeInterval: Self.lookInterval)
            }
            isReady.signal()
        }
        isReady.wait()
        defer { hasEnded.withLock { $0 = true } }
        return try body()
    }

    /// In the file system of the file.
    private func usedBytes() throws -> Int {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { throw BenchError("fstatvfs fails.") }
        return Int(status.f_blocks - status.f_bfree) * Int(status.f_frsize)
    }
}
