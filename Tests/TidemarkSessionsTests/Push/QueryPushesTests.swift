// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkSessions

@Suite struct QueryPushesTests {
    private static let (alice, bob) = (UserID(1), UserID(2))

    private static func firing(_ record: String, _ id: String = "s", of user: UserID = alice) -> QueryFiring {
        QueryFiring(
            user: user,
            subscription: Subscription(
                id: id, scope: .public, kind: .query, recordType: "Note", notificationInfo: []),
            reason: .created, record: QueryNotification.Record(name: record, zoneName: "notes"), version: nil,
            maker: DeviceID(high: 1, low: 2))
    }

    private static func all(_ pushes: inout QueryPushes) -> [(record: String?, sessions: [UInt64])] {
        var all: [(String?, [UInt64])] = []
        while let (firing, sessions) = pushes.take() { all.append((firing.record?.name, sessions)) }
        return all
    }

    @Test func `R-249: each session of the user gets it, and nobody's is dropped at once`() {
        var pushes = QueryPushes()
        pushes.add(Self.firing("early"))
        #expect(pushes.isEmpty)
        pushes.join(2, of: Self.alice)
        pushes.join(1, of: Self.alice)
        pushes.join(3, of: Self.bob)
        pushes.add(Self.firing("a"))
        pushes.add(Self.firing("b", of: Self.bob))
        pushes.leave(2, of: Self.alice)
        let all = Self.all(&pushes)
        #expect(all.map(\.record) == ["a", "b"])
        #expect(all.map(\.sessions) == [[1], [3]])
        pushes.leave(1, of: Self.alice)
        #expect(!pushes.isHere(Self.alice) && pushes.isHere(Self.bob))
        pushes.add(Self.firing("c"))
        #expect(pushes.isEmpty)
    }

    @Test func `R-253: what finds no room becomes one push for each subscription`() {
        var pushes = QueryPushes(countMax: 8)
        pushes.join(1, of: Self.alice)
        for record in ["a", "b", "c", "d"] { pushes.add(Self.firing(record)) }
        pushes.add(Self.firing("e", "other"))
        #expect(Self.all(&pushes).map(\.record) == ["a", "b", nil, nil])
        #expect(pushes.isEmpty)
        pushes.add(Self.firing("f"))
        #expect(Self.all(&pushes).map(\.record) == ["f"])
    }

    @Test func `R-723: of a user with very many others have their room, and their turn`() {
        var pushes = QueryPushes(countMax: 40)
        pushes.join(1, of: Self.alice)
        pushes.join(2, of: Self.bob)
        for number in 0..<100 { pushes.add(Self.firing("a\(number)")) }
        for number in 0..<3 { pushes.add(Self.firing("b\(number)", of: Self.bob)) }
        let all = Self.all(&pushes).map(\.record)
        #expect(all.prefix(6) == ["a0", "b0", "a1", "b1", "a2", "b2"])
        #expect(all.count == 14 && all.last == .some(nil))
        // Their bytes are bounded too, and what was sent has made room.
        var small = QueryPushes(bytesMax: 4 * 1_100)
        small.join(1, of: Self.alice)
        for _ in 0..<2 {
            for number in 0..<3 { small.add(Self.firing("\(number)")) }
            #expect(Self.all(&small).map(\.record) == ["0", "1", nil])
        }
    }

    @Test func `R-253: the pruned push is for all devices`() {
        var pushes = QueryPushes(bytesMax: 0)
        pushes.join(1, of: Self.alice)
        pushes.add(Self.firing("a"))
        let taken = pushes.take()
        #expect(taken?.firing.reason == nil && taken?.firing.maker == .nobody)
        #expect(taken?.firing.key == Self.firing("a").key)
    }
}
