// SPDX-License-Identifier: Apache-2.0

import TidemarkKit
import TidemarkWire

/// Attacks that write. Nobody writes without a credential: ``refusals`` are what they can ask for.
extension Attack {
    static let writing = [
        saves, lessons, largeTouches, smallChanges, shownConflicts, refusedRelatives, pushes, passingZones, zoneKeys,
        refusals,
    ]

    private static let saves = Attack(
        testDescription: "saves in many zones", underWay: 200, period: nil, byNobody: .none("nobody saves"),
        prepare: { database, _ in
            let zones = (0..<400).map { CKRecordZone(zoneName: "busy \($0)") }
            _ = try await database.modifyRecordZones(saving: zones, deleting: [])
        },
        fill: { $0.modifyRecords = save("Small", ["text": "x"], in: "busy \($0.id % 400)", $0.id, $1) })

    /// Each has types and fields that the schema does not know.
    private static let lessons = Attack(
        testDescription: "saves that teach a schema", underWay: 2, period: nil, byNobody: .none("nobody saves"),
        fill: { envelope, scope in
            let keys = (0..<300).map { "k\(envelope.id)x\($0)" }
            envelope.modifyRecords = save(
                "Taught\(envelope.id)", Dictionary(uniqueKeysWithValues: keys.map { ($0, "x") }),
                in: CKRecordZone.ID.default.zoneName, envelope.id, scope)
        })

    /// Some kilobytes for which the server must look at 200 megabytes.
    private static let largeTouches = Attack(
        testDescription: "saves of nothing in 200 large records", connections: 4, underWay: 2, period: nil,
        byNobody: .none("nobody saves"), prepare: prepareLargeRecords,
        fill: { envelope, scope in
            let saves = largeNames.map { name in
                var save = WireRecordSave()
                save.name = name
                save.type = "Heavy"
                return save
            }
            envelope.modifyRecords = modify(saves, in: CKRecordZone.ID.default.zoneName, envelope.id, scope)
            envelope.modifyRecords.policy = .changedKeys
        })

    /// As many zones as a server can write in at once, and in each more than a transaction reads. If there were no
    /// bound for what all transactions together read, they would take far more than the memory that the server may take.
    private static let smallChanges = Attack(
        testDescription: "small changes of large records in 64 zones", connections: 4, underWay: 16, period: nil,
        byNobody: .none("nobody saves"),
        prepare: { database, _ in
            let zones = (0..<64).map { CKRecordZone(zoneName: "touched \($0)") }
            _ = try await database.modifyRecordZones(saving: zones, deleting: [])
            try await fill(database, "large", count: 1, textBytes: 1_000_000)
        },
        arrange: { try $0.multiply("large 0", count: 20, in: "z.name LIKE 'touched %'", name: "'large ' || n") },
        fill: { envelope, scope in
            let saves = (1...20).map { number in
                var save = WireRecordSave()
                save.name = "large \(number)"
                save.type = "Heavy"
                save.fields = fieldBytes(["note": "\(envelope.id)"])
                return save
            }
            envelope.modifyRecords = modify(saves, in: "touched \(envelope.id % 64)", envelope.id, scope)
            envelope.modifyRecords.policy = .changedKeys
        })

    /// Each is refused in 200 zones, and shown a record of a megabyte in each. If those of the zones that are decided first did
    /// not count, a few requests of some kilobytes would take gigabytes.
    private static let shownConflicts = Attack(
        testDescription: "conflicts with large records in 200 zones", connections: 4, underWay: 4, period: nil,
        reads: false, byNobody: .none("nobody saves"),
        prepare: { database, _ in
            let zones = (0..<shownZoneCount).map { CKRecordZone(zoneName: "shown \($0)") }
            _ = try await database.modifyRecordZones(saving: zones, deleting: [])
            try await fill(database, "shown", count: 1, textBytes: 1_000_000)
        },
        arrange: { try $0.multiply("shown 0", count: 1, in: "z.name LIKE 'shown %'", name: "'shown'") },
        fill: { envelope, scope in
            // Each is there, and is not changed without its tag.
            var save = WireRecordSave()
            save.name = "shown"
            save.type = "Heavy"
            envelope.modifyRecords = modify([save], in: "shown 0", envelope.id, scope)
            let part = envelope.modifyRecords.zones[0]
            envelope.modifyRecords.zones = (0..<shownZoneCount).map { number in
                var part = part
                part.zone = zone("shown \(number)")
                return part
            }
        })

    private static let shownZoneCount = 200

    /// In turn a deletion that would take thousands along, if one more child went too, and 400 saves below all of them. If
    /// they were decided on an event loop, or each save followed its ancestors anew, a loop would be held for
    /// longer than a campaign allows.
    private static let refusedRelatives = Attack(
        testDescription: "refused changes of very many relatives", company: .stored, connections: 4, underWay: 4,
        period: nil, byNobody: .none("nobody saves"),
        prepare: { database, _ in
            let record = CKRecord(recordType: "Kin", recordID: CKRecord.ID(recordName: "kin"))
            try await database.save(record)
        },
        arrange: { try $0.makeKin() },
        fill: { envelope, scope in
            let zoneName = CKRecordZone.ID.default.zoneName
            guard envelope.id.isMultiple(of: 2) else {
                envelope.modifyRecords = modify([], in: zoneName, envelope.id, scope)
                envelope.modifyRecords.zones[0].deletes = ["kin"]
                return
            }
            // Each is there, and is not changed without its tag.
            let saves = (1...400).map { number in
                var save = WireRecordSave()
                save.name = "kin \(number)"
                save.type = "Kin"
                save.parent = "last kin"
                save.parentChange = .parentSet
                return save
            }
            envelope.modifyRecords = modify(saves, in: zoneName, envelope.id, scope)
        })

    /// One small save, and a push for each subscription on each connection.
    private static let pushes = Attack(
        testDescription: "saves that are pushed thousands of times", connections: 40, underWay: 1, period: nil,
        byNobody: .none("nobody has subscriptions"),
        prepare: { database, isLong in
            try await database.save(CKRecordZone(zoneName: "pushed"))
            try await subscribe(database, count: isLong ? 250 : 25)
        },
        fill: { $0.modifyRecords = save("Small", ["text": "\($0.id)"], in: "pushed", $0.id, $1) })

    private static let passingZones = Attack(
        testDescription: "zones that are made and deleted", underWay: 20, period: nil,
        byNobody: .none("nobody makes zones"),
        fill: { envelope, scope in
            let zones = (0..<100).map { zone("passing \($0)") }
            envelope.modifyZones = WireModifyZones()
            envelope.modifyZones.database = scope
            envelope.modifyZones.stamp = stamp(envelope.id)
            if envelope.id.isMultiple(of: 2) {
                envelope.modifyZones.saves = zones
            } else {
                envelope.modifyZones.deletes = zones
            }
        })

    /// Each follows the one before in its zone, until a zone has as many as it may.
    private static let zoneKeys = Attack(
        testDescription: "keys for many zones", underWay: 50, period: nil, byNobody: .none("nobody has keys"),
        prepare: saves.prepare,
        fill: {
            let round = $0.id / 400
            $0.saveZoneKey = WireSaveZoneKey()
            $0.saveZoneKey.database = $1
            $0.saveZoneKey.zone = zone("busy \($0.id % 400)")
            $0.saveZoneKey.key.id = keyID(round)
            $0.saveZoneKey.key.accountKeyID = keyID(0)
            $0.saveZoneKey.key.wrapped = Array(repeating: 7, count: 60)
            $0.saveZoneKey.newestID = round == 0 ? [] : keyID(round - 1)
        })

    private static func keyID(_ number: UInt64) -> [UInt8] {
        (0..<16).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) : 1 }
    }

    /// Nobody makes zones in the public database, with or without a credential.
    private static let refusals = Attack(testDescription: "requests that are refused", underWay: 200) { envelope, _ in
        envelope.modifyZones = WireModifyZones()
        envelope.modifyZones.database = .public
        envelope.modifyZones.stamp = stamp(1)
        envelope.modifyZones.saves = [zone("refused")]
    }
}
