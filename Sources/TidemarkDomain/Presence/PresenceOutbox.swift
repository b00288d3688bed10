// SPDX-License-Identifier: Apache-2.0

/// The news of a place that must still be sent to one side: the devices here, or the other servers.
///
/// A state is replaced and never queued, so the pace bounds how often a member's changes are sent. Users take turns: each has one state or
/// message taken before anybody's next one. So a user who publishes a lot delays their own, and nobody else's.
struct PresenceOutbox: Sendable {
    /// The news of one user. Each member is in `changed` once.
    private struct Line {
        var changed: [UInt64] = []
        var messages: [PresenceMessage] = []
        var isMessageNext = false

        var isEmpty: Bool { changed.isEmpty && messages.isEmpty }
    }

    private let pace: Duration
    private let bytesMax: Int
    private var lines: [UserID: Line] = [:]
    /// Users with a line. The first is next.
    private var turns: [UserID] = []
    private var gone: [UInt64] = []
    /// Members that were reported and are not gone.
    private var told: Set<UInt64> = []
    private var lastTaken: Duration?

    /// - Parameters:
    ///   - pace: the time between two takings.
    ///   - bytesMax: about how many bytes are taken at once. At least one state or message is.
    init(pace: Duration, bytesMax: Int) {
        self.pace = pace
        self.bytesMax = bytesMax
    }

    /// When to take next; nil: there is nothing to tell.
    var dueAt: Duration? {
        guard !turns.isEmpty || !gone.isEmpty else { return nil }
        return lastTaken.map { $0 + pace } ?? .zero
    }

    /// The members that those know who have heard everything that was taken.
    var heard: PresenceTally { PresenceTally(of: told.union(gone)) }

    func messageCount(of user: UserID) -> Int { lines[user]?.messages.count ?? 0 }

    mutating func changed(_ member: PresenceMember) {
        guard lines[member.user]?.changed.contains(member.number) != true else { return }
        line(of: member.user) { $0.changed.append(member.number) }
    }

    mutating func add(_ message: PresenceMessage) {
        line(of: message.user) { $0.messages.append(message) }
    }

    /// The member's messages are still told. Whether it was there is not, unless somebody was told so.
    mutating func left(_ member: PresenceMember) {
        if lines[member.user]?.changed.contains(member.number) == true {
            lines[member.user]?.changed.removeAll { $0 == member.number }
            if lines[member.user]?.isEmpty == true {
                lines[member.user] = nil
                turns.removeAll { $0 == member.user }
            }
        }
        if told.remove(member.number) != nil { gone.append(member.number) }
    }

    /// These members were reported in another way, and their end must be reported too.
    mutating func count(asTold numbers: some Sequence<UInt64>) { told.formUnion(numbers) }

    private mutating func line(of user: UserID, _ change: (inout Line) -> Void) {
        if lines[user] == nil { turns.append(user) }
        change(&lines[user, default: Line()])
    }

    /// Returns the news that are sent now.
    ///
    /// - Parameter members: all who are there.
    mutating func take(_ members: [UInt64: PresenceMember], now: Duration) -> PresenceNews {
        var news = PresenceNews()
        lastTaken = now
        (news.gone, gone) = (gone, [])
        var left = bytesMax - 10 * news.gone.count
        while let user = turns.first, var line = lines[user] {
            let takesMessage = line.changed.isEmpty || (line.isMessageNext && !line.messages.isEmpty)
            let member = takesMessage ? nil : line.changed.first.flatMap { members[$0] }
            let byteCount = takesMessage ? line.messages.first?.byteCount : member?.byteCount
            if let byteCount {
                guard byteCount <= left || (news.members.isEmpty && news.messages.isEmpty) else { break }
                left -= byteCount
            }
            if takesMessage { news.messages.append(line.messages.removeFirst()) } else { line.changed.removeFirst() }
            if let member {
                news.members.append(member)
                told.insert(member.number)
            }
            line.isMessageNext = !takesMessage
            turns.removeFirst()
            lines[user] = line.isEmpty ? nil : line
            if !line.isEmpty { turns.append(user) }
        }
        return news
    }

    /// Nobody listens any more: news that were sent no longer count.
    mutating func forget() {
        (lines, turns, gone, told) = ([:], [], [], [])
    }
}
