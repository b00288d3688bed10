// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkStore

/// Writes an account's archive: lines as they are read, page by page.
struct ArchiveWriter {
    /// What the archive has, and what it lacks.
    struct Tally: Sendable, Equatable {
        var zoneCount = 0
        var recordCount = 0
        var assetCount = 0
        /// Encrypted values, which only the user's devices can read.
        var encryptedCount = 0
        /// CKShare records: who takes part is known to this server alone.
        var shareCount = 0
        /// Assets whose file is not there.
        var missingAssetCount = 0
    }

    let store: AdminStore
    /// Nil: records come without the content of their assets.
    let assets: (any AssetStore)?
    /// Takes each line.
    let put: (String) async throws -> Void
    private(set) var tally = Tally()
    /// Hashes of assets that were written in this container.
    private var written: Set<[UInt8]> = []

    /// With more hashes all are forgotten, and some assets are written twice.
    private static let writtenMax = 100_000
    private static let pieceBytes = 262_144
    private static let zonesOfPage = 500

    init(_ store: AdminStore, assets: (any AssetStore)?, put: @escaping (String) async throws -> Void) {
        self.store = store
        self.assets = assets
        self.put = put
    }

    mutating func write(account name: String, person: PersonName?, users: [AccountUser]) async throws {
        let head = ArchiveLine.Account(
            version: ArchiveLine.version, account: name, givenName: person?.given, familyName: person?.family)
        try await put(try ArchiveLine.account(head).text)
        for user in users {
            let line = ArchiveLine.Container(
                container: user.container.identifier, environment: EnvironmentName(user.container.environment),
                user: user.recordName)
            try await put(try ArchiveLine.container(line).text)
            written = []
            try await writeZones(of: user.privateDatabase)
        }
    }

    private mutating func writeZones(of database: DatabaseID) async throws {
        var last: ZoneID?
        while true {
            let zones = try await store.livingZones(in: database, after: last, zonesMax: Self.zonesOfPage)
            for zone in zones {
                tally.zoneCount += 1
                let line = ArchiveLine.Zone(zone: zone.key.name, isPerZone: zone.encryptionScope == .perZone)
                try await put(try ArchiveLine.zone(line).text)
                try await writeRecords(of: zone)
            }
            guard zones.count == Self.zonesOfPage, let end = zones.last else { return }
            last = end.id
        }
    }

    private mutating func writeRecords(of zone: ZoneState) async throws {
        var last = ""
        while true {
            let page = try await store.recordPage(in: zone, after: last)
            guard let end = page.last else { return }
            for record in page where !record.isDeleted {
                if Share.isType(record.type) {
                    tally.shareCount += 1
                } else {
                    try await write(record, of: zone)
                }
            }
            last = end.name
        }
    }

    private mutating func write(_ record: RecordState, of zone: ZoneState) async throws {
        for asset in record.fields.assets where !written.contains(asset.sha256) {
            try await write(asset, of: zone.key.database)
        }
        let line = try RecordLine(record, zone: nil)
        tally.recordCount += 1
        tally.encryptedCount += line.encryptedCount
        try await put(try ArchiveLine.record(line).text)
    }

    private mutating func write(_ asset: FieldAsset, of database: DatabaseID) async throws {
        if written.count >= Self.writtenMax { written = [] }
        written.insert(asset.sha256)
        guard let assets else { return }
        let key = AssetKey(database: database, content: asset)
        var offset: Int64 = 0
        repeat {
            let count = Int(min(Int64(Self.pieceBytes), asset.byteCount - offset))
            guard let data = try await Self.read(key, at: offset, count: count, from: assets),
                !data.isEmpty || asset.byteCount == 0
            else {
                tally.missingAssetCount += 1
                return
            }
            try await put(try ArchiveLine.asset(ArchiveLine.Asset(asset, offset: offset, data)).text)
            offset += Int64(data.count)
        } while offset < asset.byteCount
        tally.assetCount += 1
    }

    /// Nil if there is no such file.
    private static func read(
        _ asset: AssetKey, at offset: Int64, count: Int, from assets: any AssetStore
    ) async throws -> [UInt8]? {
        do {
            return try await assets.read(asset, at: offset, count: count, after: [], for: .nobody)
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
    }
}
