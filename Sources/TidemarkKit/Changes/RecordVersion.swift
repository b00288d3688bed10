// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// The version that a change tag names (`Records.proto`, `Record.tag`).
///
/// This and ``FeedPlace`` are all that a client reads of tags and tokens, which are otherwise opaque to it.
struct RecordVersion: Equatable, Sendable {
    let life: StoreLife
    /// The zone's number in the store. Another zone of the same name has another number.
    let zone: UInt64
    /// Grows in the zone with each version of each record.
    let number: UInt64
    /// The zone's newest known number from before this version's incarnation of the store; 0 if none is known. A
    /// version with this number or a lower one was in the backup.
    var historyNumber: UInt64 = 0

    init(life: StoreLife, zone: UInt64, number: UInt64) {
        self.life = life
        self.zone = zone
        self.number = number
    }

    /// Nil for a tag of a kind that this client does not know: nothing can be said of it.
    init?(tag: [UInt8]) {
        guard let numbers = SealedNumbers(tag)?.values, numbers.count == 4, numbers[0] == Self.tagVersion else {
            return nil
        }
        self.init(life: StoreLife(rawValue: numbers[1]), zone: numbers[2], number: numbers[3])
    }

    private static let tagVersion: UInt64 = 1

    /// How many incarnations of the store the zone had been in when this was saved. Each restore moves its number on to
    /// the next multiple of 2^40.
    var generation: UInt64 { number >> 40 }

    /// The order of this version relative to another one of the same record.
    func order(relativeTo other: RecordVersion) -> TidemarkVersionOrder {
        guard zone == other.zone else { return .unrelated }
        if life == other.life { return order(of: other, ifLower: .older) }
        // A version that was saved after a restore is not in the history of the incarnation before. A version from the
        // backup is, and keeps its number.
        if life.wasRestored(from: other.life) {
            if generation <= other.generation { return order(of: other, ifLower: .wentBack) }
            return other.number <= historyNumber ? .newer : .unrelated
        }
        if other.life.wasRestored(from: life) {
            if other.generation <= generation { return order(of: other, ifLower: .older) }
            return number <= other.historyNumber ? .older : .unrelated
        }
        return .unrelated
    }

    private func order(of other: RecordVersion, ifLower lower: TidemarkVersionOrder) -> TidemarkVersionOrder {
        number == other.number ? .same : number > other.number ? .newer : lower
    }
}

extension ServerMetadata {
    /// Nil if the tag is of a kind that this client does not know.
    var version: RecordVersion? {
        var version = RecordVersion(tag: tag)
        version?.historyNumber = historyNumber
        return version
    }
}

/// Finds in a full fetch how far the history reaches that a restored store shares with the incarnation before. Versions
/// come in the order of their numbers, those of the backup first.
struct RestoredHistory: Sendable {
    private var newest = RecordVersion(life: StoreLife(rawValue: 0), zone: 0, number: 0)
    private var before: UInt64 = 0

    /// Takes in the next version of the zone's feed.
    ///
    /// - Returns: its ``RecordVersion/historyNumber``.
    mutating func numberBefore(_ version: RecordVersion) -> UInt64 {
        if version.generation > newest.generation { before = newest.number }
        newest = version
        return before
    }
}

/// One incarnation of a server's store: from its beginning, or from a restore, to the next restore.
struct StoreLife: Hashable, Sendable {
    let rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Whether this incarnation began with a backup of the other one. The upper half of its number is then the lower
    /// half of the other's. Nothing is known of incarnations further apart.
    func wasRestored(from other: StoreLife) -> Bool {
        rawValue >> 32 == other.rawValue & 0xFFFF_FFFF
    }
}

/// How far a feed has been read, according to a change token.
struct FeedPlace: Equatable, Sendable {
    let life: StoreLife
    /// The zone's number in the store; 0 if the token belongs to a database's feed.
    let zone: UInt64
    let number: UInt64

    init(life: StoreLife, zone: UInt64, number: UInt64) {
        self.life = life
        self.zone = zone
        self.number = number
    }

    /// Nil for a token of a kind that this client does not know.
    init?(_ token: CKServerChangeToken) {
        guard let numbers = SealedNumbers(token.bytes)?.values, numbers.count > 4, numbers[0] == Self.tokenVersion
        else {
            return nil
        }
        let life = StoreLife(rawValue: numbers[2])
        switch numbers[1] {
        case Self.zoneKind where numbers.count > 6, Self.viewedZoneKind where numbers.count > 6:
            self.init(life: life, zone: numbers[5], number: numbers[6])
        case Self.databaseKind: self.init(life: life, zone: 0, number: numbers[4])
        default: return nil
        }
    }

    var isOfZone: Bool { zone != 0 }

    private static let tokenVersion: UInt64 = 1
    private static let zoneKind: UInt64 = 1
    private static let databaseKind: UInt64 = 2
    /// The kind of a version in a zone of another user.
    private static let viewedZoneKind: UInt64 = 3

    /// Whether a feed that was read to its end here continues from that earlier place. It does not if the store has
    /// another incarnation, or was restored without beginning a new one. The numbers of zones, and those of versions in
    /// a zone, only grow.
    func goesOn(from before: FeedPlace) -> Bool {
        life == before.life && (zone, number) >= (before.zone, before.number)
    }
}

/// The form of tags and tokens: numbers (``WireNumber``), and four bytes of FNV-1a over them.
private struct SealedNumbers {
    var values: [UInt64] = []

    init?(_ bytes: [UInt8]) {
        guard bytes.count > 4 else { return nil }
        let content = bytes.dropLast(4)
        let sum = content.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        guard bytes.suffix(4).reduce(UInt32(0), { $0 << 8 | UInt32($1) }) == sum else { return nil }
        var offset = 0
        while offset < content.count {
            guard let number = try? WireNumber.readShortest(bytes.span, &offset, content.count) else { return nil }
            values.append(number)
        }
    }
}
