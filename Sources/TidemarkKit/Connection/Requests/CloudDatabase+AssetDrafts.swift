// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Foundation
internal import TidemarkFields
internal import TidemarkWire

/// What names an upload.
struct AssetUploadName: Sendable {
    /// Empty while it is not known.
    var sha256: [UInt8] = []
    let byteCount: Int64
    /// Empty for what is not sent before it is read.
    var draft: [UInt8] = []
}

extension AssetUploadName {
    init(_ file: AssetFile) {
        let byteCount = file.content.byteCount
        self.init(
            sha256: file.content.sha256, byteCount: byteCount,
            draft: byteCount >= CloudDatabase.draftBytesMin ? file.source.draft : [])
    }
}

extension CloudDatabase {
    /// Reads a file for its hash. What is large meanwhile goes to the server already, as a draft: whatever goes wrong with
    /// that, ``upload(_:for:report:)`` will find out, or go on with.
    ///
    /// - Throws: as `AssetFile.init(_:)`.
    func read(_ url: URL, for zoneID: CKRecordZone.ID) async throws(CKError) -> AssetFile {
        let source = try await FileThread.run { () throws(CKError) in try AssetSource(url) }
        guard source.byteCount >= Self.draftBytesMin else {
            return try await FileThread.run { () throws(CKError) in try AssetFile(url) }
        }
        let isRead = Locked(false)
        async let sending: Void = sendDraft(of: source, for: zoneID, until: isRead)
        let result: Result<AssetFile, CKError>
        do throws(CKError) {
            let reading = try await FileThread.run { () throws(CKError) in try AssetReading(source) }
            while try await FileThread.run({ () throws(CKError) in try !reading.advance() }) {}
            result = .success(try await FileThread.run { () throws(CKError) in try reading.finish() })
        } catch {
            result = .failure(error)
        }
        isRead.withLock { $0 = true }
        await sending
        return try result.get()
    }

    /// Files from here on are sent while they are read.
    static let draftBytesMin: Int64 = 4 * 1_048_576

    /// Sends what comes next of a file, but not the end of it, until that is enough.
    private func sendDraft(
        of source: AssetSource, for zoneID: CKRecordZone.ID, until isEnough: Locked<Bool>
    ) async {
        let name = AssetUploadName(byteCount: source.byteCount, draft: source.draft)
        let form = ChunkForm(chunk: chunk(of: name, zoneID), envelope: template)
        guard let progress = try? await prepareUpload(name, for: zoneID) else { return }
        let end = source.byteCount - 1
        var next = min(Int64(clamping: progress.offset), end)
        var parts: Deque<Part> = []
        while true {
            while !isEnough.withLock({ $0 }), next < end, let place = await place(hasNone: parts.isEmpty) {
                let offset = next
                let count = Int(min(Int64(place.chunkBytes), end - offset))
                let request = try? await FileThread.run { () throws(CKError) in
                    try Self.encode(form, source, at: offset, count: count)
                }
                guard let request else {
                    connection.lane.leave(place, isAnswered: false)
                    return abandon(parts)
                }
                let answer = connection.begin(timeout: timeout, generation: credentialGeneration, request)
                next += Int64(count)
                parts.append(Part(end: next, answer: answer, place: place))
            }
            guard let part = parts.popFirst() else { return }
            guard case .uploadAssetChunk(let progress)? = try? await answer(to: part),
                Int64(clamping: progress.offset) == part.end
            else { return abandon(parts) }
        }
    }
}
