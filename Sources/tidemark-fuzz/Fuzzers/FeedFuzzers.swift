// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields

extension Fuzzer {
    /// A client's change token: it is read only if it is what we would write, and does no harm as a place in any feed.
    /// If the leading byte is odd, the checksum is corrected.
    static let changeToken = Fuzzer(name: "change-token", seeds: { FeedSeeds.tokens }) { input throws(Finding) in
        let bytes = FeedSeeds.unsealed(input)
        let token = ChangeToken(bytes: bytes)
        if let token {
            try Finding.unless(token.bytes == bytes, "read from \(bytes), written as \(token.bytes)")
        }
        let hasZonePage = try FeedPages.askZone(bytes)
        let hasDatabasePage = try FeedPages.askDatabase(bytes)
        try Finding.unless(token != nil || bytes.isEmpty || !(hasZonePage || hasDatabasePage), "a page for no token")
        return token != nil
    }

    /// A client's change tag, with the same leading byte.
    static let changeTag = Fuzzer(name: "change-tag", seeds: { FeedSeeds.tags }) { input throws(Finding) in
        let bytes = FeedSeeds.unsealed(input)
        let tag = ChangeTag(bytes: bytes)
        guard tag != .foreign else { return false }
        try Finding.unless(tag.bytes == bytes, "read from \(bytes), written as \(tag.bytes)")
        for policy in SavePolicy.allCases {
            let own = policy.verdict(tag: tag, current: tag)
            try Finding.unless(own == policy.verdict(tag: ChangeTag(bytes: bytes), current: tag), "\(own)")
            _ = policy.verdict(tag: tag, current: nil)
            _ = policy.verdict(tag: .foreign, current: tag)
        }
        return true
    }
}

/// Small feeds on which every token is tried.
private enum FeedPages {
    static let key = ZoneKey(database: DatabaseID(3), name: "notes")
    static let store = StoreIncarnation(0xFEED)
    static let device = DeviceID(high: 1, low: 2)

    static func askZone(_ token: [UInt8]) throws(Finding) -> Bool {
        let made = ZonePageQuery.make(
            key: key, token: token, limit: Int(token.last ?? 0) % 4, device: device, reader: nil, store: store,
            limits: .ofFuzzers)
        guard case .success(let query) = made else { return false }
        let records = [record("a", 5), record("b", 6, isDeleted: true), record("c", 7)]
        let zone = ZoneState(
            id: ZoneID(11), key: key, createdAt: Timestamp(milliseconds: 0), changeNumber: 7, oldestTokenNumber: 4)
        let read = ZonePageRead(zone: zone, lastRemoval: nil, records: records, hasMore: false)
        guard case .success(let page) = ZonePage.make(of: read, for: query, store: store) else { return false }
        guard case .success(let position) = ChangeToken.position(in: key, from: page.token.bytes, store: store) else {
            throw Finding("our own token is refused: \(page.token)")
        }
        try Finding.unless(position?.zone == zone.id, "our own token leads elsewhere: \(page.token)")
        return true
    }

    private static func record(_ name: String, _ number: ChangeNumber, isDeleted: Bool = false) -> RecordState {
        let time = Timestamp(milliseconds: 0)
        return RecordState(
            name: name, type: "Note", fields: FieldMap(), changeNumber: number, isDeleted: isDeleted, parent: nil,
            createdAt: time, createdBy: UserID(1), createdByDevice: device, modifiedAt: time, modifiedBy: UserID(1),
            batchEnd: number)
    }

    static func askDatabase(_ token: [UInt8]) throws(Finding) -> Bool {
        guard
            case .success(let after) = ChangeToken.position(
                inDatabaseFeedOf: key.database, from: token, store: store)
        else { return false }
        let entry = DatabaseFeedEntry(number: 6, zone: ZoneID(11), key: key, changeNumber: 3, removal: nil)
        let news = DatabaseFeedEntry(number: nil, zone: ZoneID(12), key: key, changeNumber: 4, removal: nil)
        let read = DatabaseFeedRead(head: 7, oldestToken: 4, unnumbered: [news], entries: [entry], hasMore: false)
        let made = DatabasePage.make(of: read, viewer: key.database, after: after, entriesMax: 10, store: store)
        guard case .success(let page) = made else { return false }
        try Finding.unless(
            ChangeToken(bytes: page.token.bytes) == page.token, "our own token is garbled: \(page.token)")
        return true
    }
}

private enum FeedSeeds {
    /// The bytes after the first, with their correct checksum if the first is odd.
    static func unsealed(_ input: [UInt8]) -> [UInt8] {
        guard let first = input.first else { return [] }
        let bytes = Array(input.dropFirst())
        guard first & 1 == 1, bytes.count > 4 else { return bytes }
        // FNV-1a of 32 bits, written a second time on purpose.
        let content = bytes.dropLast(4)
        let sum = content.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let shifts: [UInt32] = [24, 16, 8, 0]
        return Array(content) + shifts.map { UInt8(truncatingIfNeeded: sum >> $0) }
    }

    static let tokens: [[UInt8]] = both(places.map(\.bytes))
    static let tags: [[UInt8]] = both(versions.map(\.bytes))

    private static let places: [ChangeToken] = [
        .zone(FeedPages.key, store: FeedPages.store, position: .init(zone: ZoneID(11), number: 5)),
        .zone(FeedPages.key, store: FeedPages.store, position: .init(zone: ZoneID(11), number: 4, begunAt: .max)),
        .zone(FeedPages.key, store: StoreIncarnation(.max), position: .init(zone: ZoneID(-1), number: .max)),
        .database(store: FeedPages.store, viewer: FeedPages.key.database, position: FeedPosition(number: 5)),
        .database(
            store: FeedPages.store, viewer: FeedPages.key.database,
            position: FeedPosition(number: 5, ahead: [.init(zone: ZoneID(12), changeNumber: 4)])),
    ]

    private static let versions: [ChangeTag] = [
        .version(store: FeedPages.store, zone: ZoneID(11), number: 5),
        .version(store: StoreIncarnation(.max), zone: ZoneID(-1), number: .min),
    ]

    /// Each as it is, and with its checksum corrected.
    private static func both(_ all: [[UInt8]]) -> [[UInt8]] {
        all.map { Array([[0], $0].joined()) } + all.map { Array([[1], $0].joined()) }
    }
}
