// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What one server knows of a database whose owner has devices connected: who they are, what they want to be told, and
/// how far they have been told. Values in, values out.
struct DatabaseWatch {
    let user: UserID
    /// The life of the device at each session's other end.
    private(set) var sessions: [UInt64: DeviceID] = [:]
    /// The owner's subscriptions of the private database; nil: not read yet.
    private(set) var subscriptions: [Subscription]?
    private var subscriptionsReadAt: Duration
    /// Whether the default zone had a feed when the last session came.
    private var tellsDefaultZone = false

    /// Zones that moved since the last push, each with the lives that moved it. The empty name: the set of zones.
    private var moved: [String: Set<DeviceID>] = [:]

    /// The store's mark of the database, as the first session found it or the last sweep saw it.
    private var mark: Int64?
    /// Whether a notice came since then.
    private(set) var wasNoticed = false
    /// The lives that notices named since all was quiet.
    private var causes: Set<DeviceID> = []

    /// - Parameter now: reads of subscriptions that began before were for an earlier watch, and may have missed what changed
    ///   between the two.
    init(user: UserID, since now: Duration) {
        self.user = user
        subscriptionsReadAt = now
    }

    var isEmpty: Bool { sessions.isEmpty }
    /// What is not known yet may be wanted.
    var wantsPushes: Bool { subscriptions.map { !$0.isEmpty } ?? true }
    var hasMark: Bool { mark != nil }
    /// Whether something is still to be pushed.
    var hasMoved: Bool { !moved.isEmpty }

    mutating func join(_ session: UInt64, _ life: DeviceID, tellsDefaultZone: Bool = false) {
        sessions[session] = life
        self.tellsDefaultZone = tellsDefaultZone
    }

    mutating func leave(_ session: UInt64) {
        sessions[session] = nil
    }

    // MARK: Subscriptions

    /// Whether the subscriptions must be read before a push can be judged.
    ///
    /// - Parameter ageMax: nil: any age will do.
    func needsSubscriptions(now: Duration, ageMax: Duration?) -> Bool {
        guard subscriptions != nil else { return true }
        return ageMax.map { now - subscriptionsReadAt > $0 } ?? false
    }

    /// Reads may end in another order than they began: an older one changes nothing.
    ///
    /// - Parameters:
    ///   - all: the user's subscriptions of every kind and scope.
    ///   - now: when the read began.
    mutating func knows(_ all: [Subscription], at now: Duration) {
        guard now >= subscriptionsReadAt else { return }
        subscriptions = Self.pushed(all)
        subscriptionsReadAt = now
    }

    /// Whether something else is known than these say.
    func differs(from all: [Subscription]) -> Bool { subscriptions != Self.pushed(all) }

    private static func pushed(_ all: [Subscription]) -> [Subscription] {
        all.filter { $0.scope == .private && $0.kind != .query }.sorted { $0.id < $1.id }
    }

    // MARK: Notices

    /// A zone moved; an empty name stands for the set of zones. R-247: nobody is told of the default zone, unless it has a
    /// feed, which is beyond CloudKit.
    mutating func moved(_ zoneName: String, by life: DeviceID) {
        guard zoneName != ZoneName.default || tellsDefaultZone else { return }
        moved[zoneName, default: []].insert(life)
        wasNoticed = true
        causes.insert(life)
    }

    /// Takes what has moved: which zones each session is to be told of, sessions with the same zones together.
    ///
    /// a life is not told of what it did itself.
    mutating func takeMoved() -> [(sessions: [UInt64], zoneNames: [String])] {
        let taken = moved
        moved = [:]
        guard !taken.isEmpty else { return [] }
        let everyone = taken.keys.sorted()
        let involved = taken.values.reduce(into: Set<DeviceID>()) { $0.formUnion($1) }
        let others = sessions.filter { !involved.contains($0.value) }.keys.sorted()
        var groups = others.isEmpty ? [] : [(others, everyone)]
        for (session, life) in sessions.sorted(by: { $0.key < $1.key }) where involved.contains(life) {
            let zones = everyone.filter { taken[$0] != [life] }
            if !zones.isEmpty { groups.append(([session], zones)) }
        }
        return groups
    }

    // MARK: The sweep

    /// The mark from which on the first session is told what it misses: what moved before, joining tells it.
    mutating func starts(at newMark: Int64) {
        mark = mark ?? newMark
    }

    /// Compares the store's mark with the last one, so that lost hints are repaired (I-4).
    ///
    /// A mark that changed without a notice: a hint was lost, everyone is told. So they are where no mark could be read
    /// before. A mark that changed with notices may hide a lost one among them; so once it is quiet again everyone is told
    /// once more, but for a life that was the only one to be named.
    ///
    /// - Returns: the sessions to be told.
    mutating func swept(_ newMark: Int64) -> [UInt64] {
        defer {
            mark = newMark
            wasNoticed = false
        }
        guard !wasNoticed else { return [] }
        let named = causes
        causes = []
        if mark != newMark { return sessions.keys.sorted() }
        guard !named.isEmpty else { return [] }
        return sessions.filter { named != [$0.value] }.keys.sorted()
    }
}
