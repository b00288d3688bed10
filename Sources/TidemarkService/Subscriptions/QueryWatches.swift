// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkFields

/// What one commit wrote in a zone: the versions before and after.
struct WrittenZone: Sendable {
    let key: ZoneKey
    /// The life of the device that wrote it; `nobody` if several did.
    let life: DeviceID
    let records: [RecordState]
    let replaced: [RecordState]
    /// Records of ``replaced`` whose fields were not read.
    let unread: Set<String>

    init(key: ZoneKey, life: DeviceID, records: [RecordState], replaced: [RecordState], unread: Set<String> = []) {
        self.key = key
        self.life = life
        self.records = records
        self.replaced = replaced
        self.unread = unread
    }

    /// About how much memory it keeps alive.
    var byteCount: Int {
        (records + replaced).reduce(256) { $0 + 256 + $1.fields.byteCount }
    }
}

/// What a process knows of query subscriptions, by the database that they look at, and the changes that wait until they are
/// known. All event loops share it. A pure value.
///
/// A database without query subscriptions is one entry, so a commit there costs one look-up. Nothing is proven: an entry is
/// read again when it is old, and a server that changes subscriptions says so (I-4).
struct QueryWatches: Sendable {
    enum Known: Sendable {
        case none
        case some(QueryIndex)
        /// They are too many for memory. They are read, page by page, for what was written since the last time.
        case large
    }

    private struct Entry {
        var known: Known?
        var readAt = Duration.zero
        /// Grows when the subscriptions have changed: a read that began earlier is not enough.
        var generation = 0
        /// Subscriptions that were deleted by their firing since the read.
        var ended: Set<SubscriberKey> = []
        var waiting: Deque<WrittenZone> = []
        var waitingBytes = 0
        /// Changes were dropped, because too many wait. All subscriptions are told that records may have changed.
        var hasLost = false
        /// Whether they are read, or changes are evaluated: one commit after another, so that pushes keep their order.
        var isBusy = false
        /// The generation of ``known``.
        var knownGeneration = 0
    }

    /// What is to be evaluated now, and how.
    struct QueryWork: Sendable {
        let database: DatabaseID
        let known: Known
        let ended: Set<SubscriberKey>
        let written: [WrittenZone]
        /// Whether changes were dropped.
        let hasLost: Bool
    }

    /// How old an entry may be.
    static let ageMax = Duration.seconds(30)
    /// Bytes of changes that wait, of one database and of all.
    private let waitingBytesOfOneMax: Int
    private let waitingBytesMax: Int
    /// Bytes of all indexes. One may have half.
    private let indexBytesMax: Int
    /// Entries without an index.
    private static let entriesMax = 200_000

    private var entries: [DatabaseID: Entry] = [:]
    /// Databases to read, in this order.
    private var wanted: Deque<DatabaseID> = []
    private var indexBytes = 0
    private var waitingBytes = 0
    private var generation = 0

    init(indexBytesMax: Int = 67_108_864, waitingBytesMax: Int = 33_554_432) {
        self.indexBytesMax = indexBytesMax
        self.waitingBytesMax = waitingBytesMax
        waitingBytesOfOneMax = waitingBytesMax / 4
    }

    /// How many bytes the index of one database may have.
    var indexBytesOfOneMax: Int { indexBytesMax / 2 }

    /// Takes in what was written.
    ///
    /// - Returns: what can be evaluated now, and whether somebody must read (``takeWanted(_:)``).
    mutating func written(_ zones: [WrittenZone], now: Duration) -> (work: [QueryWork], mustRead: Bool) {
        var work: [QueryWork] = []
        var mustRead = false
        for zone in zones {
            let database = zone.key.database
            if let entry = entries[database], let known = entry.known, !entry.isBusy,
                now - entry.readAt <= Self.ageMax
            {
                switch known {
                case .none: continue
                case .some(let index):
                    guard zone.records.contains(where: { index.watches($0.type) }) else { continue }
                    entries[database]?.isBusy = true
                    work.append(
                        QueryWork(database: database, known: known, ended: entry.ended, written: [zone], hasLost: false)
                    )
                    continue
                case .large: break
                }
            }
            mustRead = wait(zone) || mustRead
        }
        return (work, mustRead)
    }

    /// - Returns: whether the database is to be read now.
    private mutating func wait(_ zone: WrittenZone) -> Bool {
        let (database, byteCount) = (zone.key.database, zone.byteCount)
        if entries.count > Self.entriesMax { forgetIdle() }
        var entry = entries[database] ?? Entry(generation: generation)
        if entry.waitingBytes + byteCount > waitingBytesOfOneMax || waitingBytes + byteCount > waitingBytesMax {
            entry.hasLost = true
        } else {
            entry.waiting.append(zone)
            entry.waitingBytes += byteCount
            waitingBytes += byteCount
        }
        let isNew = !entry.isBusy
        entry.isBusy = true
        entries[database] = entry
        if isNew { wanted.append(database) }
        return isNew
    }

    /// The next databases to read, at most so many.
    mutating func takeWanted(_ countMax: Int) -> [Wanted] {
        var taken: [Wanted] = []
        while taken.count < countMax, let database = wanted.popFirst() {
            guard let entry = entries[database] else { continue }
            var isLarge = false
            if case .large? = entry.known { isLarge = true }
            taken.append(Wanted(database: database, generation: entry.generation, isLarge: isLarge))
        }
        return taken
    }

    /// A database to read.
    struct Wanted: Sendable {
        let database: DatabaseID
        /// That of its entry when the read begins.
        let generation: Int
        /// Whether its subscriptions are known to be too many for memory.
        let isLarge: Bool
    }

    /// The subscriptions of a database were read.
    ///
    /// - Parameter generation: that of the entry when the read began.
    /// - Returns: what waited for it. Nil: they have changed meanwhile, and are to be read again.
    mutating func read(_ database: DatabaseID, _ known: Known, generation: Int, now: Duration) -> QueryWork? {
        guard var entry = entries[database] else { return nil }
        guard entry.generation == generation else {
            wanted.append(database)
            return nil
        }
        setIndex(known, of: &entry)
        (entry.readAt, entry.knownGeneration, entry.ended) = (now, generation, [])
        let work = takeWaiting(of: &entry, database, known)
        entries[database] = entry
        makeRoom(besides: database)
        return work
    }

    private mutating func takeWaiting(of entry: inout Entry, _ database: DatabaseID, _ known: Known) -> QueryWork {
        let work = QueryWork(
            database: database, known: known, ended: entry.ended, written: Array(entry.waiting),
            hasLost: entry.hasLost)
        waitingBytes -= entry.waitingBytes
        (entry.waiting, entry.waitingBytes, entry.hasLost) = ([], 0, false)
        return work
    }

    /// What follows when work of a database is done.
    enum Next: Sendable {
        case nothing
        /// More was written meanwhile.
        case evaluate(QueryWork)
        /// The same, and the subscriptions are to be read before (``takeWanted(_:)``).
        case read
    }

    /// Work of a database is done.
    mutating func done(_ database: DatabaseID, now: Duration) -> Next {
        guard var entry = entries[database] else { return .nothing }
        let isCurrent = entry.generation == entry.knownGeneration
        if entry.waiting.isEmpty, !entry.hasLost {
            if !isCurrent { setIndex(nil, of: &entry) }
            entry.isBusy = false
            entries[database] = isCurrent ? entry : nil
            return .nothing
        }
        if isCurrent, now - entry.readAt <= Self.ageMax, let known = entry.known {
            switch known {
            case .none, .some:
                let work = takeWaiting(of: &entry, database, known)
                entries[database] = entry
                return .evaluate(work)
            case .large: break
            }
        }
        wanted.append(database)
        return .read
    }

    /// What was written in a large database could not be evaluated. Its next pass tells all that something has changed.
    mutating func lost(_ database: DatabaseID) { entries[database]?.hasLost = true }

    /// A database could not be read. It is tried again with those that come next.
    mutating func failed(_ database: DatabaseID) {
        if entries[database] != nil { wanted.append(database) }
    }

    /// The subscriptions that look at a database have changed.
    mutating func changed(_ database: DatabaseID) {
        generation += 1
        guard var entry = entries[database] else { return }
        guard entry.isBusy else {
            setIndex(nil, of: &entry)
            entries[database] = nil
            return
        }
        entry.generation = generation
        entries[database] = entry
    }

    /// The subscriptions of any database may have changed.
    mutating func changedAll() {
        generation += 1
        forgetIdle()
        for database in entries.keys { entries[database]?.generation = generation }
    }

    /// Whether nothing is read or evaluated.
    var isIdle: Bool { !entries.values.contains { $0.isBusy } }

    /// A subscription was deleted by its firing.
    mutating func ended(_ key: SubscriberKey, of database: DatabaseID) {
        entries[database]?.ended.insert(key)
    }

    private mutating func setIndex(_ known: Known?, of entry: inout Entry) {
        if case .some(let old)? = entry.known { indexBytes -= old.byteCount }
        if case .some(let new)? = known { indexBytes += new.byteCount }
        entry.known = known
    }

    /// Indexes are read again when they are needed.
    private mutating func makeRoom(besides database: DatabaseID) {
        guard indexBytes > indexBytesMax else { return }
        for (other, entry) in entries where other != database && !entry.isBusy {
            guard case .some(let index)? = entry.known else { continue }
            indexBytes -= index.byteCount
            entries[other] = nil
            if indexBytes <= indexBytesMax / 2 { return }
        }
    }

    private mutating func forgetIdle() {
        entries = entries.filter { $0.value.isBusy }
        indexBytes = entries.values.reduce(0) { sum, entry in
            if case .some(let index)? = entry.known { sum + index.byteCount } else { sum }
        }
    }
}
