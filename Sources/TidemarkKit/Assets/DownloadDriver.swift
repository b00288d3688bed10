// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkWire

/// Brings an asset of a record here: carries out what a ``DownloadMachine`` decides. Run it on ``FileThread``.
struct DownloadDriver: TransferDriver {
    typealias Machine = DownloadMachine

    private let database: CloudDatabase
    private let content: FieldAsset
    private let recordID: CKRecord.ID
    private let report: CloudDatabase.Report?
    private let file: StagedAsset
    private var parts: PartsUnderWay
    /// The last bytes that arrived and are not written yet.
    private var received: ArraySlice<UInt8> = []
    /// The question for the checksum.
    private var question: PendingAnswer?

    /// - Parameter file: gets the content.
    init(
        _ database: CloudDatabase, _ content: FieldAsset, of recordID: CKRecord.ID, to file: StagedAsset,
        report: CloudDatabase.Report?
    ) {
        self.database = database
        self.content = content
        self.recordID = recordID
        self.file = file
        self.report = report
        parts = PartsUnderWay(on: database.connection)
    }

    mutating func run() async throws(CKError) -> URL {
        let machine = DownloadMachine(
            byteCount: content.byteCount, writtenByteCount: file.byteCount, isPatient: database.isPatient)
        let outcome = await run(machine, from: .begun)
        if let question { database.connection.abandon(question) }
        switch outcome {
        case .downloaded(let url): return url
        case .failed(let error): throw error
        case .standsStill(let last): throw standsStill(after: last)
        case .damaged: throw damaged
        }
    }

    /// - Parameter last: no answer came in time.
    private func standsStill(after last: CKError) -> CKError {
        CKError(
            last.code,
            message: "The download of an asset of record \(recordID.recordName) in zone \(recordID.zoneID.zoneName) "
                + "stands still. \(last.localizedDescription) If that fails too, tell the server's operator.",
            userInfo: last.userInfo.merging([CKError.stalledDownloadKey: true]) { $1 })
    }

    private var damaged: CKError {
        CKError(
            .assetNotAvailable,
            text: "An asset of record \(recordID.recordName) in zone \(recordID.zoneID.zoneName) came damaged, twice. "
                + "Fetch the record again later. If that fails too, tell the server's operator.")
    }

    func failure(_ error: CKError) -> DownloadMachine.Event {
        .failed(database.transferFailure(error))
    }

    mutating func perform(_ action: DownloadMachine.Action) async throws(CKError) -> DownloadMachine.Event? {
        switch action {
        case .abandonParts:
            parts.abandon()
            return nil
        case .report(let byteCount):
            await database.tell(report, byteCount)
            return nil
        case .askForChecksum:
            question = database.askForChecksum(of: content, recordID)
            return nil
        case .expectChecksum:
            if let asked = question.take(), let checksum = await database.checksum(from: asked) {
                file.expect(checksum)
            }
            return nil
        case .takePlace(let waits):
            return .placed(byteCountMax: try await parts.takePlace(waits: waits))
        case .fetch(let part):
            parts.add(database.beginFetch(of: part, of: content, recordID))
            return nil
        case .awaitAnswer:
            guard case .fetchAssetChunk(let chunk) = try await parts.answer().answer else {
                throw CloudDatabase.wrongAnswer(to: .fetchAssetChunk)
            }
            received = chunk.content
            return .received(byteCount: received.count)
        case .write:
            defer { received = [] }
            try file.append(received)
            return .written
        case .finish:
            guard let url = try await file.finish() else { return .damaged }
            return .finished(url)
        case .pause(let wait):
            try await database.pause(wait)
            return .paused
        }
    }
}
