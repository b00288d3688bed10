// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkFields

/// The directory of a backup:
///
///     manifest.jsonl              what is in it; without it, it is no backup
///     database.dump               by pg_dump, in its custom form
///     assets/ab/abcdef….SIZE      the content of assets, by its hash
struct BackupDirectory: Sendable {
    /// Absolute, because PostgreSQL's programs have a working directory of their own.
    let path: String

    /// - Parameter path: as the operator wrote it.
    init(_ path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    static let dumpName = "database.dump"

    var manifest: String { "\(path)/manifest.jsonl" }
    /// The manifest until it is whole.
    var draft: String { "\(path)/manifest.jsonl.new" }
    var dump: String { "\(path)/\(Self.dumpName)" }
    var assets: String { "\(path)/assets" }

    var isBackup: Bool { AssetFiles.byteCount(of: manifest) != nil }

    func file(of content: FieldAsset) -> String { AssetFiles.path(of: content, inBackup: assets) }

    private static let pieceBytes = 1_048_576

    /// Reads the manifest to its end.
    ///
    /// - Parameter take: is called for each asset, with whether its file is in the backup.
    /// - Throws: ``ManifestFault``, or an ``AdminFailure`` if there is no manifest.
    func readManifest(_ take: (AssetKey, Bool) async throws -> Void = { _, _ in }) async throws -> BackupManifest {
        guard isBackup, let handle = FileHandle(forReadingAtPath: manifest) else {
            throw AdminFailure(
                .refused,
                "\(path) is no backup: it has no manifest.jsonl. A backup that was cut off has none. Name another "
                    + "directory.")
        }
        defer { try? handle.close() }
        var reader = ManifestReader()
        while let data = try handle.read(upToCount: Self.pieceBytes), !data.isEmpty {
            for (asset, isThere) in try reader.read([UInt8](data)[...]) { try await take(asset, isThere) }
        }
        try reader.finish()
        guard let head = reader.head else { throw ManifestFault(description: "The manifest has no beginning.") }
        return BackupManifest(
            head: head, migrations: reader.migrations, containers: reader.containers, files: reader.files,
            assetCount: reader.assetCount, assetBytes: reader.assetBytes, lostCount: reader.lostCount,
            firstLost: reader.firstLost)
    }

    /// The size and the SHA-256 of a file; nil if it cannot be read.
    ///
    /// - Parameter meanwhile: is called after each piece, with the number of its bytes.
    static func checksum(
        of path: String, _ meanwhile: (Int) async throws -> Void
    ) async throws -> (bytes: Int64, sha256: String)? {
        guard AssetFiles.byteCount(of: path) != nil, let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        var bytes: Int64 = 0
        let hash = RunningHash()
        while true {
            let data: Data
            do {
                data = try handle.read(upToCount: pieceBytes) ?? Data()
            } catch {
                return nil
            }
            guard !data.isEmpty else { return (bytes, Hex.encode(hash.finish())) }
            hash.update([UInt8](data))
            bytes += Int64(data.count)
            try await meanwhile(data.count)
        }
    }
}

/// SHA-256 of content in pieces.
final class RunningHash {
    private var hash: SHA256? = SHA256()

    func update(_ bytes: [UInt8]) { hash?.update(bytes) }

    /// Call it once.
    func finish() -> [UInt8] { hash.take()?.finish() ?? [] }
}

/// What a manifest says, without its assets.
struct BackupManifest: Sendable {
    let head: BackupLine.Head
    let migrations: [BackupLine.Step]
    let containers: [BackupLine.Container]
    let files: [BackupLine.File]
    let assetCount: Int
    let assetBytes: Int64
    /// Assets whose files were missing or damaged when the backup was made.
    let lostCount: Int
    /// The first of them.
    let firstLost: [AssetKey]

    /// Without what was lost.
    var summary: String {
        let records = containers.reduce(0) { $0 + $1.records }
        return
            "\(Amount.text(containers.count, "container")), \(Amount.records(records)) and "
            + "\(Amount.text(assetCount, "asset")) (\(Amount.bytes(assetBytes)))"
    }
}
