// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
internal import TidemarkSockets

/// The thread on which files of assets are read and written: it may wait for a disk, which no thread that moves messages
/// may. Started by the first asset.
package enum FileThread {
    private static let loop: EventLoop = {
        do {
            return try EventLoop(name: "tidemark-files")
        } catch {
            preconditionFailure("No event loop: \(error)")
        }
    }()

    /// Returns when everything that was asked of it before is done.
    package static func finish() async {
        await loop.run {}.value
    }

    /// Does what waits for a disk.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(CKError) -> Value
    ) async throws(CKError) -> Value {
        if loop.isCurrent { return try work() }
        return try await loop.run { Result { () throws(CKError) in try work() } }.value.get()
    }

    /// Runs a whole transfer here, so that what the server answers and what is read or written next wake one thread, not
    /// three.
    static func stay<Value>(
        _ transfer: () async throws(CKError) -> Value
    ) async throws(CKError) -> Value {
        try await withTaskExecutorPreference(loop, operation: transfer)
    }

    /// For what an app is told meanwhile: nobody knows how long that takes.
    ///
    /// - Parameter executor: where it is told; nil: wherever tasks run.
    static func leave(for executor: (any TaskExecutor)?, _ work: @Sendable () -> Void) async {
        await withTaskExecutorPreference(executor ?? globalConcurrentExecutor) { work() }
    }
}
