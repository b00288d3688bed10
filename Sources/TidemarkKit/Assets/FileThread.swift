// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkSockets

/// The thread that reads and writes the files of assets. It may wait for a disk, which threads that move messages must
/// not. The first asset starts it.
package enum FileThread {
    private static let started = Mutex<EventLoop?>(nil)

    /// - Throws: `assetNotAvailable` if there are no more descriptors or threads. The next call tries again.
    private static func loop() throws(CKError) -> EventLoop {
        try started.withLock { started throws(CKError) in
            if let started { return started }
            do throws(SocketError) {
                let loop = try EventLoop(name: "tidemark-files")
                started = loop
                return loop
            } catch {
                throw FileFault(number: error.errorNumber).error(
                    "The thread for files cannot be started.", advice: "End other work, and try again.")
            }
        }
    }

    /// Returns when all work that was submitted before is done.
    package static func finish() async {
        await started.withLock(\.self)?.run {}.value
    }

    /// Runs work that waits for a disk.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(CKError) -> Value
    ) async throws(CKError) -> Value {
        let loop = try loop()
        if loop.isCurrent { return try work() }
        return try await loop.run { Result { () throws(CKError) in try work() } }.value.get()
    }

    /// Runs a whole transfer on this thread. Otherwise a server's answer and the following read or write would wake
    /// three threads.
    static func stay<Value>(
        _ transfer: () async throws(CKError) -> Value
    ) async throws(CKError) -> Value {
        try await withTaskExecutorPreference(loop(), operation: transfer)
    }

    /// Lets others go on between two pieces of long work, because they share the thread.
    ///
    /// - Throws: `operationCancelled` if the task is cancelled.
    static func giveWay() async throws(CKError) {
        guard !Task.isCancelled else { throw CKError(.operationCancelled) }
        await Task.yield()
    }

    /// Leaves the thread while an app's code runs, because nobody knows how long that takes.
    ///
    /// - Parameter executor: where it runs; nil for the default executor.
    static func leave(for executor: (any TaskExecutor)?, _ work: @Sendable () -> Void) async {
        await withTaskExecutorPreference(executor ?? globalConcurrentExecutor) { work() }
    }
}
