// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkCrypto
package import TidemarkDomain
package import TidemarkFairness
internal import TidemarkFields
package import TidemarkService

/// ``AssetStore`` in memory. Several servers share it, like a directory.
package final class MemoryAssetStore: AssetStore {
    private struct State {
        var assets: [AssetKey: [UInt8]] = [:]
        var checksums: [AssetKey: [UInt8]] = [:]
        var uploads: [AssetUpload.Key: [UInt8]] = [:]
        var capacity: Int

        func has(_ upload: AssetUpload) -> Bool {
            upload.countsExisting && upload.asset.map { assets[$0] != nil } ?? false
        }
    }

    private let state: Mutex<State>

    /// - Parameter capacity: bytes that there is room for.
    package init(capacity: Int = .max) {
        state = Mutex(State(capacity: capacity))
    }

    /// The stored assets.
    package var assets: [AssetKey: [UInt8]] { state.withLock { $0.assets } }

    /// Sets the number of bytes that fit.
    package func setCapacity(_ capacity: Int) {
        state.withLock { $0.capacity = capacity }
    }

    /// Loses an asset, as a failing disk may.
    package func lose(_ asset: AssetKey) {
        state.withLock { $0.assets[asset] = nil }
    }

    // MARK: AssetStore

    package func progress(of upload: AssetUpload) async throws(AssetStoreError) -> AssetProgress {
        state.withLock { state in
            if state.has(upload) { return .complete(upload) }
            return AssetProgress(byteCount: Int64(state.uploads[upload.key]?.count ?? 0), isComplete: false)
        }
    }

    package func append(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, to upload: AssetUpload
    ) async throws(AssetStoreError) -> AssetProgress {
        try state.withLock { state throws(AssetStoreError) in
            if state.has(upload) { return .complete(upload) }
            var content = state.uploads[upload.key] ?? []
            if offset == Int64(content.count) {
                let held =
                    state.assets.values.reduce(0) { $0 + $1.count } + state.uploads.values.reduce(0) { $0 + $1.count }
                guard chunk.count <= state.capacity - held else { throw AssetStoreError(.full) }
                content += chunk
            }
            guard content.count == Int(upload.key.byteCount), upload.asset != nil || upload.isNamedByContent else {
                state.uploads[upload.key] = content
                return AssetProgress(byteCount: Int64(content.count), isComplete: false)
            }
            state.uploads[upload.key] = nil
            let sha256 = ContentHash.of(content)
            guard let asset = upload.asset ?? upload.named(sha256).asset, asset.content.sha256 == sha256 else {
                throw AssetStoreError(.modified)
            }
            state.assets[asset] = content
            state.checksums[asset] = upload.checksum
            return .complete(upload, sha256: upload.asset == nil ? sha256 : nil)
        }
    }

    package func read(
        _ asset: AssetKey, at offset: Int64, count: Int, after head: [UInt8], for owner: WorkOwner
    ) async throws(AssetStoreError) -> [UInt8] {
        try state.withLock { state throws(AssetStoreError) in
            guard let bytes = state.assets[asset] else { throw AssetStoreError(.missing) }
            return head + bytes.dropFirst(Int(offset)).prefix(count)
        }
    }

    package func checksum(
        of asset: AssetKey, for owner: WorkOwner
    ) async throws(AssetStoreError) -> [UInt8]? {
        try state.withLock { state throws(AssetStoreError) in
            guard state.assets[asset] != nil else { throw AssetStoreError(.missing) }
            return state.checksums[asset]
        }
    }

    package func remove(_ asset: AssetKey) async throws(AssetStoreError) {
        state.withLock { $0.assets[asset] = nil }
    }

    package func forEachBatch(_ body: @Sendable ([AssetKey]) async -> Bool) async throws(AssetStoreError) {
        _ = await body(assets.keys.sorted())
    }

    package func expireUploads(idleFor idle: Duration) async throws(AssetStoreError) {
        // Nothing here grows old.
    }
}
