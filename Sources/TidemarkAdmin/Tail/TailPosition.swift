// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkBytes
internal import TidemarkDomain

/// How far somebody has followed a zone: `ZONE.CHANGE`, by the zone's number and the change's.
struct TailPosition: Equatable, Sendable, CustomStringConvertible {
    let zone: ZoneID
    let change: ChangeNumber

    init(zone: ZoneID, change: ChangeNumber) {
        self.zone = zone
        self.change = change
    }

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let zone = Int64(parts[0]), let change = Int64(parts[1]), zone > 0, change >= 0 else {
            return nil
        }
        self.init(zone: ZoneID(zone), change: change)
    }

    var description: String { "\(zone.rawValue).\(change)" }
}

/// Where to go on: behind a change of one zone, or behind all that was shown of many databases.
enum TailStart: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
    case zone(TailPosition)
    /// Zones that it does not name were not there: all of them is new.
    case all([ZoneID: ChangeNumber])

    private static let mark = "all-"

    init?(argument: String) {
        if argument.hasPrefix(Self.mark) {
            guard let heads = Self.heads(of: argument.dropFirst(Self.mark.count)) else { return nil }
            self = .all(heads)
        } else {
            guard let position = TailPosition(argument) else { return nil }
            self = .zone(position)
        }
    }

    var description: String {
        switch self {
        case .zone(let position): return position.description
        case .all(let heads):
            // Zones in order, each by its distance from the one before, so that small stores have short positions.
            var bytes: [UInt8] = []
            var last: Int64 = 0
            for (zone, change) in heads.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                Self.append(zone.rawValue - last, to: &bytes)
                Self.append(change, to: &bytes)
                last = zone.rawValue
            }
            return Self.mark + Base64.encodeURLSafe(bytes)
        }
    }

    private static func heads(of text: Substring) -> [ZoneID: ChangeNumber]? {
        guard let decoded = Base64.decodeURLSafe(String(text)) else { return nil }
        var (bytes, heads, last) = (decoded[...], [ZoneID: ChangeNumber](), Int64(0))
        while !bytes.isEmpty {
            guard let step = number(&bytes), let change = number(&bytes), step > 0 else { return nil }
            let (zone, isTooLarge) = last.addingReportingOverflow(step)
            guard !isTooLarge else { return nil }
            heads[ZoneID(zone)] = change
            last = zone
        }
        return heads
    }

    /// Seven bits a byte, the lowest first. The highest bit says that more come.
    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(number)
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while let byte = bytes.popFirst() {
            guard shift < 63 else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(exactly: number) }
            shift += 7
        }
        return nil
    }
}

/// How far the zones of some databases have been followed.
struct TailProgress: Sendable {
    private var heads: [DatabaseID: [ZoneID: ChangeNumber]] = [:]
    /// What ``TailStart``s say of zones.
    private let starts: [ZoneID: ChangeNumber]
    /// Whether zones of which they say nothing are new.
    private let namesAll: Bool

    /// - Parameter positions: later ones count for their zones.
    init(after positions: [TailStart] = []) {
        var (starts, namesAll) = ([ZoneID: ChangeNumber](), false)
        for position in positions {
            switch position {
            case .zone(let position): starts[position.zone] = position.change
            case .all(let heads):
                starts.merge(heads) { $1 }
                namesAll = true
            }
        }
        self.starts = starts
        self.namesAll = namesAll
    }

    /// Begins to follow a database, of which only changes are wanted that come from now on, or after a position.
    ///
    /// - Parameter isNew: whether it was not there before, so that all in it is wanted.
    mutating func begin(_ database: DatabaseID, _ zones: [ZoneState], isNew: Bool = false) {
        let fromBeginning = isNew || namesAll
        heads[database] = Dictionary(
            zones.map { ($0.id, starts[$0.id] ?? (fromBeginning ? 0 : $0.changeNumber)) }
        ) { first, _ in first }
    }

    /// After which change a zone is read next; nil if there is nothing new. A zone that is new is read from its beginning.
    func start(of zone: ZoneState) -> ChangeNumber? {
        let seen = heads[zone.key.database]?[zone.id] ?? 0
        return zone.changeNumber > seen ? seen : nil
    }

    mutating func advance(_ zone: ZoneState, to change: ChangeNumber) {
        heads[zone.key.database, default: [:]][zone.id] = max(change, heads[zone.key.database]?[zone.id] ?? 0)
    }

    /// Zones that have ended are forgotten, so that memory is bounded by the zones that there are.
    mutating func keep(only zones: [ZoneState], in database: DatabaseID) {
        let known = heads[database] ?? [:]
        heads[database] = Dictionary(zones.map { ($0.id, known[$0.id] ?? 0) }) { first, _ in first }
    }

    var zoneCount: Int { heads.values.reduce(0) { $0 + $1.count } }

    /// Where a later call goes on.
    var position: TailStart {
        .all(heads.values.reduce(into: [:]) { all, zones in all.merge(zones) { first, _ in first } })
    }
}
