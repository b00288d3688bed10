// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkWire

/// Carol, who takes no part in Alice's zone, asks for it. She learns nothing of zones, or of who there is.
@Suite struct ShareHandlersStrangersTests {
    /// A request for a zone of another.
    struct StrangerQuestion: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let ask: @Sendable (WireZoneID, TestClient) throws -> WireClientEnvelope.OneOfRequest

        init(
            _ name: String,
            _ ask: @escaping @Sendable (WireZoneID, TestClient) throws -> WireClientEnvelope.OneOfRequest
        ) {
            testDescription = name
            self.ask = ask
        }
    }

    private static let hash = [UInt8](repeating: 7, count: 32)

    private static let writing = [
        StrangerQuestion("a save") { zone, carol in .modifyRecords(try saving(in: zone, carol)) },
        StrangerQuestion("a save of nothing, with a parent that has no name") { zone, carol in
            var request = try saving(in: zone, carol)
            request.zones[0].saves[0].parentChange = .parentSet
            return .modifyRecords(request)
        },
        StrangerQuestion("a save of a share") { zone, carol in
            var request = try saving(in: zone, carol)
            request.zones[0].saves[0].name = Share.zoneWideName
            request.zones[0].saves[0].type = Share.recordType
            request.zones[0].saves[0].share.publicPermission = .readWrite
            return .modifyRecords(request)
        },
        StrangerQuestion("a deletion") { zone, carol in .modifyRecords(try deleting("a", in: zone, carol)) },
        StrangerQuestion("a deletion of the share") { zone, carol in
            .modifyRecords(try deleting(Share.zoneWideName, in: zone, carol))
        },
        StrangerQuestion("leaving") { zone, carol in
            var request = WireModifyZones()
            request.database = .shared
            request.stamp = carol.stamp()
            request.deletes = [zone]
            return .modifyZones(request)
        },
        StrangerQuestion("a key") { zone, _ in .saveZoneKey(key(in: zone, byteCount: 16)) },
        StrangerQuestion("a key with a damaged id") { zone, _ in .saveZoneKey(key(in: zone, byteCount: 3)) },
        StrangerQuestion("the beginning of an upload") { zone, _ in
            var request = WirePrepareAssetUpload()
            request.database = .shared
            request.zone = zone
            request.sha256 = hash
            request.byteCount = 1_000
            return .prepareAssetUpload(request)
        },
        StrangerQuestion("the first part of an upload") { zone, _ in .uploadAssetChunk(chunk(in: zone, at: 0)) },
        StrangerQuestion("the last part of an upload") { zone, _ in .uploadAssetChunk(chunk(in: zone, at: 500)) },
    ]

    private static let reading = [
        StrangerQuestion("a zone") { zone, _ in
            var request = WireFetchZones()
            request.database = .shared
            request.zones = [zone]
            return .fetchZones(request)
        },
        StrangerQuestion("a record") { zone, _ in .fetchRecords(fetching("a", in: zone)) },
        StrangerQuestion("a record of a zone with a name that no zone can have") { zone, _ in
            var unnamed = zone
            unnamed.name = ""
            return .fetchRecords(fetching("a", in: unnamed))
        },
        StrangerQuestion("the share") { zone, _ in .fetchRecords(fetching(Share.zoneWideName, in: zone)) },
        StrangerQuestion("changes") { zone, _ in .fetchZoneChanges(changes(of: zone)) },
        StrangerQuestion("the list, with changes of a zone") { zone, _ in
            var request = WireFetchDatabaseChanges()
            request.database = .shared
            request.then = changes(of: zone)
            return .fetchDatabaseChanges(request)
        },
        StrangerQuestion("a query") { zone, _ in
            var request = WireQueryRecords()
            request.database = .shared
            request.query.recordType = "Note"
            request.query.zone = zone
            return .queryRecords(request)
        },
        StrangerQuestion("keys") { zone, _ in
            var request = WireFetchKeys()
            request.database = .shared
            request.zones = [zone]
            return .fetchKeys(request)
        },
        StrangerQuestion("names of records") { zone, _ in
            var request = WireVerifyZone()
            request.database = .shared
            request.zone = zone
            request.lists = true
            return .verifyZone(request)
        },
        StrangerQuestion("a part of an asset") { zone, _ in
            var request = WireFetchAssetChunk()
            request.database = .shared
            request.zone = zone
            request.record = "a"
            request.sha256 = hash
            request.byteCount = 1_000
            request.length = 500
            return .fetchAssetChunk(request)
        },
    ]

    private static func saving(in zone: WireZoneID, _ carol: TestClient) throws -> WireModifyRecords {
        var request = try carol.saving("a", in: zone.name)
        request.database = .shared
        request.zones[0].zone = zone
        return request
    }

    private static func deleting(
        _ name: String, in zone: WireZoneID, _ carol: TestClient
    ) throws -> WireModifyRecords {
        var request = try saving(in: zone, carol)
        request.zones[0].saves = []
        request.zones[0].deletes = [name]
        return request
    }

    private static func key(in zone: WireZoneID, byteCount: Int) -> WireSaveZoneKey {
        var request = WireSaveZoneKey()
        request.database = .shared
        request.zone = zone
        request.key.id = [UInt8](repeating: 1, count: byteCount)
        request.key.accountKeyID = [UInt8](repeating: 2, count: 16)
        request.key.wrapped = [UInt8](repeating: 3, count: 60)
        return request
    }

    private static func chunk(in zone: WireZoneID, at offset: UInt64) -> WireUploadAssetChunk {
        var request = WireUploadAssetChunk()
        request.database = .shared
        request.zone = zone
        request.sha256 = hash
        request.byteCount = 1_000
        request.offset = offset
        request.content = [UInt8](repeating: 7, count: 500)[...]
        return request
    }

    private static func fetching(_ name: String, in zone: WireZoneID) -> WireFetchRecords {
        var part = WireZoneRecordNames()
        part.zone = zone
        part.names = [name]
        var request = WireFetchRecords()
        request.database = .shared
        request.zones = [part]
        return request
    }

    private static func changes(of zone: WireZoneID) -> WireFetchZoneChanges {
        var request = TestClient.zoneChanges(zone.name)
        request.database = .shared
        request.zone = zone
        return request
    }

    @Test(arguments: writing + reading)
    func `I-5, R-225: whoever takes no part gets one answer, whether the zone or its owner exists`(
        _ question: StrangerQuestion
    ) throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        world.issue("carol")
        let carol = try world.enter("carol", device: 1)
        let zones = [("notes", pair.zone.owner), ("nates", pair.zone.owner), ("notes", Self.nobody)].map {
            var zone = TestClient.zone($0.0)
            zone.owner = $0.1
            return zone
        }
        let told = try zones.map { zone in
            let answer = try carol.ask(question.ask(zone, carol))
            return "\(String(describing: answer))"
                .replacing(zone.owner, with: "owner").replacing(zone.name, with: "zone")
        }
        #expect(told[1] == told[0], "a zone that there is not")
        #expect(told[2] == told[0], "an owner who does not exist")
        #expect(try pair.bob.changes(of: pair.zone).changes.count == 2)
    }

    private static let nobody = "_" + String(repeating: "0", count: 32)
}
