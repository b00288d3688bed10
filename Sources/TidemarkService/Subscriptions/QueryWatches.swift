// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkFields

/// The writes of one commit in a zone: the versions before and after.
struct WrittenZone: Sendable {
    let key: ZoneKey
    let makers: ChangeMakers
    let records: [RecordState]
    let replaced: [RecordState]
    /// Records of ``replaced`` whose fields were not read.
    let unread: Set<String>
    /// The numbers of the changes: all that the zone has between the two.
    let part: ChangeRanges.Part

    init(
        key: ZoneKey, makers: ChangeMakers = ChangeMakers(), records: [RecordState], replaced: [RecordState],
        unread: Set<String> = [], part: ChangeRanges.Part = ChangeRanges.Part(after: 0, upTo: 0)
    ) {
        self.key = key
        self.makers = makers
        self.records = records
        self.replaced = replaced
        self.unread = unread
        self.part = part
    }

    /// To be said once they have fired all that they fire.
    var evaluated: EvaluatedChanges { EvaluatedChanges(database: key.database, part: part) }

    /// Whether a version before or after is of such a type.
    func hasType(where isWanted: (String) -> Bool) -> Bool {
        records.contains { isWanted($0.type) } || replaced.contains { isWanted($0.type) }
    }

    /// The types of the versions before and after.
    var types: Set<String> { Set(records.lazy.map(\.type)).union(replaced.lazy.map(\.type)) }

    /// The changes of the types that subscriptions look at.
    func changes(for index: QueryIndex) -> [(old: RecordState?, new: RecordState)] {
        let before = Dictionary(replaced.map { ($0.name, $0) }) { first, _ in first }
        return records.flatMap { QueryIndex.changes(from: before[$0.name], to: $0) }
            .filter { index.watches($0.new.type) }
    }

    /// About how much memory it keeps alive.
    var byteCount: Int {
        (records + replaced).reduce(256) { $0 + 256 + $1.fields.byteCount }
    }
}

/// A process's knowledge of query subscriptions, by the database that they watch, and the changes that wait until they are known. All event
/// loops share it. A pure value.
///
/// A database without query subscriptions is one entry, so a commit there costs one look-up. Nothing is proven: an entry is
/// read again when it is old, and a server that changes subscriptions says so (I-4).
struct QueryWatches: Sendable {
    enum Known: Sendable {
        case none
        case some(QueryIndex)
        /// They are too many for memory. Of those types that were written since the last time they are read, page by page.
        case large(WatchedTypes)

        /// Whether a subscription may look at records of the type.
        func mayWatch(_ recordType: String) -> Bool {
            switch self {
            case .none: false
            case .some(let index): index.watches(recordType)
            case .large(let types): types.mayInclude(recordType)
            }
        }

        fileprivate var isPublic: Bool {
            switch self {
            case .none: false
            case .some(let index): index.isPublic
            case .large(let types): types.isPublic
            }
        }

        fileprivate var isLarge: Bool { if case .large = self { true } else { false } }

        fileprivate var byteCount: Int {
            switch self {
            case .none: 0
            case .some(let index): index.byteCount
            case .large(let types): types.byteCount
            }
        }

        /// By which those are found that are new later.
        fileprivate var marks: Marks {
            switch self {
            case .none: .subscriptions([])
            case .some(let index): .subscriptions(index.marks)
            case .large(let types): .types(types)
            }
        }
    }

    /// What a read has found, as far as it is needed to find those that are new.
    fileprivate enum Marks {
        /// ``QueryIndex/mark(of:by:)``
        case subscriptions(Set<Int>)
        /// Of these types all are read that there are. So nothing of them passes.
        case types(WatchedTypes)
    }

    private struct Entry {
        var known: Known?
        var readAt = Duration.zero
        /// Grows when the subscriptions have changed: a read that began earlier is not enough.
        var generation = 0
        /// Subscriptions that were deleted by their firing since the read.
        var ended: Set<SubscriberKey> = []
        /// Each with the generation at which it came. A read that began at this one or later is enough for it.
        var waiting: Deque<(zone: WrittenZone, generation: Int)> = []
        var waitingBytes = 0
        /// Bytes of the changes that are being evaluated. A slow store keeps them in memory for longer.
        var workBytes = 0
        /// Changes were dropped, the last one at this generation. All subscriptions fire with the news that records may have changed.
        var lostAt: Int?
        /// Whether they are read, or changes are evaluated: one commit after another, so that pushes keep their order.
        var isBusy = false
        var knownGeneration = 0
        /// What was written after the last read had begun, and was evaluated with what that found, or passed over. Nobody looks at it
        /// again, so a subscription that was saved at another server may miss it.
        var passed = ChangedTypes.none
        /// The subscriptions that the last read found.
        var marks = Marks.subscriptions([])
        /// Those that this server has saved since. Their devices were told to look.
        var told: Set<Int> = []
        /// How much of ``waiting`` had come when the read that is under way began.
        var askedCount = 0

        /// What the read that ends now is compared with. Nil: nothing has passed.
        var missable: MissableChanges? {
            passed == .none ? nil : MissableChanges(types: passed, known: marks, told: told, ended: ended)
        }
    }

    /// Changes that subscriptions have missed which are new since then.
    struct MissableChanges: Sendable {
        fileprivate let types: ChangedTypes
        fileprivate let known: Marks
        fileprivate let told: Set<Int>
        fileprivate let ended: Set<SubscriberKey>

        /// Whether subscriptions to records of the type may have missed some.
        func mayConcern(_ recordType: String) -> Bool {
            if case .types(let known) = known, known.mayInclude(recordType) { return false }
            return types.mayInclude(recordType)
        }

        /// Whether the subscription may have missed some. They concern its type.
        func mayBeMissed(by watching: WatchingSubscription) -> Bool {
            let mark = QueryIndex.mark(of: watching.subscription, by: watching.user)
            if told.contains(mark) { return false }
            guard case .subscriptions(let known) = known else { return true }
            return !known.contains(mark) || ended.contains(watching.key)
        }
    }

    /// A piece of evaluation work.
    struct QueryWork: Sendable {
        let database: DatabaseID
        let known: Known
        let ended: Set<SubscriberKey>
        let written: [WrittenZone]
        /// Whether changes were dropped.
        let hasLost: Bool
        /// Changes that came before a read, and that those may have missed whom only that has found. Nil: none.
        var missable: MissableChanges?

        /// Of those that are too many for memory: the types whose subscriptions are to be read. Nil: all.
        func types(of watched: WatchedTypes) -> Set<String>? {
            guard !hasLost else { return nil }
            var types: Set<String> = []
            for zone in written { types.formUnion(zone.types.filter(watched.mayInclude)) }
            guard let missable else { return types }
            return watched.names.map { types.union($0.filter(missable.mayConcern)) }
        }
    }

    /// How old an entry may be.
    static let ageMax = Duration.seconds(30)
    /// The bounds in bytes for waiting changes of one database and of all; and for those of all together with changes
    /// that are being evaluated.
    private let waitingBytesOfOneMax: Int
    private let waitingBytesMax: Int
    /// Bytes of all indexes. One may have half.
    private let indexBytesMax: Int
    /// Entries without an index.
    private static let entriesMax = 200_000

    private var entries: [DatabaseID: Entry] = [:]
    /// Databases to read, in this order.
    private var wanted: Deque<DatabaseID> = []
    /// Whether somebody reads them. So what comes meanwhile is read in one statement.
    private var isReading = false
    /// Databases since when something has passed, in this order. Not all are still so.
    private var unsure: Deque<(database: DatabaseID, since: Duration)> = []
    private var indexBytes = 0
    private var heldBytes = 0
    private var generation = 0

    init(indexBytesMax: Int = 67_108_864, waitingBytesMax: Int = 33_554_432) {
        self.indexBytesMax = indexBytesMax
        self.waitingBytesMax = waitingBytesMax
        waitingBytesOfOneMax = waitingBytesMax / 4
    }

    /// How many bytes the index of one database may have.
    var indexBytesOfOneMax: Int { indexBytesMax / 2 }

    /// Takes in the changes of a commit.
    ///
    /// - Returns: what can be evaluated now, whether somebody must read (``startsReading()``), and changes of public databases that
    ///   fire nothing.
    mutating func written(
        _ zones: [WrittenZone], now: Duration
    ) -> (work: [QueryWork], mustRead: Bool, silent: [EvaluatedChanges]) {
        var work: [QueryWork] = []
        var mustRead = false
        var silent: [EvaluatedChanges] = []
        for zone in zones {
            let database = zone.key.database
            if let entry = entries[database], let known = entry.known, !entry.isBusy,
                entry.generation == entry.knownGeneration, now - entry.readAt <= Self.ageMax
            {
                guard zone.hasType(where: known.mayWatch) else {
                    pass(zone, known, now: now)
                    // If nobody there wants to know: whoever does, and was not found here, is to believe that something is missing.
                    if known.isPublic { silent.append(zone.evaluated) }
                    continue
                }
                let byteCount = zone.byteCount
                // One that is larger than all that may be held is evaluated when nothing else is.
                if heldBytes == 0 || heldBytes + byteCount <= waitingBytesMax {
                    heldBytes += byteCount
                    entries[database]?.workBytes = byteCount
                    entries[database]?.isBusy = true
                    pass(zone, known, now: now)
                    work.append(
                        QueryWork(database: database, known: known, ended: entry.ended, written: [zone], hasLost: false)
                    )
                    continue
                }
            }
            mustRead = wait(zone) || mustRead
        }
        return (work, mustRead, silent)
    }

    /// A subscription that is not known may miss it. What is too much for memory is read after each change of a type of it, so it
    /// misses none of these.
    private mutating func pass(_ zone: WrittenZone, _ known: Known, now: Duration) {
        var types = ChangedTypes.none
        for records in [zone.records, zone.replaced] {
            types.insert(records.lazy.map(\.type).filter { !known.isLarge || !known.mayWatch($0) })
        }
        pass(types, in: zone.key.database, now: now)
    }

    private mutating func pass(_ types: ChangedTypes, in database: DatabaseID, now: Duration) {
        let wasSure = entries[database]?.passed == ChangedTypes.none
        entries[database]?.passed.formUnion(types)
        if wasSure, types != .none { unsure.append((database, now)) }
    }

    /// - Parameter seenCount: how many of its changes came before the read that has found what is known.
    private mutating func pass(_ work: QueryWork, seenCount: Int = 0, now: Duration) {
        for zone in work.written.dropFirst(seenCount) { pass(zone, work.known, now: now) }
        if work.hasLost, !work.known.isLarge { pass(.any, in: work.database, now: now) }
    }

    /// - Returns: whether the database is to be read now.
    private mutating func wait(_ zone: WrittenZone) -> Bool {
        let (database, byteCount) = (zone.key.database, zone.byteCount)
        if entries.count > Self.entriesMax { forgetIdle() }
        var entry = entries[database] ?? Entry(generation: generation)
        if entry.waitingBytes + byteCount > waitingBytesOfOneMax || heldBytes + byteCount > waitingBytesMax {
            entry.lostAt = entry.generation
        } else {
            entry.waiting.append((zone, entry.generation))
            entry.waitingBytes += byteCount
            heldBytes += byteCount
        }
        let isNew = !entry.isBusy
        entry.isBusy = true
        entries[database] = entry
        if isNew { wanted.append(database) }
        return isNew
    }

    /// Whether the caller must read the wanted databases, until there are no more (``takeWanted(_:)``). Otherwise another task does.
    mutating func startsReading() -> Bool {
        guard !isReading, !wanted.isEmpty else { return false }
        isReading = true
        return true
    }

    /// Databases that could not be read are read again, with what has come meanwhile.
    mutating func again(_ failed: [Wanted]) -> [Wanted] {
        failed.compactMap { one in
            guard let entry = entries[one.database] else { return nil }
            entries[one.database]?.askedCount = entry.waiting.count
            return Wanted(database: one.database, generation: entry.generation, isLarge: one.isLarge)
        }
    }

    /// The next databases to read, at most `countMax`. None: the reader ends.
    mutating func takeWanted(_ countMax: Int) -> [Wanted] {
        var taken: [Wanted] = []
        while taken.count < countMax, let database = wanted.popFirst() {
            guard let entry = entries[database] else { continue }
            entries[database]?.askedCount = entry.waiting.count
            taken.append(
                Wanted(database: database, generation: entry.generation, isLarge: entry.known?.isLarge == true))
        }
        if taken.isEmpty { isReading = false }
        return taken
    }

    /// A database to read.
    struct Wanted: Sendable {
        let database: DatabaseID
        /// The generation of its entry when the read begins.
        let generation: Int
        /// Whether its subscriptions are known to be too many for memory.
        let isLarge: Bool
    }

    /// The subscriptions of a database were read.
    ///
    /// Changes from before the read began do not need a newer read. So changes are evaluated however often subscriptions change.
    ///
    /// - Parameter generation: that of the entry when the read began.
    /// - Returns: what waited for it, and what those may have missed that are new. Nil: all of it needs a newer read.
    mutating func read(_ database: DatabaseID, _ known: Known, generation: Int, now: Duration) -> QueryWork? {
        guard var entry = entries[database] else { return nil }
        let missable = entry.missable
        setIndex(known, of: &entry)
        (entry.readAt, entry.knownGeneration, entry.ended) = (now, generation, [])
        (entry.passed, entry.marks) = (.none, known.marks)
        // This server has saved them before the read began, or they are compared with the next one.
        if generation == entry.generation { entry.told = [] }
        let askedCount = entry.askedCount
        entry.askedCount = 0
        let work = takeWaiting(of: &entry, database, known, missable)
        if work == nil { wanted.append(database) }
        entries[database] = entry
        if let work { pass(work, seenCount: askedCount, now: now) }
        makeRoom(besides: database)
        return work
    }

    /// Takes what ``Entry/knownGeneration`` is enough for.
    private mutating func takeWaiting(
        of entry: inout Entry, _ database: DatabaseID, _ known: Known, _ missable: MissableChanges? = nil
    ) -> QueryWork? {
        let ready = entry.waiting.prefix { $0.generation <= entry.knownGeneration }.map(\.zone)
        let hasLost = entry.lostAt != nil
        guard !ready.isEmpty || hasLost || missable != nil else { return nil }
        entry.waiting.removeFirst(ready.count)
        let byteCount = ready.reduce(0) { $0 + $1.byteCount }
        entry.waitingBytes -= byteCount
        entry.workBytes = byteCount
        // Subscriptions that came before the loss may not be known yet. The next read tells all once more.
        if let lostAt = entry.lostAt, lostAt <= entry.knownGeneration { entry.lostAt = nil }
        return QueryWork(
            database: database, known: known, ended: entry.ended, written: ready, hasLost: hasLost, missable: missable)
    }

    /// What follows when work of a database is done.
    enum Next: Sendable {
        case nothing
        /// More was written meanwhile.
        case evaluate(QueryWork)
        /// The same, and the subscriptions are to be read before (``startsReading()``).
        case read
    }

    /// Work of a database is done.
    mutating func done(_ database: DatabaseID, now: Duration) -> Next {
        guard var entry = entries[database] else { return .nothing }
        heldBytes -= entry.workBytes
        entry.workBytes = 0
        entries[database] = entry
        let isCurrent = entry.generation == entry.knownGeneration
        if entry.waiting.isEmpty, entry.lostAt == nil, isCurrent || entry.passed == .none {
            entries[database]?.isBusy = false
            if !isCurrent { forget(database) }
            return .nothing
        }
        if isCurrent, now - entry.readAt <= Self.ageMax, let known = entry.known,
            let work = takeWaiting(of: &entry, database, known)
        {
            entries[database] = entry
            pass(work, now: now)
            return .evaluate(work)
        }
        wanted.append(database)
        return .read
    }

    /// Changes of a database could not be evaluated, or sent. All its subscriptions fire with the news that something
    /// has changed.
    mutating func lost(_ database: DatabaseID) {
        guard let generation = entries[database]?.generation else { return }
        entries[database]?.lostAt = generation
    }

    /// The subscriptions that look at a database have changed. They are read at once if those that are new may have missed something
    /// and else when something is written.
    ///
    /// - Returns: whether somebody must read (``startsReading()``).
    @discardableResult
    mutating func changed(_ database: DatabaseID) -> Bool {
        generation += 1
        guard let entry = entries[database] else { return false }
        entries[database]?.generation = generation
        guard entry.isBusy || entry.passed != .none else {
            forget(database)
            return false
        }
        return ask(database)
    }

    /// The subscriptions of any database may have changed.
    ///
    /// - Returns: as of ``changed(_:)``.
    @discardableResult
    mutating func changedAll() -> Bool {
        generation += 1
        forgetIdle()
        var mustRead = false
        for database in entries.keys.sorted() {
            entries[database]?.generation = generation
            mustRead = ask(database) || mustRead
        }
        return mustRead
    }

    /// Looks for subscriptions of which no notice came. Something has passed that they may have missed, and that is as long ago as an
    /// entry may be old.
    ///
    /// - Returns: as of ``changed(_:)``.
    mutating func sweep(now: Duration) -> Bool {
        var mustRead = false
        for _ in 0..<unsure.count {
            guard let (database, since) = unsure.first, now - since > Self.ageMax else { break }
            unsure.removeFirst()
            // What passed after a later read is behind this one.
            guard let entry = entries[database], entry.passed != .none, entry.readAt <= since else { continue }
            if entry.isBusy {
                unsure.append((database, now))
            } else {
                mustRead = ask(database) || mustRead
            }
        }
        return mustRead
    }

    /// - Returns: whether nobody has asked before.
    private mutating func ask(_ database: DatabaseID) -> Bool {
        guard entries[database]?.isBusy == false else { return false }
        entries[database]?.isBusy = true
        wanted.append(database)
        return true
    }

    /// This server has saved subscriptions, and their devices are told to look. So they miss nothing of what has passed.
    mutating func saved(_ subscriptions: [Subscription], by user: UserID) {
        for subscription in subscriptions {
            guard let database = subscription.query?.database, let entry = entries[database],
                entry.isBusy || entry.passed != .none
            else { continue }
            entries[database]?.told.insert(QueryIndex.mark(of: subscription, by: user))
        }
    }

    /// Whether nothing is read or evaluated.
    var isIdle: Bool { !entries.values.contains { $0.isBusy } }

    /// A subscription was deleted by its firing.
    mutating func ended(_ key: SubscriberKey, of database: DatabaseID) {
        entries[database]?.ended.insert(key)
    }

    private mutating func setIndex(_ known: Known?, of entry: inout Entry) {
        indexBytes += (known?.byteCount ?? 0) - (entry.known?.byteCount ?? 0)
        entry.known = known
    }

    /// It is read again when it is needed. Of those that are too many for memory this stays known, so that not all are read.
    private mutating func forget(_ database: DatabaseID) {
        let known = entries[database]?.known
        guard known?.isLarge != true else { return }
        indexBytes -= known?.byteCount ?? 0
        entries[database] = nil
    }

    /// Indexes are read again when they are needed.
    private mutating func makeRoom(besides database: DatabaseID) {
        guard indexBytes > indexBytesMax else { return }
        for (other, entry) in entries where other != database && !entry.isBusy {
            guard let known = entry.known, known.byteCount > 0 else { continue }
            indexBytes -= known.byteCount
            // What it is compared with stays.
            if entry.passed == .none { entries[other] = nil } else { entries[other]?.known = nil }
            if indexBytes <= indexBytesMax / 2 { return }
        }
    }

    /// What others are compared with stays, while there is room.
    private mutating func forgetIdle() {
        entries = entries.filter { $0.value.isBusy || $0.value.passed != .none }
        if entries.count > Self.entriesMax / 2 { entries = entries.filter { $0.value.isBusy } }
        indexBytes = entries.values.reduce(0) { $0 + ($1.known?.byteCount ?? 0) }
    }
}
