// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

struct AssetUploadName: Sendable {
    /// Empty while it is not known.
    var sha256: [UInt8] = []
    let byteCount: Int64
    /// Empty for a file that is not sent before it is read.
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
    /// Files from here on are sent while they are read.
    static let draftBytesMin: Int64 = 4 * 1_048_576

    /// Reads a file for its hash. A large file is sent to the server meanwhile, as a draft, and is hashed as long as
    /// the network leaves time for it.
    ///
    /// If all is hashed first, the server is asked whether it has the content. If all is sent first, the server says
    /// the hash, because it hashes in any case what comes. If something goes wrong with a draft,
    /// ``upload(_:for:report:)`` finds that out, and goes on from what the server has.
    ///
    /// - Throws: as `AssetFile.init(_:)`; `operationCancelled`; `networkFailure` if the time of the whole operation is
    ///   over.
    func read(_ url: URL, for zoneID: CKRecordZone.ID, report: Report? = nil) async throws(CKError) -> AssetFile {
        try await FileThread.stay { () async throws(CKError) in
            try checkMayGoOn()
            let source = try AssetSource(url)
            guard source.byteCount >= Self.draftBytesMin else { return try AssetFile(url) }
            let reading = try AssetReading(source)
            var driver = DraftDriver(self, source, for: zoneID, besides: reading, report: report)
            if let sha256 = await driver.run(), try source.isUntouched() {
                return AssetFile(source, sha256: sha256)
            }
            while try !reading.advance() {
                try checkMayGoOn()
                await Task.yield()
            }
            return try reading.finish()
        }
    }
}
