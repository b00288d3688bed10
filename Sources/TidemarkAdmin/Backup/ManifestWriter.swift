// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields

/// Writes a backup's manifest. It gets its name when all that it names is on the disk, so a backup that was cut off has
/// none.
final class ManifestWriter {
    private let directory: BackupDirectory
    private let handle: FileHandle
    private let hash = RunningHash()
    private var waiting: [UInt8] = []
    private(set) var assetCount = 0
    private(set) var assetBytes: Int64 = 0

    /// Lines are written in pieces of this size.
    private static let pieceBytes = 262_144

    init(_ directory: BackupDirectory) throws {
        self.directory = directory
        try AssetFiles.create(directory.draft)
        guard let handle = FileHandle(forWritingAtPath: directory.draft) else {
            throw AdminFailure(.refused, "\(directory.draft) cannot be written. Check who may write there.")
        }
        self.handle = handle
    }

    deinit { try? handle.close() }

    func put(_ line: BackupLine) throws {
        let bytes = try line.bytes()
        hash.update(bytes)
        try write(bytes)
    }

    func put(_ asset: AssetKey, isLost: Bool) throws {
        let line = BackupLine.Asset(asset)
        guard !isLost else { return try put(BackupLine(lost: line)) }
        assetCount += 1
        assetBytes += asset.content.byteCount
        try put(BackupLine(asset: line))
    }

    /// Everything that the manifest names is on the disk by now.
    func finish() throws {
        let end = BackupLine.End(assets: assetCount, assetBytes: assetBytes, sha256: Hex.encode(hash.finish()))
        try write(try BackupLine(end: end).bytes())
        try flush()
        try handle.synchronize()
        try AssetFiles.rename(directory.draft, to: directory.manifest)
    }

    private func write(_ bytes: [UInt8]) throws {
        waiting += bytes
        if waiting.count >= Self.pieceBytes { try flush() }
    }

    private func flush() throws {
        do {
            try handle.write(contentsOf: Data(waiting))
        } catch {
            throw AdminFailure(
                .refused, "\(directory.draft) cannot be written: \(error.localizedDescription). Make room.")
        }
        waiting = []
    }
}
