// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto
internal import TidemarkFields
internal import TidemarkWire

/// Assets as they travel: in parts, a few of them under way at a time. ``UploadDriver``, ``DraftDriver`` and
/// ``DownloadDriver`` send and receive them; this extension has their requests.
extension CloudDatabase {
    /// Told how many bytes are over.
    typealias Report = @Sendable (Int64) -> Void

    // MARK: Up

    /// Whether the server has the content, and if not, how far it is.
    func prepareUpload(
        of content: FieldAsset, for zoneID: CKRecordZone.ID
    ) async throws(CKError) -> WireAssetProgress {
        try await prepareUpload(AssetUploadName(sha256: content.sha256, byteCount: content.byteCount), for: zoneID)
    }

    func prepareUpload(
        _ upload: AssetUploadName, for zoneID: CKRecordZone.ID
    ) async throws(CKError) -> WireAssetProgress {
        var request = WirePrepareAssetUpload()
        request.database = wireScope
        request.zone = WireZoneID(zoneID)
        request.sha256 = upload.sha256
        request.byteCount = UInt64(upload.byteCount)
        request.draft = upload.draft
        request.checksum = upload.checksum
        guard
            case .prepareAssetUpload(let progress) =
                try await self.request({ [request] _ in .prepareAssetUpload(request) }).answer
        else { throw Self.wrongAnswer(to: .prepareAssetUpload) }
        return progress
    }

    /// Brings a file's content to the server, unless it is there.
    ///
    /// - Throws: `assetFileModified` if the file changes during the upload. `limitExceeded` or `quotaExceeded`
    ///   if the server does not accept it. Otherwise the reason why there is no answer.
    func upload(_ file: AssetFile, for recordID: CKRecord.ID, report: Report?) async throws(CKError) {
        try await FileThread.stay { () async throws(CKError) in
            var driver = UploadDriver(self, file, for: recordID, report: report)
            try await driver.run()
        }
    }

    /// The server never has more of it, attempt after attempt.
    ///
    /// - Parameter last: how the last attempt ended.
    static func uploadStands(_ file: AssetFile, of recordID: CKRecord.ID, after last: CKError) -> CKError {
        CKError(
            .networkFailure,
            message:
                "The upload of \(file.source.name) (\(file.content.byteCount) bytes) for record "
                + "\(recordID.recordName) in zone \(recordID.zoneID.zoneName) stands still: "
                + "\(TransferPatience.failuresMax) attempts in a row brought nothing more to the server. The "
                + "last one: \(last.localizedDescription) Save the record again later. If that fails too, "
                + "tell the server's operator.",
            userInfo: [CKError.standstillKey: true])
    }

    /// The fields that all parts of an upload have in common.
    func chunkForm(of upload: AssetUploadName, _ zoneID: CKRecordZone.ID) -> ChunkForm {
        var request = WireUploadAssetChunk()
        request.database = wireScope
        request.zone = WireZoneID(zoneID)
        request.sha256 = upload.sha256
        request.byteCount = UInt64(upload.byteCount)
        request.draft = upload.draft
        request.checksum = upload.checksum
        return ChunkForm(chunk: request, envelope: template)
    }

    /// Sends a part of an upload.
    func begin(_ request: EncodedRequest) -> PendingAnswer {
        connection.begin(timeout: timeout, within: timeLeft, generation: credentialGeneration, request)
    }

    // MARK: Down

    /// Brings an asset of a record here.
    ///
    /// - Returns: the file, which is the caller's.
    /// - Throws: `assetNotAvailable` if the server no longer has it, or never had it, or the reason why there is no
    ///   answer.
    func download(
        _ content: FieldAsset, of recordID: CKRecord.ID, report: Report?
    ) async throws(CKError) -> URL {
        try await FileThread.stay { () async throws(CKError) in
            let file = try await connection.staging.open(content)
            var driver = DownloadDriver(self, content, of: recordID, to: file, report: report)
            return try await driver.run()
        }
    }

    /// Asks for a part of an asset.
    func beginFetch(
        of part: Range<Int64>, of content: FieldAsset, _ recordID: CKRecord.ID
    ) -> PendingAnswer {
        begin(.fetchAssetChunk(fetch(part, of: content, recordID)))
    }

    /// The checksum of a record's asset from its uploader.
    func checksum(of content: FieldAsset, _ recordID: CKRecord.ID) async -> [UInt8]? {
        await checksum(from: askForChecksum(of: content, recordID))
    }

    /// The question for ``checksum(from:)``.
    func askForChecksum(of content: FieldAsset, _ recordID: CKRecord.ID) -> PendingAnswer {
        var request = fetch(0..<0, of: content, recordID)
        request.wantsChecksum = true
        return begin(.fetchAssetChunk(request))
    }

    /// Nil if the server does not say it, for whatever reason.
    func checksum(from question: PendingAnswer) async -> [UInt8]? {
        guard case .fetchAssetChunk(let part)? = try? await connection.answer(question).answer,
            part.checksum.count == Checksum.byteCount
        else { return nil }
        return part.checksum
    }

    private func fetch(
        _ part: Range<Int64>, of content: FieldAsset, _ recordID: CKRecord.ID
    ) -> WireFetchAssetChunk {
        var request = WireFetchAssetChunk()
        request.database = wireScope
        request.zone = WireZoneID(recordID.zoneID)
        request.record = recordID.recordName
        request.sha256 = content.sha256
        request.byteCount = UInt64(content.byteCount)
        request.offset = UInt64(part.lowerBound)
        request.length = UInt32(part.count)
        return request
    }

    private func begin(_ request: WireClientEnvelope.OneOfRequest) -> PendingAnswer {
        connection.begin(timeout: timeout, within: timeLeft, generation: credentialGeneration) { [template] _ in
            var envelope = template
            envelope.request = request
            return envelope
        }
    }

    // MARK: Both

    func tell(_ report: Report?, _ byteCount: Int64) async {
        if let report { await FileThread.leave(for: reportExecutor) { report(byteCount) } }
    }

    /// A failure of a transfer, with what decides now whether it is tried again.
    func transferFailure(_ error: CKError) -> TransferFailure {
        TransferFailure(
            error: error, randomBits: isPatient ? connection.randomBits : 0, isOutOfTime: isOutOfTime)
    }
}
