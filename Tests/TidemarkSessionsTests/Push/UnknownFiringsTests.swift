// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkSessions

@Suite struct UnknownFiringsTests {
    private static func notice(_ record: Int, _ id: String = "s", of user: Int64 = 1) -> QueryNotice {
        QueryNotice(
            database: DatabaseID(7),
            subscriber: SubscriberKey(user: UserID(user), key: Subscription.Key(scope: .public, id: id)),
            reason: .created, record: QueryNotification.Record(name: "\(record)", zoneName: "notes"),
            maker: .nobody)
    }

    @Test func `R-249: what waits for a read keeps its order, and later ones of the user wait behind it`() {
        var unknown = UnknownFirings()
        #expect(!unknown.isWaiting(UserID(1)))
        unknown.add(Self.notice(1))
        unknown.add(Self.notice(2))
        let begins = [unknown.addReader(), unknown.addReader()]
        #expect(begins == [true, false], "one read is enough for one user")
        let user = unknown.takeUser(isFirst: true)
        #expect(user == UserID(1) && unknown.isWaiting(UserID(1)))
        // These come while it is read: the last may be of a subscription that is newer than the read.
        unknown.add(Self.notice(3))
        unknown.add(Self.notice(4, "new"))
        unknown.add(Self.notice(5))
        let first = unknown.areRead(of: UserID(1)) { $0.key.id == "s" }
        #expect(first.ready == [Self.notice(1), Self.notice(2), Self.notice(3)])
        let again = unknown.takeUser(isFirst: false)
        #expect(again == UserID(1) && unknown.isWaiting(UserID(1)))
        // It was read, and is not there: it has ended with its push.
        let second = unknown.areRead(of: UserID(1)) { $0.key.id == "s" }
        #expect(second.ready == [Self.notice(4, "new"), Self.notice(5)] && !second.hasLost)
        let last = unknown.takeUser(isFirst: false)
        #expect(last == nil && !unknown.isWaiting(UserID(1)))
        unknown.add(Self.notice(6))
        let beginsAnew = unknown.addReader()
        #expect(beginsAnew)
    }

    @Test func `R-723: a read that takes long delays nobody else, and few are under way`() {
        var unknown = UnknownFirings()
        var readers = 0
        for user in Int64(1)...9 {
            unknown.add(Self.notice(1, of: user))
            guard unknown.addReader() else { continue }
            readers += 1
            let taken = unknown.takeUser(isFirst: true)
            #expect(taken == UserID(user))
        }
        #expect(readers == 4)
        _ = unknown.areRead(of: UserID(1)) { _ in true }
        let next = unknown.takeUser(isFirst: false)
        #expect(next == UserID(5))
    }

    @Test func `I-7: of too many that wait their user is told that there were more`() {
        var unknown = UnknownFirings(countMax: 20)
        for number in 0..<5 { unknown.add(Self.notice(number)) }
        unknown.add(Self.notice(1, of: 2))
        for user in Int64(1)...2 {
            _ = unknown.takeUser(isFirst: false)
            let (ready, hasLost) = unknown.areRead(of: UserID(user)) { _ in true }
            #expect(ready.count == (user == 1 ? 2 : 1) && hasLost == (user == 1))
        }
        unknown.add(Self.notice(9))
        _ = unknown.takeUser(isFirst: false)
        let (ready, hasLost) = unknown.areRead(of: UserID(1)) { _ in true }
        #expect(ready == [Self.notice(9)] && !hasLost)
    }
}
