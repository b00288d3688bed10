// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

/// Sends a file while it is read for its hash: carries out what a ``DraftMachine`` decides. Run it on ``FileThread``.
struct DraftDriver: TransferDriver {
    typealias Machine = DraftMachine

    private let database: CloudDatabase
    private let source: AssetSource
    private let zoneID: CKRecordZone.ID
    private let reading: AssetReading
    private let report: CloudDatabase.Report?
    private let name: AssetUploadName
    private let form: ChunkForm
    private var parts: PartsUnderWay
    private let checksum = DraftChecksum()

    /// - Parameter reading: gets as far with the hash as the network leaves time for.
    init(
        _ database: CloudDatabase, _ source: AssetSource, for zoneID: CKRecordZone.ID, besides reading: AssetReading,
        report: CloudDatabase.Report?
    ) {
        self.database = database
        self.source = source
        self.zoneID = zoneID
        self.reading = reading
        self.report = report
        name = AssetUploadName(byteCount: source.byteCount, draft: source.draft)
        form = database.chunkForm(of: name, zoneID)
        parts = PartsUnderWay(on: database.connection)
    }

    /// - Returns: the hash, if the server has all of the file and says it.
    mutating func run() async -> [UInt8]? {
        let machine = DraftMachine(byteCount: source.byteCount, isSettled: source.isSettled)
        guard case .named(let sha256) = await run(machine, from: .begun) else { return nil }
        return sha256
    }

    func failure(_ error: CKError) -> DraftMachine.Event {
        .failed(error)
    }

    mutating func perform(_ action: DraftMachine.Action) async throws(CKError) -> DraftMachine.Event? {
        switch action {
        case .abandonParts:
            parts.abandon()
            return nil
        case .report(let byteCount):
            await database.tell(report, byteCount)
            return nil
        case .ask:
            return .told(UploadProgress(try await database.prepareUpload(name, for: zoneID)))
        case .takePlace(let waits):
            return .placed(byteCountMax: try await parts.takePlace(waits: waits))
        case .send(let part, let isLast):
            parts.add(database.begin(try isLast ? lastRequest(part) : request(part)))
            return .sent
        case .hashUnlessAnswered:
            return parts.isOldestAnswered ? try await answer() : try await hash()
        case .awaitAnswer:
            return try await answer()
        }
    }

    private func request(_ part: Range<Int64>) throws(CKError) -> EncodedRequest {
        try form.request(for: part, of: source) { checksum.add($0, at: part.lowerBound) }
    }

    /// The checksum stands before the bytes of the part, so these are read first.
    private func lastRequest(_ part: Range<Int64>) throws(CKError) -> EncodedRequest {
        let last = try source.bytes(at: part.lowerBound, count: part.count)
        var form = form
        form.chunk.checksum = checksum.finish(with: last, at: part.lowerBound)
        form.chunk.isNamedByContent = true
        return form.request(with: last, at: part.lowerBound)
    }

    /// Lets others run as well, because they share the thread.
    private func hash() async throws(CKError) -> DraftMachine.Event {
        let isAtEnd = try reading.advance()
        await Task.yield()
        return .hashed(isAtEnd: isAtEnd)
    }

    private mutating func answer() async throws(CKError) -> DraftMachine.Event {
        let answer = try await parts.answer()
        return .answered(try UploadProgress(answer), answer.time)
    }
}
