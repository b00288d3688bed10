// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkTelemetry

/// The record through which an asset is fetched: a user who may read the record may read the assets that it names.
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
    /// Whether the database has the asset, and if not, how far the upload is. In a public database, an asset that this
    /// caller may not name is answered as if it were not there.
    ///
    /// An existing asset is safe from collection for the grace time from now on, so that a save can name it. If the
    /// database's quota has no room for the asset, it is refused before any of its bytes are sent.
    ///
    /// - Parameter access: what the caller may read in the database, by its current grants.
    package func prepare(
        _ upload: AssetUpload, by access: RecordAccess
    ) async -> Result<AssetProgress, FailureReason> {
        await withAssets(upload) { store, now async throws(AssetFailure) in
            let claims = try await claims(of: upload)
            let upload = claims?.allow(access) == true ? upload.ofClaimant : upload
            let progress = try await Self.asking { () async throws(AssetStoreError) in
                try await store.progress(of: upload)
            }
            if progress.isComplete {
                // A user who may only read a record with it is not a sender.
                let isSender = upload.key.owner.map { claims?.senders.contains($0) ?? true } ?? false
                return try await keep(upload, in: store, now, isSender: isSender || !upload.countsExisting)
            }
            try await expectRoom(for: upload, in: store)
            return progress
        }
    }

    /// Takes the next bytes of an upload. With the last of them the asset becomes known and durable before this
    /// returns. They are refused if the database has become full meanwhile.
    package func append(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, to upload: AssetUpload
    ) async -> Result<AssetProgress, FailureReason> {
        guard chunk.count <= limits.assetChunkBytesMax, upload.takes(chunk.count, at: offset) else {
            return .failure(.requestInvalid)
        }
        let isLast = offset + Int64(chunk.count) == upload.key.byteCount
        return await withAssets(upload) { store, now async throws(AssetFailure) in
            var upload = upload
            // NB: this may suspend, which is safe for the last chunk only: no other one may reach the store before it.
            if isLast {
                // It may come again because its answer was lost: then its sender has sent the asset.
                if let user = upload.key.owner, try await claims(of: upload)?.senders.contains(user) == true {
                    upload = upload.ofClaimant
                }
                try await expectRoom(for: upload, in: store)
            }
            let progress = try await Self.asking { () async throws(AssetStoreError) in
                try await store.append(chunk, at: offset, to: upload)
            }
            ServiceMetrics.shared.assetBytes.increment(.up, by: chunk.count)
            guard progress.isComplete else { return progress }
            guard let sha256 = progress.sha256 else { return try await keep(upload, in: store, now) }
            let kept = try await keep(upload.named(sha256), in: store, now)
            return kept.isComplete ? progress : kept
        }
    }

    /// Nil for an upload to a private database, and for one whose hash is not known.
    private func claims(of upload: AssetUpload) async throws(AssetFailure) -> AssetClaims? {
        guard let user = upload.key.owner, let asset = upload.asset else { return nil }
        let claims = await retry.run { () async throws(StorageError) in
            .success(try await storage.assetClaims(of: asset, by: user))
        }
        switch claims {
        case .success(let claims): return claims
        case .failure(let reason): throw AssetFailure(reason: reason)
        }
    }

    /// How full a database is, as ``Storage/storageUse(of:)`` says. Nil also if that cannot be found out now.
    package func storageUse(of database: DatabaseID) async -> StorageUse? {
        do {
            return try await storage.storageUse(of: database)
        } catch {
            error.note()
            return nil
        }
    }

    private func expectRoom(for upload: AssetUpload, in store: any AssetStore) async throws(AssetFailure) {
        guard let reason = try await reasonWithoutRoom(for: upload) else { return }
        // An asset that exists needs no room when it is sent again because an answer was lost. One that the caller may not name is refused
        // like one that does not exist.
        let progress = try await Self.asking { () async throws(AssetStoreError) in
            try await store.progress(of: upload)
        }
        if !progress.isComplete { throw AssetFailure(reason: reason) }
    }

    /// The reason why there is no room for the asset. The room of the database is used up, or the user's share of a public database
    /// . Nil: there is room.
    private func reasonWithoutRoom(for upload: AssetUpload) async throws(AssetFailure) -> FailureReason? {
        let (database, byteCount) = (upload.key.database, upload.key.byteCount)
        let answer = await retry.run { () async throws(StorageError) -> Result<FailureReason?, FailureReason> in
            if let use = try await storage.storageUse(of: database), !use.hasRoom(for: byteCount) {
                return .success(.quotaExceeded)
            }
            // Only uploads to public databases have an owner.
            if let user = upload.key.owner, let share = try await storage.publicUse(of: user, in: database),
                !share.hasRoom(for: byteCount)
            {
                return .success(.publicShareFull)
            }
            return .success(nil)
        }
        switch answer {
        case .success(let reason): return reason
        case .failure(let reason): throw AssetFailure(reason: reason)
        }
    }

    /// Some bytes of an asset, fewer only at its end.
    ///
    /// - Parameters:
    ///   - record: a record that the caller may read and that must name the asset. Nil for the owner of the private
    ///     database, who may read everything in it (I-5).
    ///   - head: bytes that the result begins with.
    ///   - owner: whose turn at the disk this takes.
    package func assetBytes(
        of asset: AssetKey, at offset: Int64, count: Int, namedBy record: AssetHolder?, after head: [UInt8] = [],
        for owner: WorkOwner
    ) async -> Result<[UInt8], FailureReason> {
        guard count > 0, count <= limits.assetChunkBytesMax, offset >= 0, offset <= asset.content.byteCount
        else { return .failure(.requestInvalid) }
        return await ofAsset(asset, namedBy: record) { store throws(AssetStoreError) in
            let bytes = try await store.read(asset, at: offset, count: count, after: head, for: owner)
            ServiceMetrics.shared.assetBytes.increment(.down, by: bytes.count - head.count)
            return bytes
        }
    }

    /// The checksum of an asset; nil if none was kept.
    ///
    /// - Parameters:
    ///   - record: as for the asset's bytes.
    ///   - owner: as for the asset's bytes.
    package func assetChecksum(
        of asset: AssetKey, namedBy record: AssetHolder?, for owner: WorkOwner
    ) async -> Result<[UInt8]?, FailureReason> {
        await ofAsset(asset, namedBy: record) { store throws(AssetStoreError) in
            try await store.checksum(of: asset, for: owner)
        }
    }

    private func ofAsset<Value>(
        _ asset: AssetKey, namedBy record: AssetHolder?,
        _ read: (any AssetStore) async throws(AssetStoreError) -> Value
    ) async -> Result<Value, FailureReason> {
        guard let store = assets else { return .failure(.assetsUnavailable) }
        if let record {
            // Whatever is wrong, the answer says only that the asset is missing.
            guard case .success(let lookup) = await records(named: [record.name], in: record.zone, by: record.access),
                case .success(let state)? = lookup.records.first, AssetRules.isNamed(asset.content, by: state)
            else { return .failure(.assetMissing) }
        }
        do {
            return .success(try await read(store))
        } catch {
            error.note()
            return .failure(error.code.reason)
        }
    }

    /// Adds the stored asset to the database, then looks at the store again. A collection that was removing it has
    /// ended, and no other can begin. If that collection took the asset, it must be uploaded once more.
    ///
    /// The quota was asked before the last bytes came, but only here nobody else can take the room.
    private func keep(
        _ upload: AssetUpload, in store: any AssetStore, _ now: Timestamp, isSender: Bool = true
    ) async throws(AssetFailure) -> AssetProgress {
        guard let asset = upload.asset else { throw AssetFailure(reason: .requestInvalid) }
        let kept = await retry.run { () async throws(StorageError) in
            .success(
                try await storage.keepAsset(asset, from: isSender ? upload.key.owner : nil, now: now) {
                    _ = try? await store.remove(asset)
                })
        }
        switch kept {
        case .failure(let reason): throw AssetFailure(reason: reason)
        case .success(false): throw AssetFailure(reason: try await reasonWithoutRoom(for: upload) ?? .quotaExceeded)
        case .success(true): break
        }
        return try await Self.asking { () async throws(AssetStoreError) in
            try await store.progress(of: upload.ofClaimant)
        }
    }

    /// Why an asset is not available, from either of the two places that know it.
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
            error.storeError?.note()
            return .failure(error.reason)
        }
    }
}
