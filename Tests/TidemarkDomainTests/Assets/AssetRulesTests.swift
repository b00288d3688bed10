// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct AssetRulesTests {
    static func asset(_ number: UInt8, byteCount: Int64 = 5) -> FieldAsset {
        FieldAsset(sha256: Array(repeating: number, count: 32), byteCount: byteCount)
    }

    private func naming(_ assets: FieldAsset...) throws -> FieldMap {
        try FieldMap(assets.enumerated().map { Field("a\($0)", .asset($1)) })
    }

    @Test func `R-070: a save that names what was not uploaded fails alone`() throws {
        var zone = TestZone()
        zone.assets = [Self.asset(1)]
        let result = zone.save(
            save("a", try naming(Self.asset(1))), save("b", try naming(Self.asset(1), Self.asset(2))), save("c"))
        #expect(result.reasons == [nil, .assetMissing, nil])
        #expect(zone.living("b") == nil)
        // The hash alone is not enough: what was uploaded has a size.
        #expect(zone.save(save("d", try naming(Self.asset(1, byteCount: 6)))).reasons == [.assetMissing])
    }

    @Test func `R-072, R-133: a record that goes with another lets go of assets that nobody has read`() throws {
        var zone = TestZone()
        zone.assets = [Self.asset(1), Self.asset(2)]
        let reference = Field("r", .reference(FieldReference(recordName: "t", action: .deleteSelf)))
        zone.save(save("t", try naming(Self.asset(1))), now: 5)
        zone.save(save("a", try FieldMap([Field("a0", .asset(Self.asset(2))), reference])), now: 6)
        zone.delete("t", now: 7)
        #expect(zone.living("a") == nil)
        #expect(
            zone.assetUses == [
                AssetUse(recordName: "a", at: 7, added: [], removed: [], removesUnread: true),
                AssetUse(recordName: "t", at: 7, added: [], removed: [Self.asset(1)]),
            ])
    }

    @Test func `R-151: a missing asset fails an atomic batch`() throws {
        var zone = TestZone()
        let result = zone.save(save("a"), save("b", try naming(Self.asset(2))), atomic: true)
        #expect(result.reasons == [.batchFailed, .assetMissing])
    }

    @Test func `R-094: a conflict is told before a missing asset`() throws {
        var zone = TestZone()
        zone.save(save("a"))
        #expect(zone.save(save("a", try naming(Self.asset(2)))).reasons == [.recordExists])
    }

    @Test func `R-072: the assets that a record has are counted by what it had and has`() throws {
        var zone = TestZone()
        zone.assets = [Self.asset(1), Self.asset(2), Self.asset(3)]
        zone.save(save("a", try naming(Self.asset(1), Self.asset(2))), now: 5)
        #expect(
            zone.assetUses == [
                AssetUse(recordName: "a", at: 5, added: [Self.asset(1), Self.asset(2)], removed: [])
            ])
        zone.save(
            save("a", try FieldMap([Field("a0", .asset(Self.asset(3))), Field("x", .int64(1))])), policy: .changedKeys,
            now: 6)
        #expect(
            zone.assetUses == [AssetUse(recordName: "a", at: 6, added: [Self.asset(3)], removed: [Self.asset(1)])])
        zone.save(save("a", try FieldMap([Field("x", .int64(2))])), policy: .changedKeys, now: 7)
        #expect(zone.assetUses.isEmpty)
        zone.delete("a", now: 8)
        #expect(
            zone.assetUses == [
                AssetUse(recordName: "a", at: 8, added: [], removed: [Self.asset(3), Self.asset(2)])
            ])
    }

    @Test func `R-072: within a group only the beginning and the end of a record count`() throws {
        var zone = TestZone()
        zone.assets = [Self.asset(1), Self.asset(2)]
        let requests = [
            zone.request(saves: [save("a", try naming(Self.asset(1)))], policy: .allKeys),
            zone.request(saves: [save("a", try naming(Self.asset(2)))], policy: .allKeys),
        ]
        zone.run(requests, now: 9)
        let time = try #require(zone.living("a")).modifiedAt
        #expect(zone.assetUses == [AssetUse(recordName: "a", at: time, added: [Self.asset(2)], removed: [])])
    }

    @Test func `R-082: the size of an asset is limited`() {
        var limits = Limits()
        limits.assetBytesMax = 5
        #expect(AssetRules.refusal(byteCount: 5, within: limits) == nil)
        #expect(AssetRules.refusal(byteCount: 6, within: limits) == .assetTooLarge)
    }

    @Test func `R-070: what makes an upload whole says what it is`() {
        let device = DeviceID(high: 0, low: 1)
        let asset = AssetKey(database: DatabaseID(1), content: Self.asset(1, byteCount: 5))
        let draft = AssetUpload(draft: asset.content.sha256, byteCount: 5, in: asset.database, by: device)
        let asking = AssetUpload(
            draft: asset.content.sha256, byteCount: 5, in: asset.database, by: device, isNamedByContent: true)
        let named = AssetUpload(of: asset, draft: Array(repeating: 9, count: 32), by: device)
        let cases: [(count: Int, offset: Int64, isPart: Bool, isEnd: Bool)] = [
            (0, 0, true, true), (4, 0, true, true), (5, 0, false, true), (6, 0, false, false), (1, 4, false, true),
            (0, 5, false, true), (0, 6, false, false), (1, -1, false, false), (1, .max, false, false),
        ]
        for (count, offset, isPart, isEnd) in cases {
            #expect(draft.takes(count, at: offset) == isPart, "\(count) at \(offset)")
            #expect(named.takes(count, at: offset) == isEnd, "\(count) at \(offset)")
            #expect(asking.takes(count, at: offset) == isEnd, "\(count) at \(offset)")
        }
    }

    @Test func `I-5: an asset is named by the record as it is`() throws {
        var zone = TestZone()
        zone.assets = [Self.asset(1)]
        zone.save(save("a", try naming(Self.asset(1))))
        let record = try #require(zone.living("a"))
        #expect(AssetRules.isNamed(Self.asset(1), by: record))
        #expect(!AssetRules.isNamed(Self.asset(2), by: record))
        zone.delete("a")
        #expect(!AssetRules.isNamed(Self.asset(1), by: try #require(zone.records["a"])))
    }

    // MARK: R-743

    /// Everybody reads pages. Only their creators see diaries.
    private static let grants = ["Diary": Grants([.authenticated: .create, .creator: .write])]

    private func request(
        _ zone: inout TestZone, by user: UserID, saves: [RecordSave] = [], deletes: [String] = []
    ) -> RecordsRequest {
        let request = zone.request(saves: saves, deletes: deletes, policy: .allKeys, user: user)
        return RecordsRequest(
            id: request.id, key: request.key, saves: saves, deletes: deletes, policy: .allKeys,
            isAtomic: false, user: user, access: RecordAccess(scope: .public, user: user, grants: Self.grants))
    }

    @Test func `R-743: an asset is named by who sent it, and by who may read a record that names it`() throws {
        let asset = Self.asset(1)
        func naming(_ name: String, _ type: String) throws -> RecordSave {
            save(name, type: type, try self.naming(asset))
        }
        func page(_ type: String, by creator: UserID) -> AssetClaims {
            AssetClaims(holders: [AssetClaims.Holder(name: "there", type: type, createdBy: creator, zone: ZoneID(70))])
        }
        let rows: [(claims: AssetClaims, expected: FailureReason?)] = [
            (AssetClaims(), .assetMissing), (AssetClaims(senders: [alice]), .assetMissing),
            (AssetClaims(senders: [bob]), nil), (page("Page", by: alice), nil),
            (page("Diary", by: alice), .assetMissing), (page("Diary", by: bob), nil),
        ]
        for (claims, expected) in rows {
            var zone = TestZone(name: ZoneName.default)
            (zone.assets, zone.assetClaims) = ([asset], [asset: claims])
            let bobs = request(&zone, by: bob, saves: [try naming("b", "Page"), save("other")])
            #expect(zone.run(bobs).reasons == [expected, nil], "\(claims)")
            // Nobody names what was not uploaded.
            zone.assets = []
            let late = request(&zone, by: bob, saves: [try naming("c", "Page")])
            #expect(zone.run(late).reasons == [.assetMissing])
        }
        // A private database is its owner's.
        var own = TestZone()
        own.assets = [asset]
        #expect(own.save(try naming("a", "Diary")).reasons == [nil])
    }

    @Test func `R-743, R-117: within a group, a record counts as earlier requests have left it`() throws {
        let asset = Self.asset(1)
        for (type, isDeleted, expected) in [
            ("Page", false, nil), ("Page", true, .assetMissing), ("Diary", false, .assetMissing),
        ] as [(String, Bool, FailureReason?)] {
            var zone = TestZone(name: ZoneName.default)
            (zone.assets, zone.assetClaims) = ([asset], [asset: AssetClaims(senders: [alice])])
            var group = [request(&zone, by: alice, saves: [save("a", type: type, try naming(asset))])]
            if isDeleted { group.append(request(&zone, by: alice, deletes: ["a"])) }
            group.append(request(&zone, by: bob, saves: [save("b", type: "Page", try naming(asset))]))
            #expect(zone.run(group).last?.reasons == [expected], "\(type) \(isDeleted)")
        }
        // One that was read is judged as it is by now.
        var zone = TestZone(name: ZoneName.default)
        zone.assets = [asset]
        zone.assetClaims = [asset: AssetClaims(senders: [alice])]
        zone.run(request(&zone, by: alice, saves: [save("a", type: "Page", try naming(asset))]))
        zone.assetClaims = [
            asset: AssetClaims(holders: [
                AssetClaims.Holder(name: "a", type: "Page", createdBy: alice, zone: ZoneID(70))
            ])
        ]
        let group = [
            request(&zone, by: alice, deletes: ["a"]),
            request(&zone, by: bob, saves: [save("b", type: "Page", try naming(asset))]),
        ]
        #expect(zone.run(group).last?.reasons == [.assetMissing])
    }

    @Test func `R-743: a record that may be changed keeps its assets, whoever changes it`() throws {
        let asset = Self.asset(1)
        var zone = TestZone(name: ZoneName.default)
        (zone.assets, zone.assetClaims) = ([asset], [asset: AssetClaims(senders: [alice])])
        zone.run(request(&zone, by: alice, saves: [save("a", type: "Page", try naming(asset))]))
        zone.assetClaims = [:]
        let change = RecordsRequest(
            id: stamp(1, device: laptop), key: zone.key,
            saves: [save("a", type: "Page", try naming(asset)), save("b", type: "Page", try naming(asset))],
            deletes: [],
            policy: .allKeys, isAtomic: false, user: bob,
            access: RecordAccess(scope: .public, user: bob, grants: ["Page": Grants([.authenticated: .all])]))
        #expect(zone.run(change).reasons == [nil, .assetMissing])
    }
}
