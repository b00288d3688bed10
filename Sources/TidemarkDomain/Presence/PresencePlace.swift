// SPDX-License-Identifier: Apache-2.0

/// Where people are present together: a zone, or the hierarchy of one share in it. Members of one place never learn of members of another,
/// even in the same zone.
package struct PresencePlace: Hashable, Sendable {
    /// The incarnation. A zone that is made again is another place.
    package let zone: ZoneID
    /// The share of a hierarchy. Nil: those who see the whole zone.
    package let share: ShareNumber?

    package init(zone: ZoneID, share: ShareNumber?) {
        self.zone = zone
        self.share = share
    }
}

/// One connection that is present in a place, as the others see it.
package struct PresenceMember: Hashable, Sendable {
    /// Unique on all servers.
    package let number: UInt64
    package let user: UserID
    package let userName: String
    package var state: [UInt8]

    package init(number: UInt64, user: UserID, userName: String, state: [UInt8]) {
        self.number = number
        self.user = user
        self.userName = userName
        self.state = state
    }

    /// About how many bytes it takes in a message.
    var byteCount: Int { 32 + userName.utf8.count + state.count }
}

/// A message of a member. It is kept until it is sent, and never stored.
package struct PresenceMessage: Hashable, Sendable {
    package let member: UInt64
    package let user: UserID
    package let userName: String
    package let content: [UInt8]

    package init(from member: PresenceMember, content: [UInt8]) {
        self.init(member: member.number, user: member.user, userName: member.userName, content: content)
    }

    package init(member: UInt64, user: UserID, userName: String, content: [UInt8]) {
        self.member = member
        self.user = user
        self.userName = userName
        self.content = content
    }

    /// About how many bytes it takes in a push.
    var byteCount: Int { 32 + userName.utf8.count + content.count }
}

/// The members that a server has reported to others, so that these notice lost notices.
package struct PresenceTally: Hashable, Sendable {
    package let count: Int
    /// The XOR of their numbers, which are random.
    package let digest: UInt64

    package init(count: Int = 0, digest: UInt64 = 0) {
        (self.count, self.digest) = (count, digest)
    }

    /// - Parameter numbers: each once.
    package init(of numbers: some Collection<UInt64>) {
        self.init(count: numbers.count, digest: numbers.reduce(0, ^))
    }
}

/// The news of a place that are sent together.
package struct PresenceNews: Hashable, Sendable {
    /// New ones, and those with another state.
    package var members: [PresenceMember] = []
    /// Those who were told and are gone.
    package var gone: [UInt64] = []
    package var messages: [PresenceMessage] = []

    package init() {}

    package var isEmpty: Bool { members.isEmpty && gone.isEmpty && messages.isEmpty }
}
