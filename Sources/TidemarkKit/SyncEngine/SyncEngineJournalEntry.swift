// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkCrypto

/// One line of an engine's journal: changes that have become pending, or are no longer pending.
///
/// A line has eight hexadecimal digits (of the SHA-256 of the rest), a space, JSON, and a newline. So a line that is
/// incomplete or damaged can be recognised. Names in it must never change.
struct SyncEngineJournalEntry: Codable, Equatable {
    static let version = 1

    /// Discards everything before it.
    struct Beginning: Codable, Equatable {
        var version = SyncEngineJournalEntry.version
        /// The journal's identity, which states refer to.
        var id: String
        /// The user record name of the owner of the following changes. Absent if there is none: they are for whoever
        /// signs in.
        var user: String?
    }

    /// A change of a record, or, without a record's name, of a zone.
    struct Change: Codable, Equatable {
        var zone: String
        /// Absent for the current user.
        var owner: String?
        var record: String?
        /// True for a deletion, otherwise absent.
        var deletes: Bool?
        /// For a zone to save; absent for the usual scope.
        var encryptionScope: Int?
    }

    /// Unsent changes of an account that is gone.
    struct Unsent: Codable, Equatable {
        /// Absent if there is no owner.
        var user: String?
        var put: [Change]
        var untracked: Bool
    }

    var begin: Beginning?
    /// Changes that are pending now. Each replaces any other change of its record or zone.
    var put: [Change]?
    /// Records and zones that have no pending change any more.
    var drop: [Change]?
    /// Whether the app now has changes that it does not list. Absent if unchanged.
    var untracked: Bool?
    /// What the app must still hear of. Absent if nothing was added.
    var unsent: [Unsent]?
    /// True if the app has heard of everything unsent.
    var told: Bool?

    /// Why a line cannot be read: it is incomplete, damaged, or of a later version.
    enum Damage: Error {
        case line, version
    }

    // MARK: Lines

    func line() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding strings, integers and flags cannot fail.
        let json = [UInt8]((try? encoder.encode(self)) ?? Data())
        return Array(Self.checksum(json).utf8) + [UInt8(ascii: " ")] + json + [UInt8(ascii: "\n")]
    }

    /// - Parameter line: without its newline.
    init(line: ArraySlice<UInt8>) throws(Damage) {
        let json = Array(line.dropFirst(Self.checksumDigits + 1))
        guard line.count > Self.checksumDigits,
            Array(line.prefix(Self.checksumDigits)) == Array(Self.checksum(json).utf8),
            let entry = try? JSONDecoder().decode(Self.self, from: Data(json))
        else { throw .line }
        if let version = entry.begin?.version, version != Self.version { throw .version }
        self = entry
    }

    init(
        begin: Beginning? = nil, put: [Change]? = nil, drop: [Change]? = nil, untracked: Bool? = nil,
        unsent: [Unsent]? = nil, told: Bool? = nil
    ) {
        self.begin = begin
        self.put = put
        self.drop = drop
        self.untracked = untracked
        self.unsent = unsent
        self.told = told
    }

    private static let checksumDigits = 8

    private static func checksum(_ bytes: [UInt8]) -> String {
        String(Hex.encode(SHA256.hash(bytes)).prefix(checksumDigits))
    }
}

extension SyncEngineJournalEntry.Unsent {
    init(_ changes: SyncEngineUnsentChanges) {
        self.init(
            user: changes.owner.userName,
            put: changes.zones.elements.map { .init($0) } + changes.records.elements.map { .init($0) },
            untracked: changes.hasUntrackedChanges)
    }

    var changes: SyncEngineUnsentChanges {
        var changes = SyncEngineUnsentChanges(owner: user.map { .user($0) } ?? .nobody)
        changes.hasUntrackedChanges = untracked
        for change in put {
            if let record = change.recordChange {
                changes.records.add(record)
            } else {
                changes.zones.add(change.zoneChange)
            }
        }
        return changes
    }
}

extension SyncEngineJournalEntry.Change {
    init(_ change: CKSyncEngine.PendingRecordZoneChange) {
        self.init(change.recordID)
        if case .deleteRecord = change { deletes = true }
    }

    init(_ change: CKSyncEngine.PendingDatabaseChange) {
        self.init(change.zoneID)
        switch change {
        case .deleteZone: deletes = true
        case .saveZone(let zone) where zone.encryptionScope != .perRecord:
            encryptionScope = zone.encryptionScope.rawValue
        case .saveZone: break
        }
    }

    init(_ recordID: CKRecord.ID) {
        self.init(recordID.zoneID)
        record = recordID.recordName
    }

    init(_ zoneID: CKRecordZone.ID) {
        self.init(zone: zoneID.zoneName, owner: zoneID.ownerName == CKCurrentUserDefaultName ? nil : zoneID.ownerName)
    }

    var zoneID: CKRecordZone.ID { CKRecordZone.ID(unchecked: zone, ownerName: owner ?? CKCurrentUserDefaultName) }

    var recordID: CKRecord.ID? { record.map { CKRecord.ID(recordName: $0, zoneID: zoneID) } }

    var recordChange: CKSyncEngine.PendingRecordZoneChange? {
        recordID.map { deletes == true ? .deleteRecord($0) : .saveRecord($0) }
    }

    /// Only for a change without a record.
    var zoneChange: CKSyncEngine.PendingDatabaseChange {
        if deletes == true { return .deleteZone(zoneID) }
        let zone = CKRecordZone(zoneID: zoneID)
        if let scope = encryptionScope.flatMap(CKRecordZone.EncryptionScope.init(rawValue:)) {
            zone.encryptionScope = scope
        }
        return .saveZone(zone)
    }
}
