// SPDX-License-Identifier: Apache-2.0

import TidemarkKit
import TidemarkWire

/// Attacks that write. Nobody writes without a credential: ``refusals`` are what they can ask for.
extension Attack {
    static let writing = [
        saves, lessons, largeTouches, pushes, passingZones, zoneKeys, uploads, refusals,
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

    /// Uploads that begin and never end.
    private static let uploads = Attack(
        testDescription: "uploads that never end", connections: 4, underWay: 32, period: nil,
        byNobody: .none("nobody uploads"),
        fill: {
            $0.uploadAssetChunk = WireUploadAssetChunk()
            $0.uploadAssetChunk.database = $1
            $0.uploadAssetChunk.zone = defaultZone
            $0.uploadAssetChunk.sha256 = (0..<32).map { _ in UInt8.random(in: 0...255) }
            $0.uploadAssetChunk.byteCount = 1 << 28
            $0.uploadAssetChunk.content = Array(repeating: 7, count: 65_536)[...]
        })

    /// Nobody makes zones in the public database, with or without a credential.
    private static let refusals = Attack(testDescription: "requests that are refused", underWay: 200) { envelope, _ in
        envelope.modifyZones = WireModifyZones()
        envelope.modifyZones.database = .public
        envelope.modifyZones.stamp = stamp(1)
        envelope.modifyZones.saves = [zone("refused")]
    }
}
