// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What one server knows of the private or the shared database of a user who has connected devices: the devices, their
/// subscriptions, and what they have been told. A pure value.
///
/// Of a shared database it is also known whether its list of zones must be read before anything is told
/// (``SharedZoneLists``).
struct DatabaseWatch {
    let user: UserID
    let account: AccountID
    let scope: DatabaseScope
    /// The user's other database of the two; nil if it is not watched.
    let twin: DatabaseID?
    /// The life of each session's device, as it stands in notices (``RecordAccess/marking(_:)``).
    private(set) var sessions: [UInt64: DeviceID] = [:]
    /// The user's subscriptions of the database; nil if they have not been read yet, or were forgotten.
    private(set) var subscriptions: [Subscription]?
    private var subscriptionsReadAt: Duration
    /// Whether the default zone had a feed when the last session joined.
    private var tellsDefaultZone = false

    /// Zones that changed since the last push, each with the lives that changed it; of many, two (I-7). The empty name
    /// stands for the set of zones.
    private(set) var moved: [String: Set<DeviceID>] = [:]
    /// The most zones in it: as many as one request changes.
    private static let movedMax = 400
    /// What changed in these zones, while it is known. Of the others anything may have changed.
    private var movedTypes: [String: ChangedTypes] = [:]
    /// The most zones in it, so that the names of types have a bound (I-7). A push names no more zones.
    private static let movedTypesMax = 64

    /// The most lives of which each is told of the others' zones alone: each has a list of zones, and pushes, of its own. If
    /// there are more, all are told of all zones.
    private static let makersMax = 32

    /// Whether ``moved`` is to be pushed now.
    private var isMovedDue = false
    /// Sessions that are to be told that anything may have changed.
    private var uncertain: Set<UInt64> = []
    /// Sessions that are to be told that records of any of their queries may have. Those that are in both sets are told of single
    /// record types too. The others hear of each such change.
    private var uncertainOfQueries: Set<UInt64> = []
    /// Whether the last sweep that told somebody found that no push of a query, or of a record type, can be missing.
    private(set) var wasSureOfQueries = false
    /// Subscriptions that are gone, and whose last push is due.
    private var ended: [Subscription] = []
    /// The session that ended them; nil: several did, or another server.
    private var endedBy: UInt64?
    /// The most subscriptions in ``ended``. Of more a device hears with the answer to its next fetch.
    private static let endedMax = 250

    /// For a shared database: its list of zones is to be read, and whatever is due waits for that.
    private(set) var awaitsList: Bool
    /// For a shared database: when the last notice came that the subscriptions may have changed at another server. Nil: they
    /// have been read since.
    private var subscriptionsNoticedAt: Duration?

    /// The store's mark of the database when the first session joined, or at the last sweep.
    private var mark: Int64?
    /// Whether a notice arrived since then.
    private(set) var wasNoticed = false
    /// The lives that notices have named since the database was last quiet; of many, two (I-7).
    private(set) var causes: Set<DeviceID> = []
    /// The mark when the database was last quiet, plus what is known to have been added since. Nil: not known.
    private var expectedMark: Int64?
    /// About how many zones are read for the mark. Nil: none has been read.
    private(set) var zoneCount: Int?
    /// The number of the sweep that last read the mark; 0: none has.
    private(set) var lastSweep = 0

    /// - Parameter now: reads of subscriptions that began earlier belong to an earlier watch. They may have missed what
    ///   changed between the two (``PushCenter/State/moment(_:)``).
    init(
        user: UserID, account: AccountID, scope: DatabaseScope = .private, twin: DatabaseID? = nil, since now: Duration
    ) {
        self.user = user
        self.account = account
        self.scope = scope
        self.twin = twin
        subscriptionsReadAt = now
        awaitsList = scope == .shared
    }

    var isEmpty: Bool { sessions.isEmpty }
    /// True also while the subscriptions are unknown.
    var wantsPushes: Bool { subscriptions.map { !$0.isEmpty } ?? true }
    var hasMark: Bool { mark != nil }
    /// Whether the subscriptions may have changed at another server.
    var mayHaveOtherSubscriptions: Bool { subscriptionsNoticedAt != nil }

    /// - Parameter life: of the device, as it sends it.
    mutating func join(_ session: UInt64, _ life: DeviceID, tellsDefaultZone: Bool = false) {
        sessions[session] = RecordAccess(scope: scope, user: user).marking(life)
        self.tellsDefaultZone = tellsDefaultZone
    }

    mutating func leave(_ session: UInt64) {
        sessions[session] = nil
        uncertain.remove(session)
        uncertainOfQueries.remove(session)
    }

    // MARK: Subscriptions

    /// Whether the subscriptions must be read before a push can be decided.
    ///
    /// - Parameter ageMax: nil if any age will do. Zero: they must be read anew.
    func needsSubscriptions(now: Duration, ageMax: Duration?) -> Bool {
        guard subscriptions != nil, ageMax != .zero else { return true }
        return ageMax.map { now - subscriptionsReadAt > $0 } ?? false
    }

    /// Takes in subscriptions that were read. Reads may end in another order than they began, so an older one changes
    /// nothing.
    ///
    /// - Parameters:
    ///   - all: the user's subscriptions of every kind and scope.
    ///   - now: when the read began.
    mutating func knows(_ all: [Subscription], at now: Duration) {
        guard now >= subscriptionsReadAt else { return }
        subscriptions = pushed(all)
        subscriptionsReadAt = now
        if let noticedAt = subscriptionsNoticedAt, noticedAt <= now { subscriptionsNoticedAt = nil }
    }

    /// They are read again when a push depends on them (``SubscriptionMemory``).
    mutating func forgetSubscriptions() { subscriptions = nil }

    /// Whether the known subscriptions of a scope differ from these, which are without those that have fired once.
    func differs(from all: [Subscription], in scope: DatabaseScope) -> Bool {
        subscriptions.map { $0.filter { $0.scope == scope && !$0.hasFired } } != pushed(all)
    }

    /// A watch of the private database also has the public one's, which has no other. Their predicates are not needed here.
    private func pushed(_ all: [Subscription]) -> [Subscription] {
        all.filter { $0.scope == scope || (scope == .private && $0.kind == .query) }.map(\.withoutPredicate)
            .sorted { ($0.scope.rawValue, $0.id) < ($1.scope.rawValue, $1.id) }
    }

    // MARK: Notices

    /// Takes in that a zone changed; an empty name stands for the set of zones. R-247: nobody is told of the default
    /// zone, unless it has a feed, which is beyond CloudKit.
    ///
    /// - Parameter types: of the records that changed.
    mutating func moved(_ zoneName: String, by life: DeviceID, types: ChangedTypes = .any) {
        guard zoneName != ZoneName.default || tellsDefaultZone else { return }
        note(types, of: zoneName)
        Self.add(life, to: &moved[zoneName, default: []])
        wasNoticed = true
        Self.add(life, to: &causes)
        if zoneName.isEmpty { mayHaveNewZones() }
        if moved.count > Self.movedMax { foldMoved() }
    }

    /// Takes in that a zone of the shared database may have changed. Pushes to shared databases name no zone, so it is not
    /// kept which one. How the mark changes is not known.
    ///
    /// - Parameter types: of the records that changed.
    mutating func sharedZoneMoved(by life: DeviceID, types: ChangedTypes = .any) {
        note(types, of: "")
        Self.add(life, to: &moved["", default: []])
        wasNoticed = true
        Self.add(life, to: &causes)
        expectedMark = nil
    }

    /// Takes in what changed in a zone, before ``moved`` has the zone.
    private mutating func note(_ types: ChangedTypes, of zoneName: String) {
        if moved[zoneName] == nil {
            if types != .any, movedTypes.count < Self.movedTypesMax { movedTypes[zoneName] = types }
        } else if var known = movedTypes[zoneName] {
            known.formUnion(types)
            movedTypes[zoneName] = known == .any ? nil : known
        }
    }

    /// The next sweep counts the zones. Until then a request may have made as many as one can.
    private mutating func mayHaveNewZones() {
        zoneCount = zoneCount.map { max($0, min($0 + Self.movedMax, SweepPlan.zonesPerStep)) }
    }

    /// It matters only which life it was if it was the only one.
    private static func add(_ life: DeviceID, to lives: inout Set<DeviceID>) {
        if lives.count < 2 { lives.insert(life) }
    }

    /// So many zones are not told one by one: all but a life that changed them alone are to fetch everything. Whoever wants
    /// to hear of one record type cannot be told more exactly either.
    private mutating func foldMoved() {
        let lives = moved.values.reduce(into: Set<DeviceID>()) { $0.formUnion($1) }
        (moved, movedTypes) = ([:], [:])
        let hasNarrowed = subscriptions?.contains(where: \.isNarrowed) ?? true
        tell(sessions.filter { lives != [$0.value] }.keys, hasNarrowed ? .all : .changes)
    }

    /// Takes in how much the mark grew by a commit that was noticed.
    ///
    /// - Parameter growth: nil if that is not known. Other servers do not say it.
    mutating func grew(by growth: Int64?) {
        expectedMark = growth.flatMap { growth in expectedMark.map { $0 + growth } }
    }

    /// Removes and returns the changes: the zones of which each session must be told. Sessions with the same zones are
    /// together.
    ///
    /// a life is not told of its own changes, unless very many have changed zones of their own.
    mutating func takeMoved() -> [(sessions: [UInt64], zoneNames: [String])] {
        let taken = moved
        (moved, movedTypes) = ([:], [:])
        guard !taken.isEmpty else { return [] }
        let everyone = taken.keys.sorted()
        // What only one life changed.
        var own: [DeviceID: Set<String>] = [:]
        for (zone, lives) in taken {
            if lives.count == 1, let life = lives.first { own[life, default: []].insert(zone) }
        }
        var others: [UInt64] = []
        var makers: [DeviceID: [UInt64]] = [:]
        for (session, life) in sessions {
            if own[life] == nil { others.append(session) } else { makers[life, default: []].append(session) }
        }
        if makers.count > Self.makersMax {
            others += makers.values.joined()
            makers = [:]
        }
        var groups = others.isEmpty ? [] : [(others.sorted(), everyone)]
        for (life, sessions) in makers.map({ ($0.key, $0.value.sorted()) }).sorted(by: { $0.1[0] < $1.1[0] }) {
            let zones = everyone.filter { own[life]?.contains($0) != true }
            if !zones.isEmpty { groups.append((sessions, zones)) }
        }
        return groups
    }

    // MARK: The list of a shared database

    /// The list is to be read, and then all sessions are to be told that anything may have changed.
    mutating func awaitList() {
        awaitsList = true
        uncertain = Set(sessions.keys)
        uncertainOfQueries = uncertain
    }

    /// A notice says that the list or the subscriptions have changed. Mark and earlier notices are forgotten, because all
    /// devices are told anyway after the list was read.
    ///
    /// - Parameter now: subscriptions whose read began earlier may be older than the notice.
    mutating func listChanged(at now: Duration) {
        awaitList()
        subscriptionsNoticedAt = now
        (mark, expectedMark, wasNoticed, causes) = (nil, nil, false, [])
    }

    /// The list was read. If a notice said meanwhile that it has changed, it is read again: ``listChanged(at:)`` has removed
    /// the mark.
    mutating func listRead() {
        if hasMark { awaitsList = false }
    }

    /// The list cannot be read now. What is due is told. No real mark equals the one that is set here, so the next sweep
    /// tells all devices.
    mutating func listFailed() {
        (mark, expectedMark, wasNoticed) = (.min, nil, false)
        awaitsList = false
    }

    /// Nobody wants pushes of the database, so its list is not kept.
    mutating func forgetList() {
        awaitsList = true
        (mark, expectedMark) = (nil, nil)
    }

    /// Whether the sweep, which found this mark, shows that a hint was lost. Then the list may have changed as well.
    func isSurprised(by newMark: Int64) -> Bool {
        guard let mark, scope == .shared else { return false }
        return mark != newMark && !wasNoticed
    }

    // MARK: What is due

    /// Whether something waits to be told.
    var isDue: Bool { isMovedDue || !uncertain.isEmpty || !uncertainOfQueries.isEmpty || !ended.isEmpty }

    /// The zones that changed are to be pushed now.
    mutating func movedIsDue() { isMovedDue = true }

    /// These sessions are to be told that anything may have changed.
    ///
    /// - Parameter what: what they may have missed. Pushes of single record types are missed with ``MissedPushes/all``.
    mutating func tell(_ numbers: some Sequence<UInt64>, _ what: MissedPushes = .all) {
        let here = numbers.filter { [sessions] in sessions[$0] != nil }
        if what != .queries { uncertain.formUnion(here) }
        if what != .changes { uncertainOfQueries.formUnion(here) }
    }

    /// Whether the user may have subscriptions to queries of this database. Yes while they are not known.
    func mayQuery(_ database: DatabaseID) -> Bool {
        scope == .private && subscriptions?.contains { $0.query?.database == database } ?? true
    }

    /// Every session is to get a last push of these subscriptions.
    ///
    /// - Parameters:
    ///   - gone: without those to queries. No engine relies on one, and it may have ended by its push.
    ///   - maker: the session that ended them, which knows.
    mutating func tellOfEnds(_ gone: [Subscription], by maker: UInt64?) {
        endedBy = ended.isEmpty || endedBy == maker ? maker : nil
        let new = gone.filter { one in !ended.contains { $0.id == one.id } }
        ended += new.prefix(Self.endedMax - ended.count)
    }

    /// Removes and returns what is due, in the order in which it is to be sent. All zones that changed since the last
    /// call are told together. While the subscriptions are unknown, or the list is to be read, it stays due.
    mutating func takeDue() -> [PushGroup] {
        guard let all = subscriptions, isDue, !awaitsList || all.isEmpty else { return [] }
        let others = all.contains { $0.kind == .query } ? all.filter { $0.kind != .query } : all
        let hasNarrowed = others.contains(where: \.isNarrowed)
        var groups: [PushGroup] = []
        if scope == .shared {
            if isMovedDue { groups = takeSharedMoved(hasNarrowed ? others : nil) }
        } else if isMovedDue {
            let types = hasNarrowed ? movedTypes : [:]
            groups = takeMoved().map {
                PushGroup(sessions: $0.sessions, zoneNames: $0.zoneNames, subscriptions: others, types: types)
            }
        }
        if !uncertain.isEmpty || !uncertainOfQueries.isEmpty {
            let both = uncertain.intersection(uncertainOfQueries)
            let broad = hasNarrowed ? others.filter { !$0.isNarrowed } : others
            for (sessions, some) in [
                (both, all), (uncertain.subtracting(both), broad),
                (uncertainOfQueries.subtracting(both), all.filter { $0.kind == .query }),
            ] { groups.append(PushGroup(sessions: sessions.sorted(), zoneNames: [], subscriptions: some)) }
        }
        if !ended.isEmpty {
            let numbers = sessions.keys.filter { $0 != endedBy }.sorted()
            groups.append(PushGroup(sessions: numbers, zoneNames: [], subscriptions: ended))
        }
        (isMovedDue, uncertain, uncertainOfQueries, ended, endedBy) = (false, [], [], [], nil)
        return groups.filter { !$0.sessions.isEmpty && !$0.subscriptions.isEmpty }
    }

    /// Takes out what moved in a shared database. No push says more than another, so a session that is told anyway gets one.
    ///
    /// - Parameter subscriptions: nil: none is narrowed to a record type. Then all fire.
    private mutating func takeSharedMoved(_ subscriptions: [Subscription]?) -> [PushGroup] {
        let types = movedTypes[""] ?? .any
        let numbers = takeMoved().flatMap(\.sessions)
        guard let subscriptions, types != .any else {
            tell(numbers)
            return []
        }
        let fired = subscriptions.filter { $0.fires(on: types) }
        let rest = Set(numbers).subtracting(uncertain).sorted()
        return [PushGroup(sessions: rest, zoneNames: [], subscriptions: fired)]
    }

    // MARK: The sweep

    /// Sets the mark of the first session. Later changes are found by comparing with it; earlier ones are covered by
    /// the push after joining.
    mutating func starts(at newMark: Int64) {
        guard mark == nil else { return }
        mark = newMark
        // A commit that was noticed meanwhile may be in the mark or not.
        expectedMark = wasNoticed ? nil : newMark
    }

    /// No mark could be read before the push that followed joining. A later one may hide what came after that push, so
    /// the next sweep tells everyone.
    mutating func startsUnknown() {
        if mark == nil { mark = .min }
    }

    /// Takes in how many zones were read for a mark.
    ///
    /// - Parameter sweep: the number of the sweep that read it; nil: none did.
    mutating func counted(zones count: Int, bySweep sweep: Int? = nil) {
        zoneCount = count
        if let sweep { lastSweep = sweep }
    }

    /// Compares the store's mark with the last one, to make up for lost hints (I-4).
    ///
    /// If the mark changed without a notice, a hint was lost, and everyone is told. The same holds if no mark could be
    /// read before. If it changed with notices, a lost one may hide among them. So once the database is quiet again,
    /// everyone is told once more. A life that was the only one to be named is left out if the mark is the
    /// expected one: then its own changes are all that there was. Until the database is quiet, only devices are told
    /// that do not fetch because of the notices that arrived.
    ///
    /// Of a shared database no mark is ever expected after a change, because a commit does not say what it does to the hash.
    /// So there a life that wrote alone is told as well, once, when the database is quiet.
    ///
    /// A shared database without a mark waits for its list, and then all is told. The mark is read before the list, so it
    /// is not the sweep's: a change between the two must be found.
    ///
    /// - Parameter reliesOnPushes: whether a session's device does not fetch although changes were pushed to it.
    /// - Returns: the sessions to be told. ``wasSureOfQueries`` says of what.
    mutating func swept(_ newMark: Int64, reliesOnPushes: (UInt64) -> Bool) -> [UInt64] {
        guard scope != .shared || hasMark else { return [] }
        defer {
            mark = newMark
            wasNoticed = false
        }
        // Until it is quiet, what was noticed may still be pushed.
        wasSureOfQueries = wasNoticed
        guard !wasNoticed else { return sessions.keys.filter(reliesOnPushes).sorted() }
        let (named, isComplete) = (causes, expectedMark == newMark)
        causes = []
        expectedMark = newMark
        if mark != newMark { return sessions.keys.sorted() }
        // All changes were this server's, which has evaluated them.
        wasSureOfQueries = isComplete
        guard !named.isEmpty else { return [] }
        return sessions.filter { named != [$0.value] || !isComplete }.keys.sorted()
    }
}

/// What sessions may not have been told.
enum MissedPushes {
    case all
    /// All but records that queries find: of these they hear one by one.
    case changes
    /// Only those. Engines have nothing to fetch.
    case queries
}

/// Sessions that are told of the same zones.
struct PushGroup {
    /// Ascending.
    let sessions: [UInt64]
    /// Empty: anything may have changed.
    let zoneNames: [String]
    /// Those that may fire.
    let subscriptions: [Subscription]
    /// What changed in these zones. Of one that is not in it anything may have changed. Empty if no subscription asks.
    var types: [String: ChangedTypes] = [:]
}

extension Subscription {
    /// What pushes need of it: all but the predicate.
    fileprivate var withoutPredicate: Subscription {
        guard let query else { return self }
        return Subscription(
            id: id, scope: scope, kind: kind, recordType: recordType, zoneName: zoneName,
            notificationInfo: notificationInfo,
            query: SubscriptionQuery(
                database: query.database, predicate: .always(true), options: query.options, predicateBytes: []),
            hasFired: hasFired)
    }
}
