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

    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(CKError) -> Value
    ) async throws(CKError) -> Value {
        try await loop.run { Result { () throws(CKError) in try work() } }.value.get()
    }
}
