// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkTelemetry

/// The result of a collection of assets.
package struct AssetCollection: Sendable, Equatable {
    /// Assets that no record names any more, and their bytes. They were removed, or will be.
    package var count = 0
    package var byteCount: Int64 = 0
    /// Stored assets that the database did not know, after a crash or a restore. Their grace time begins now.
    package var foundCount = 0

    package init() {}
}

extension CloudService {
    static let assetLog = Log("assets")

    /// The most assets that one statement looks at. PostgreSQL takes about five milliseconds for them.
    private static let batch = 1_000

    /// Removes assets that no record has named for the grace time.
    ///
    /// Each is removed under the lock of its row, which every save that names it takes as well. The file is deleted
    /// before the row. So whatever fails in between, a save cannot name an asset that is gone without asking for it
    /// first. After the server's clock was set ahead nothing is removed for the grace time, because an earlier upload
    /// would look old.
    ///
    /// - Parameters:
    ///   - grace: long enough for an upload whose save is still to come.
    ///   - isDryRun: counts without removing anything.
    ///   - findsUnknown: whether to go through all stored assets too, for those that the database does not know.
    package func collectAssets(
        grace: Duration, isDryRun: Bool = false, findsUnknown: Bool = false
    ) async -> Result<AssetCollection, FailureReason> {
        guard let store = assets else { return .failure(.assetsUnavailable) }
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        let deadline = Timestamp(milliseconds: now.milliseconds - grace.components.seconds * 1_000)
        var collection = AssetCollection()
        let canTellAge = clockWatch.withLock {
            $0.canTell(age: grace, wallClock: now.milliseconds, steady: scheduler.now)
        }
        guard canTellAge || isDryRun else { return .success(collection) }
        do throws(StorageError) {
            if findsUnknown, !isDryRun { collection.foundCount = try await adopt(store, now) }
            var last: AssetKey?
            repeat {
                let look = try await storage.unusedAssets(touchedBefore: deadline, after: last, among: Self.batch)
                for asset in look.unused {
                    if !isDryRun {
                        let isForgotten = try await storage.forgetAsset(asset, touchedBefore: deadline) {
                            await remove(asset, from: store)
                        }
                        guard isForgotten else { continue }
                    }
                    collection.count += 1
                    collection.byteCount += asset.content.byteCount
                }
                last = look.last
            } while last != nil
            if !isDryRun {
                await expireUploads(in: store, idleFor: grace)
                try await storage.forgetSenders(before: deadline)
            }
        } catch {
            error.note()
            return .failure(error.code.reason)
        }
        if collection.count > 0, !isDryRun {
            Self.assetLog.info(
                "assets collected", ["count": "\(collection.count)", "bytes": "\(collection.byteCount)"])
        }
        return .success(collection)
    }

    /// - Returns: whether it is gone. If not, the next collection tries again.
    private func remove(_ asset: AssetKey, from store: any AssetStore) async -> Bool {
        do {
            try await store.remove(asset)
            return true
        } catch {
            error.note()
            return false
        }
    }

    private func expireUploads(in store: any AssetStore, idleFor grace: Duration) async {
        do {
            try await store.expireUploads(idleFor: grace)
        } catch {
            error.note()
        }
    }

    /// Adds stored assets to the database that it does not know, so that they are collected in time.
    private func adopt(_ store: any AssetStore, _ now: Timestamp) async throws(StorageError) -> Int {
        let adoption = AssetAdoption(storage: storage, now: now)
        do {
            try await store.forEachBatch { await adoption.take($0) }
        } catch {
            throw StorageError(.unavailable, kind: "assets", detail: error.description)
        }
        return try adoption.count()
    }
}
