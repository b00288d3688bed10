// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain

/// How far somebody has followed a zone: `ZONE.CHANGE`, by the zone's number and the change's.
struct TailPosition: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
    let zone: ZoneID
    let change: ChangeNumber

    init(zone: ZoneID, change: ChangeNumber) {
        self.zone = zone
        self.change = change
    }

    init?(argument: String) {
        let parts = argument.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let zone = Int64(parts[0]), let change = Int64(parts[1]), zone > 0, change >= 0 else {
            return nil
        }
        self.init(zone: ZoneID(zone), change: change)
    }

    var description: String { "\(zone.rawValue).\(change)" }
}

/// How far the zones of a database have been followed.
struct TailProgress: Sendable {
    private var heads: [ZoneID: ChangeNumber]

    /// - Parameters:
    ///   - zones: the living zones; their changes until now are not wanted.
    ///   - positions: after which those of their zones are wanted all the same.
    init(_ zones: [ZoneState], after positions: [TailPosition]) {
        heads = Dictionary(zones.map { ($0.id, $0.changeNumber) }) { first, _ in first }
        for position in positions { heads[position.zone] = position.change }
    }

    /// After which change a zone is read next; nil if there is nothing new. A zone that is new is read from its beginning.
    func start(of zone: ZoneState) -> ChangeNumber? {
        let seen = heads[zone.id] ?? 0
        return zone.changeNumber > seen ? seen : nil
    }

    mutating func advance(_ zone: ZoneID, to change: ChangeNumber) {
        heads[zone] = max(change, heads[zone] ?? 0)
    }

    /// Zones that have ended are forgotten, so that memory is bounded by the zones that there are.
    mutating func keep(only zones: [ZoneState]) {
        let living = Set(zones.map(\.id))
        heads = heads.filter { living.contains($0.key) }
    }
}
