// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

/// What participants' requests leave in the owner's zone beside records.
@Suite struct ParticipantTracesTests {
    private func sharedZone(_ permission: SharePermission) -> TestZone {
        var zone = TestZone()
        zone.save(save("a"))
        zone.share(with: [guest(bob, permission)])
        #expect(zone.accept(bob) == nil)
        return zone
    }

    @Test func `R-733: a participant's client change token is kept as theirs, the owner's as the database's`() throws {
        var zone = sharedZone(.readWrite)
        for (user, expected) in [(alice, [:]), (bob, [TestZone.access(bob).marking(phone): bob])]
            as [(UserID, [DeviceID: UserID])]
        {
            let asked = zone.asked(by: user, [save("x")], policy: .allKeys)
            let request = RecordsRequest(
                id: stamp(asked.id.counter, device: phone), key: asked.key, saves: asked.saves, deletes: [],
                policy: asked.policy, isAtomic: false, user: user, access: asked.access, clientToken: [7])
            let snapshot = zone.snapshot(for: request.read(within: Limits()))
            let group = ZoneOverlay(snapshot: snapshot, store: store, limits: Limits())
            #expect(group.apply(request, now: 1_000).reasons == [nil])
            let changes = try #require(group.changes)
            #expect(changes.tokenUsers == expected)
            #expect(changes.clientTokens == [TestZone.access(user).marking(phone): [7]])
            #expect(changes.participantTokensMax == 100 && changes.clientTokensMax == 10_000)
        }
    }

    @Test func `R-157, R-323: an edit that was refused stays refused when it comes again after the right was given`() {
        var zone = sharedZone(.readOnly)
        let request = zone.asked(by: bob, [save("x")], policy: .allKeys)
        let refused = zone.run(request).reasons
        #expect(refused?.count == 1 && refused != [nil])
        zone.share(with: [guest(bob, .readWrite)])
        let again = zone.run(request).reasons
        #expect(again == refused && zone.living("x") == nil)
        let new = zone.ask(bob, save("x"), policy: .allKeys)
        #expect(new == [nil])
    }
}
