// SPDX-License-Identifier: Apache-2.0

/// What a change tag says of its version (`Records.proto`, `Record.tag`).
///
/// This and ``FeedPlace`` are all that a client reads of tags and tokens, which are opaque to it otherwise.
struct RecordVersion: Equatable, Sendable {
    let life: StoreLife
    /// The zone's number in the store. Another zone of the same name has another one.
    let zone: UInt64
    /// Counts on in the zone with each version of each of its records.
    let number: UInt64
    /// The newest number from before this version's life that the zone is known to have; 0: none is. What is not newer than
    /// that was in the backup.
    var historyNumber: UInt64 = 0

    init(life: StoreLife, zone: UInt64, number: UInt64) {
        self.life = life
        self.zone = zone
        self.number = number
    }

    /// Nil for what is no tag of a kind that this client knows: nothing can be said of it.
    init?(tag: [UInt8]) {
        guard let numbers = SealedNumbers(tag)?.values, numbers.count == 4, numbers[0] == Self.tagVersion else {
            return nil
        }
        self.init(life: StoreLife(rawValue: numbers[1]), zone: numbers[2], number: numbers[3])
    }

    private static let tagVersion: UInt64 = 1

    /// In how many lives of the store the zone has been when this was saved: each restore counts its number on to the next
    /// multiple of 2^40.
    var generation: UInt64 { number >> 40 }

    /// What this version is to another one of the same record.
    func order(relativeTo other: RecordVersion) -> TidemarkVersionOrder {
        guard zone == other.zone else { return .unrelated }
        if life == other.life { return order(of: other, ifLower: .older) }
        // What was saved in a life that went on from a backup of another one is not in that one's history; what came from the
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

extension RecordMetadata {
    /// Nil if the tag is of no kind that this client knows.
    var version: RecordVersion? {
        var version = RecordVersion(tag: tag)
        version?.historyNumber = historyNumber
        return version
    }
}

/// How far the history reaches that a restored store has in common with the life before, as a full fetch shows it: versions come
/// in the order of their numbers, those from the backup first.
struct RestoredHistory: Sendable {
    private var newest = RecordVersion(life: StoreLife(rawValue: 0), zone: 0, number: 0)
    private var before: UInt64 = 0

    /// The next version of the zone's feed.
    ///
    /// - Returns: its ``RecordVersion/historyNumber``.
    mutating func numberBefore(_ version: RecordVersion) -> UInt64 {
        if version.generation > newest.generation { before = newest.number }
        newest = version
        return before
    }
}

/// One life of a server's store: from its beginning, or a restore from a backup, to the next restore.
struct StoreLife: Hashable, Sendable {
    let rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Whether this life began with a backup of the other one. The upper half of its number is the lower half of that one's.
    /// Of lives further apart nothing is known.
    func wasRestored(from other: StoreLife) -> Bool {
        rawValue >> 32 == other.rawValue & 0xFFFF_FFFF
    }
}

/// What a change token says of how far its feed has been read.
struct FeedPlace: Equatable, Sendable {
    let life: StoreLife
    /// The zone's number in the store; 0: the token is of a database's feed.
    let zone: UInt64
    let number: UInt64

    init(life: StoreLife, zone: UInt64, number: UInt64) {
        self.life = life
        self.zone = zone
        self.number = number
    }

    /// Nil for what is no token of a kind that this client knows.
    init?(_ token: CKServerChangeToken) {
        guard let numbers = SealedNumbers(token.bytes)?.values, numbers.count > 4, numbers[0] == Self.tokenVersion
        else {
            return nil
        }
        let life = StoreLife(rawValue: numbers[2])
        switch numbers[1] {
        case Self.zoneKind where numbers.count > 6: self.init(life: life, zone: numbers[5], number: numbers[6])
        case Self.databaseKind: self.init(life: life, zone: 0, number: numbers[4])
        default: return nil
        }
    }

    var isOfZone: Bool { zone != 0 }

    private static let tokenVersion: UInt64 = 1
    private static let zoneKind: UInt64 = 1
    private static let databaseKind: UInt64 = 2

    /// Whether a feed that has been read to its end, which is here, has gone on from that place. It has not if the store is
    /// another life, or was restored without becoming one: numbers of zones, and in a zone those of versions, only grow.
    func goesOn(from before: FeedPlace) -> Bool {
        life == before.life && (zone, number) >= (before.zone, before.number)
    }
}

/// Numbers of seven bits a byte, lowest first, and four bytes of FNV-1a of them: the form of tags and tokens.
private struct SealedNumbers {
    var values: [UInt64] = []

    init?(_ bytes: [UInt8]) {
        guard bytes.count > 4 else { return nil }
        let content = bytes.dropLast(4)
        let sum = content.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        guard bytes.suffix(4).reduce(UInt32(0), { $0 << 8 | UInt32($1) }) == sum else { return nil }
        var (number, shift) = (UInt64(0), UInt64(0))
        for byte in content {
            guard shift < 63 || (shift == 63 && byte <= 1) else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 {
                values.append(number)
                (number, shift) = (0, 0)
            }
        }
        guard shift == 0 else { return nil }
    }
}
