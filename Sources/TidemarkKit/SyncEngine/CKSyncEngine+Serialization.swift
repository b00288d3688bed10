// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes

extension CKSyncEngine.State {
    /// An engine's state as a value, to store with any encoder and to pass to the next engine.
    ///
    /// It is opaque, holds no records, and can be read by later versions of this module. An old state is safe
    /// to use: changes since then are fetched again, and changes that were pending then are sent again.
    public struct Serialization: Codable, Sendable {
        let snapshot: SyncEngineSnapshot

        init(snapshot: SyncEngineSnapshot) {
            self.snapshot = snapshot
        }

        /// - Throws: `DecodingError` if the data is not a state, or is of a later version than this module knows
        ///
        public init(from decoder: any Decoder) throws {
            let version = try decoder.container(keyedBy: VersionKey.self).decode(Int.self, forKey: .version)
            guard version == SerializedSyncEngineState.version else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "unknown version \(version) of the state"))
            }
            do {
                snapshot = try SerializedSyncEngineState(from: decoder).snapshot()
            } catch let error as SerializedSyncEngineState.Damage {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "\(error) in the state"))
            }
        }

        /// Writes the current version of the format.
        public func encode(to encoder: any Encoder) throws {
            try SerializedSyncEngineState(snapshot).encode(to: encoder)
        }

        private enum VersionKey: String, CodingKey {
            case version
        }
    }
}

/// Version 1 of the stored state, in JSON or a property list. Names in it must never change.
///
/// A table lists each zone once; everything else refers to zones by their index in it. Changes are short strings. So a
/// long list of pending changes is written and read quickly.
struct SerializedSyncEngineState: Codable {
    static let version = 1

    /// Errors in data that has the right shape.
    enum Damage: Error {
        case unknownZone, malformedChange, malformedName, malformedIdentity
    }

    struct Zone: Codable, Hashable {
        var name: String
        /// Absent for the user's own zones.
        var owner: String?
    }

    struct Token: Codable {
        var zone: Int
        var token: Data
    }

    var version: Int
    /// 16 bytes in hexadecimal digits.
    var device: String
    var user: String?
    var subscription: String?
    var databaseToken: Data?
    /// Absent if there is a token, or a server did not say.
    var storeLife: UInt64?
    var zones: [Zone] = []
    var zoneTokens: [Token] = []
    var unfetchedZones: [Int] = []
    /// "s" (save) or "d" (delete), the zone's index, ":", the record's name.
    var pendingRecords: [String] = []
    var inFlightRecords: [String] = []
    /// "s" or "d", and the zone's index; for a save also ":" and the zone's encryption scope, unless it is the usual
    /// one.
    var pendingZones: [String] = []
    var inFlightZones: [String] = []
    var untrackedChanges: Bool
    /// Expired tokens, while their feeds are read from the beginning. Absent if there are none.
    var expiredDatabaseToken: Data?
    var expiredZoneTokens: [Token]?
    /// Absent if there are none.
    var tokenlessZones: [Int]?
    /// What is read from the beginning because the app asked for it. Absent if there is nothing.
    var resyncZones: [Int]?
    var resyncsZoneList: Bool?
    /// After which tokens records were left out for want of keys. Absent if there are none.
    var keylessTokens: [Token]?
    /// The journal with the pending changes, if there is one. Absent in states of engines without one, and in old
    /// states.
    var journal: String?
}

// MARK: Writing

extension SerializedSyncEngineState {
    init(_ snapshot: SyncEngineSnapshot) {
        version = Self.version
        device = Hex.encode(snapshot.deviceIdentity)
        user = snapshot.user?.recordName
        subscription = snapshot.subscriptionID
        databaseToken = snapshot.databaseToken.map { Data($0.bytes) }
        storeLife = snapshot.storeLife
        untrackedChanges = snapshot.hasUntrackedChanges
        journal = snapshot.journalID

        var table = ZoneIndices()
        unfetchedZones = snapshot.unfetchedZones.elements.map { table.index(of: $0) }
        pendingRecords = snapshot.pendingRecords.elements.map { table.text(of: $0) }
        inFlightRecords = snapshot.inFlightRecords.map { table.text(of: $0) }
        pendingZones = snapshot.pendingZones.elements.map { table.text(of: $0) }
        inFlightZones = snapshot.inFlightZones.map { table.text(of: $0) }
        zoneTokens = Self.tokens(snapshot.zoneTokens, &table)
        expiredDatabaseToken = snapshot.expiredDatabaseToken.map { Data($0.bytes) }
        if !snapshot.expiredZoneTokens.isEmpty { expiredZoneTokens = Self.tokens(snapshot.expiredZoneTokens, &table) }
        let sent = Self.sorted(snapshot.tokenlessZones).map { table.index(of: $0) }
        if !sent.isEmpty { tokenlessZones = sent }
        let resynced = Self.sorted(snapshot.resyncZones).map { table.index(of: $0) }
        if !resynced.isEmpty { resyncZones = resynced }
        if snapshot.resyncsZoneList { resyncsZoneList = true }
        if !snapshot.keylessTokens.isEmpty { keylessTokens = Self.tokens(snapshot.keylessTokens, &table) }
        zones = table.zones
    }

    private static func sorted(_ zoneIDs: some Sequence<CKRecordZone.ID>) -> [CKRecordZone.ID] {
        zoneIDs.sorted { ($0.zoneName, $0.ownerName) < ($1.zoneName, $1.ownerName) }
    }

    /// Sorted, so that equal states give equal data.
    private static func tokens(
        _ tokens: [CKRecordZone.ID: CKServerChangeToken], _ table: inout ZoneIndices
    ) -> [Token] {
        sorted(tokens.keys).map { Token(zone: table.index(of: $0), token: Data(tokens[$0]?.bytes ?? [])) }
    }

    /// Gives each zone its index.
    private struct ZoneIndices {
        private(set) var zones: [Zone] = []
        private var indices: [CKRecordZone.ID: Int] = [:]

        mutating func index(of zoneID: CKRecordZone.ID) -> Int {
            if let index = indices[zoneID] { return index }
            let isOwn = zoneID.ownerName == CKCurrentUserDefaultName
            zones.append(Zone(name: zoneID.zoneName, owner: isOwn ? nil : zoneID.ownerName))
            indices[zoneID] = zones.count - 1
            return zones.count - 1
        }

        mutating func text(of change: CKSyncEngine.PendingRecordZoneChange) -> String {
            let index = index(of: change.recordID.zoneID)
            return switch change {
            case .saveRecord(let recordID): "s\(index):\(recordID.recordName)"
            case .deleteRecord(let recordID): "d\(index):\(recordID.recordName)"
            }
        }

        mutating func text(of change: CKSyncEngine.PendingDatabaseChange) -> String {
            let index = index(of: change.zoneID)
            return switch change {
            case .saveZone(let zone) where zone.encryptionScope != .perRecord:
                "s\(index):\(zone.encryptionScope.rawValue)"
            case .saveZone: "s\(index)"
            case .deleteZone: "d\(index)"
            }
        }
    }
}

// MARK: Reading

extension SerializedSyncEngineState {
    func snapshot() throws(Damage) -> SyncEngineSnapshot {
        let zoneIDs = try zones.map { (zone) throws(Damage) in try zone.zoneID() }
        guard let identity = Hex.decode(device), identity.count == SyncEngineSnapshot.identityByteCount else {
            throw .malformedIdentity
        }
        var snapshot = SyncEngineSnapshot(deviceIdentity: identity)
        snapshot.user = user.map { CKRecord.ID(recordName: $0) }
        snapshot.subscriptionID = subscription
        snapshot.databaseToken = databaseToken.map { CKServerChangeToken(bytes: [UInt8]($0)) }
        snapshot.hasUntrackedChanges = untrackedChanges
        snapshot.journalID = journal
        for token in zoneTokens {
            snapshot.zoneTokens[try zoneIDs.zone(at: token.zone)] = CKServerChangeToken(bytes: [UInt8](token.token))
        }
        snapshot.storeLife = storeLife
        snapshot.expiredDatabaseToken = expiredDatabaseToken.map { CKServerChangeToken(bytes: [UInt8]($0)) }
        for token in expiredZoneTokens ?? [] {
            let zoneID = try zoneIDs.zone(at: token.zone)
            snapshot.expiredZoneTokens[zoneID] = CKServerChangeToken(bytes: [UInt8](token.token))
        }
        for token in keylessTokens ?? [] {
            let zoneID = try zoneIDs.zone(at: token.zone)
            snapshot.keylessTokens[zoneID] = CKServerChangeToken(bytes: [UInt8](token.token))
        }
        for index in tokenlessZones ?? [] { snapshot.tokenlessZones.insert(try zoneIDs.zone(at: index)) }
        for index in resyncZones ?? [] { snapshot.resyncZones.insert(try zoneIDs.zone(at: index)) }
        snapshot.resyncsZoneList = resyncsZoneList ?? false
        for index in unfetchedZones { snapshot.unfetchedZones.add(try zoneIDs.zone(at: index)) }
        for text in pendingRecords { snapshot.pendingRecords.add(try Self.recordChange(text, zoneIDs)) }
        for text in inFlightRecords { snapshot.inFlightRecords.append(try Self.recordChange(text, zoneIDs)) }
        for text in pendingZones { snapshot.pendingZones.add(try Self.zoneChange(text, zoneIDs)) }
        for text in inFlightZones { snapshot.inFlightZones.append(try Self.zoneChange(text, zoneIDs)) }
        return snapshot
    }

    private static func recordChange(
        _ text: String, _ zoneIDs: [CKRecordZone.ID]
    ) throws(Damage) -> CKSyncEngine.PendingRecordZoneChange {
        let parts = text.dropFirst().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let index = Int(parts[0]) else { throw .malformedChange }
        guard !parts[1].isEmpty else { throw .malformedName }
        let recordID = CKRecord.ID(recordName: String(parts[1]), zoneID: try zoneIDs.zone(at: index))
        switch text.first {
        case "s": return .saveRecord(recordID)
        case "d": return .deleteRecord(recordID)
        default: throw .malformedChange
        }
    }

    private static func zoneChange(
        _ text: String, _ zoneIDs: [CKRecordZone.ID]
    ) throws(Damage) -> CKSyncEngine.PendingDatabaseChange {
        let parts = text.dropFirst().split(separator: ":", maxSplits: 1)
        guard let first = parts.first, let index = Int(first) else { throw .malformedChange }
        let zoneID = try zoneIDs.zone(at: index)
        switch text.first {
        case "s":
            let zone = CKRecordZone(zoneID: zoneID)
            if parts.count == 2 {
                guard let raw = Int(parts[1]), let scope = CKRecordZone.EncryptionScope(rawValue: raw) else {
                    throw .malformedChange
                }
                zone.encryptionScope = scope
            }
            return .saveZone(zone)
        case "d": return .deleteZone(zoneID)
        default: throw .malformedChange
        }
    }
}

extension SerializedSyncEngineState.Zone {
    fileprivate func zoneID() throws(SerializedSyncEngineState.Damage) -> CKRecordZone.ID {
        guard !name.isEmpty else { throw .malformedName }
        return CKRecordZone.ID(unchecked: name, ownerName: owner ?? CKCurrentUserDefaultName)
    }
}

extension [CKRecordZone.ID] {
    fileprivate func zone(at index: Int) throws(SerializedSyncEngineState.Damage) -> CKRecordZone.ID {
        guard indices.contains(index) else { throw .unknownZone }
        return self[index]
    }
}
