// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkSockets

/// The files of `--asset-files KEY=PATH …`.
struct CKToolAssets: Equatable, Sendable {
    /// Paths by key.
    let paths: [String: String]

    /// - Throws: ``AdminFailure`` for any other form, and for a key that comes twice.
    init(_ arguments: [String]) throws(AdminFailure) {
        var paths: [String: String] = [:]
        for text in arguments {
            guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
                throw AdminFailure(.usage, "--asset-files takes KEY=PATH, not \(text).")
            }
            let path = String(text[text.index(after: sign)...])
            guard !path.isEmpty, paths.updateValue(path, forKey: String(text[..<sign])) == nil else {
                throw AdminFailure(.usage, "--asset-files needs a path for each key, and each key once: \(text).")
            }
        }
        self.paths = paths
    }

    /// Where servers keep assets. All of them, and this program, have one directory.
    ///
    /// - Throws: ``AdminFailure`` if the variable does not name it.
    static func store(variables: [String: String]) throws -> FileAssetStore {
        let name = Setting.variable(of: "--asset-directory")
        guard let directory = variables[name], !directory.isEmpty else {
            throw AdminFailure(.usage, "Assets need the directory where servers keep them. Set \(name).")
        }
        return try FileAssetStore(
            directory: directory, threads: 1, uploadBytesMax: Limits.standard.uploadBytesMax)
    }
}

extension CKToolSession {
    /// Adds a file's content to the zone's database, as it is, so that a record may name it.
    func upload(_ file: InputFile) async throws -> FieldAsset {
        guard let count = file.byteCount.map(Int64.init) else {
            throw AdminFailure(.usage, "\(file.name) is no file of its own, so its size is not known. Name a file.")
        }
        let draft = (0..<4).flatMap { _ in withUnsafeBytes(of: console.loop.randomBits()) { Array($0) } }
        var upload = AssetUpload(
            draft: draft, byteCount: count, in: zone.database, by: access.marking(life),
            owner: scope == .private ? nil : identity.user, isNamedByContent: true)
        upload.account = identity.account
        var progress = try await service.prepare(upload, by: access).mapError { AdminFailure($0) }.get()
        var part: ArraySlice<UInt8> = []
        while !progress.isComplete {
            if part.isEmpty { part = try file.storedPart()[...] }
            let room = min(Int64(Limits.standard.assetChunkBytesMax), count - progress.byteCount)
            let chunk = part.prefix(Int(room))
            guard !chunk.isEmpty || count == 0 else {
                throw AdminFailure(.refused, "\(file.name) changes while it is read. Try again.")
            }
            part = part.dropFirst(chunk.count)
            progress = try await service.append(chunk, at: progress.byteCount, to: upload)
                .mapError { AdminFailure($0) }.get()
        }
        guard let sha256 = progress.sha256 else { throw AdminFailure(.serverFault) }
        return FieldAsset(sha256: sha256, byteCount: count)
    }
}
