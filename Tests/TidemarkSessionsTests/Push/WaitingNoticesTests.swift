// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkSessions

/// Notices that wait to be posted to other servers.
@Suite struct WaitingNoticesTests {
    private static func notice(_ database: Int64, _ zone: Int) -> ZoneNotice {
        ZoneNotice(database: DatabaseID(database), life: .nobody, zoneName: "\(zone)")
    }

    private static func all(_ waiting: inout WaitingNotices, by count: Int) -> [ZoneNotice] {
        var taken: [ZoneNotice] = []
        while case let some = waiting.take(count), !some.isEmpty {
            #expect(some.count <= count)
            taken += some
        }
        return taken
    }

    @Test func `R-723: a database with thousands of notices neither delays another's nor takes their room`() {
        var waiting = WaitingNotices(countMax: 400)
        for zone in 0..<1_000 { waiting.add(Self.notice(1, zone)) }
        #expect(waiting.count == 100)
        for zone in [7, 3] { waiting.add(Self.notice(2, zone)) }
        #expect(waiting.take(4) == [Self.notice(1, 0), Self.notice(2, 7), Self.notice(1, 1), Self.notice(2, 3)])
        // What was taken has made room.
        waiting.add(Self.notice(1, 1_000))
        #expect(Self.all(&waiting, by: 7) == (2..<100).map { Self.notice(1, $0) } + [Self.notice(1, 1_000)])
        #expect(waiting.count == 0)
    }

    @Test func `R-723: however many databases have thousands of notices, there is room for another's`() {
        for count in [4, 5, 50] as [Int64] {
            var waiting = WaitingNotices(countMax: 1_000)
            for zone in 0..<1_000 { for database in 1...count { waiting.add(Self.notice(database, zone)) } }
            let before = waiting.count
            #expect(before > 700 && before < 1_000, "\(count) databases")
            for zone in 0..<5 { waiting.add(Self.notice(99, zone)) }
            #expect(waiting.count == before + 5, "\(count) databases")
            // Equal parts.
            var parts: [DatabaseID: Int] = [:]
            for notice in Self.all(&waiting, by: 100) { parts[notice.database, default: 0] += 1 }
            parts[DatabaseID(99)] = nil
            #expect(parts.count == Int(count) && (parts.values.max() ?? 0) <= (parts.values.min() ?? 0) + 1)
        }
    }

    @Test func `I-7: notices that wait are bounded, and equal ones are one`() {
        var waiting = WaitingNotices(countMax: 8)
        for database in Int64(1)...20 {
            for zone in [0, 0, 1] { waiting.add(Self.notice(database, zone)) }
        }
        #expect(waiting.count == 8)
        let taken = Self.all(&waiting, by: 3)
        #expect(taken.count == 8 && Set(taken).count == 8)
        waiting.add(Self.notice(1, 0))
        #expect(waiting.take(3) == [Self.notice(1, 0)])
    }

    @Test func `R-249: what happens to a record waits in its order, and one that repeats the last says nothing`() {
        func notice(_ reason: QueryReason?, _ record: String?, of user: Int64 = 1) -> QueryNotice {
            QueryNotice(
                database: DatabaseID(7),
                subscriber: SubscriberKey(user: UserID(user), key: Subscription.Key(scope: .public, id: "s")),
                reason: reason, record: record.map { QueryNotification.Record(name: $0, zoneName: "notes") },
                maker: DeviceID(high: 0, low: 1))
        }
        var waiting = WaitingLines<QueryNotice>(countMax: 1_000)
        let notices = [
            notice(.deleted, "a"), notice(.created, "a"), notice(.created, "a", of: 2), notice(nil, nil),
            notice(.deleted, "a"), notice(.created, "b"), notice(.created, "a"),
        ]
        var waits = notices.map { waiting.add($0) }
        // User 2 was told that it was created, and nothing since.
        waits.append(waiting.add(notice(.created, "a", of: 2)))
        waits.append(waiting.add(notice(.created, "a")))
        #expect(waits.allSatisfy { $0 } && waiting.count == notices.count)
        #expect(waiting.take(2) == Array(notices[..<2]))
        // The last that waits says so.
        waiting.add(notice(.created, "a"))
        #expect(waiting.take(9) == Array(notices[2...]))
        #expect(waiting.isEmpty)
        waiting.add(notice(.created, "a"))
        #expect(waiting.take(9) == [notice(.created, "a")])
    }
}
