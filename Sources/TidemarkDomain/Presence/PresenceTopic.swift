// SPDX-License-Identifier: Apache-2.0

/// How much of presence there may be in one place.
package struct PresenceBounds: Sendable {
    /// Members of one place, on all servers.
    package var membersMax = 256
    /// Bytes of a state, and of a message.
    package var valueBytesMax = 1_024
    /// The most connections of one user among these.
    package var membersPerUserMax = 16
    /// Messages of one user that wait to be told.
    package var messagesPerUserMax = 8
    /// A member who publishes nothing for so long is gone.
    package var life = Duration.seconds(15)
    /// The time between two pushes.
    package var pace = Duration.milliseconds(50)
    /// About how many bytes of states and messages one push has.
    package var pushBytesMax = 32_768
    /// The same for notices to other servers.
    package var noticePace = Duration.milliseconds(500)
    package var noticeBytesMax = 512
    /// Places in which one connection is present.
    package var placesPerConnectionMax = 16
    /// The same of all connections of one account, in all containers.
    package var placesPerAccountMax = 256

    package init() {}
}

/// The members of one place, and the news that must be sent about it. A pure value: it has no clock and sends nothing.
///
/// | event | the others are told |
/// | --- | --- |
/// | ``join(_:from:now:)`` | the member with its state, with the next push |
/// | ``publish(_:state:message:now:)`` | its newest state and its message, with the next push |
/// | ``leave(_:)``, ``expire(now:)``, ``end(of:)`` | that it is gone |
///
/// A push comes at once after a quiet time, and at most each ``PresenceBounds/pace``.
package struct PresenceTopic: Sendable {
    /// Why somebody cannot join.
    package enum JoinRefusal: Error, Equatable {
        case full
        case tooManyOfUser
    }

    /// Why nothing was published.
    package enum PublishRefusal: Error, Equatable {
        /// The member is not there (any more).
        case notThere
        /// Too many messages of its user wait.
        case tooManyMessages
    }

    /// A server's origin is 64 random bits. Nil: this server.
    package typealias Origin = UInt64

    private struct Entry {
        let origin: Origin?
        var member: PresenceMember
        var renewedAt: Duration
    }

    /// Members of another server who found no room here, with their users.
    private struct LeftOut {
        var users: [UInt64: UserID] = [:]
        var renewedAt: Duration
    }

    private let bounds: PresenceBounds
    private var entries: [UInt64: Entry] = [:]
    /// They are known, but not members. So they differ from members whose news were lost.
    private var leftOut: [Origin: LeftOut] = [:]
    private var counts: [UserID: Int] = [:]
    private var here: PresenceOutbox
    private var elsewhere: PresenceOutbox
    /// Whether another server has members of this place.
    package private(set) var isToldElsewhere = false

    package init(_ bounds: PresenceBounds = PresenceBounds()) {
        self.bounds = bounds
        here = PresenceOutbox(pace: bounds.pace, bytesMax: bounds.pushBytesMax)
        elsewhere = PresenceOutbox(pace: bounds.noticePace, bytesMax: bounds.noticeBytesMax)
    }

    package var count: Int { entries.count }

    /// All who are there, by their numbers.
    package var members: [PresenceMember] {
        entries.values.map(\.member).sorted { $0.number < $1.number }
    }

    /// Whether a member is there.
    package func contains(_ number: UInt64) -> Bool { entries[number] != nil }

    // MARK: Events

    /// A member comes. One with the same number is replaced.
    ///
    /// - Parameter origin: its server; nil: this one.
    package mutating func join(
        _ member: PresenceMember, from origin: Origin? = nil, now: Duration
    ) throws(JoinRefusal) {
        if let old = entries[member.number] {
            // NB: numbers are random. A member of another user, or of another server, with a number that is taken is
            // refused.
            guard old.member.user == member.user, old.origin == origin else { throw .full }
            entries[member.number]?.renewedAt = now
            guard old.member.state != member.state else { return }
            entries[member.number]?.member.state = member.state
        } else {
            if let refusal = self.refusal(of: member.user) { throw refusal }
            entries[member.number] = Entry(origin: origin, member: member, renewedAt: now)
            counts[member.user, default: 0] += 1
        }
        changed(member, of: origin)
    }

    private func refusal(of user: UserID) -> JoinRefusal? {
        if counts[user, default: 0] >= bounds.membersPerUserMax { return .tooManyOfUser }
        return entries.count < bounds.membersMax ? nil : .full
    }

    /// A member of this server publishes, or says that it is still there.
    ///
    /// - Parameter state: nil: as it is.
    package mutating func publish(
        _ number: UInt64, state: [UInt8]?, message: [UInt8]?, now: Duration
    ) throws(PublishRefusal) {
        guard var entry = entries[number], entry.origin == nil else { throw .notThere }
        // It is still there, whatever becomes of the rest.
        entry.renewedAt = now
        entries[number] = entry
        if message != nil, here.messageCount(of: entry.member.user) >= bounds.messagesPerUserMax {
            throw .tooManyMessages
        }
        if let state, state != entry.member.state {
            entry.member.state = state
            entries[number] = entry
            changed(entry.member, of: nil)
        }
        guard let message else { return }
        let told = PresenceMessage(from: entry.member, content: message)
        here.add(told)
        // A server that does not keep up loses messages. Nobody is promised any.
        if isToldElsewhere, elsewhere.messageCount(of: told.user) < bounds.messagesPerUserMax { elsewhere.add(told) }
    }

    package mutating func leave(_ number: UInt64) {
        guard let entry = entries.removeValue(forKey: number) else { return }
        let count = counts[entry.member.user, default: 0]
        counts[entry.member.user] = count > 1 ? count - 1 : nil
        here.left(entry.member)
        if entry.origin == nil, isToldElsewhere { elsewhere.left(entry.member) }
    }

    /// Removes those who have published nothing for ``PresenceBounds/life``.
    ///
    /// - Returns: those of this server among them.
    package mutating func expire(now: Duration) -> [UInt64] {
        // Each second, for each place: nearly always there is nobody.
        let earliest = now - bounds.life
        if leftOut.isEmpty, entries.values.allSatisfy({ $0.renewedAt > earliest }) { return [] }
        let silent = entries.filter { $0.value.renewedAt <= earliest }.keys.sorted()
        let own = silent.filter { entries[$0]?.origin == nil }
        for number in silent { leave(number) }
        leftOut = leftOut.filter { $0.value.renewedAt > earliest }
        return own
    }

    /// Removes a user's members.
    ///
    /// - Returns: those of this server among them.
    package mutating func end(of user: UserID) -> [UInt64] {
        let ended = entries.filter { $0.value.member.user == user }.keys.sorted()
        let own = ended.filter { entries[$0]?.origin == nil }
        for number in ended { leave(number) }
        return own
    }

    private mutating func changed(_ member: PresenceMember, of origin: Origin?) {
        here.changed(member)
        if origin == nil, isToldElsewhere { elsewhere.changed(member) }
    }

    // MARK: News

    /// When the devices here are to be told; nil: there is nothing to tell.
    package var dueAt: Duration? { here.dueAt }

    /// Returns the news for the devices here.
    package mutating func take(now: Duration) -> PresenceNews {
        here.take(entries.mapValues(\.member), now: now)
    }

    /// Returns all members, for a device that gets all at once. From now on the devices here learn when one of them goes, even of members
    /// whom no news have named so far.
    package mutating func tellAll() -> [PresenceMember] {
        here.count(asTold: entries.keys)
        return members
    }

    // MARK: Other servers

    /// When other servers are to be told; nil: there is nothing to tell.
    package var noticeDueAt: Duration? { elsewhere.dueAt }

    /// Returns the news for other servers.
    package mutating func takeNotice(now: Duration) -> PresenceNews {
        elsewhere.take(entries.filter { $0.value.origin == nil }.mapValues(\.member), now: now)
    }

    /// Our members that those servers know that have heard every notice.
    package var noticed: PresenceTally { elsewhere.heard }

    /// Another server says which members it has reported. If we know others, and no fewer, the end of one was lost: all of them go, and are
    /// reported again.
    ///
    /// - Returns: whether it must tell them again. Not because of those who still find no room: they would find none again.
    package mutating func compare(_ told: PresenceTally, of origin: Origin) -> Bool {
        let there = entries.values.filter { $0.origin == origin }.map(\.member.number)
        let out = leftOut[origin]?.users ?? [:]
        let known = PresenceTally(of: there + out.keys)
        if known != told, known.count >= told.count {
            for number in there { leave(number) }
            leftOut[origin] = nil
        }
        return known != told || out.values.contains { refusal(of: $0) == nil }
    }

    /// Another server has members of this place and knows none of ours: all are reported.
    package mutating func beginsElsewhere() {
        isToldElsewhere = true
        for entry in entries.values.sorted(by: { $0.member.number < $1.member.number }) where entry.origin == nil {
            elsewhere.changed(entry.member)
        }
    }

    /// No other server has.
    package mutating func endsElsewhere() {
        isToldElsewhere = false
        elsewhere.forget()
        leftOut = [:]
    }

    /// Another server reports its members. Members beyond the bounds are left out.
    package mutating func heard(_ news: PresenceNews, from origin: Origin, now: Duration) {
        for number in news.gone {
            leftOut[origin]?.users[number] = nil
            if entries[number]?.origin == origin { leave(number) }
        }
        for member in news.members {
            do throws(JoinRefusal) {
                try join(member, from: origin, now: now)
                leftOut[origin]?.users[member.number] = nil
            } catch {
                leaveOut(member, of: origin, now: now)
            }
        }
        for message in news.messages where here.messageCount(of: message.user) < bounds.messagesPerUserMax {
            here.add(message)
        }
        renewed(origin, now: now)
    }

    private mutating func leaveOut(_ member: PresenceMember, of origin: Origin, now: Duration) {
        var out = leftOut[origin] ?? LeftOut(renewedAt: now)
        // No server has more.
        guard out.users.count < bounds.membersMax else { return }
        out.users[member.number] = member.user
        leftOut[origin] = out
    }

    /// Another server says that its members are still there.
    package mutating func renewed(_ origin: Origin, now: Duration) {
        leftOut[origin]?.renewedAt = now
        for number in entries.keys where entries[number]?.origin == origin { entries[number]?.renewedAt = now }
    }
}
