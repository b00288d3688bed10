// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkSessions

/// What a hub knows of a shared database and its list, alone: no store, no session.
@Suite struct PushCenterStateTests {
    private let own = DatabaseID(1)
    private let viewer = DatabaseID(2)
    private let zone = ZoneKey(database: DatabaseID(9), name: "notes")
    private static let shared = Subscription(
        id: "shared", scope: .shared, kind: .database, recordType: nil, notificationInfo: [])

    /// Bob's two databases, with one session.
    private func makeState() -> PushCenter.State {
        var state = PushCenter.State(
            subscriptions: SubscriptionMemory(bytesPerAccountMax: 1_000_000),
            listMemory: AccountMemory(bytesPerAccountMax: SharedZoneLists.byteCount(zones: 3)),
            lines: PushLines(bytesPerAccountMax: 1_000_000))
        join(&state)
        return state
    }

    private func join(_ state: inout PushCenter.State) {
        for (database, twin, scope) in [(own, viewer, DatabaseScope.private), (viewer, own, .shared)] {
            state.watches[database] = DatabaseWatch(
                user: UserID(1), account: AccountID(1), scope: scope, twin: twin, since: .zero)
            state.watches[database]?.join(1, DeviceID(high: 0, low: 1))
        }
    }

    private func mark(_ value: Int64) -> ChangeMark { ChangeMark(value: value, zoneCount: 1) }

    @Test func `I-4: a list whose read began before the last subscription went counts for nothing`() {
        var state = makeState()
        let wants = state.knows([Self.shared], of: own, at: .seconds(1))
        let begins = state.listReads.want(viewer)
        _ = state.listReads.takeNext(of: viewer)
        let starts = state.listStarts(at: mark(5), of: viewer)
        state.listRead([zone], of: viewer)
        #expect(wants == viewer && begins && starts && state.sharedZones.knows(viewer))
        // It is read again. Meanwhile the subscription is deleted, and saved anew.
        _ = state.listReads.want(viewer)
        _ = state.listReads.takeNext(of: viewer)
        let wantsNothing = state.knows([], of: own, at: .seconds(2))
        let wantsAgain = state.knows([Self.shared], of: own, at: .seconds(3))
        let beginsBeside = state.listReads.want(viewer)
        #expect(wantsNothing == nil && wantsAgain == viewer && !beginsBeside)
        let isLate = state.listStarts(at: mark(6), of: viewer)
        state.listRead([zone], of: viewer)
        #expect(!isLate && !state.sharedZones.knows(viewer) && state.watches[viewer]?.awaitsList == true)
        // Whoever reads it reads it once more.
        let isNext = state.listReads.takeNext(of: viewer)
        let startsAnew = state.listStarts(at: mark(7), of: viewer)
        state.listRead([zone], of: viewer)
        #expect(isNext && startsAnew && state.sharedZones.knows(viewer))
        #expect(state.watches[viewer]?.awaitsList == false)
    }

    @Test func `I-4: a list whose read began for an earlier watch counts for nothing`() {
        var state = makeState()
        _ = state.knows([Self.shared], of: own, at: .seconds(1))
        _ = state.listReads.want(viewer)
        _ = state.listReads.takeNext(of: viewer)
        for database in [own, viewer] { state.watches[database] = nil }
        state.listReads.forget(viewer)
        join(&state)
        let isLate = state.listStarts(at: mark(5), of: viewer)
        state.listRead([zone], of: viewer)
        #expect(!isLate && !state.sharedZones.knows(viewer))
        // A mark that the sweep finds before the list is not the list's.
        let told = state.watches[viewer]?.swept(6) { _ in false }
        #expect(told == [] && state.watches[viewer]?.hasMark == false)
        let wants = state.knows([Self.shared], of: own, at: .seconds(2))
        let beginsBeside = state.listReads.want(viewer)
        let isNext = state.listReads.takeNext(of: viewer)
        #expect(wants == viewer && !beginsBeside && isNext)
    }

    @Test func `I-4: what happens at the same time has an order`() {
        var state = makeState()
        let early = state.moment(.seconds(1))
        state.listChanged(of: viewer, at: .seconds(1))
        let wants = state.knows([], of: own, at: early)
        #expect(wants == nil && state.watches[viewer]?.mayHaveOtherSubscriptions == true)
        let begins = state.listReads.want(viewer)
        _ = state.listReads.takeNext(of: viewer)
        #expect(begins && !state.mayReadList(viewer), "they must be read")
        let late = state.moment(.seconds(1))
        let wantsNow = state.knows([Self.shared], of: own, at: late)
        #expect(late > early && wantsNow == viewer && state.mayReadList(viewer))
        // Another notice: whoever reads the list reads both once more.
        state.listChanged(of: viewer, at: .seconds(1))
        _ = state.listReads.want(viewer)
        #expect(state.mayReadList(viewer))
        let starts = state.listStarts(at: mark(5), of: viewer)
        #expect(!starts)
    }

    @Test func `R-726, R-334, I-4: of too many lists the oldest is forgotten, and the sweep tells of its zones`() {
        var state = makeState()
        // The account is in another container too.
        let other = DatabaseID(4)
        state.watches[other] = DatabaseWatch(
            user: UserID(2), account: AccountID(1), scope: .shared, since: .zero)
        state.watches[other]?.join(2, DeviceID(high: 0, low: 1))
        _ = state.knows([Self.shared], of: own, at: .seconds(1))
        _ = state.knows([Self.shared], of: other, at: .seconds(1))
        func read(_ names: [String], of viewer: DatabaseID, at value: Int64) {
            _ = state.listReads.want(viewer)
            _ = state.listReads.takeNext(of: viewer)
            _ = state.listStarts(at: mark(value), of: viewer)
            state.listRead(names.map { ZoneKey(database: zone.database, name: $0) }, of: viewer)
            _ = state.listReads.takeNext(of: viewer)
        }
        func known() -> [Bool] { [viewer, other].map { state.sharedZones.knows($0) } }
        func concerned(by name: String) -> [DatabaseID] {
            state.sharedZones.viewers(
                concernedBy: ZoneNotice(database: zone.database, life: .nobody, zoneName: name))
        }
        read(["a", "b"], of: viewer, at: 5)
        #expect(concerned(by: "a") == [viewer])
        read(["c", "d"], of: other, at: 5)
        #expect(known() == [false, true] && concerned(by: "a") == [] && concerned(by: "c") == [other])
        // Nothing is read again as long as nothing changes.
        state.looksForOtherList(of: viewer, at: 5)
        #expect(!state.listReads.isWanted(viewer) && state.watches[viewer]?.isDue == false)
        state.looksForOtherList(of: viewer, at: 6)
        #expect(state.listReads.isWanted(viewer) && state.watches[viewer]?.isDue == true)
        read(["a", "b"], of: viewer, at: 6)
        #expect(known() == [true, false] && concerned(by: "a") == [viewer])
        // A list that is dropped takes no room.
        state.dropList(of: viewer)
        read(["c", "d"], of: other, at: 7)
        read(["a"], of: viewer, at: 7)
        #expect(known() == [true, true])
    }
}
