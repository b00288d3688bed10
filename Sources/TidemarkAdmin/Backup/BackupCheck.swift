// SPDX-License-Identifier: Apache-2.0

internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkLocalPostgres
internal import TidemarkService

/// Checks a backup: its manifest, each file of the dump and each asset by its checksum, and whether `pg_restore` can
/// read the dump.
struct BackupCheck {
    let directory: BackupDirectory
    let screen: Screen
    let tools: BackupToolOptions

    /// Findings beyond which only their number is told.
    private static let toldMax = 100

    /// - Parameter report: takes findings as they come.
    /// - Returns: how many there are, and the manifest if it could be read.
    func run(
        _ report: @escaping ([BackupFinding]) async throws -> Void
    ) async throws -> (findingCount: Int, manifest: BackupManifest?) {
        defer { screen.showProgress(nil) }
        let manifest: BackupManifest
        do {
            // First all of it: an asset of a manifest that is damaged may be any file.
            manifest = try await directory.readManifest()
        } catch let fault as ManifestFault {
            try await report([BackupFinding(file: "manifest.jsonl", text: fault.description)])
            return (1, nil)
        }
        let findings = ToldFindings(Self.toldMax, report)
        let progress = BackupProgress(
            screen, "Checking", of: manifest.assetBytes + manifest.files.reduce(0) { $0 + $1.bytes })
        for file in manifest.files {
            let sum = try await BackupDirectory.checksum(of: "\(directory.path)/\(file.name)") { count in
                try Task.checkCancellation()
                progress.add(Int64(count))
            }
            if let text = Self.fault(of: file, sum) {
                try await findings.tell(BackupFinding(file: file.name, text: text))
            }
        }
        if !manifest.files.contains(where: { $0.name == BackupDirectory.dumpName }) {
            try await findings.tell(
                BackupFinding(file: BackupDirectory.dumpName, text: "The manifest does not name it."))
        }
        // Contents come once for each database that has them, so a few of them are read twice.
        _ = try await directory.readManifest { asset, isThere in
            guard isThere else { return }
            let text = try await Self.fault(of: asset, at: directory.file(of: asset.content)) { count in
                try Task.checkCancellation()
                progress.add(Int64(count))
            }
            if let text { try await findings.tell(BackupFinding(file: Self.name(of: asset), text: text)) }
        }
        if findings.count == 0, let text = try await dumpFault(manifest) {
            try await findings.tell(BackupFinding(file: BackupDirectory.dumpName, text: text))
        }
        return (findings.count, manifest)
    }

    private static func fault(of file: BackupLine.File, _ sum: (bytes: Int64, sha256: String)?) -> String? {
        guard let sum else { return "It is missing, or cannot be read." }
        guard sum.bytes == file.bytes else { return "It has \(sum.bytes) bytes in place of \(file.bytes)." }
        return sum.sha256 == file.sha256 ? nil : "It is damaged: its checksum is another."
    }

    /// Nil if the file at the path has the asset's content.
    private static func fault(
        of asset: AssetKey, at path: String, _ meanwhile: (Int) async throws -> Void
    ) async throws -> String? {
        guard let bytes = AssetFiles.byteCount(of: path) else { return "It is missing." }
        guard bytes == asset.content.byteCount else {
            return "It has \(bytes) bytes in place of \(asset.content.byteCount)."
        }
        do {
            let copying = try AssetCopying(path, to: nil, asset.content)
            while case let count = try copying.step(), count > 0 { try await meanwhile(count) }
            try copying.finish()
            return nil
        } catch let error as AssetStoreError {
            return error.code == .modified ? "It is damaged: \(error.detail)." : "It cannot be read: \(error)."
        }
    }

    private static func name(of asset: AssetKey) -> String { AssetFiles.path(of: asset.content, inBackup: "assets") }

    /// Nil if `pg_restore` reads what the dump has.
    private func dumpFault(_ manifest: BackupManifest) async throws -> String? {
        let tool = try tools.tool("pg_restore", atLeast: manifest.head.dumpedBy)
        do {
            try await tool.run(["--list", directory.dump], variables: [:])
            return nil
        } catch let error as LocalPostgresError {
            return "pg_restore cannot read it. \(error)"
        }
    }
}

/// What is wrong with a backup.
struct BackupFinding: Sendable, Equatable {
    /// In the directory of the backup.
    let file: String
    let text: String
}

/// Tells the first findings, and counts all.
private final class ToldFindings {
    private(set) var count = 0
    private let toldMax: Int
    private let report: ([BackupFinding]) async throws -> Void

    init(_ toldMax: Int, _ report: @escaping ([BackupFinding]) async throws -> Void) {
        (self.toldMax, self.report) = (toldMax, report)
    }

    func tell(_ finding: BackupFinding) async throws {
        count += 1
        if count <= toldMax { try await report([finding]) }
    }
}
