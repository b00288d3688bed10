// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The client change tokens of one database, like PostgreSQL's table `client_token`.
struct MemoryClientTokens {
    private struct Key: Hashable {
        let zone: ZoneID
        let device: DeviceID
    }

    /// Each with its number in the order in which they came.
    private var kept: [Key: (number: Int64, token: [UInt8])] = [:]
    private var lastNumber: Int64 = 0

    /// Empty if there is none.
    func token(of device: DeviceID, in zone: ZoneID) -> [UInt8] {
        kept[Key(zone: zone, device: device)]?.token ?? []
    }

    /// Inserts or replaces tokens. If there are too many then, those that came last stay.
    mutating func keep(_ tokens: [DeviceID: [UInt8]], in zone: ZoneID, atMost countMax: Int) {
        for (device, token) in tokens.sorted(by: { $0.key < $1.key }) {
            lastNumber += 1
            kept[Key(zone: zone, device: device)] = (lastNumber, token)
        }
        guard kept.count > countMax else { return }
        let first = kept.values.map(\.number).sorted().suffix(countMax).first ?? .max
        kept = kept.filter { $0.value.number >= first }
    }

    /// Forgets those of a zone that has ended.
    mutating func forget(_ zone: ZoneID) {
        kept = kept.filter { $0.key.zone != zone }
    }
}
