// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkService

/// Pushes of query subscriptions that wait to be sent, and whose devices are here. A pure value.
///
/// A change of a public database may fire very many. Those that find no room become one push for each subscription, which says
/// that records may have changed. Users take turns, and one has a quarter of the room: whoever writes very much leaves the
/// others theirs.
struct QueryPushes {
    /// What waits at most: pushes, and bytes of the versions that they hold.
    private let countMax: Int
    private let bytesMax: Int
    /// By user, none is empty.
    private var sessions: [UserID: Set<UInt64>] = [:]
    private var waiting = FairLines<UserID, QueryFiring>()
    private var count = 0
    private var byteCount = 0
    /// Of each user with pushes that wait.
    private var byteCounts: [UserID: Int] = [:]
    /// Subscriptions that have had no room, in the order in which they came.
    private var pruned: Deque<QueryFiring> = []
    private var prunedKeys: Set<SubscriberKey> = []

    init(countMax: Int = 10_000, bytesMax: Int = 16_777_216) {
        self.countMax = countMax
        self.bytesMax = bytesMax
    }

    var isEmpty: Bool { waiting.isEmpty && pruned.isEmpty }

    func isHere(_ user: UserID) -> Bool { sessions[user] != nil }

    mutating func join(_ session: UInt64, of user: UserID) { sessions[user, default: []].insert(session) }

    mutating func leave(_ session: UInt64, of user: UserID) {
        sessions[user]?.remove(session)
        if sessions[user]?.isEmpty == true { sessions[user] = nil }
    }

    /// Adds a push, if a device of its user is here.
    mutating func add(_ firing: QueryFiring) {
        guard isHere(firing.user) else { return }
        // One that is pruned already says all that later ones would.
        guard !prunedKeys.contains(firing.key) else { return }
        let (user, bytes) = (firing.user, Self.byteCount(of: firing))
        if waiting.count(of: user) < min(countMax / 4, countMax - count),
            (byteCounts[user] ?? 0) + bytes <= bytesMax / 4, byteCount + bytes <= bytesMax
        {
            waiting.append(firing, of: user)
            count += 1
            byteCount += bytes
            byteCounts[user, default: 0] += bytes
        } else {
            prunedKeys.insert(firing.key)
            pruned.append(firing.pruned)
        }
    }

    /// Removes and returns the next push, and the sessions of its user.
    mutating func take() -> (firing: QueryFiring, sessions: [UInt64])? {
        if let firing = waiting.popFirst() {
            let (user, bytes) = (firing.user, Self.byteCount(of: firing))
            count -= 1
            byteCount -= bytes
            byteCounts[user] = waiting.count(of: user) > 0 ? (byteCounts[user] ?? 0) - bytes : nil
            return (firing, sessions[firing.user]?.sorted() ?? [])
        }
        guard let firing = pruned.popFirst() else { return nil }
        prunedKeys.remove(firing.key)
        return (firing, sessions[firing.user]?.sorted() ?? [])
    }

    /// Several may hold one version, and nobody counts that.
    private static func byteCount(of firing: QueryFiring) -> Int {
        512 + (firing.version?.fields.byteCount ?? 0) + firing.subscription.notificationInfo.count
    }
}

extension QueryFiring {
    /// The same, but for what has happened to which record. Several devices may have made the changes.
    fileprivate var pruned: QueryFiring {
        QueryFiring(
            user: user, subscription: subscription, reason: nil, record: nil, version: nil, maker: .nobody)
    }
}
