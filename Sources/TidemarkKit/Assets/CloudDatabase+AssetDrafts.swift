// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Foundation
internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkFields
internal import TidemarkWire

/// What names an upload.
struct AssetUploadName: Sendable {
    /// Empty while it is not known.
    var sha256: [UInt8] = []
    let byteCount: Int64
    /// Empty for what is not sent before it is read.
    var draft: [UInt8] = []
    /// Empty if it is not known.
    var checksum: [UInt8] = []
}

extension AssetUploadName {
    init(_ file: AssetFile) {
        let byteCount = file.content.byteCount
        self.init(
            sha256: file.content.sha256, byteCount: byteCount,
            draft: byteCount >= CloudDatabase.draftBytesMin ? file.source.draft : [],
            checksum: file.checksum ?? [])
    }
}

extension CloudDatabase {
    /// Reads a file for its hash. What is large goes to the server meanwhile, as a draft, and is hashed as long as the
    /// network leaves time for it. If that is through first, the server is asked whether it has the content; if the end of
    /// the file is reached first, the server, which hashes what comes in any case, says what the hash is. Whatever goes
    /// wrong with a draft, ``upload(_:for:report:)`` will find out, or go on with.
    ///
    /// - Throws: as `AssetFile.init(_:)`.
    func read(_ url: URL, for zoneID: CKRecordZone.ID, report: Report? = nil) async throws(CKError) -> AssetFile {
        try await FileThread.stay { () async throws(CKError) in
            let source = try AssetSource(url)
            guard source.byteCount >= Self.draftBytesMin else { return try AssetFile(url) }
            let reading = try AssetReading(source)
            if let sha256 = try await sendDraft(of: source, for: zoneID, besides: reading, report),
                try source.isUntouched()
            {
                return AssetFile(source, sha256: sha256)
            }
            while try !reading.advance() { await Task.yield() }
            return try reading.finish()
        }
    }

    /// Files from here on are sent while they are read.
    static let draftBytesMin: Int64 = 4 * 1_048_576

    /// A network on which a MiB is under way for longer leaves time to hash; on a faster one to hash would be what the
    /// network waits for.
    private static let busyTimePerMebibyte: Duration = .milliseconds(16)
    /// By this share of itself the time of a part may grow with each part: a network that has become ten times slower is
    /// believed to be so after some eighty parts.
    private static let partTimeDecay = 32
    /// While a part is under way for so long, a piece of the file can be hashed as well: several times what that takes.
    private static let timeForPiece: Duration = .milliseconds(2)
    /// Pieces that are hashed before it is looked again whether there is something to send.
    private static let piecesMax = 16
    /// Pieces in any case, of a file whose hash the server cannot say: so that it is known when the file is sent.
    private static let piecesOfUnsettledMin = 2 * TransferPace.chunkBytesMax / AssetReading.blockBytes

    /// Sends what comes next of a file, until its hash is known.
    ///
    /// - Returns: the hash, if the server has all of the file and says it.
    /// - Throws: as `AssetReading.advance()`.
    private func sendDraft(
        of source: AssetSource, for zoneID: CKRecordZone.ID, besides reading: AssetReading, _ report: Report?
    ) async throws(CKError) -> [UInt8]? {
        let name = AssetUploadName(byteCount: source.byteCount, draft: source.draft)
        let form = ChunkForm(chunk: chunk(of: name, zoneID), envelope: template)
        guard let progress = try? await prepareUpload(name, for: zoneID) else { return nil }
        // The last byte makes it whole: the checksum goes with it. Of a file that may change without
        // anybody seeing it, only its hash can tell what the server has.
        let end = source.isSettled ? source.byteCount : source.byteCount - 1
        var checksum = progress.offset == 0 ? Checksum() : nil
        /// How far the checksum is: after a cut parts are read again.
        var checksumEnd: Int64 = 0
        var patience = TransferPatience()
        let piecesMin = source.isSettled ? 0 : Self.piecesOfUnsettledMin
        var next = min(Int64(clamping: progress.offset), end)
        var parts: Deque<Part> = []
        var pieces = piecesMin
        /// How long a part takes: the shortest of late. Hashing, and whatever else the machine does, makes single ones longer.
        var partTime: Duration?
        while true {
            while !reading.isAtEnd, next < end, let place = await place(hasNone: parts.isEmpty) {
                let isLast = next == source.byteCount - 1
                let count = isLast ? 1 : Int(min(Int64(place.chunkBytes), source.byteCount - 1 - next))
                var form = form
                if isLast, var all = checksum.take(), let last = try? source.bytes(at: next, count: count) {
                    all.update(last)
                    form.chunk.checksum = all.finish()
                }
                form.chunk.isNamedByContent = isLast
                let request = try? Self.encode(form, source, at: next, count: count) { bytes in
                    let known = min(max(checksumEnd - next, 0), Int64(count))
                    checksum?.update(UnsafeRawBufferPointer(rebasing: bytes[Int(known)...]))
                }
                checksumEnd = max(checksumEnd, next + Int64(count))
                guard let request else {
                    connection.lane.leave(place, isAnswered: false)
                    abandon(parts)
                    return nil
                }
                let answer = connection.begin(timeout: requestTimeout, generation: credentialGeneration, request)
                next += Int64(count)
                parts.append(Part(end: next, answer: answer, place: place))
            }
            guard let part = parts.popFirst() else { return nil }
            do throws(CKError) {
                while pieces > 0, !reading.isAtEnd, !part.answer.isGiven {
                    pieces -= 1
                    _ = try reading.advance()
                    await Task.yield()
                }
            } catch {
                parts.prepend(part)
                abandon(parts)
                throw error
            }
            let progress: WireAssetProgress
            do throws(CKError) {
                guard case .uploadAssetChunk(let answer) = try await answer(to: part),
                    Int64(clamping: answer.offset) == part.end
                else { throw Self.wrongAnswer(to: .uploadAssetChunk) }
                progress = answer
            } catch {
                abandon(parts)
                parts = []
                // A draft that has become whole is one no more: what is uploaded from then on has its hash for a name.
                guard error.isCut, next < source.byteCount, patience.wait(after: nil) != nil,
                    let progress = try? await prepareUpload(name, for: zoneID)
                else { return nil }
                next = min(Int64(clamping: progress.offset), end)
                continue
            }
            patience.reached(part.end)
            await tell(report, part.end)
            if progress.isComplete, progress.sha256.count == FieldAsset.sha256ByteCount {
                return Array(progress.sha256)
            }
            let time = connection.now - part.place.since
            let shortest = min(time, partTime.map { $0 + $0 / Self.partTimeDecay } ?? time)
            partTime = shortest
            let busyTime = Self.busyTimePerMebibyte * part.place.chunkBytes / 1_048_576
            pieces = shortest < busyTime ? 0 : Int(min(shortest / Self.timeForPiece, Double(Self.piecesMax)))
            pieces = max(piecesMin, pieces)
        }
    }
}
