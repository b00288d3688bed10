// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// What accounts have of a public database, and what each may have.
@Suite struct PublicShareTests {
    /// What a record of a one-letter name and of the type that `save` gives it counts beside its fields.
    private static let besideFields = 128 + 1 + 4
    /// Whoever is signed in may change what others created.
    private static let wiki = ["Item": Grants([.world: .read, .authenticated: .all])]

    /// Fields with which such a record counts so many bytes.
    private func content(_ byteCount: Int) -> FieldMap {
        let fieldBytes = byteCount - Self.besideFields
        let around = bigFields(fieldBytes).byteCount - fieldBytes
        return bigFields(fieldBytes - around)
    }

    private func publicZone(bytesMax: Int64? = 1_000) -> TestZone {
        var zone = TestZone(name: ZoneName.default)
        zone.publicUse = PublicUse(bytesMax: bytesMax)
        return zone
    }

    private func request(
        _ zone: inout TestZone, _ saves: [RecordSave] = [], deletes: [String] = [], by user: UserID
    ) -> RecordsRequest {
        zone.request(saves: saves, deletes: deletes, policy: .changedKeys, user: user)
            .with(access: RecordAccess(scope: .public, user: user, grants: Self.wiki), refusals: [])
    }

    private func count(_ zone: TestZone, _ user: UserID) -> Int64 { zone.publicUse?.byteCounts[user] ?? 0 }

    @Test func `R-277: without a choice it is a tenth of the quota, and without a quota there is no bound`() {
        let rows: [(PublicShare, Int64?, Int64?)] = [
            (.standard, nil, nil), (.standard, 1_009, 100), (.standard, 0, 0), (.unlimited, 1_000, nil),
            (.unlimited, nil, nil), (.bytes(7), 1_000, 7), (.bytes(7), nil, 7), (.bytes(0), 1_000, 0),
            (.bytes(9_000), 1_000, 9_000),
        ]
        for (share, quota, bytesMax) in rows {
            #expect(StorageQuota(publicBytes: quota, publicShare: share).publicShareBytes == bytesMax)
            #expect(PublicShare(stored: share.stored) == share)
        }
        #expect(PublicShare(stored: .min) == .unlimited)
    }

    @Test func `R-276: a record counts for who created it, whoever changes it, and no more once it is deleted`() {
        var zone = publicZone(bytesMax: nil)
        zone.run(request(&zone, [save("a", content(400)), save("b", content(300))], by: alice))
        zone.run(request(&zone, [save("c", content(200))], by: bob))
        #expect(count(zone, alice) == 700 && count(zone, bob) == 200)
        zone.run(request(&zone, [save("a", content(450))], by: bob))
        #expect(count(zone, alice) == 750 && count(zone, bob) == 200, "bob changed what is alice's")
        zone.run(request(&zone, deletes: ["b"], by: bob))
        #expect(count(zone, alice) == 450 && count(zone, bob) == 200)
        zone.run(request(&zone, [save("b", content(150))], by: bob))
        #expect(count(zone, alice) == 450 && count(zone, bob) == 350, "who creates it again has it")
        // In one transaction, and what a group does and undoes leaves nothing.
        zone.run([
            request(&zone, deletes: ["b"], by: alice), request(&zone, [save("b", content(160))], by: alice),
            request(&zone, [save("d", content(500))], by: bob), request(&zone, deletes: ["d"], by: bob),
        ])
        #expect(count(zone, alice) == 610 && count(zone, bob) == 200)
        #expect(zone.byteCount == 810)
    }

    @Test func `R-276: a private zone counts nothing for creators`() {
        var zone = TestZone()
        zone.save(save("a", content(400)))
        #expect(zone.publicUse == nil && zone.creatorGrowth.isEmpty)
    }

    @Test func `R-277: one account cannot fill the database, others have room, and it has more once it deletes`() {
        var zone = publicZone()
        let saves = [
            save("a", content(600)), save("b", content(401)), save("c", content(400)), save("d", content(150)),
        ]
        #expect(zone.run(request(&zone, saves, by: alice)).reasons == [nil, .publicShareFull, nil, .publicShareFull])
        #expect(zone.run(request(&zone, [save("b", content(900))], by: bob)).reasons == [nil])
        // What its deletes free serves the next request, as in a quota.
        let both = request(&zone, [save("d", content(150))], deletes: ["c"], by: alice)
        #expect(zone.run(both).reasons == [.publicShareFull, nil])
        #expect(zone.run(request(&zone, [save("d", content(150))], by: alice)).reasons == [nil])
        #expect(count(zone, alice) == 750)
    }

    @Test func `R-277: requests of one transaction do not fill the same room`() {
        var zone = publicZone()
        let requests = (0..<4).map { request(&zone, [save("\($0)", content(300))], by: alice) }
        #expect(zone.run(requests).flatMap { $0.reasons ?? [] } == [nil, nil, nil, .publicShareFull])
    }

    @Test func `R-277: what takes no more room is saved by whoever has too much, or by others for them`() {
        for user in [alice, bob] {
            var zone = publicZone()
            zone.run(request(&zone, [save("a", content(800))], by: alice))
            zone.publicUse = PublicUse(bytesMax: 500, byteCounts: zone.publicUse?.byteCounts ?? [:])
            #expect(zone.run(request(&zone, [save("a", content(801))], by: user)).reasons == [.publicShareFull])
            #expect(zone.run(request(&zone, [save("a", content(800))], by: user)).reasons == [nil])
            #expect(zone.run(request(&zone, [save("a", content(700))], by: user)).reasons == [nil])
            #expect(zone.run(request(&zone, deletes: ["a"], by: user)).reasons == [nil])
            #expect(count(zone, alice) == 0)
        }
    }

    @Test func `R-277, R-742: the text names the limit, and the numbers to who has them alone`() throws {
        var zone = publicZone()
        zone.run(request(&zone, [save("a", content(900))], by: alice))
        let own = try #require(zone.run(request(&zone, [save("b", content(201))], by: alice)).saves[0].failure?.detail)
        #expect(own.contains("The account has 900 of 1000 bytes there, and this needs 201 more."), "\(own)")
        let others = try #require(
            zone.run(request(&zone, [save("a", content(1_101))], by: bob)).saves[0].failure?.detail)
        #expect(others.contains("set-quota --public-share-megabytes") && !others.contains("900"), "\(others)")
        for text in [own, others] { #expect(text.contains("share of the public database"), "\(text)") }
    }

    @Test func `R-157, R-276: a repeated request counts nothing, and is answered as before`() {
        var zone = publicZone()
        let saves = request(&zone, [save("a", content(600)), save("b", content(600))], by: alice)
        #expect(zone.run(saves).reasons == [nil, .publicShareFull])
        #expect(zone.run([saves, saves]).map(\.reasons) == [[nil, .publicShareFull], [nil, .publicShareFull]])
        #expect(count(zone, alice) == 600)
    }

    @Test func `R-277: what an operator saves counts, and is not refused for it`() {
        var zone = publicZone(bytesMax: 100)
        #expect(zone.save(save("a", content(400))).reasons == [nil])
        #expect(count(zone, alice) == 400)
    }

    @Test func `R-276: assets count for the creator of each record that names them, also if it is deleted unread`()
        throws
    {
        var zone = publicZone(bytesMax: nil)
        let (one, other) = (asset(1, byteCount: 1_000), asset(2, byteCount: 20_000))
        zone.assets = [one, other]
        for content in zone.assets { zone.assetClaims[content] = AssetClaims(senders: [alice, bob]) }
        func naming(_ contents: [FieldAsset], goesWith target: String? = nil) throws -> FieldMap {
            var fields = [Field("files", .assets(contents))]
            if let target {
                fields.append(Field("to", .reference(FieldReference(recordName: target, action: .deleteSelf))))
            }
            return try FieldMap(fields)
        }
        zone.run(request(&zone, [save("p", content(200))], by: alice))
        zone.run(request(&zone, [save("a", try naming([one, other, one]))], by: alice))
        let plain = try naming([one, other, one]).byteCount + Self.besideFields
        #expect(count(zone, alice) == Int64(200 + plain + 21_000), "each once")
        zone.run(request(&zone, [save("b", try naming([one], goesWith: "p"))], by: bob))
        let held = try naming([one], goesWith: "p").byteCount + Self.besideFields
        #expect(count(zone, bob) == Int64(held + 1_000), "and for each who names it")
        zone.run(request(&zone, [save("a", try naming([other]))], by: bob))
        let less = try naming([other]).byteCount + Self.besideFields
        #expect(count(zone, alice) == Int64(200 + less + 20_000))
        let uses = zone.assetUses
        #expect(uses.map(\.removedFrom) == [alice] && uses.map(\.removed) == [[one]])
        // The cascade takes bob's record along, whose fields nobody reads.
        zone.run(request(&zone, deletes: ["p"], by: alice))
        #expect(zone.living("b") == nil)
        #expect(count(zone, alice) == Int64(less + 20_000) && count(zone, bob) == 0)
    }

    private func asset(_ number: UInt8, byteCount: Int64) -> FieldAsset {
        FieldAsset(sha256: [UInt8](repeating: number, count: 32), byteCount: byteCount)
    }
}
