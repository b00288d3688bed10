// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkStore

/// Writes an account's archive: lines as they are read, page by page.
struct ArchiveWriter {
    private let storage: PostgresStorage
    private let store: AdminStore
    /// Nil: records come without the content of their assets.
    private let assets: (any AssetStore)?
    /// Opens the keys of accounts; nil: keys come as they are stored.
    private let escrow: (any KeyEscrow)?
    /// Takes each line.
    private let put: (String) async throws -> Void
    /// What was written, and what is missing.
    private(set) var tally = ArchiveLine.End()
    /// The ids of the keys of the zone that another server can use.
    private var portableKeys: Set<[UInt8]> = []
    /// Hashes of assets that were written in this container.
    private var written: Set<[UInt8]> = []

    /// With more hashes all are forgotten, and some assets are written twice.
    private static let writtenMax = 100_000
    private static let pieceBytes = 262_144
    private static let zonesOfPage = 500

    init(
        _ storage: PostgresStorage, assets: (any AssetStore)?, escrow: (any KeyEscrow)?,
        put: @escaping (String) async throws -> Void
    ) {
        self.storage = storage
        store = AdminStore(storage)
        self.assets = assets
        self.escrow = escrow
        self.put = put
    }

    mutating func write(account name: String, person: PersonName?, users: [AccountUser]) async throws {
        let head = ArchiveLine.Account(
            version: ArchiveLine.version, account: name, givenName: person?.given, familyName: person?.family)
        try await put(try ArchiveLine.account(head).text)
        for user in users {
            let key = try await accountKey(of: user.user)
            let line = ArchiveLine.Container(
                container: user.container.identifier, environment: EnvironmentName(user.container.environment),
                user: user.recordName, encryption: EncryptionArgument(key.mode))
            try await put(try ArchiveLine.container(line).text)
            written = []
            try await writeZones(of: user, key)
        }
        try await put(try ArchiveLine.end(tally).text)
    }

    private mutating func writeZones(of user: AccountUser, _ key: AccountKey) async throws {
        var last: ZoneID?
        while true {
            let zones = try await store.livingZones(
                in: user.privateDatabase, after: last, zonesMax: Self.zonesOfPage)
            for zone in zones {
                tally.zones += 1
                let line = ArchiveLine.Zone(zone: zone.key.name, isPerZone: zone.encryptionScope == .perZone)
                try await put(try ArchiveLine.zone(line).text)
                try await writeKeys(of: zone, in: user.container, key)
                try await writeRecords(of: zone)
            }
            guard zones.count == Self.zonesOfPage, let end = zones.last else { return }
            last = end.id
        }
    }

    // MARK: Keys

    /// The key itself is in it only if the server has it in escrow, and the operator has given the master key.
    ///
    /// - Throws: ``AdminFailure`` if the key does not open.
    private func accountKey(of user: UserID) async throws -> AccountKey {
        let stored = try await storage.accountKey(of: user)
        guard stored.mode == .escrowed, let closed = stored.escrow, let escrow else {
            return AccountKey(mode: stored.mode, id: stored.id, key: nil)
        }
        guard let key = escrow.open(closed, of: user) else {
            throw AdminFailure(.refused, "The account's key does not open with the master key. Name the servers' file.")
        }
        return AccountKey(mode: stored.mode, id: stored.id, key: key)
    }

    private mutating func writeKeys(of zone: ZoneState, in container: ContainerKey, _ account: AccountKey) async throws
    {
        portableKeys = []
        let read = try await storage.zoneKeys(
            of: [zone.key], keysMax: Limits.standard.zoneKeysMax, sharing: .nothing)
        for key in read.first?.keys ?? [] {
            let opened = account.key.flatMap { secret in
                ZoneKeyWrap.unwrap(
                    key.wrapped, id: key.id, with: secret, container: container.identifier, zoneName: zone.key.name)
            }
            // Of an end-to-end account devices have the key, and bring it to the other server.
            if opened != nil || account.mode == .endToEnd { portableKeys.insert(key.id) }
            try await put(try ArchiveLine.zoneKey(ArchiveLine.Key(key, opened: opened)).text)
        }
    }

    // MARK: Records

    private mutating func writeRecords(of zone: ZoneState) async throws {
        var last = ""
        var hasHierarchies = false
        while true {
            let page = try await store.recordPage(in: zone, after: last)
            guard let end = page.last else { break }
            for record in page where !record.isDeleted {
                if Share.isZoneWide(named: record.name) {
                    let sharing = try await storage.sharing(of: zone.key, .whole)?.sharing
                    if let sharing { try await write(share: record, of: zone, sharing) }
                } else if Share.isType(record.type) {
                    hasHierarchies = true
                } else {
                    try await write(record, of: zone)
                }
            }
            last = end.name
        }
        if hasHierarchies { try await writeHierarchies(of: zone) }
    }

    /// The shares of hierarchies, after all records: a root must be there when its share is made again.
    private mutating func writeHierarchies(of zone: ZoneState) async throws {
        guard let sharing = try await storage.sharing(of: zone.key, .whole)?.sharing else { return }
        for share in sharing.hierarchies {
            let records = try await store.records(named: [share.recordName], in: zone.key)
            for record in records where !record.isDeleted { try await write(share: record, of: zone, sharing) }
        }
    }

    private mutating func write(_ record: RecordState, of zone: ZoneState) async throws {
        try await writeAssets(of: record, in: zone)
        let line = try RecordLine(record, zone: nil)
        tally.records += 1
        tally.lacks.encryptedValues += line.unreadableCount(with: portableKeys)
        try await put(try ArchiveLine.record(line).text)
    }

    private mutating func write(share record: RecordState, of zone: ZoneState, _ sharing: ZoneSharing) async throws {
        guard let share = sharing.livingShare(named: record.name) else { return }
        let rows = (sharing.participants[share.number] ?? [:]).values.filter(\.isLiving).sorted {
            ($0.addedAt, $0.id) < ($1.addedAt, $1.id)
        }
        try await writeAssets(of: record, in: zone)
        let names = try await store.accountNames(of: rows.compactMap(\.user))
        let line = try RecordLine(record, zone: nil)
        tally.shares += 1
        tally.lacks.encryptedValues += line.unreadableCount(with: portableKeys)
        let participants = rows.map { row in
            ArchiveLine.Person(
                account: row.user.flatMap { names[$0] }, address: row.address, role: row.role.name,
                permission: row.permission(in: share).name, status: row.status.name)
        }
        try await put(
            try ArchiveLine.share(
                ArchiveLine.Sharing(
                    record: line, publicPermission: share.publicPermission.name, participants: participants,
                    root: share.rootName)
            ).text)
    }

    private mutating func writeAssets(of record: RecordState, in zone: ZoneState) async throws {
        for asset in record.fields.assets where !written.contains(asset.sha256) {
            try await write(asset, of: zone.key.database)
        }
    }

    private mutating func write(_ asset: FieldAsset, of database: DatabaseID) async throws {
        if written.count >= Self.writtenMax { written = [] }
        written.insert(asset.sha256)
        guard let assets else {
            tally.lacks.assets += 1
            return
        }
        let key = AssetKey(database: database, content: asset)
        var offset: Int64 = 0
        repeat {
            let count = Int(min(Int64(Self.pieceBytes), asset.byteCount - offset))
            guard let data = try await Self.read(key, at: offset, count: count, from: assets),
                !data.isEmpty || asset.byteCount == 0
            else {
                tally.lacks.assets += 1
                return
            }
            try await put(try ArchiveLine.asset(ArchiveLine.Asset(asset, offset: offset, data)).text)
            offset += Int64(data.count)
        } while offset < asset.byteCount
        tally.assets += 1
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
