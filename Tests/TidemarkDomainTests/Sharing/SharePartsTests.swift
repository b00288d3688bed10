// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// How much of a zone's shares one request reads, and how many of them one user takes part in.
struct SharePartsTests {
    private var zone = TestZone.ofHierarchies()

    init() {
        zone.ask(alice, save("a"), save("b"), save("c"))
        for name in ["a", "b", "c"] {
            zone.ask(
                alice, hierarchySave("S" + name, root: name, [guest(bob), guest(UserID(3))]), zone.saveAgain(name),
                policy: .changedKeys)
        }
    }

    private mutating func accept(_ user: UserID, _ name: String) -> FailureReason? {
        let action = ShareAction.accept(
            ShareVisitor(user: user, shareName: name), as: ParticipantID(high: 8, low: UInt64(user.rawValue)))
        if case .failure(let reason) = zone.act(action) { return reason }
        return nil
    }

    @Test mutating func `R-985: one user takes part in so many shares of a zone, and leaves one before the next`() {
        zone.limits.zonePartsMax = 2
        #expect(accept(bob, "Sa") == nil && accept(bob, "Sb") == nil)
        #expect(accept(bob, "Sc") == .tooManyParts)
        #expect(accept(bob, "Sa") == nil, "who takes part already repeats it")
        #expect(accept(UserID(3), "Sc") == nil, "others are not concerned")
        #expect(ShareAccess(of: bob, in: zone.sharing).hierarchies.count == 2)
        #expect(zone.ask(bob, deleting: ["Sb"]) == [nil])
        #expect(accept(bob, "Sc") == nil)
        #expect(zone.ask(alice, deleting: ["Sa"]) == [nil])
        #expect(ShareAccess(of: bob, in: zone.sharing).hierarchies.count == 1, "a share that ended counts no more")
    }

    @Test func `R-985: reads are put together`() {
        let (one, other) = (ShareChoice(names: ["s"]), ShareChoice(linkHashes: [[1]]))
        let both = ShareChoice(names: ["s"], linkHashes: [[1]])
        let people = SharingRead.people(of: one, and: [bob])
        #expect(people.and(.people(of: other, and: [alice])) == .people(of: both, and: [alice, bob]))
        #expect(people.and(.access(of: [alice])) == .people(of: one, and: [alice, bob]))
        #expect(SharingRead.access(of: []).and(people) == people && people.and(.nothing) == people)
        #expect(people.and(.whole) == .whole && SharingRead.whole.isWhole && !people.isWhole)
        #expect(one.union(.every) == .every && SharingRead.people(of: .every, and: []).isWhole)
        #expect(SharingRead.shown(to: bob, of: one).and(.access(of: [bob])) == .shown(to: bob, of: one))
    }

    @Test func `R-985: a link opens nothing in a share that was not read, also for who takes part in that`() {
        let share = Share(number: ShareNumber(1), recordName: "s", rootName: "r")
        let row = Participant(
            id: ParticipantID(high: 1, low: 1), user: bob, linkSecret: [5], status: .accepted, acceptedNumber: 2,
            addedAt: 1)
        let visitor = ShareVisitor(user: bob).bringing(.oneTime([5]), foundBy: [9])
        let unread = ZoneSharing(owner: alice, shares: [share], participants: [share.number: [row]], isWhole: false)
        #expect(unread.entry(of: visitor) == nil && visitor.declining(in: unread, at: 9) == nil)
        let read = ZoneSharing(
            owner: alice, shares: [share], participants: [share.number: [row]], isWhole: false,
            wholeShares: [share.number])
        #expect(read.entry(of: visitor)?.share == share && visitor.declining(in: read, at: 9) != nil)
    }
}
