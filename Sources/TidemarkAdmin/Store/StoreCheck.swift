// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkStore

/// Compares what is stored with itself, while servers run (R-956): each zone with its records, quotas with what they count,
/// and assets with their files. It changes nothing, and reads in steps.
struct StoreCheck {
    let console: Console
    /// Where the assets are; nil: files are not looked at.
    let directory: String?
    /// Whether the content of files is read.
    let isDeep: Bool
    /// How long servers keep an asset that no record names.
    let grace: Duration

    /// Findings of one kind, beyond which only their number is told.
    private static let toldMax = 20
    private static let assetsOfPage = 500
    /// Servers collect once an hour. What waits for three rounds is not collected.
    private static let roundsAllowed = Duration.seconds(3 * 3_600)

    func run(_ report: ([DoctorFinding]) async throws -> Void) async throws {
        let series = try SnapshotSeries(console.storage)
        let result: Result<Void, any Error>
        do {
            result = .success(try await run(series, report))
        } catch {
            result = .failure(error)
        }
        console.screen.showProgress(nil)
        await series.close()
        try result.get()
    }

    private func run(_ series: SnapshotSeries, _ report: ([DoctorFinding]) async throws -> Void) async throws {
        try await zones(series, report)
        for (database, counted, sum) in try await console.store.wrongAssetTotals(Self.toldMax) {
            try await report([Diagnosis.finding(assetsOf: database, counted: counted, sum: sum)])
        }
        try await publicUses(series, report)
        guard let directory else { return }
        guard AssetFiles.freeByteCount(at: directory) != nil else {
            return try await report([
                DoctorFinding(
                    .fileMissing, .error, "There is no directory of assets at \(directory).",
                    remedy: "Check the path, or restore it from a backup.")
            ])
        }
        try await files(of: directory, series, report)
        try await orphans(in: directory, report)
    }

    /// Each page is of one snapshot, so a zone that servers write in meanwhile does not differ.
    private func zones(_ series: SnapshotSeries, _ report: ([DoctorFinding]) async throws -> Void) async throws {
        var place: (database: DatabaseID, zone: ZoneID)?
        var count = 0
        while true {
            let after = place
            let page = try await series.look { try await $0.zones(after: after) }
            guard let last = page.last else { return }
            try await report(page.flatMap { Diagnosis.findings(of: $0.sums) + Self.findings(of: $0) })
            place = (last.sums.key.database, last.sums.id)
            count += page.count
            console.screen.showProgress("Comparing zones: \(count)")
            try Task.checkCancellation()
        }
    }

    /// Each public database is of one snapshot.
    private func publicUses(
        _ series: SnapshotSeries, _ report: ([DoctorFinding]) async throws -> Void
    ) async throws {
        var place: DatabaseID?
        while true {
            let after = place
            let page = try await series.look { try await $0.publicUses(after: after) }
            guard let last = page.last else { return }
            try await report(page.differences.map { Diagnosis.finding($0) })
            place = last
            try Task.checkCancellation()
        }
    }

    static func findings(of zone: ZoneCheck) -> [DoctorFinding] {
        let name = "\(zone.sums.key.name) of database \(zone.sums.key.database.rawValue)"
        guard let digest = zone.digest else {
            return [
                DoctorFinding(
                    .zoneDigestUnknown, .warning,
                    "The digest of the zone \(name) is unknown: an older server wrote there.",
                    remedy: "Stop the older servers, and run tidemark admin store mend.")
            ]
        }
        guard digest == zone.digestSum, zone.recordCount == zone.recordSum else {
            return [
                DoctorFinding(
                    .zoneDigest, .error,
                    "The zone \(name) says that it has \(zone.recordCount) records with one digest, and has "
                        + "\(zone.recordSum) with \(digest == zone.digestSum ? "the same" : "another").",
                    remedy: "Look whether somebody changed rows beside the servers. If nobody did, report it.")
            ]
        }
        return []
    }

    // MARK: Assets

    private struct Counts {
        var missing = 0
        var damaged = 0
        var uncollected = 0
        /// Missing or damaged, and an operator has accepted that.
        var accepted = 0
    }

    private func files(
        of directory: String, _ series: SnapshotSeries, _ report: ([DoctorFinding]) async throws -> Void
    ) async throws {
        var counts = Counts()
        let progress = BackupProgress(console.screen, isDeep ? "Reading assets" : "Looking at assets")
        let deadline = console.now.milliseconds - (grace + Self.roundsAllowed).components.seconds * 1_000
        var last: AssetKey?
        repeat {
            let after = last
            let page = try await series.look { try await $0.assets(after: after, countMax: Self.assetsOfPage) }
            for entry in page {
                let asset = entry.asset
                progress.add(asset.content.byteCount)
                guard entry.isNamed else {
                    if entry.touchedAt.milliseconds < deadline { counts.uncollected += 1 }
                    continue
                }
                guard let finding = try await finding(of: asset, in: directory) else { continue }
                // It may have been released and collected since the page was read.
                guard try await series.look({ try await $0.isNamed(asset) }) else { continue }
                if let loss = entry.loss {
                    counts.accepted += 1
                    if counts.accepted <= Self.toldMax { console.say(Self.text(of: asset, loss)) }
                    continue
                }
                let isMissing = finding.code == .assetFileMissing
                if isMissing { counts.missing += 1 } else { counts.damaged += 1 }
                if (isMissing ? counts.missing : counts.damaged) <= Self.toldMax { try await report([finding]) }
            }
            last = page.last?.asset
        } while last != nil
        if counts.accepted > Self.toldMax {
            console.say("\(Amount.text(counts.accepted - Self.toldMax, "further asset")) whose loss was accepted.")
        }
        try await report(Self.findings(missing: counts.missing, damaged: counts.damaged, toldMax: Self.toldMax))
        if counts.uncollected > 0 {
            try await report([
                DoctorFinding(
                    .assetsUncollected, .warning,
                    "\(Amount.text(counts.uncollected, "asset")) that no record names were not collected in time.",
                    remedy: "Run tidemark admin assets collect. While a backup runs, nothing is collected.")
            ])
        }
    }

    /// No finding: somebody knows it, and nothing can be done.
    static func text(of asset: AssetKey, _ loss: AcceptedLoss) -> String {
        "The asset \(AdminBackup.name(of: asset)) is lost. \(loss.by) accepted that at \(DateForm.seconds(loss.at))."
    }

    /// What was not told one by one.
    static func findings(missing: Int, damaged: Int, toldMax: Int) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if missing > toldMax {
            let text = "\(Amount.text(missing - toldMax, "further asset")) without a file."
            findings.append(DoctorFinding(.assetFileMissing, .error, text, remedy: remedy))
        }
        if damaged > toldMax {
            let text = "\(Amount.text(damaged - toldMax, "further asset")) damaged."
            findings.append(DoctorFinding(.assetFileDamaged, .error, text, remedy: remedy))
        }
        return findings
    }

    private static let remedy = "Restore the files from a backup that has them."

    private func finding(of asset: AssetKey, in directory: String) async throws -> DoctorFinding? {
        let path = AssetFiles.path(of: asset, in: directory)
        let name = "The asset \(Hex.encode(asset.content.sha256)) of the database \(asset.database.rawValue)"
        guard let bytes = AssetFiles.byteCount(of: path) else {
            return DoctorFinding(.assetFileMissing, .error, "\(name) has no file.", remedy: Self.remedy)
        }
        guard bytes == asset.content.byteCount else {
            return DoctorFinding(
                .assetFileDamaged, .error, "\(name) has \(bytes) bytes in place of \(asset.content.byteCount).",
                remedy: Self.remedy)
        }
        guard isDeep else { return nil }
        do {
            try await BackupCreation.copy(path, to: nil, asset) { _ in try Task.checkCancellation() }
            return nil
        } catch let error as AssetStoreError where error.code == .modified {
            return DoctorFinding(
                .assetFileDamaged, .error, "\(name) is damaged: \(error.detail).", remedy: Self.remedy)
        } catch let error as AssetStoreError {
            return DoctorFinding(.assetFileDamaged, .error, "\(name) cannot be read: \(error).", remedy: Self.remedy)
        }
    }

    /// Files that the database does not know. One that is being completed is known a moment later, so each is looked for
    /// twice.
    private func orphans(in directory: String, _ report: ([DoctorFinding]) async throws -> Void) async throws {
        let files = try FileAssetStore(
            directory: directory, threads: 1, uploadBytesMax: Limits.standard.uploadBytesMax)
        defer { files.stop() }
        let (store, loop) = (console.store, console.loop)
        let state = Mutex((count: 0, bytes: Int64(0), failure: (any Error)?.none))
        try await files.forEachBatch { batch in
            do {
                let first = try await store.knownAssets(among: batch)
                var unknown = batch.filter { !first.contains($0) }
                guard !unknown.isEmpty else { return true }
                try await loop.sleep(for: .milliseconds(100))
                let second = try await store.knownAssets(among: unknown)
                unknown.removeAll { asset in
                    let path = AssetFiles.path(of: asset, in: directory)
                    return second.contains(asset) || AssetFiles.byteCount(of: path) == nil
                }
                let found = unknown
                state.withLock { state in
                    state.count += found.count
                    state.bytes += found.reduce(0) { $0 + $1.content.byteCount }
                }
                return true
            } catch {
                state.withLock { $0.failure = error }
                return false
            }
        }
        let (count, bytes, failure) = state.withLock { ($0.count, $0.bytes, $0.failure) }
        if let failure { throw failure }
        guard count > 0 else { return }
        try await report([
            DoctorFinding(
                .assetRowMissing, .warning,
                "\(Amount.text(count, "file")) of assets, \(Amount.bytes(bytes)), are unknown to the database.",
                remedy: "tidemark admin assets collect: they go after the grace time.")
        ])
    }
}
