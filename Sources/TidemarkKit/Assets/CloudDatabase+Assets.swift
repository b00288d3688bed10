// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Foundation
internal import TidemarkCrypto
internal import TidemarkFields
internal import TidemarkWire

/// Assets as they travel: in parts, a few under way at a time, from where the other side is. A cut is nothing special: over
/// the next connection the same parts are asked for again, or the server where it is.
extension CloudDatabase {
    /// Told how many bytes are over.
    typealias Report = @Sendable (Int64) -> Void

    struct Part {
        let end: Int64
        let answer: PendingAnswer
        let place: TransferLane.Place
    }

    /// What all requests with a chunk of one upload have in common.
    struct ChunkForm {
        var chunk: WireUploadAssetChunk
        let envelope: WireClientEnvelope
    }

    /// What is no larger is sent without asking whether the server has it.
    private static let unaskedBytesMax: Int64 = 262_144

    /// Of what a server says: it may be open elsewhere sooner.
    private static let pauseSecondsMax: Double = 60

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
    /// - Throws: `assetFileModified` if the file changes meanwhile, `limitExceeded` and `quotaExceeded` if the
    ///   server will not have it, and why there is no answer.
    func upload(_ file: AssetFile, for recordID: CKRecord.ID, report: Report?) async throws(CKError) {
        try await FileThread.stay { () async throws(CKError) in
            try await uploadPatiently(file, recordID, report)
        }
    }

    /// The server never has more of it, attempt after attempt.
    static func uploadStands(_ file: AssetFile, of recordID: CKRecord.ID) -> CKError {
        CKError(
            .networkFailure,
            text:
                "The upload of \(file.source.name) (\(file.content.byteCount) bytes) for record \(recordID.recordName) in "
                + "zone \(recordID.zoneID.zoneName) does not get on: after \(TransferPatience.failuresMax) attempts the server has no "
                + "more of it. Save the record again later; if it goes on, tell the server's operator.")
    }

    private func uploadPatiently(
        _ file: AssetFile, _ recordID: CKRecord.ID, _ report: Report?
    ) async throws(CKError) {
        var patience = TransferPatience()
        var isSecondReading = false
        while true {
            do throws(CKError) {
                if try await uploadOnce(file, recordID.zoneID, &patience, report) { return }
                guard patience.wait(after: nil) != nil else { throw Self.uploadStands(file, of: recordID) }
            } catch {
                if error.code == .assetFileModified, !isSecondReading {
                    // What an earlier attempt left on the server may be damaged; the file is judged here.
                    try await FileThread.run { () throws(CKError) in try file.checkUnchanged() }
                    isSecondReading = true
                    continue
                }
                try await pause(after: error, &patience)
            }
        }
    }

    /// Lets time pass before a transfer that came to nothing is tried again; as long as there is time, if it is not urgent
    ///
    ///
    /// - Throws: the error, if it is not to be tried again; `operationCancelled`.
    private func pause(after error: CKError, _ patience: inout TransferPatience) async throws(CKError) {
        var wait = patience.wait(after: error).map { Duration.seconds(min($0, Self.pauseSecondsMax)) }
        if isPatient, error.isWorthAnotherTry {
            wait = error.waitBeforeRetry(failures: patience.failures - 1, randomBits: connection.randomBits)
        }
        guard let wait, !isOutOfTime else { throw error }
        try await pause(wait)
    }

    /// - Returns: whether the server has all of it; if not, it may be elsewhere than it was thought to be.
    private func uploadOnce(
        _ file: AssetFile, _ zoneID: CKRecordZone.ID, _ patience: inout TransferPatience, _ report: Report?
    ) async throws(CKError) -> Bool {
        let total = file.content.byteCount
        var next: Int64 = 0
        if total > Self.unaskedBytesMax {
            let progress = try await prepareUpload(AssetUploadName(file), for: zoneID)
            if progress.isComplete {
                await tell(report, total)
                return true
            }
            next = min(Int64(clamping: progress.offset), total)
            patience.reached(next)
        }
        var parts: Deque<Part> = []
        let form = ChunkForm(chunk: chunk(of: AssetUploadName(file), zoneID), envelope: template)
        do throws(CKError) {
            var isFirst = true
            while true {
                while isFirst || next < total, let place = await place(hasNone: parts.isEmpty) {
                    isFirst = false
                    let offset = next
                    let count = Int(min(Int64(place.chunkBytes), total - offset))
                    let answer: PendingAnswer
                    do throws(CKError) {
                        let request = try await FileThread.run { () throws(CKError) in
                            try Self.encode(form, file.source, at: offset, count: count)
                        }
                        answer = connection.begin(timeout: requestTimeout, generation: credentialGeneration, request)
                    } catch {
                        connection.lane.leave(place, isAnswered: false)
                        throw error
                    }
                    next += Int64(count)
                    parts.append(Part(end: next, answer: answer, place: place))
                }
                guard let part = parts.popFirst() else { return false }
                guard case .uploadAssetChunk(let progress) = try await answer(to: part) else {
                    throw Self.wrongAnswer(to: .uploadAssetChunk)
                }
                let reached = Int64(clamping: progress.offset)
                patience.reached(reached)
                await tell(report, reached)
                if progress.isComplete {
                    try await FileThread.run { () throws(CKError) in try file.checkUnchanged() }
                    abandon(parts)
                    return true
                }
                guard (part.end...next).contains(reached) else {
                    abandon(parts)
                    return false
                }
            }
        } catch {
            abandon(parts)
            guard error.isCut else { throw error }
            patience.reached(0)
            return false
        }
    }

    /// What all chunks of an upload have in common.
    func chunk(of upload: AssetUploadName, _ zoneID: CKRecordZone.ID) -> WireUploadAssetChunk {
        var request = WireUploadAssetChunk()
        request.database = wireScope
        request.zone = WireZoneID(zoneID)
        request.sha256 = upload.sha256
        request.byteCount = UInt64(upload.byteCount)
        request.draft = upload.draft
        request.checksum = upload.checksum
        return request
    }

    /// A request for a chunk, into which the file is read. Blocks.
    ///
    /// - Parameter read: told what was read.
    static func encode(
        _ form: ChunkForm, _ file: AssetSource, at offset: Int64, count: Int,
        read: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws(CKError) -> EncodedRequest {
        var chunk = form.chunk
        chunk.offset = UInt64(offset)
        let head = EncodedRequest.head(of: chunk, in: form.envelope, byteCount: count)
        let bytes = try file.bytes(at: offset, count: count, after: head, before: EncodedRequest.idBytesMax)
        bytes.withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[head.count...])) }
        return EncodedRequest(bytes)
    }

    // MARK: Down

    /// Brings an asset of a record here.
    ///
    /// - Returns: the file, which is the caller's.
    /// - Throws: `assetNotAvailable` if the server does not have it (any more), and why there is no answer.
    func download(
        _ content: FieldAsset, of recordID: CKRecord.ID, report: Report?
    ) async throws(CKError) -> URL {
        try await FileThread.stay { () async throws(CKError) in
            try await downloadPatiently(content, recordID, report)
        }
    }

    private func downloadPatiently(
        _ content: FieldAsset, _ recordID: CKRecord.ID, _ report: Report?
    ) async throws(CKError) -> URL {
        let staging = connection.staging
        let file = try await FileThread.run { () throws(CKError) in try staging.open(content) }
        let isWorthIt = file.byteCount == 0 && content.byteCount >= AssetFile.checksumBytesMin
        var question = isWorthIt ? askForChecksum(of: content, recordID) : nil
        defer { if let question { connection.abandon(question) } }
        for _ in 0..<2 {
            var patience = TransferPatience()
            while file.byteCount < content.byteCount {
                do throws(CKError) {
                    try await fill(file, content, recordID, &question, &patience, report)
                } catch {
                    try await pause(after: error, &patience)
                }
            }
            if let url = try await FileThread.run({ () throws(CKError) in try file.finish() }) { return url }
        }
        throw CKError(.assetNotAvailable, text: "The asset came damaged.")
    }

    private func askForChecksum(of content: FieldAsset, _ recordID: CKRecord.ID) -> PendingAnswer {
        var request = fetch(content, recordID, at: 0, count: 0)
        request.wantsChecksum = true
        return begin(.fetchAssetChunk(request))
    }

    /// Nil if the server does not say it, for whatever reason.
    private func checksum(from question: PendingAnswer) async -> [UInt8]? {
        guard case .fetchAssetChunk(let part)? = try? await connection.answer(question).answer,
            part.checksum.count == Checksum.byteCount
        else { return nil }
        return part.checksum
    }

    /// What the uploader of a record's asset said.
    func checksum(of content: FieldAsset, _ recordID: CKRecord.ID) async -> [UInt8]? {
        await checksum(from: askForChecksum(of: content, recordID))
    }

    /// - Parameter question: for the checksum; its answer comes before the first part.
    private func fill(
        _ file: StagedAsset, _ content: FieldAsset, _ recordID: CKRecord.ID, _ question: inout PendingAnswer?,
        _ patience: inout TransferPatience, _ report: Report?
    ) async throws(CKError) {
        var next = file.byteCount
        var parts: Deque<Part> = []
        /// What came last: written while the next part is on its way.
        var received: ArraySlice<UInt8>?
        do throws(CKError) {
            while true {
                while next < content.byteCount, let place = await place(hasNone: parts.isEmpty && received == nil) {
                    let count = Int(min(Int64(place.chunkBytes), content.byteCount - next))
                    let answer = begin(.fetchAssetChunk(fetch(content, recordID, at: next, count: count)))
                    next += Int64(count)
                    parts.append(Part(end: next, answer: answer, place: place))
                }
                if let bytes = received {
                    received = nil
                    var checksum: [UInt8]?
                    if let asked = question.take() { checksum = await self.checksum(from: asked) }
                    try await FileThread.run { [checksum] () throws(CKError) in
                        if let checksum { file.expect(checksum) }
                        try file.append(bytes)
                    }
                    patience.reached(file.byteCount)
                    await tell(report, file.byteCount)
                }
                guard let part = parts.popFirst() else {
                    if next < content.byteCount { continue }
                    return
                }
                guard case .fetchAssetChunk(let chunk) = try await answer(to: part),
                    file.byteCount + Int64(chunk.content.count) == part.end
                else { throw Self.wrongAnswer(to: .fetchAssetChunk) }
                received = chunk.content
            }
        } catch {
            abandon(parts)
            throw error
        }
    }

    private func fetch(
        _ content: FieldAsset, _ recordID: CKRecord.ID, at offset: Int64, count: Int
    ) -> WireFetchAssetChunk {
        var request = WireFetchAssetChunk()
        request.database = wireScope
        request.zone = WireZoneID(recordID.zoneID)
        request.record = recordID.recordName
        request.sha256 = content.sha256
        request.byteCount = UInt64(content.byteCount)
        request.offset = UInt64(offset)
        request.length = UInt32(count)
        return request
    }

    // MARK: Parts

    func tell(_ report: Report?, _ byteCount: Int64) async {
        if let report { await FileThread.leave(for: reportExecutor) { report(byteCount) } }
    }

    /// A place on the connection: waits only if the transfer has none.
    func place(hasNone: Bool) async -> TransferLane.Place? {
        hasNone ? await connection.lane.enter() : connection.lane.tryEnter()
    }

    private func begin(_ request: WireClientEnvelope.OneOfRequest) -> PendingAnswer {
        connection.begin(timeout: requestTimeout, generation: credentialGeneration) { [template] _ in
            var envelope = template
            envelope.request = request
            return envelope
        }
    }

    func answer(to part: Part) async throws(CKError) -> WireServerEnvelope.OneOfAnswer? {
        do throws(CKError) {
            let envelope = try await connection.answer(part.answer)
            connection.lane.leave(part.place, isAnswered: true)
            return envelope.answer
        } catch {
            connection.lane.leave(part.place, isAnswered: false)
            throw error
        }
    }

    func abandon(_ parts: Deque<Part>) {
        for part in parts {
            connection.abandon(part.answer)
            connection.lane.leave(part.place, isAnswered: false)
        }
    }
}
