// SPDX-License-Identifier: Apache-2.0

internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkLocalPostgres
internal import TidemarkPostgres
internal import TidemarkServer
internal import TidemarkService
internal import TidemarkStore

/// Makes a backup (R-950): a dump of one snapshot of the database, and the files of all assets that records of this snapshot
/// name. Meanwhile servers go on, and remove no assets.
struct BackupCreation {
    let console: Console
    let directory: BackupDirectory
    let assetDirectory: String?
    /// An earlier backup, with which files are shared.
    let previous: BackupDirectory?
    /// Whether files are shared with the servers' directory, where that is possible.
    let linksAssets: Bool
    let checksSpace: Bool
    /// Whether the operator knows that files of assets are lost.
    let acceptsLoss: Bool
    let tool: PostgresTool
    let connection: ProgramConnection
    /// No backup takes longer: while it runs, nothing is removed.
    let timeMax: Duration

    private static let assetsOfPage = 500
    /// Below the time after which PostgreSQL ends an idle transaction.
    private static let keepAlivePause = Duration.seconds(30)

    /// What a backup has, and how many of the assets that it lacks were lost since somebody accepted a loss.
    typealias MadeBackup = (manifest: BackupManifest, newlyLost: Int)

    func run() async throws -> MadeBackup {
        let isFull = AdminFailure(
            .refused, "\(directory.path) is not empty. Name a new directory, or remove what is in it.")
        // Before anybody is asked.
        guard AssetFiles.isEmpty(directory.path) else { throw isFull }
        try await confirmLoss()
        return try await withSnapshot { snapshot in
            let facts = try await snapshot.facts()
            try await checkAssets(snapshot, facts)
            if checksSpace { try checkSpace(facts) }
            try console.plan("write a backup into \(directory.path)")
            try AssetFiles.makeDirectory(directory.path)
            guard AssetFiles.isEmpty(directory.path) else { throw isFull }
            try AssetFiles.closeToOthers(directory.path)
            let writer = try ManifestWriter(directory)
            let clock = BackupClock(snapshot, pause: Self.keepAlivePause, timeMax: timeMax)
            let head = BackupLine.Head(
                version: BackupLine.version, time: DateForm.milliseconds(facts.time), tidemark: Server.version,
                postgres: facts.postgres.number, dumpedBy: tool.major,
                incarnation: Hex.encode(facts.incarnation.rawValue.bigEndianBytes),
                masterKey: facts.masterKeyCheck.map { Hex.encode($0) })
            try writer.put(BackupLine(backup: head))
            let migrations = try await snapshot.migrations().map { BackupLine.Step($0) }
            for migration in migrations { try writer.put(BackupLine(migration: migration)) }
            let containers = try await snapshot.contents().map { BackupLine.Container($0) }
            for container in containers { try writer.put(BackupLine(container: container)) }
            let file = try await dump(facts, snapshot, clock)
            try writer.put(BackupLine(file: file))
            let lost = try await copyAssets(snapshot, facts, writer, clock)
            // If the snapshot was lost meanwhile, assets may have been removed: then this is no backup.
            try await snapshot.keepAlive()
            try writer.finish()
            if acceptsLoss, lost.newCount > 0 { await acceptLoss(seenAt: facts.time) }
            let manifest = BackupManifest(
                head: head, migrations: migrations, containers: containers, files: [file],
                assetCount: writer.assetCount, assetBytes: writer.assetBytes, lostCount: lost.count,
                firstLost: lost.first)
            return (manifest, lost.newCount)
        }
    }

    private func withSnapshot(_ body: (BackupSnapshot) async throws -> MadeBackup) async throws -> MadeBackup {
        let snapshot = try await openSnapshot()
        let result: Result<MadeBackup, any Error>
        do {
            result = .success(try await body(snapshot))
        } catch {
            result = .failure(failure(error))
        }
        console.screen.showProgress(nil)
        await snapshot.close()
        return try result.get()
    }

    private func openSnapshot() async throws -> BackupSnapshot {
        do {
            return try await BackupSnapshot.open(console.storage, holdsAssets: true)
        } catch {
            guard error.code == .zoneBusy else { throw error }
            throw AdminFailure(.refused, "Another backup of this database is under way. Wait for its end.")
        }
    }

    /// The disk of the backup is not that of the servers' assets.
    private func failure(_ error: any Error) -> any Error {
        guard let error = error as? AssetStoreError else { return error }
        return AdminFailure(
            .refused,
            "The backup could not be completed: \(error). \(directory.path) holds no backup. Make room, or check who may "
                + "read and write there.")
    }

    // MARK: Before it begins

    private func checkAssets(_ snapshot: BackupSnapshot, _ facts: BackupFacts) async throws {
        guard let assetDirectory else {
            guard facts.assetCount == 0 else {
                throw AdminFailure(
                    .usage,
                    "Records have files: name the servers' directory with --asset-directory, or TIDEMARK_ASSET_DIRECTORY."
                )
            }
            return
        }
        let (assets, backup) = (BackupDirectory(assetDirectory).path, directory.path)
        guard !"\(backup)/".hasPrefix("\(assets)/") else {
            throw AdminFailure(
                .usage, "\(backup) is in the directory of assets. Name a directory elsewhere, on another disk.")
        }
        guard !acceptsLoss, try await lacksFiles(snapshot, in: assets) else { return }
        throw AdminFailure(
            .refused,
            "\(Self.finding(assets)) Is its disk mounted? Name the servers' directory. If their files are lost for good, back "
                + "up the rest with --without-lost-assets.")
    }

    /// A disk that is not mounted looks like an empty directory. Such a backup would lack all assets.
    private func lacksFiles(_ snapshot: BackupSnapshot, in assets: String) async throws -> Bool {
        var page = try await snapshot.assets(after: nil, countMax: Self.assetsOfPage)
        while let last = page.last {
            // Of files whose loss was accepted nothing follows.
            let named = page.filter { $0.isNamed && $0.loss == nil }.map(\.asset)
            guard named.isEmpty else {
                return !named.contains { AssetFiles.byteCount(of: AssetFiles.path(of: $0, in: assets)) != nil }
            }
            page = try await snapshot.assets(after: last.asset, countMax: Self.assetsOfPage)
        }
        return false
    }

    private static func finding(_ assets: String) -> String {
        "\(assets) has none of the assets that were looked for."
    }

    /// Asks while no snapshot is open: whoever is asked may take hours, and servers must collect assets meanwhile.
    private func confirmLoss() async throws {
        guard acceptsLoss, let assetDirectory else { return }
        let assets = BackupDirectory(assetDirectory).path
        let snapshot = try await BackupSnapshot.open(console.storage, holdsAssets: false)
        let result: Result<Bool, any Error>
        do {
            result = .success(try await lacksFiles(snapshot, in: assets))
        } catch {
            result = .failure(error)
        }
        await snapshot.close()
        guard try result.get() else { return }
        try await console.confirm(
            "write a backup into \(directory.path) without them",
            loss: "\(Self.finding(assets)) If its disk is merely not mounted, such a backup is useless.")
    }

    /// A dump is compressed and has no indexes, so it is smaller than the tables. Files that are shared need no room.
    private func checkSpace(_ facts: BackupFacts) throws(AdminFailure) {
        var place = directory.path
        var free = AssetFiles.freeByteCount(at: place)
        while free == nil, place != "/", place != "." {
            place = AssetFiles.parent(of: place)
            free = AssetFiles.freeByteCount(at: place)
        }
        let needed = facts.tableBytes + (previous == nil && !linksAssets ? facts.assetBytes : 0)
        guard let free, free < needed else { return }
        throw AdminFailure(
            .refused,
            "The backup may need \(Amount.bytes(needed)), and \(place) has room for \(Amount.bytes(free)). Make room, or "
                + "begin all the same with --skip-space-check.")
    }

    // MARK: The dump

    private func dump(
        _ facts: BackupFacts, _ snapshot: BackupSnapshot, _ clock: BackupClock
    ) async throws -> BackupLine.File {
        try AssetFiles.create(directory.dump)
        let progress = BackupProgress(console.screen, "Dumping the database")
        try await tool.run(
            [
                "--format=custom", "--encoding=UTF8", "--no-password", "--snapshot=\(snapshot.name)",
                "--file=\(directory.dump)", "--dbname=\(connection.name)",
            ], variables: BackupToolOptions.variables(connection)
        ) {
            try await clock.tick()
            progress.show(AssetFiles.byteCount(of: directory.dump) ?? 0)
        }
        try AssetFiles.synchronizeFile(directory.dump)
        let reading = BackupProgress(
            console.screen, "Reading the dump", of: AssetFiles.byteCount(of: directory.dump))
        let sum = try await BackupDirectory.checksum(of: directory.dump) { count in
            reading.add(Int64(count))
            try await clock.tick()
        }
        guard let sum else { throw AdminFailure(.refused, "\(directory.dump) cannot be read.") }
        return BackupLine.File(name: BackupDirectory.dumpName, bytes: sum.bytes, sha256: sum.sha256)
    }

    // MARK: Assets

    private func copyAssets(
        _ snapshot: BackupSnapshot, _ facts: BackupFacts, _ writer: ManifestWriter, _ clock: BackupClock
    ) async throws -> LostAssets {
        let progress = BackupProgress(console.screen, "Copying assets", of: facts.assetBytes)
        var (lost, shelf) = (LostAssets(), "")
        var last: AssetKey?
        repeat {
            let page = try await snapshot.assets(after: last, countMax: Self.assetsOfPage)
            var found: [AssetKey] = []
            for entry in page where entry.isNamed {
                let asset = entry.asset
                let isThere = try await keep(asset) { count in
                    progress.showPart(Int64(count))
                    try await clock.tick()
                }
                progress.add(asset.content.byteCount)
                if isThere {
                    if entry.loss != nil, hasFile(of: asset) { found.append(asset) }
                } else if lost.add(entry) {
                    console.say("The asset \(AdminBackup.name(of: asset)) is missing or damaged.")
                }
                try writer.put(asset, isLost: !isThere)
                let next = AssetFiles.parent(of: directory.file(of: asset.content))
                if next != shelf, !shelf.isEmpty, isThere { try AssetFiles.synchronizeDirectory(shelf) }
                if isThere { shelf = next }
                try await clock.tick()
            }
            await forgetLoss(of: found)
            last = page.last?.asset
        } while last != nil
        if lost.count > lost.newCount {
            console.say(
                "\(Amount.text(lost.count - lost.newCount, "asset")) among them: that the files are lost was accepted before"
                    + "\(lost.firstAccepted.map { ", first by \($0.by) at \(DateForm.seconds($0.at))" } ?? "").")
        }
        if !shelf.isEmpty {
            try AssetFiles.synchronizeDirectory(shelf)
            try AssetFiles.synchronizeDirectory(directory.assets)
        }
        return lost
    }

    /// Whether the servers have the file. Otherwise an earlier backup, or another database, may have it.
    private func hasFile(of asset: AssetKey) -> Bool {
        guard previous == nil, let assetDirectory else { return false }
        return AssetFiles.byteCount(of: AssetFiles.path(of: asset, in: assetDirectory)) == asset.content.byteCount
    }

    /// Files that are there again may be lost again. The backup is whole without it.
    private func forgetLoss(of assets: [AssetKey]) async {
        guard !assets.isEmpty else { return }
        do {
            try await console.store.forgetLoss(of: assets)
        } catch {
            console.say("It could not be noted that files are there again whose loss was accepted: \(error)")
        }
    }

    /// Remembers what the backup lacks, so that the next one tells what is lost since. The backup is whole without it.
    private func acceptLoss(seenAt time: Timestamp) async {
        var page: [AssetKey] = []
        let (store, name) = (console.store, console.operatorIdentity.name)
        do {
            _ = try await directory.readManifest { asset, isThere in
                guard !isThere else { return }
                page.append(asset)
                guard page.count == Self.assetsOfPage else { return }
                try await store.acceptLoss(of: page, by: name, seenAt: time)
                page = []
            }
            try await store.acceptLoss(of: page, by: name, seenAt: time)
        } catch {
            console.say("It could not be noted that the loss is accepted, so the next backup tells it again: \(error)")
        }
    }

    /// - Returns: false if the servers' directory does not have it, or has it damaged.
    private func keep(_ asset: AssetKey, _ meanwhile: (Int) async throws -> Void) async throws -> Bool {
        let target = directory.file(of: asset.content)
        // Another database has the same content.
        if AssetFiles.byteCount(of: target) == asset.content.byteCount { return true }
        if let earlier = previous?.file(of: asset.content),
            AssetFiles.byteCount(of: earlier) == asset.content.byteCount, AssetFiles.link(earlier, to: target)
        {
            return true
        }
        guard let assetDirectory else { return false }
        let source = AssetFiles.path(of: asset, in: assetDirectory)
        do {
            if linksAssets, AssetFiles.byteCount(of: source) == asset.content.byteCount,
                AssetFiles.link(source, to: target)
            {
                do {
                    try await Self.copy(source, to: nil, asset, meanwhile)
                    return true
                } catch {
                    try AssetFiles.remove(target)
                    throw error
                }
            }
            try await Self.copy(source, to: target, asset, meanwhile)
            return true
        } catch let error as AssetStoreError where error.code == .missing || error.code == .modified {
            return false
        } catch let error as AssetStoreError where error.code == .unreadable {
            return try lose(asset, error)
        }
    }

    /// The disk may lose more of what it has, so a backup goes on only if somebody has said that files are lost.
    ///
    /// - Returns: false: the file is lost.
    private func lose(_ asset: AssetKey, _ error: AssetStoreError) throws(AdminFailure) -> Bool {
        guard acceptsLoss else {
            throw AdminFailure(
                .refused,
                "The file of the asset \(AdminBackup.name(of: asset)) cannot be opened: \(error.detail). \(directory.path) "
                    + "holds no backup. Look after the disk. If the file is lost for good, back up the rest with "
                    + "--without-lost-assets.")
        }
        console.say("The file of the asset \(AdminBackup.name(of: asset)) cannot be opened: \(error.detail).")
        return false
    }

    /// - Parameter target: nil: the file is only read.
    static func copy(
        _ source: String, to target: String?, _ asset: AssetKey, _ meanwhile: (Int) async throws -> Void
    ) async throws {
        let copying = try AssetCopying(source, to: target, asset.content)
        var done = 0
        while case let count = try copying.step(), count > 0 {
            done += count
            try await meanwhile(done)
        }
        try copying.finish()
    }
}

/// Assets that a backup lacks.
struct LostAssets {
    private(set) var count = 0
    /// Those of them whose loss nobody had accepted.
    private(set) var newCount = 0
    private(set) var first: [AssetKey] = []
    private(set) var firstAccepted: AcceptedLoss?

    /// - Returns: whether it is to be told by its name.
    mutating func add(_ entry: BackedUpAsset) -> Bool {
        count += 1
        if first.count < AdminBackup.lostToldMax { first.append(entry.asset) }
        if let loss = entry.loss {
            if firstAccepted.map({ loss.at.milliseconds < $0.at.milliseconds }) ?? true { firstAccepted = loss }
            return false
        }
        newCount += 1
        return newCount <= AdminBackup.lostToldMax
    }
}

/// Keeps a snapshot from being taken for one that was left open, and ends a backup that takes too long.
final class BackupClock {
    private let snapshot: BackupSnapshot
    private let pause: Duration
    private let end: ContinuousClock.Instant
    private let timeMax: Duration
    private var heard = ContinuousClock.now

    init(_ snapshot: BackupSnapshot, pause: Duration, timeMax: Duration) {
        (self.snapshot, self.pause, self.timeMax) = (snapshot, pause, timeMax)
        end = .now + timeMax
    }

    /// Call it as often as you like.
    func tick() async throws {
        try Task.checkCancellation()
        let now = ContinuousClock.now
        guard now < end else {
            throw AdminFailure(
                .refused,
                "The backup took more than \(timeMax.components.seconds / 60) minutes, and was given up. Let it take longer: "
                    + "--within.")
        }
        guard now - heard >= pause else { return }
        try await snapshot.keepAlive()
        heard = .now
    }
}

extension UInt64 {
    /// The most significant byte first.
    fileprivate var bigEndianBytes: [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> UInt64($0)) }
    }
}
