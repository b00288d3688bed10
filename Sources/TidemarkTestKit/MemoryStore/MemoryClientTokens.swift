// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The client change tokens of one database, like PostgreSQL's table `client_token`.
struct MemoryClientTokens {
    private struct Key: Hashable {
        let zone: ZoneID
        let device: DeviceID
    }

    private struct Kept {
        /// Nil: of the database itself.
        let user: UserID?
        /// In the order in which they came.
        let number: Int64
        let token: [UInt8]
    }

    private var kept: [Key: Kept] = [:]
    private var lastNumber: Int64 = 0

    /// Empty if there is none.
    func token(of device: DeviceID, in zone: ZoneID) -> [UInt8] {
        kept[Key(zone: zone, device: device)]?.token ?? []
    }

    /// Inserts or replaces tokens. If there are too many of the database itself then, or of a participant, those that came
    /// last stay.
    mutating func keep(_ changes: ZoneChanges) {
        guard !changes.clientTokens.isEmpty else { return }
        var users: Set<UserID?> = []
        for (device, token) in changes.clientTokens.sorted(by: { $0.key < $1.key }) {
            lastNumber += 1
            let user = changes.tokenUsers[device]
            users.insert(user)
            kept[Key(zone: changes.zone, device: device)] = Kept(user: user, number: lastNumber, token: token)
        }
        for user in users {
            let countMax = user == nil ? changes.clientTokensMax : changes.participantTokensMax
            let numbers = kept.values.filter { $0.user == user }.map(\.number).sorted()
            guard numbers.count > countMax else { continue }
            let first = numbers.suffix(countMax).first ?? .max
            kept = kept.filter { $0.value.user != user || $0.value.number >= first }
        }
    }

    /// Forgets those of a zone that has ended.
    mutating func forget(_ zone: ZoneID) {
        kept = kept.filter { $0.key.zone != zone }
    }
}
