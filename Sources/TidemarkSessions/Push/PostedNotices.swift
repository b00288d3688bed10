// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

/// What waits to be posted on one bus, and what was posted and not yet heard back. A pure value.
struct PostedNotices: Sendable {
    /// What is posted together.
    struct Post: Sendable, Equatable {
        var zones: [ZoneNotice] = []
        var queries: [QueryNotice] = []
        /// Databases of which a notice of ``queries`` found no room, or was not posted.
        var lost: [DatabaseID] = []
        /// Databases whose query subscriptions have changed.
        var changed: [DatabaseID] = []
        /// Changes that have fired nothing but what is in here, or was posted before.
        var evaluated: [EvaluatedChanges] = []

        var isEmpty: Bool {
            zones.isEmpty && queries.isEmpty && lost.isEmpty && changed.isEmpty && evaluated.isEmpty
        }

        var notices: [ServerNotice] {
            changed.map { .queriesChanged($0) } + zones.map { .zone($0) } + queries.map { .queryFired($0) }
                + lost.map { .queriesLost($0) } + evaluated.map { .queriesEvaluated($0) }
        }
    }

    /// Notices of each kind that wait while the bus cannot be reached. Further ones of zones are dropped: the other servers' sweep
    /// finds the changes (I-4).
    static let waitingMax = 10_000
    /// The most databases of which it is said that changes have fired all that they fire. Of others a sweep tells that records may
    /// have changed.
    static let evaluatedMax = 1_000

    private let returnsOwn: Bool
    private var zones = WaitingLines<ZoneNotice>(countMax: waitingMax)
    private var queries = WaitingLines<QueryNotice>(countMax: waitingMax)
    private var lost: Set<DatabaseID> = []
    private var changed: Set<DatabaseID> = []
    private var evaluated: [DatabaseID: ChangeRanges] = [:]
    private var isEvaluatedDue = false
    private var zoneEchoes = NoticeEchoes<ZoneNotice>(countMax: waitingMax)
    private var queryEchoes = NoticeEchoes<QueryNotice>(countMax: waitingMax)
    private var lostEchoes = NoticeEchoes<DatabaseID>(countMax: waitingMax)

    /// - Parameter returnsOwn: whether the bus sends what is posted to this server too.
    init(returnsOwn: Bool) {
        self.returnsOwn = returnsOwn
    }

    mutating func add(_ notice: ZoneNotice) { zones.add(notice) }

    /// No sweep sees which subscriptions have fired. So of one that finds no room the others are told that all of its database's may
    /// have.
    mutating func add(_ notice: QueryNotice) {
        if !queries.add(notice) { lost.insert(notice.database) }
    }

    mutating func queriesChanged(in database: DatabaseID) { changed.insert(database) }

    /// Changes have fired all that they fire. They wait until it is due to say so.
    ///
    /// - Returns: whether none waited before.
    mutating func add(_ some: [EvaluatedChanges]) -> Bool {
        let wasEmpty = evaluated.isEmpty
        for changes in some where evaluated[changes.database] != nil || evaluated.count < Self.evaluatedMax {
            evaluated[changes.database, default: ChangeRanges()].insert(changes.part)
        }
        return wasEmpty
    }

    mutating func evaluatedIsDue() { isEvaluatedDue = !evaluated.isEmpty }

    /// Removes and returns the next post: so many notices of each kind at the most.
    mutating func take(_ countMax: Int) -> Post {
        var post = Post(
            zones: zones.take(countMax), queries: queries.take(countMax), lost: Array(lost.sorted().prefix(countMax)),
            changed: Array(changed.sorted().prefix(countMax)))
        lost.subtract(post.lost)
        changed.subtract(post.changed)
        post.evaluated = takeEvaluated(countMax)
        guard returnsOwn else { return post }
        zoneEchoes.add(post.zones)
        queryEchoes.add(post.queries)
        lostEchoes.add(post.lost)
        return post
    }

    /// NB: of a database with notices that still wait nothing is said. Then the post is not empty, so another one follows.
    private mutating func takeEvaluated(_ countMax: Int) -> [EvaluatedChanges] {
        guard isEvaluatedDue else { return [] }
        var taken: [EvaluatedChanges] = []
        for database in evaluated.keys.sorted() where queries.count(of: database) == 0 && !lost.contains(database) {
            guard taken.count < countMax else { break }
            let parts = evaluated.removeValue(forKey: database)?.parts ?? []
            taken += parts.map { EvaluatedChanges(database: database, part: $0) }
        }
        isEvaluatedDue = !evaluated.isEmpty
        return taken
    }

    /// Nobody hears of a post. Of zones the other servers' sweep finds what they were not told (I-4). The rest they are told later:
    /// not which subscriptions have fired, but that some have.
    mutating func failed(_ post: Post) {
        if returnsOwn {
            _ = (others(post.zones), others(post.queries), others(ofLost: post.lost))
        }
        lost.formUnion(post.queries.map(\.database))
        lost.formUnion(post.lost)
        changed.formUnion(post.changed)
        guard !post.evaluated.isEmpty else { return }
        _ = add(post.evaluated)
        isEvaluatedDue = true
    }

    /// The received notices that are not our own.
    ///
    /// If another server's notice equals one of ours, it is taken for ours. Then ours arrives later and takes its
    /// place.
    mutating func others(_ heard: [ZoneNotice]) -> [ZoneNotice] { zoneEchoes.others(heard) }

    mutating func others(_ heard: [QueryNotice]) -> [QueryNotice] { queryEchoes.others(heard) }

    /// - Parameter heard: databases whose subscriptions may all have fired.
    mutating func others(ofLost heard: [DatabaseID]) -> [DatabaseID] { lostEchoes.others(heard) }

    /// Echoes may have been lost: stop waiting for them.
    mutating func forgetEchoes() {
        zoneEchoes.forget()
        queryEchoes.forget()
        lostEchoes.forget()
    }
}

/// What was posted and not yet heard back. A pure value.
struct NoticeEchoes<Notice: Hashable & Sendable>: Sendable {
    private let countMax: Int
    private var counts: [Notice: Int] = [:]

    /// - Parameter countMax: of more, all are forgotten.
    init(countMax: Int) {
        self.countMax = countMax
    }

    mutating func add(_ notices: [Notice]) {
        if counts.count > countMax { counts = [:] }
        for notice in notices { counts[notice, default: 0] += 1 }
    }

    /// Those that are no echoes.
    mutating func others(_ heard: [Notice]) -> [Notice] {
        heard.filter { notice in
            guard let count = counts[notice] else { return true }
            counts[notice] = count > 1 ? count - 1 : nil
            return false
        }
    }

    mutating func forget() { counts = [:] }
}
