// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A part of a replica that is stored separately.
enum ReplicaRow: Hashable, Sendable {
    case account
    case engine
    case record(CKRecord.ID)
    case setAside(String, CKRecord.ID)

    /// The key of the row. Its content says to which record it belongs.
    var key: String {
        switch self {
        case .account: "account"
        case .engine: "engine"
        case .record(let id): "record/" + Self.text(id)
        case .setAside(let user, let id): "aside/\(Self.escaped(user))/" + Self.text(id)
        }
    }

    private static func text(_ id: CKRecord.ID) -> String {
        "\(escaped(id.zoneID.ownerName))/\(escaped(id.zoneID.zoneName))/\(id.recordName)"
    }

    private static func escaped(_ name: String) -> String {
        name.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: "/", with: "%2F")
    }
}

/// The contents of the rows, as JSON. Names in them must never change; a new one is optional.
private struct AccountRow: Codable {
    var version: Int
    var owner: String?
    var zones: [ZoneIDRow]
    var deletedZones: [ZoneIDRow]?
    var deletedZonesSetAside: [String: [ZoneIDRow]]?

    static let version = 1

    init(_ state: ReplicaState) {
        (version, owner) = (Self.version, state.owner)
        zones = state.zones.map(ZoneIDRow.init)
        deletedZones = state.deletedZones.map(ZoneIDRow.init)
        deletedZonesSetAside = state.deletedZonesSetAside.mapValues { $0.map(ZoneIDRow.init) }
    }

    struct ZoneIDRow: Codable {
        var name: String
        var owner: String

        init(_ id: CKRecordZone.ID) {
            (name, owner) = (id.zoneName, id.ownerName)
        }

        var id: CKRecordZone.ID { CKRecordZone.ID(unchecked: name, ownerName: owner) }
    }
}

private struct ReplicaRecordRow: Codable {
    var zone: AccountRow.ZoneIDRow
    var name: String
    var entry: ReplicaEntry
    /// For an edit that was set aside: whose it is, and the app's values.
    var user: String?
    var values: Data?

    init(_ id: CKRecord.ID, _ entry: ReplicaEntry, user: String? = nil, values: Data? = nil) {
        (zone, name, self.entry) = (AccountRow.ZoneIDRow(id.zoneID), id.recordName, entry)
        (self.user, self.values) = (user, values)
    }

    var id: CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone.id) }
}

extension ReplicaState {
    /// All existing rows.
    var rows: [ReplicaRow] {
        let kept = setAside.flatMap { user, entries in entries.keys.map { ReplicaRow.setAside(user, $0) } }
        return [.account, .engine] + entries.keys.map(ReplicaRow.record) + kept
    }

    /// Nil if the row no longer exists.
    func contents(of row: ReplicaRow) -> Data? {
        switch row {
        case .account:
            Self.data(AccountRow(self))
        case .engine: engineState.flatMap(Self.data)
        case .record(let id): entries[id].flatMap { Self.data(ReplicaRecordRow(id, $0)) }
        case .setAside(let user, let id):
            setAside[user]?[id].flatMap { Self.data(ReplicaRecordRow(id, $0.entry, user: user, values: $0.values)) }
        }
    }

    private static func data(_ value: some Encodable) -> Data? { try? JSONEncoder().encode(value) }

    init(rows: [String: Data]) throws {
        let decoder = JSONDecoder()
        let account = try rows["account"].map { try decoder.decode(AccountRow.self, from: $0) }
        if let version = account?.version, version != AccountRow.version {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "unknown version \(version) of a replica"))
        }
        let engineState = try rows["engine"].map { try decoder.decode(CKSyncEngine.State.Serialization.self, from: $0) }
        var entries: [CKRecord.ID: ReplicaEntry] = [:]
        var setAside: [String: [CKRecord.ID: SetAside]] = [:]
        for (key, data) in rows where key != "account" && key != "engine" {
            let row = try decoder.decode(ReplicaRecordRow.self, from: data)
            if let user = row.user {
                setAside[user, default: [:]][row.id] = SetAside(entry: row.entry, values: row.values)
            } else {
                entries[row.id] = row.entry
            }
        }
        self.init(
            owner: account?.owner, zones: Set(account?.zones.map(\.id) ?? []),
            deletedZones: Set(account?.deletedZones?.map(\.id) ?? []), entries: entries, setAside: setAside,
            deletedZonesSetAside: (account?.deletedZonesSetAside ?? [:]).mapValues { Set($0.map(\.id)) },
            engineState: engineState)
    }
}
