// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkDomain

/// Who is present in a place, and what is told of it.
@Suite struct PresenceTopicTests {
    private static func member(_ number: UInt64, of user: Int64 = 1, _ state: [UInt8] = []) -> PresenceMember {
        PresenceMember(number: number, user: UserID(user), userName: "_user\(user)", state: state)
    }

    private static func tally(_ numbers: UInt64...) -> PresenceTally { PresenceTally(of: numbers) }

    /// Somebody who hears all news.
    private struct Listener {
        var members: [UInt64: PresenceMember] = [:]
        var messages: [PresenceMessage] = []

        mutating func hear(_ news: PresenceNews) {
            for number in news.gone { members[number] = nil }
            for member in news.members { members[member.number] = member }
            messages += news.messages
        }
    }

    @Test func `R-878: a state is replaced and never queued, and told at most every 50 milliseconds`() throws {
        var topic = PresenceTopic()
        try topic.join(Self.member(1), now: .zero)
        #expect(topic.dueAt == .zero)
        #expect(topic.take(now: .seconds(1)).members == [Self.member(1)])
        #expect(topic.dueAt == nil)
        for value in 1...30 {
            try topic.publish(1, state: [UInt8(value)], message: nil, now: .milliseconds(1_000 + value))
        }
        #expect(topic.dueAt == .milliseconds(1_050))
        #expect(topic.take(now: .milliseconds(1_050)).members == [Self.member(1, [30])])
        #expect(topic.dueAt == nil)
        // The same state is no news.
        try topic.publish(1, state: [30], message: nil, now: .milliseconds(1_060))
        #expect(topic.dueAt == nil)
    }

    @Test func `R-878: whoever publishes nothing for 15 seconds is gone, and whoever says that they are there is not`()
        throws
    {
        var topic = PresenceTopic()
        try topic.join(Self.member(1), now: .zero)
        try topic.join(Self.member(2, of: 2), now: .zero)
        _ = topic.take(now: .zero)
        try topic.publish(2, state: nil, message: nil, now: .seconds(5))
        #expect(topic.expire(now: .milliseconds(14_999)) == [])
        #expect(topic.expire(now: .seconds(15)) == [1])
        #expect(topic.take(now: .seconds(15)).gone == [1])
        #expect(topic.members.map(\.number) == [2])
        #expect(throws: PresenceTopic.PublishRefusal.notThere) {
            try topic.publish(1, state: [1], message: nil, now: .seconds(16))
        }
        #expect(topic.expire(now: .seconds(20)) == [2])
        #expect(topic.count == 0)
    }

    @Test func `R-878: nobody is told of a member who came and went between two pushes`() throws {
        var topic = PresenceTopic()
        try topic.join(Self.member(1), now: .zero)
        topic.leave(1)
        #expect(topic.dueAt == nil)
        topic.leave(1)
        #expect(topic.take(now: .zero).isEmpty)
    }

    @Test func `R-878: whoever heard of a member by the answer to a join hears that it is gone`() throws {
        var topic = PresenceTopic()
        try topic.join(Self.member(1), now: .zero)
        // No push has named it when another one joins, and is told of all.
        try topic.join(Self.member(2, of: 2), now: .zero)
        #expect(topic.tellAll().map(\.number) == [1, 2])
        topic.leave(1)
        let news = topic.take(now: .zero)
        #expect(news.gone == [1] && news.members.map(\.number) == [2])
    }

    @Test func `R-877: places and messages of one user are bounded, and those of others are free`() throws {
        var bounds = PresenceBounds()
        (bounds.membersMax, bounds.membersPerUserMax, bounds.messagesPerUserMax) = (4, 2, 3)
        var topic = PresenceTopic(bounds)
        for number in 1...2 as ClosedRange<UInt64> { try topic.join(Self.member(number), now: .zero) }
        #expect(throws: PresenceTopic.JoinRefusal.tooManyOfUser) { try topic.join(Self.member(3), now: .zero) }
        // Again is no other place.
        try topic.join(Self.member(2, of: 1, [7]), now: .zero)
        for number in 4...5 as ClosedRange<UInt64> { try topic.join(Self.member(number, of: 2), now: .zero) }
        #expect(throws: PresenceTopic.JoinRefusal.full) { try topic.join(Self.member(6, of: 3), now: .zero) }
        // A number that another user has.
        #expect(throws: PresenceTopic.JoinRefusal.full) { try topic.join(Self.member(1, of: 2), now: .zero) }

        for value in 1...3 as ClosedRange<UInt8> { try topic.publish(1, state: nil, message: [value], now: .zero) }
        #expect(throws: PresenceTopic.PublishRefusal.tooManyMessages) {
            try topic.publish(2, state: [9], message: [4], now: .zero)
        }
        // Nothing of it was taken.
        #expect(topic.members.first { $0.number == 2 }?.state == [7])
        try topic.publish(4, state: nil, message: [5], now: .zero)
        let news = topic.take(now: .zero)
        #expect(news.messages.filter { $0.user == UserID(1) }.map(\.content) == [[1], [2], [3]])
        #expect(news.messages.filter { $0.user == UserID(2) }.map(\.content) == [[5]])
        try topic.publish(1, state: nil, message: [6], now: .zero)
    }

    @Test func `R-877: a user with much to tell delays nobody else`() throws {
        var bounds = PresenceBounds()
        bounds.pushBytesMax = 2_500
        var topic = PresenceTopic(bounds)
        let large = [UInt8](repeating: 1, count: 1_000)
        for number in 1...16 as ClosedRange<UInt64> { try topic.join(Self.member(number, of: 1, large), now: .zero) }
        for _ in 0..<8 { try topic.publish(1, state: nil, message: large, now: .zero) }
        try topic.join(Self.member(20, of: 2, large), now: .zero)
        // Of the greedy user one, then the other's: however much waits.
        let first = topic.take(now: .zero)
        #expect(first.members.map(\.number) == [1, 20] && first.messages.isEmpty)
        // One that is larger than a push may be is told alone.
        bounds.pushBytesMax = 10
        var narrow = PresenceTopic(bounds)
        try narrow.join(Self.member(1, of: 1, large), now: .zero)
        try narrow.join(Self.member(2, of: 2, large), now: .zero)
        #expect(narrow.take(now: .zero).members.count == 1)
        #expect(narrow.dueAt == bounds.pace)
        #expect(narrow.take(now: bounds.pace).members.count == 1)
    }

    @Test func `R-865: a user who ends is gone with all devices`() throws {
        var topic = PresenceTopic()
        try topic.join(Self.member(1), now: .zero)
        try topic.join(Self.member(2, of: 2), now: .zero)
        try topic.join(Self.member(3, of: 2), from: 77, now: .zero)
        _ = topic.take(now: .zero)
        #expect(topic.end(of: UserID(2)) == [2])
        #expect(topic.take(now: .seconds(1)).gone == [2, 3])
        #expect(topic.members.map(\.number) == [1])
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `R-878: whoever hears the news sees who is there, and each message once, in random histories`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        var bounds = PresenceBounds()
        bounds.pushBytesMax = Int.random(in: 40...400, using: &random)
        var topic = PresenceTopic(bounds)
        var listener = Listener()
        // They begin with the answer to a join.
        var late: [Listener] = []
        var (now, lastTaken) = (Duration.zero, Duration.seconds(-1))
        var sent: [[UInt8]] = []
        for step in 0..<400 {
            now += .milliseconds(Int.random(in: 0...40, using: &random))
            let number = UInt64.random(in: 1...9, using: &random)
            let member = Self.member(number, of: Int64(number % 3), [UInt8.random(in: 0...3, using: &random)])
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: try? topic.join(member, now: now)
            case 3...5: try? topic.publish(number, state: member.state, message: nil, now: now)
            case 6...7:
                let content = [UInt8(step % 256), UInt8(step / 256)]
                if (try? topic.publish(number, state: nil, message: content, now: now)) != nil { sent.append(content) }
            case 8: topic.leave(number)
            default: _ = topic.expire(now: now)
            }
            if step.isMultiple(of: 7) {
                var new = Listener()
                new.members = Dictionary(uniqueKeysWithValues: topic.tellAll().map { ($0.number, $0) })
                late.append(new)
            }
            guard let dueAt = topic.dueAt, dueAt <= now else { continue }
            #expect(now - lastTaken >= bounds.pace)
            let news = topic.take(now: now)
            lastTaken = now
            #expect(!news.isEmpty)
            let byteCount =
                news.members.reduce(0) { $0 + $1.byteCount } + news.messages.reduce(0) { $0 + $1.byteCount }
            #expect(byteCount <= bounds.pushBytesMax || news.members.count + news.messages.count == 1)
            listener.hear(news)
            for index in late.indices { late[index].hear(news) }
        }
        for _ in 0..<1_000 {
            guard topic.dueAt != nil else { break }
            now += bounds.pace
            let news = topic.take(now: now)
            listener.hear(news)
            for index in late.indices { late[index].hear(news) }
        }
        #expect(topic.dueAt == nil)
        for listener in [listener] + late {
            #expect(listener.members.values.sorted { $0.number < $1.number } == topic.members)
        }
        // Each once. Those of one user keep their order.
        #expect(Set(listener.messages.map(\.content)) == Set(sent) && listener.messages.count == sent.count)
        for user in 0..<3 as Range<Int64> {
            let own = listener.messages.filter { $0.user == UserID(user) }.map(\.content)
            #expect(own == sent.filter { own.contains($0) })
        }
    }

    // MARK: Other servers

    @Test func `R-878: another server is told of everybody here once it has members, and of nobody of its own`() throws
    {
        var topic = PresenceTopic()
        try topic.join(Self.member(1, of: 1, [1]), now: .zero)
        #expect(topic.noticeDueAt == nil)
        topic.beginsElsewhere()
        try topic.join(Self.member(2, of: 2, [2]), from: 77, now: .zero)
        #expect(topic.takeNotice(now: .zero).members == [Self.member(1, of: 1, [1])])
        #expect(topic.noticeDueAt == nil)
        try topic.publish(1, state: [3], message: [4], now: .zero)
        #expect(topic.noticeDueAt == .milliseconds(500))
        let news = topic.takeNotice(now: .milliseconds(500))
        #expect(news.members.map(\.state) == [[3]] && news.messages.map(\.content) == [[4]])
        topic.leave(1)
        topic.leave(2)
        #expect(topic.takeNotice(now: .seconds(1)).gone == [1])
        topic.endsElsewhere()
        try topic.join(Self.member(5), now: .zero)
        #expect(topic.noticeDueAt == nil)
    }

    @Test func `R-878: what another server tells counts for its own members alone, and as long as it is heard`() throws
    {
        var topic = PresenceTopic()
        try topic.join(Self.member(1), now: .zero)
        var news = PresenceNews()
        news.members = [Self.member(1, [9]), Self.member(2, of: 2, [2])]
        topic.heard(news, from: 77, now: .zero)
        #expect(topic.members == [Self.member(1), Self.member(2, of: 2, [2])])
        // Another server ends neither ours nor that of a third one.
        news = PresenceNews()
        news.gone = [1, 2]
        topic.heard(news, from: 78, now: .seconds(5))
        #expect(topic.count == 2)
        topic.renewed(77, now: .seconds(10))
        #expect(topic.expire(now: .seconds(15)) == [1])
        #expect(topic.count == 1)
        #expect(topic.expire(now: .seconds(25)) == [])
        #expect(topic.count == 0)
    }

    @Test func `R-878: a lost notice is noticed also if there are as many members as before`() throws {
        var (topic, other) = (PresenceTopic(), PresenceTopic())
        for number in [1, 2] as [UInt64] { try other.join(Self.member(number), now: .zero) }
        other.beginsElsewhere()
        topic.heard(other.takeNotice(now: .zero), from: 77, now: .zero)
        // One device comes back as another member, and nobody hears of either.
        other.leave(1)
        try other.join(Self.member(5), now: .seconds(1))
        _ = other.takeNotice(now: .seconds(1))
        #expect(other.noticed == Self.tally(2, 5))
        #expect(topic.compare(other.noticed, of: 77) == true && topic.count == 0)
        other.beginsElsewhere()
        topic.heard(other.takeNotice(now: .seconds(2)), from: 77, now: .seconds(2))
        #expect(topic.compare(other.noticed, of: 77) == false && topic.members.map(\.number) == [2, 5])
    }

    @Test func `R-878: members of another server without room here are not missed, until there is room`() throws {
        var bounds = PresenceBounds()
        (bounds.membersMax, bounds.membersPerUserMax) = (4, 2)
        var topic = PresenceTopic(bounds)
        try topic.join(Self.member(1), now: .zero)
        var news = PresenceNews()
        news.members = [Self.member(2), Self.member(3), Self.member(4, of: 2)]
        topic.heard(news, from: 77, now: .zero)
        #expect(topic.members.map(\.number) == [1, 2, 4])
        #expect(topic.compare(Self.tally(2, 3, 4), of: 77) == false)
        // One more was lost on the way.
        #expect(topic.compare(Self.tally(2, 3, 4, 9), of: 77) == true)
        topic.leave(1)
        #expect(topic.compare(Self.tally(2, 3, 4), of: 77) == true)
        topic.heard(news, from: 77, now: .zero)
        #expect(topic.members.map(\.number) == [2, 3, 4] && topic.compare(Self.tally(2, 3, 4), of: 77) == false)
        // The end of one that found no room counts as well.
        try topic.join(Self.member(5, of: 3), now: .zero)
        news.members = [Self.member(6, of: 4)]
        topic.heard(news, from: 77, now: .zero)
        #expect(topic.compare(Self.tally(2, 3, 4, 6), of: 77) == false)
        news = PresenceNews()
        news.gone = [6]
        topic.heard(news, from: 77, now: .zero)
        #expect(topic.compare(Self.tally(2, 3, 4), of: 77) == false)
        // With its server it is forgotten.
        news.members = [Self.member(7, of: 4)]
        topic.heard(news, from: 78, now: .zero)
        #expect(topic.compare(Self.tally(7), of: 78) == false)
        _ = topic.expire(now: .seconds(15))
        #expect(topic.compare(Self.tally(7), of: 78) == true && topic.count == 0)
    }

    @Test func `R-878: a member whose end was lost on the way goes as soon as its server says how many it has`() throws
    {
        var (topic, other) = (PresenceTopic(), PresenceTopic())
        for number in 1...3 as ClosedRange<UInt64> { try other.join(Self.member(number), now: .zero) }
        other.beginsElsewhere()
        topic.heard(other.takeNotice(now: .zero), from: 77, now: .zero)
        #expect(other.noticed.count == 3)
        other.leave(1)
        // The end is not told yet.
        #expect(other.noticed.count == 3)
        #expect(topic.compare(Self.tally(1, 2, 3), of: 77) == false)
        _ = other.takeNotice(now: .seconds(1))
        #expect(other.noticed.count == 2)
        #expect(topic.compare(other.noticed, of: 77) == true)
        #expect(topic.count == 0)
        other.beginsElsewhere()
        topic.heard(other.takeNotice(now: .seconds(2)), from: 77, now: .seconds(2))
        #expect(topic.compare(other.noticed, of: 77) == false)
        #expect(topic.members.map(\.number) == [2, 3])
        // A join that was lost changes nothing until it is told again.
        try other.join(Self.member(4), now: .seconds(3))
        _ = other.takeNotice(now: .seconds(3))
        #expect(topic.compare(other.noticed, of: 77) == true)
        #expect(topic.count == 2)
    }
}
