// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkTelemetry

/// A record by whose right an asset is fetched: whoever may read it may read what it names.
package struct AssetHolder: Sendable {
    package let zone: ZoneKey
    package let name: String
    package let access: RecordAccess

    package init(zone: ZoneKey, name: String, access: RecordAccess) {
        self.zone = zone
        self.name = name
        self.access = access
    }
}

extension CloudService {
    /// Whether the database has the asset, and if not, how far the upload is.
    ///
    /// An asset that is there is safe from collection for the grace time from now on, so that it can be named by a save. One
    /// for which the database's quota has no room is refused, before anything of it comes.
    package func prepare(_ upload: AssetUpload) async -> Result<AssetProgress, FailureReason> {
        await withAssets(upload) { store, now async throws(AssetFailure) in
            let progress = try await Self.asking { () async throws(AssetStoreError) in
                try await store.progress(of: upload)
            }
            if progress.isComplete { return try await keep(upload, in: store, now) }
            try await expectRoom(for: upload, in: store)
            return progress
        }
    }

    /// Takes the next bytes of an upload. With the last of them the asset becomes known, and durable, before this returns;
    /// they are refused if the database has been filled meanwhile.
    package func append(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, to upload: AssetUpload
    ) async -> Result<AssetProgress, FailureReason> {
        guard chunk.count <= limits.assetChunkBytesMax, upload.takes(chunk.count, at: offset) else {
            return .failure(.requestInvalid)
        }
        let isLast = offset + Int64(chunk.count) == upload.key.byteCount
        return await withAssets(upload) { store, now async throws(AssetFailure) in
            // NB: this may suspend, which only the last chunk can afford: no other one may come before it to the store.
            if isLast { try await expectRoom(for: upload, in: store) }
            let progress = try await Self.asking { () async throws(AssetStoreError) in
                try await store.append(chunk, at: offset, to: upload)
            }
            guard progress.isComplete else { return progress }
            guard let sha256 = progress.sha256 else { return try await keep(upload, in: store, now) }
            let kept = try await keep(upload.named(sha256), in: store, now)
            return kept.isComplete ? progress : kept
        }
    }

    /// How full a database is, as ``Storage/storageUse(of:)`` says; nil also if that cannot be told now.
    package func storageUse(of database: DatabaseID) async -> StorageUse? {
        try? await storage.storageUse(of: database)
    }

    private func expectRoom(for upload: AssetUpload, in store: any AssetStore) async throws(AssetFailure) {
        let answer = await retry.run { () async throws(StorageError) in
            .success(try await storage.storageUse(of: upload.key.database))
        }
        if case .failure(let reason) = answer { throw AssetFailure(reason: reason) }
        guard case .success(let use?) = answer, !use.hasRoom(for: upload.key.byteCount) else { return }
        // What is there already, and is sent again because an answer was lost, needs no room.
        let progress = try await Self.asking { () async throws(AssetStoreError) in
            try await store.progress(of: upload)
        }
        if !progress.isComplete { throw AssetFailure(reason: .quotaExceeded) }
    }

    /// So many bytes of an asset, fewer only at its end.
    ///
    /// - Parameter record: a record that the caller may read and that must name the asset; nil for the owner of the
    ///   private database, to whom everything in it belongs (I-5).
    /// - Parameter head: what the result begins with.
    package func assetBytes(
        of asset: AssetKey, at offset: Int64, count: Int, namedBy record: AssetHolder?, after head: [UInt8] = []
    ) async -> Result<[UInt8], FailureReason> {
        guard count > 0, count <= limits.assetChunkBytesMax, offset >= 0, offset <= asset.content.byteCount
        else { return .failure(.requestInvalid) }
        return await ofAsset(asset, namedBy: record) { store throws(AssetStoreError) in
            try await store.read(asset, at: offset, count: count, after: head)
        }
    }

    /// The checksum of an asset; nil if none was kept.
    ///
    /// - Parameter record: as for its bytes.
    package func assetChecksum(
        of asset: AssetKey, namedBy record: AssetHolder?
    ) async -> Result<[UInt8]?, FailureReason> {
        await ofAsset(asset, namedBy: record) { store throws(AssetStoreError) in try await store.checksum(of: asset) }
    }

    private func ofAsset<Value>(
        _ asset: AssetKey, namedBy record: AssetHolder?,
        _ read: (any AssetStore) async throws(AssetStoreError) -> Value
    ) async -> Result<Value, FailureReason> {
        guard let store = assets else { return .failure(.assetsUnavailable) }
        if let record {
            // Whatever is wrong, that the asset is not to be had is all that is told.
            guard case .success(let lookup) = await records(named: [record.name], in: record.zone, by: record.access),
                case .success(let state)? = lookup.records.first, AssetRules.isNamed(asset.content, by: state)
            else { return .failure(.assetMissing) }
        }
        do {
            return .success(try await read(store))
        } catch {
            return .failure(note(error))
        }
    }

    /// Makes known what is kept. Then looks again: a collection that was removing it has ended by now, and from now on none
    /// will; what it has taken is to be uploaded once more.
    private func keep(
        _ upload: AssetUpload, in store: any AssetStore, _ now: Timestamp
    ) async throws(AssetFailure) -> AssetProgress {
        guard let asset = upload.asset else { throw AssetFailure(reason: .requestInvalid) }
        let kept = await retry.run { () async throws(StorageError) in
            .success(try await storage.keepAsset(asset, now: now))
        }
        if case .failure(let reason) = kept { throw AssetFailure(reason: reason) }
        return try await Self.asking { () async throws(AssetStoreError) in
            try await store.progress(of: upload)
        }
    }

    /// Why an asset cannot be had, from either of the two places that know of it.
    private struct AssetFailure: Error {
        let reason: FailureReason
        var storeError: AssetStoreError?
    }

    private static func asking<Value>(
        _ call: () async throws(AssetStoreError) -> Value
    ) async throws(AssetFailure) -> Value {
        do {
            return try await call()
        } catch {
            throw AssetFailure(reason: error.code.reason, storeError: error)
        }
    }

    private func withAssets<Value>(
        _ upload: AssetUpload, _ body: (any AssetStore, Timestamp) async throws(AssetFailure) -> Value
    ) async -> Result<Value, FailureReason> {
        guard let store = assets else { return .failure(.assetsUnavailable) }
        if let reason = AssetRules.refusal(byteCount: upload.key.byteCount, within: limits) { return .failure(reason) }
        do {
            return .success(try await body(store, Timestamp(milliseconds: scheduler.wallClockMilliseconds)))
        } catch {
            if let storeError = error.storeError { _ = note(storeError) }
            return .failure(error.reason)
        }
    }

    /// An operator should hear of a disk that is full or broken.
    private func note(_ error: AssetStoreError) -> FailureReason {
        switch error.code {
        case .full, .unavailable: Self.assetLog.error("assets cannot be kept", ["error": error.description])
        case .missing, .modified, .crowded, .busy: break
        }
        return error.code.reason
    }
}
