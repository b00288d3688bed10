// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkWire

/// Brings a file whose hash is known to the server: carries out what an ``UploadMachine`` decides. Run it on
/// ``FileThread``.
struct UploadDriver: TransferDriver {
    typealias Machine = UploadMachine

    private let database: CloudDatabase
    private let file: AssetFile
    private let recordID: CKRecord.ID
    private let report: CloudDatabase.Report?
    private let form: ChunkForm
    private var parts: PartsUnderWay

    init(
        _ database: CloudDatabase, _ file: AssetFile, for recordID: CKRecord.ID, report: CloudDatabase.Report?
    ) {
        self.database = database
        self.file = file
        self.recordID = recordID
        self.report = report
        form = database.chunkForm(of: AssetUploadName(file), recordID.zoneID)
        parts = PartsUnderWay(on: database.connection)
    }

    mutating func run() async throws(CKError) {
        let machine = UploadMachine(byteCount: file.content.byteCount, isPatient: database.isPatient)
        switch await run(machine, from: .begun) {
        case .uploaded: return
        case .failed(let error): throw error
        case .standsStill(let last): throw CloudDatabase.uploadStands(file, of: recordID, after: last)
        }
    }

    func failure(_ error: CKError) -> UploadMachine.Event {
        .failed(database.transferFailure(error))
    }

    mutating func perform(_ action: UploadMachine.Action) async throws(CKError) -> UploadMachine.Event? {
        switch action {
        case .abandonParts:
            parts.abandon()
            return nil
        case .report(let byteCount):
            await database.tell(report, byteCount)
            return nil
        case .ask:
            let progress = try await database.prepareUpload(AssetUploadName(file), for: recordID.zoneID)
            return .told(UploadProgress(progress))
        case .takePlace(let waits):
            return .placed(byteCountMax: try await parts.takePlace(waits: waits))
        case .send(let part):
            parts.add(database.begin(try form.request(for: part, of: file.source)))
            return .sent
        case .awaitAnswer:
            return .answered(try UploadProgress(await parts.answer()))
        case .checkFile:
            try file.checkUnchanged()
            return .unchanged
        case .pause(let wait):
            try await database.pause(wait)
            return .paused
        }
    }
}

extension UploadProgress {
    init(_ progress: WireAssetProgress) {
        self.init(
            byteCount: Int64(clamping: progress.offset), isComplete: progress.isComplete,
            sha256: Array(progress.sha256))
    }

    /// The server's answer when it has taken a part.
    init(_ answer: PartsUnderWay.Answer) throws(CKError) {
        guard case .uploadAssetChunk(let progress) = answer.answer else {
            throw CloudDatabase.wrongAnswer(to: .uploadAssetChunk)
        }
        self.init(progress)
    }
}
