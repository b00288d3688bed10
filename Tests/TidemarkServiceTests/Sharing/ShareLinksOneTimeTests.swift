// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkFairness
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// One-time links, from the save that makes them to the acceptance that uses them up.
@Suite struct ShareLinksOneTimeTests {
    private func linked(_ number: UInt64, _ permission: SharePermission = .readWrite) -> ParticipantSave {
        ParticipantSave(id: ParticipantID(high: 2, low: number), person: .link([]), permission: permission)
    }

    /// The links of the zone's participants, as its owner is shown them.
    private func links(_ fixture: ServiceFixture) async throws -> [[UInt8]] {
        let read = try #require(try await MemoryStore(fixture.database).sharing(of: fixture.key(), .whole))
        let shown = try #require(read.sharing.shownShare(to: fixture.identity.user))
        return shown.participants.compactMap(\.linkSecret).map { shown.secretHash + $0 }
    }

    @Test func `R-970: the server makes a secret for each link, which does not change with the share`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            try await fixture.share(.noAccess, [linked(1), linked(2)], counter: 1, by: service)
            let made = try await links(fixture)
            #expect(made.count == 2 && Set(made).count == 2 && made.allSatisfy { $0.count == 48 })
            let hash = SHA256.hash(try await fixture.secret())
            #expect(made.allSatisfy { $0.starts(with: hash) })
            let tag = try await fixture.shareTag()
            try await fixture.share(.noAccess, [linked(1, .readOnly), linked(2)], tag: tag, counter: 2, by: service)
            #expect(try await links(fixture) == made, "who is in the share keeps the link")
            // Also if other people of the same share are looked up first.
            let next = fixture.sharing(
                ShareSave(tag: try await fixture.shareTag(), participants: [linked(1), linked(2), linked(3)]),
                counter: 3)
            let outcomes = await service.modifyRecords([next], for: .account(1)) { .success([next]) }
            let outcome = try #require(outcomes.first).get()
            #expect(outcome.saves.allSatisfy { if case .saved = $0 { true } else { false } })
            #expect(try await links(fixture).count == 3)
        }
    }

    @Test func `R-970: a link leads to the zone, its first bearer joins, and for the next there is no such share`()
        throws
    {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(.noAccess, [linked(1)], counter: 1, by: service)
            let link = try #require(try await links(fixture).first)
            func look(_ user: Identity) async throws -> [Result<ShareMetadata, FailureReason>] {
                try await service.shareMetadata(ofLinks: [link], for: user.bearer).get()
            }
            for user in [bob, carol] {
                let found = try await look(user)
                let metadata = try #require(try? found[0].get())
                #expect(metadata.status == .pending && metadata.role == .privateUser)
                #expect(metadata.permission == .readWrite && metadata.share.secret.isEmpty)
            }
            let joined = try await service.acceptShares(ofLinks: [link], for: bob.bearer).get()
            let secret = try await fixture.secret()
            #expect(try joined[0].get().share.secret == secret && joined[0].get().status == .accepted)
            #expect(try await look(carol).reasons == [.shareUnknown])
            let late = try await service.acceptShares(ofLinks: [link], for: carol.bearer).get()
            #expect(late.reasons == [.shareUnknown])
            // Whoever has joined repeats it, and looks again.
            #expect(try await service.acceptShares(ofLinks: [link], for: bob.bearer).get().reasons == [nil])
            #expect(try await look(bob).reasons == [nil])
            // The participant is removed, and the link with them.
            try await fixture.share(.noAccess, [], tag: try await fixture.shareTag(), counter: 2, by: service)
            #expect(try await look(bob).reasons == [.shareUnknown])
        }
    }

    @Test func `R-316, R-970: a used link and an invented one ask the store the same`() throws {
        let script = FaultScript()
        let fixture = try ServiceFixture()
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(.noAccess, [linked(1)], counter: 1, by: service)
            let link = try #require(try await links(fixture).first)
            #expect(try await service.acceptShares(ofLinks: [link], for: bob.bearer).get().reasons == [nil])
            let hash = Array(link.prefix(32))
            let kinds: [(String, [UInt8])] = [
                ("used", link), ("of the zone, with another secret", hash + [UInt8](repeating: 7, count: 16)),
                ("of no zone", [UInt8](repeating: 7, count: 48)), ("no share's URL", [UInt8](repeating: 7, count: 16)),
                ("the URL of a share without an invitation", try await fixture.secret()),
                ("too long", hash + [UInt8](repeating: 7, count: 17)), ("the hash alone", hash),
            ]
            for accepts in [false, true] {
                var counts: Set<Int> = []
                for (name, secret) in kinds {
                    let before = script.count(.callSent)
                    let found =
                        accepts
                        ? await service.acceptShares(ofLinks: [secret], for: carol.bearer)
                        : await service.shareMetadata(ofLinks: [secret], for: carol.bearer)
                    #expect(try found.get().reasons == [.shareUnknown], "\(name)")
                    counts.insert(script.count(.callSent) - before)
                }
                #expect(counts.count == 1, "\(counts)")
            }
            let marks = try await MemoryStore(fixture.database).sharedMarks(of: [carol.sharedDatabase: carol.user])
            #expect(marks[carol.sharedDatabase]?.zoneCount == 0, "nothing is in her list")
        }
    }

    @Test func `R-330, R-970: a link is declined by whoever has it`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(.noAccess, [linked(1)], counter: 1, by: service)
            let link = try #require(try await links(fixture).first)
            for _ in 0..<2 {
                let declined = try await service.declineShares(ofLinks: [link], for: bob.bearer).get()
                #expect(declined.allSatisfy { if case .success = $0 { true } else { false } })
                #expect(try await links(fixture) == [])
            }
            let accepted = try await service.acceptShares(ofLinks: [link], for: carol.bearer).get()
            #expect(accepted.reasons == [.shareUnknown])
        }
    }
}
