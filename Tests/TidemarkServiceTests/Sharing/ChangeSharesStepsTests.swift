// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Changes of many shares of one zone.
@Suite struct ChangeSharesStepsTests {
    private static let rootCount = 5
    private static let operatorsChoice = ParticipantID(high: 9, low: 9)

    /// The owner shares a record with some people. The names of record and share have the number.
    private func share(
        _ number: Int, with people: [ParticipantSave], in fixture: ServiceFixture, by service: CloudService
    ) async throws {
        let (root, name) = ("root \(number)", "share \(number)")
        let share = ShareSave(
            recordName: name, rootName: root, tag: nil, publicPermission: .noAccess, participants: people)
        let request = RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: 1), UInt64(number)), key: fixture.key(),
            saves: [
                RecordSave(name: root, type: "Item", tag: nil, fields: FieldMap(), parent: .unchanged),
                RecordSave(
                    name: name, type: Share.recordType, tag: nil, fields: FieldMap(), parent: .unchanged, share: share),
            ], deletes: [], policy: .ifServerRecordUnchanged, isAtomic: true, user: fixture.identity.user,
            access: .owner(fixture.identity.user))
        let outcome = try await service.modify(request).get()
        try #require(outcome.saves.allSatisfy { if case .saved = $0 { true } else { false } }, "\(outcome)")
    }

    private func sharing(_ fixture: ServiceFixture) async throws -> ZoneSharing {
        try #require(try await MemoryStore(fixture.database).sharing(of: fixture.key(), .whole)).sharing
    }

    @Test func `R-769, R-992: who is forgotten is looked for in a few shares at a time, and found in each`() throws {
        let (script, fixture) = (FaultScript(), try ServiceFixture())
        var limits = Limits()
        limits.sharesTogetherMax = 2
        let service = fixture.server(faults: script.plan, limits: limits)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            let carol = try await fixture.user("carol", by: service)
            for number in 1...Self.rootCount {
                try await share(number, with: [bob.invited(), carol.invited()], in: fixture, by: service)
            }
            for isChanged in [true, false] {
                let before = script.count(.beginSent)
                let person = EndedPerson(users: [bob.user])
                #expect(try await service.forget(person, in: fixture.key()).get() == isChanged)
                #expect(script.count(.beginSent) - before == 3, "of five shares two are read at once")
            }
            let sharing = try await sharing(fixture)
            #expect(!sharing.hasPlace(of: bob.user) && sharing.hasPlace(of: carol.user))
            #expect(sharing.hierarchies.count == Self.rootCount)
        }
    }

    @Test func `R-769, R-328: an operator's removal ends with the share in which the participant is`() throws {
        let (script, fixture) = (FaultScript(), try ServiceFixture())
        var limits = Limits()
        limits.sharesTogetherMax = 1
        let service = fixture.server(faults: script.plan, limits: limits)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            for number in 1...Self.rootCount {
                var guest = bob.invited()
                if number == 3 {
                    guest = ParticipantSave(
                        id: Self.operatorsChoice, person: .user(bob.user), permission: .readOnly)
                }
                try await share(number, with: [guest], in: fixture, by: service)
            }
            let before = script.count(.beginSent)
            #expect(try await service.revokeShare(of: fixture.key(), participant: Self.operatorsChoice).get())
            #expect(script.count(.beginSent) - before == 3)
            #expect(try await !service.revokeShare(of: fixture.key(), participant: Self.operatorsChoice).get())
            let sharing = try await sharing(fixture)
            let living = sharing.hierarchies.filter { share in
                (sharing.participants[share.number] ?? [:]).values.contains(where: \.isLiving)
            }
            #expect(living.count == Self.rootCount - 1)
        }
    }

    @Test func `R-315, R-716: links into one zone are read together, a few at once, with their roots`() throws {
        for together in [10, 2] {
            let (script, fixture) = (FaultScript(), try ServiceFixture())
            var limits = Limits()
            limits.sharesTogetherMax = together
            let service = fixture.server(faults: script.plan, limits: limits)
            try fixture.scheduler.simulate {
                let bob = try await fixture.user("bob", by: service)
                for number in 1...Self.rootCount {
                    try await share(number, with: [bob.invited()], in: fixture, by: service)
                }
                let sharing = try await sharing(fixture)
                let links = sharing.hierarchies.map { sharing.secret(of: $0) }
                try #require(links.count == Self.rootCount && links.allSatisfy { $0 != nil })
                /// How often the store is asked for what these links lead to.
                func questions(_ links: [[UInt8]?]) async throws -> Int {
                    let before = script.count(.callSent)
                    let found = try await service.shareMetadata(ofLinks: links, for: bob.bearer).get()
                    #expect(found.reasons.allSatisfy { $0 == nil }, "\(found.reasons)")
                    let names = found.compactMap { try? $0.get() }.map { [$0.record.name, $0.root?.name ?? ""] }
                    let expected = links.compactMap { link in
                        sharing.hierarchies.first { sharing.secret(of: $0) == link }
                    }.map { [$0.recordName, $0.rootName ?? ""] }
                    #expect(names == expected)
                    return script.count(.callSent) - before
                }
                // Owners are looked up once.
                _ = try await questions(Array(links.prefix(1)))
                let few = try await questions(Array(links.prefix(2)))
                // Each five links more take as much as is read at once: the shares, and then their records.
                let steps = (Self.rootCount + together - 1) / together
                #expect(try await questions(links) == few + 2 * (steps - 1))
                #expect(try await questions(links + links.prefix(1)) <= few + 2 * (steps - 1) + 1)
            }
        }
    }
}
