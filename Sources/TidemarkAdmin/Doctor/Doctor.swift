// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkAssets
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTLS

/// Looks at a store, and reports what is wrong as it finds it. All is read in steps, so memory is bounded.
struct Doctor: Sendable {
    /// What it is told of the servers, which the database does not know.
    struct Places: Sendable {
        var assetDirectory: String?
        var masterKeyFile: String?
        var certificateFile: String?
        /// Connections to PostgreSQL that all servers together may need.
        var connectionsNeeded = Self.connectionsOfServer

        /// Those of one server with two loops: for each loop 8 for transactions, 3 for reads, and those for queries,
        /// snapshots, indexes and notices.
        static let connectionsOfServer = 40
    }

    let console: Console
    let places: Places
    /// Whether every zone's records are read too. On a large store this takes long.
    let isDeep: Bool

    /// Findings of one kind, beyond which only their number is told.
    private static let toldMax = 20
    private static let assetsOfPage = 500
    private static let certificateSecondsMin: Int64 = 14 * 86_400

    func run(_ report: ([DoctorFinding]) async throws -> Void) async throws {
        let store = console.store
        let before = console.now.milliseconds
        let facts = try await store.databaseFacts()
        let after = console.now.milliseconds
        try await report(Diagnosis.findings(of: facts, connectionsNeeded: places.connectionsNeeded))
        try await report(Diagnosis.clock(here: before...max(before, after), there: facts.now.milliseconds))
        guard console.isMigrated else { return try await report([Diagnosis.migrationsMissing]) }
        try await report(
            Diagnosis.findings(of: try await store.relations(), expected: Migrations.indexNames))
        try await report(
            Diagnosis.findings(of: try await store.connectedServers(), known: Migrations.all.count))
        let (expired, soon) = try await store.expiringCredentials()
        try await report(Diagnosis.credentials(expired: expired, soon: soon))
        try await report(files())
        for (database, counted, sum) in try await store.wrongAssetTotals(Self.toldMax) {
            try await report([Diagnosis.finding(assetsOf: database, counted: counted, sum: sum)])
        }
        if isDeep { try await zones(report) }
        if let directory = places.assetDirectory { try await assets(in: directory, report) }
    }

    private func zones(_ report: ([DoctorFinding]) async throws -> Void) async throws {
        var place: (database: DatabaseID, zone: ZoneID)?
        while true {
            let zones = try await console.store.zoneSums(after: place)
            guard let last = zones.last else { return }
            try await report(zones.flatMap { Diagnosis.findings(of: $0) })
            place = (last.key.database, last.id)
        }
    }

    // MARK: Files

    private func files() -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if let path = places.masterKeyFile {
            findings += Diagnosis.file(path, "master key", mode: Self.mode(of: path), forbidden: 0o077)
        }
        if let path = places.assetDirectory {
            findings += Diagnosis.file(path, "directory of assets", mode: Self.mode(of: path), forbidden: 0o002)
        }
        if let path = places.certificateFile { findings += certificate(path) }
        return findings
    }

    private static func mode(of path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt32(status.st_mode) & 0o7777 : nil
    }

    private func certificate(_ path: String) -> [DoctorFinding] {
        guard let data = FileManager.default.contents(atPath: path),
            let end = try? CertificateDates.notAfter(pem: String(decoding: data, as: UTF8.self))
        else {
            return [
                DoctorFinding(
                    .certificateUnreadable, .error, "The certificate at \(path) cannot be read.",
                    remedy: "Check the path and that it is PEM.")
            ]
        }
        let left = end - console.now.milliseconds / 1_000
        guard left < Self.certificateSecondsMin else { return [] }
        return [
            DoctorFinding(
                .certificateExpiring, left < 0 ? .error : .warning,
                left < 0
                    ? "The certificate at \(path) has expired."
                    : "The certificate at \(path) ends in \(left / 86_400) days.",
                remedy: "Renew it, and send SIGHUP to the servers.")
        ]
    }

    // MARK: Assets

    private func assets(in directory: String, _ report: ([DoctorFinding]) async throws -> Void) async throws {
        guard Self.mode(of: directory) != nil else { return }
        let files = try FileAssetStore(
            directory: directory, threads: 1, uploadBytesMax: Limits.standard.uploadBytesMax)
        defer { files.stop() }
        var missing = 0
        var last: AssetKey?
        repeat {
            let page = try await console.store.assets(after: last, countMax: Self.assetsOfPage)
            for asset in page where try await !Self.exists(asset, in: files) {
                missing += 1
                if missing <= Self.toldMax { try await report([Self.missing(asset)]) }
            }
            last = page.last
        } while last != nil
        let unknown = Mutex(0)
        let failure = Mutex<(any Error)?>(nil)
        let store = console.store
        try await files.forEachBatch { batch in
            do {
                let known = try await store.knownAssets(among: batch)
                unknown.withLock { $0 += batch.count { !known.contains($0) } }
                return true
            } catch {
                failure.withLock { $0 = error }
                return false
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let count = unknown.withLock { $0 }
        if count > 0 {
            try await report([
                DoctorFinding(
                    .assetRowMissing, .warning, "\(Amount.text(count, "file")) of assets are unknown to the database.",
                    remedy: "tidemark admin assets collect: they go after the grace time.")
            ])
        }
    }

    private static func exists(_ asset: AssetKey, in files: FileAssetStore) async throws -> Bool {
        do {
            _ = try await files.checksum(of: asset, for: .nobody)
            return true
        } catch  where error.code == .missing {
            return false
        }
    }

    private static func missing(_ asset: AssetKey) -> DoctorFinding {
        DoctorFinding(
            .assetFileMissing, .error,
            "An asset of \(asset.content.byteCount) bytes of the database \(asset.database.rawValue) has no file.",
            remedy: "Restore the directory of assets from a backup of the same time.")
    }
}
