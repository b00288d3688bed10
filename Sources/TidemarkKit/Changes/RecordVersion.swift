// SPDX-License-Identifier: Apache-2.0

/// What a change tag says of its version (`Records.proto`, `Record.tag`).
///
/// This and ``StoreLife`` are all that a client reads of tags and tokens, which are opaque to it otherwise.
struct RecordVersion: Equatable, Sendable {
    let life: StoreLife
    /// The zone's number in the store. Another zone of the same name has another one.
    let zone: UInt64
    /// Counts on in the zone with each version of each of its records.
    let number: UInt64

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
    private var generation: UInt64 { number >> 40 }

    /// What this version is to another one of the same record.
    func order(relativeTo other: RecordVersion) -> TidemarkVersionOrder {
        guard zone == other.zone else { return .unrelated }
        if life == other.life { return order(of: other, ifLower: .older) }
        // What was saved in a life that went on from a backup of another one is not in that one's history; what came from the
        // backup is, and keeps its number.
        if life.wasRestored(from: other.life), generation <= other.generation {
            return order(of: other, ifLower: .wentBack)
        }
        if other.life.wasRestored(from: life), other.generation <= generation {
            return order(of: other, ifLower: .older)
        }
        return .unrelated
    }

    private func order(of other: RecordVersion, ifLower lower: TidemarkVersionOrder) -> TidemarkVersionOrder {
        number == other.number ? .same : number > other.number ? .newer : lower
    }
}

/// One life of a server's store: from its beginning, or a restore from a backup, to the next restore.
struct StoreLife: Hashable, Sendable {
    let rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The life that a change token belongs to; nil for what is no token of a kind that this client knows.
    init?(token: CKServerChangeToken) {
        guard let numbers = SealedNumbers(token.bytes)?.values, numbers.count > 2, numbers[0] == Self.tokenVersion
        else {
            return nil
        }
        self.init(rawValue: numbers[2])
    }

    private static let tokenVersion: UInt64 = 1

    /// Whether this life began with a backup of the other one. The upper half of its number is the lower half of that one's.
    /// Of lives further apart nothing is known.
    func wasRestored(from other: StoreLife) -> Bool {
        rawValue >> 32 == other.rawValue & 0xFFFF_FFFF
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
