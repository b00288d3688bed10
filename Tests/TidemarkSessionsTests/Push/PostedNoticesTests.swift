// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkSessions

@Suite struct PostedNoticesTests {
    private static func zone(_ name: String) -> ZoneNotice {
        ZoneNotice(database: DatabaseID(1), life: .nobody, zoneName: name)
    }

    static func query(_ record: String, in database: Int64 = 7, _ reason: QueryReason = .created) -> QueryNotice {
        QueryNotice(
            database: DatabaseID(database),
            subscriber: SubscriberKey(user: UserID(1), key: Subscription.Key(scope: .public, id: "s")),
            reason: reason, record: QueryNotification.Record(name: record, zoneName: "notes"),
            maker: DeviceID(high: 0, low: 1))
    }

    @Test func `I-4: of a post that failed others are told that subscriptions may have fired, and which have changed`()
    {
        var posted = PostedNotices(returnsOwn: true)
        posted.add(Self.zone("a"))
        for (record, database) in [("a", 7), ("b", 7), ("c", 8)] as [(String, Int64)] {
            posted.add(Self.query(record, in: database))
        }
        posted.queriesChanged(in: DatabaseID(9))
        let post = posted.take(100)
        #expect(post.notices.count == 5)
        posted.failed(post)
        let again = posted.take(100)
        #expect(again.lost == [DatabaseID(7), DatabaseID(8)] && again.changed == [DatabaseID(9)])
        #expect(again.zones.isEmpty && again.queries.isEmpty)
        // That fails as well.
        posted.failed(again)
        #expect(posted.take(1).notices == [.queriesChanged(DatabaseID(9)), .queriesLost(DatabaseID(7))])
        #expect(posted.take(1).notices == [.queriesLost(DatabaseID(8))])
        #expect(posted.take(1).isEmpty)
        // Nothing of the failed post comes back.
        #expect(posted.others([Self.zone("a")]) == [Self.zone("a")])
        #expect(posted.others([Self.query("a")]) == [Self.query("a")])
    }

    @Test func `I-4: of a firing that finds no room others are told that there was one`() {
        var posted = PostedNotices(returnsOwn: true)
        let roomOfOne = PostedNotices.waitingMax / 4
        for number in 0..<roomOfOne { posted.add(Self.query("\(number)")) }
        #expect(posted.take(1).lost.isEmpty)
        posted.add(Self.query("more"))
        #expect(posted.take(1).lost.isEmpty, "there was room again")
        for number in 0..<3 { posted.add(Self.query("again \(number)")) }
        #expect(posted.take(1).lost == [DatabaseID(7)])
    }

    static func changes(_ after: ChangeNumber, _ upTo: ChangeNumber, in database: Int64 = 7) -> EvaluatedChanges {
        EvaluatedChanges(database: DatabaseID(database), part: ChangeRanges.Part(after: after, upTo: upTo))
    }

    @Test func `R-263: that changes have fired all is said after what they fire, and again if the post has failed`() {
        var posted = PostedNotices(returnsOwn: true)
        for number in 0..<3 { posted.add(Self.query("\(number)")) }
        let (seven, eight) = (Self.changes(1, 2), Self.changes(4, 6, in: 8))
        let areFirst = [posted.add([seven]), posted.add([eight])]
        #expect(areFirst == [true, false])
        let early = posted.take(1)
        #expect(early.queries.count == 1 && early.evaluated.isEmpty)
        posted.evaluatedIsDue()
        // What one of them has fired still waits.
        #expect(posted.take(1).evaluated == [eight])
        let last = posted.take(1)
        #expect(last.notices == [.queryFired(Self.query("2")), .queriesEvaluated(seven)])
        posted.failed(last)
        #expect(posted.take(1).notices == [.queriesLost(DatabaseID(7)), .queriesEvaluated(seven)])
        #expect(posted.take(1).isEmpty)
        let isFirstAgain = posted.add([eight])
        #expect(isFirstAgain)
    }

    @Test func `R-723: a server does not take what it has posted for news of others`() {
        var posted = PostedNotices(returnsOwn: true)
        posted.add(Self.zone("a"))
        posted.add(Self.query("a"))
        let post = posted.take(100)
        posted.failed(PostedNotices.Post(queries: [Self.query("b", in: 8)]))
        #expect(posted.take(100).lost == [DatabaseID(8)])
        for isFirst in [true, false] {
            #expect(posted.others(post.zones).isEmpty == isFirst)
            #expect(posted.others(post.queries).isEmpty == isFirst)
            #expect(posted.others(ofLost: [DatabaseID(8), DatabaseID(9)]).count == (isFirst ? 1 : 2))
        }
        posted.add(Self.query("a"))
        _ = posted.take(100)
        posted.forgetEchoes()
        #expect(posted.others([Self.query("a")]).count == 1)
        // A bus that sends nothing back.
        var deaf = PostedNotices(returnsOwn: false)
        deaf.add(Self.zone("a"))
        #expect(deaf.others(deaf.take(1).zones) == [Self.zone("a")])
    }
}
