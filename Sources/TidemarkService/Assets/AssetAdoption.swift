// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// Goes through all stored assets and adds those to the database that it does not know.
final class AssetAdoption: Sendable {
    private struct State {
        var count = 0
        var failure: StorageError?
    }

    private let storage: any Storage
    private let now: Timestamp
    private let state = Mutex(State())

    init(storage: any Storage, now: Timestamp) {
        self.storage = storage
        self.now = now
    }

    /// - Returns: whether to go on.
    func take(_ assets: [AssetKey]) async -> Bool {
        do {
            let count = try await storage.adoptAssets(assets, now: now)
            state.withLock { $0.count += count }
            return true
        } catch {
            state.withLock { $0.failure = error }
            return false
        }
    }

    /// How many were unknown.
    func count() throws(StorageError) -> Int {
        let (count, failure) = state.withLock { ($0.count, $0.failure) }
        if let failure { throw failure }
        return count
    }
}
