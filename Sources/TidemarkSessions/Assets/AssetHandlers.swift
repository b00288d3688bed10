// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// How far an upload is.
    func prepareAssetUpload(
        _ request: WirePrepareAssetUpload, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        let viewpoint = try await assetDatabase(request.database, isWrite: true, request.zone, context.member)
        var upload = try AssetUpload(
            sha256: request.sha256, byteCount: request.byteCount, draft: request.draft,
            checksum: request.checksum, for: request.zone, by: viewpoint)
        upload.account = context.member.identity?.account
        let access: RecordAccess
        switch viewpoint.access.scope {
        case .private: access = viewpoint.access
        // Who may read a record may name its assets, and that takes the grants.
        case .public: access = try await recordDatabase(request.database, isWrite: false, context.member).access
        case .shared: access = try await uploadAccess(to: request.zone, by: viewpoint, context.member)
        }
        let progress = try await orRefusal(service.prepare(upload, by: access), of: upload)
        return ServerMessage.answer(context.id, .prepareAssetUpload(WireAssetProgress(progress)))
    }

    /// The next bytes of an upload.
    ///
    /// NB: after the request's turn has come, nothing may suspend before the store has the chunk. A client sends the
    /// next chunk before this one is answered, and an account's requests have their turns in order. The public database,
    /// or the owner of a zone and the right to write there, is known since the upload was prepared, so finding it does not
    /// suspend. With the last chunk, which may suspend, a zone's shares are read again: nothing becomes an asset without the
    /// right to write.
    func uploadAssetChunk(
        _ request: WireUploadAssetChunk, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        let viewpoint = try await assetDatabase(request.database, isWrite: true, request.zone, context.member)
        let isLast =
            request.offset.addingReportingOverflow(UInt64(request.content.count)).partialValue == request.byteCount
        if viewpoint.access.scope == .shared {
            // I-5: nobody stores a part of a file where they may not write.
            if isLast {
                _ = try await uploadAccess(to: request.zone, by: viewpoint, context.member)
            } else {
                let key = try viewpoint.requiredZoneKey(of: request.zone)
                try await service.partAccess(
                    to: key, by: viewpoint.access, for: context.member.owner
                ).orRefusal()
            }
        }
        var upload = try AssetUpload(
            sha256: request.sha256, byteCount: request.byteCount, draft: request.draft,
            isNamedByContent: request.isNamedByContent, checksum: request.checksum, for: request.zone, by: viewpoint)
        upload.account = context.member.identity?.account
        let answer = await service.append(
            request.content, at: Int64(clamping: request.offset), to: upload)
        let progress = try await orRefusal(answer, of: upload)
        return ServerMessage.answer(context.id, .uploadAssetChunk(WireAssetProgress(progress)))
    }

    /// The caller's view of a database for assets, which knows the owner of the record's zone.
    private func assetDatabase(
        _ scope: WireDatabaseScope, isWrite: Bool, _ zone: WireZoneID, _ member: SessionMember
    ) async throws(Refusal) -> Viewpoint {
        let viewpoint = try await recordDatabase(scope, isWrite: isWrite, member)
        return try await knowingOwners(of: CollectionOfOne(zone), for: viewpoint, member)
    }

    /// What the caller may do in a zone of another: only who may write there uploads to its owner's database.
    private func uploadAccess(
        to zone: WireZoneID, by viewpoint: Viewpoint, _ member: SessionMember
    ) async throws(Refusal) -> RecordAccess {
        let key = try viewpoint.requiredZoneKey(of: zone)
        return try await service.uploadAccess(to: key, by: viewpoint.access, for: member.owner).orRefusal()
    }

    /// says how much a full private database holds, and how large an asset may be.
    private func orRefusal(
        _ answer: Result<AssetProgress, FailureReason>, of upload: AssetUpload
    ) async throws(Refusal) -> AssetProgress {
        if case .failure(.quotaExceeded) = answer, upload.key.owner == nil,
            let use = await service.storageUse(of: upload.key.database)
        {
            throw Refusal(.quotaExceeded, use.refusalText(of: upload.key.byteCount))
        }
        if case .failure(.assetTooLarge) = answer {
            let text = FailureReason.assetTooLarge.text(within: limits, count: upload.key.byteCount)
            throw Refusal(.assetTooLarge, text)
        }
        return try answer.orRefusal()
    }

    /// Some bytes of an asset, or its checksum. A private database belongs to its owner, so no record is looked at. In
    /// the public database the record must name the asset, and the caller must be allowed to read it.
    func fetchAssetChunk(_ request: WireFetchAssetChunk, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try await assetDatabase(request.database, isWrite: false, request.zone, context.member)
        let asset = try AssetKey(
            sha256: request.sha256, byteCount: request.byteCount, for: request.zone, by: viewpoint)
        var holder: AssetHolder?
        if viewpoint.access.scope != .private {
            holder = AssetHolder(
                zone: try viewpoint.requiredZoneKey(of: request.zone), name: request.record, access: viewpoint.access)
        }
        if request.wantsChecksum {
            let checksum = try await service.assetChecksum(
                of: asset, namedBy: holder, for: context.member.owner
            ).orRefusal()
            return ServerMessage.answer(context.id, .fetchAssetChunk(WireAssetChunk(checksum: checksum)))
        }
        let offset = Int64(clamping: request.offset)
        // A store gives all bytes that were asked for, or fails. So the head of the message is known before they are
        // read, and they are read into the buffer from which they are sent.
        let count = min(Int64(request.length), max(0, asset.content.byteCount - offset))
        return try await service.assetBytes(
            of: asset, at: offset, count: Int(request.length), namedBy: holder,
            after: ServerMessage.assetChunkHead(context.id, byteCount: Int(count)), for: context.member.owner
        ).orRefusal()
    }
}
