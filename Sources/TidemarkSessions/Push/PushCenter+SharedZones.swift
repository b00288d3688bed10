// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService

// Pushes of shared databases. A change of a zone concerns its owner, and everybody who has the zone in their list. Viewers get
// bare pushes: what they may see is read when they fetch, and never pushed (I-5).
//
// A viewer's list is read as soon as somebody wants pushes of the shared database. It is read again when a notice says that it
// may have changed. The same happens when the feed has told a device of the end of a zone, and when the sweep finds that a
// notice was lost.

extension PushCenter {
    // MARK: Changes

    /// How many viewers are told in one step. It takes a fraction of a millisecond, and the pushes have steps of their own.
    private static let viewersPerStep = 100

    /// One step for each turn of the loop: everything else goes between.
    func spreadRest() {
        let starts = state.withLock { state in
            guard !state.isSpreading, !state.sharedMoves.isEmpty else { return false }
            state.isSpreading = true
            return true
        }
        guard starts else { return }
        _ = scheduler.schedule(after: .zero) { [weak self] in self?.spread() }
    }

    private func spread() {
        let step = state.withLock { state in
            state.isSpreading = false
            return state.sharedMoves.take(Self.viewersPerStep)
        }
        guard let step else { return }
        var unknown: [DatabaseID] = []
        for viewer in step.viewers where state.withLock({ $0.tell(viewer, of: step) }) { unknown.append(viewer) }
        sendRest()
        readListsLater()
        spreadRest()
        guard !unknown.isEmpty else { return }
        scheduler.run { [self, unknown] in
            for viewer in unknown { await pushMovedOnceKnown(in: viewer, ageMax: nil) }
        }
    }

    // MARK: Lists

    /// The feed of a database has told a device of the end of zones. In a shared database, changes of these zones no longer
    /// concern the user, so the list is read again.
    func zonesEnded(in database: DatabaseID) { renewList(of: database) }

    /// Reads a list in a turn of its account. If it is being read already, that task reads it once more. A private
    /// database has no list.
    func renewList(of viewer: DatabaseID) {
        let account = state.withLock { state -> AccountID? in
            guard let watch = state.watches[viewer], watch.scope == .shared,
                watch.wantsPushes || watch.mayHaveOtherSubscriptions, state.listReads.want(viewer)
            else { return nil }
            return watch.account
        }
        guard let account else { return }
        scheduler.run { [self] in await readListInTurn(of: viewer, for: account) }
    }

    /// The user's subscriptions have changed, and cannot be read now. Those of a private database are read again once they
    /// are old and something moves there. In a shared database nothing is seen to move while no subscription is known, because
    /// its list is not read. So there the subscriptions are read with the list, as after a notice.
    func subscriptionsUnread(of identity: Identity) {
        let (viewer, now) = (identity.sharedDatabase, scheduler.now)
        state.withLock { $0.listChanged(of: viewer, at: now) }
        renewList(of: viewer)
    }

    private func readListInTurn(of viewer: DatabaseID, for account: AccountID) async {
        do {
            try await gates[.wholeDatabase].run(for: .account(account.rawValue)) { _ = await readLists(of: viewer) }
        } catch {
            listFailed(of: viewer)
        }
    }

    /// Reads the lists that wait, one after another. They take no turns of accounts, so they delay nobody's own reads.
    func readListsLater() {
        guard state.withLock({ $0.listReads.beginsLater() }) else { return }
        scheduler.run { [self] in
            while let viewer = state.withLock({ $0.listReads.takeLater() }) {
                guard await readLists(of: viewer) else {
                    // The next sweep goes on.
                    return state.withLock { $0.listReads.pauseLater() }
                }
            }
        }
    }

    /// Reads a list until nobody wants it read once more.
    ///
    /// - Returns: false if it cannot be read now.
    private func readLists(of viewer: DatabaseID) async -> Bool {
        while state.withLock({ $0.listReads.takeNext(of: viewer) }) {
            guard await readList(of: viewer) else {
                listFailed(of: viewer)
                return false
            }
        }
        return true
    }

    /// Reads the zones to which the user of a shared database has access, and then tells the devices what waited for that.
    /// Zones that the user may not see have no effect on it (I-5).
    ///
    /// - Returns: false if they cannot be read now.
    private func readList(of viewer: DatabaseID) async -> Bool {
        if state.withLock({ $0.watches[viewer]?.mayHaveOtherSubscriptions ?? false }) {
            await renewSubscriptions(of: viewer, ageMax: .zero)
            guard state.withLock({ $0.mayReadList(viewer) }) else { return false }
        }
        guard let (user, hasMark) = state.withLock({ $0.readerOfList(viewer) }) else { return true }
        // The mark first: whatever changes after it differs from it.
        if !hasMark {
            guard let mark = await marks(of: [viewer])[viewer] else { return false }
            guard state.withLock({ $0.listStarts(at: mark, of: viewer) }) else { return true }
        }
        guard
            case .success(let zones) = await service.zonesShown(
                in: viewer, to: user, zonesMax: settings.limits.sharedZonesMax)
        else { return false }
        state.withLock { $0.listRead(zones.map(\.key), of: viewer) }
        tellBus()
        sendRest()
        return true
    }

    private func listFailed(of viewer: DatabaseID) {
        state.withLock { $0.listFailed(of: viewer) }
        tellBus()
        sendRest()
    }

    // MARK: Marks

    /// The marks of databases. Left out are those that cannot be read now, and those that nobody watches any more.
    func marks(of databases: [DatabaseID]) async -> [DatabaseID: ChangeMark] {
        let (viewers, own) = state.withLock { state in
            (state.viewers(among: databases), databases.filter { state.watches[$0]?.scope == .private })
        }
        var marks = own.isEmpty ? [:] : (try? await service.changeMarks(of: own).get()) ?? [:]
        if !viewers.isEmpty, case .success(let shared) = await service.sharedMarks(of: viewers) {
            marks.merge(shared) { $1 }
        }
        return marks
    }
}

extension PushCenter.State {
    /// How many lists are read again after each sweep although nothing says that they have changed. So a list that is wrong
    /// for any reason is mended some sweeps later.
    private static let listsPerSweep = 20
    /// A list is left alone for so many sweeps.
    private static let sweepsPerList = 6

    /// Those of the databases that are watched as shared ones, each with its user.
    func viewers(among databases: [DatabaseID]) -> [DatabaseID: UserID] {
        var viewers: [DatabaseID: UserID] = [:]
        for database in databases {
            guard let watch = watches[database], watch.scope == .shared else { continue }
            viewers[database] = watch.user
        }
        return viewers
    }

    // MARK: Changes

    /// Takes in a change for those who have the zone in their lists.
    mutating func takeForViewers(_ notice: ZoneNotice, of moved: ZonesMoved) {
        let viewers = sharedZones.viewers(concernedBy: notice)
        if !viewers.isEmpty { sharedMoves.add(notice, types: moved.types(of: notice), to: viewers) }
    }

    /// Tells a viewer of a change of a zone.
    ///
    /// - Returns: whether the viewer's subscriptions are to be read first.
    mutating func tell(_ viewer: DatabaseID, of step: SharedMoves.Step) -> Bool {
        // The zone may not be in the list any more.
        guard let account = watches[viewer]?.account, sharedZones.isListed(step.zone, by: viewer) else { return false }
        for life in step.lives { watches[viewer]?.sharedZoneMoved(by: life, types: step.types) }
        if step.changesLists { listReads.wantLater(viewer, of: account) }
        watches[viewer]?.movedIsDue()
        _ = lineUp(viewer)
        return watches[viewer]?.subscriptions == nil && reading.insert(viewer).inserted
    }

    // MARK: Lists

    /// Whether a list is to be read now, because somebody wants pushes of the database and the list is not known. A list that
    /// nobody wants is forgotten.
    mutating func needsList(of viewer: DatabaseID) -> Bool {
        guard let known = watches[viewer]?.subscriptions else { return false }
        guard !known.isEmpty else {
            dropList(of: viewer)
            // NB: what is wanted stays so. It may be because of a notice that says that there are other subscriptions.
            listReads.outdate(viewer)
            watches[viewer]?.forgetList()
            return false
        }
        guard !sharedZones.knows(viewer) else { return false }
        watches[viewer]?.awaitList()
        return true
    }

    /// Takes in that a list or the subscriptions may have changed. What is being read now may be older.
    mutating func listChanged(of viewer: DatabaseID, at now: Duration) {
        let noticedAt = moment(now)
        watches[viewer]?.listChanged(at: noticedAt)
        listReads.outdate(viewer)
    }

    /// Whether the list may be read now. False if the subscriptions could not be read: then the list fails as well, and both
    /// are tried again. Otherwise nobody would do so, because no sweep reads the list of a user who seems to have no
    /// subscriptions. True also if a notice came meanwhile: it has both read once more anyway.
    func mayReadList(_ viewer: DatabaseID) -> Bool {
        watches[viewer]?.mayHaveOtherSubscriptions != true || listReads.isWanted(viewer)
    }

    /// Who is to read a list, and whether the database has a mark. Nil: nobody wants it any more.
    func readerOfList(_ viewer: DatabaseID) -> (user: UserID, hasMark: Bool)? {
        guard let watch = watches[viewer], watch.wantsPushes else { return nil }
        return (watch.user, watch.hasMark)
    }

    /// Takes in the mark that is read before a list.
    ///
    /// - Returns: false if what that read finds must be dropped.
    mutating func listStarts(at mark: ChangeMark, of viewer: DatabaseID) -> Bool {
        guard watches[viewer] != nil, !listReads.isOutdated(viewer) else { return false }
        watches[viewer]?.starts(at: mark.value)
        watches[viewer]?.counted(zones: mark.zoneCount)
        return true
    }

    /// Takes in a list, unless its read is outdated: it may belong to an earlier watch, or have begun before a notice. If the
    /// list has a new zone, the devices are told: changes of that zone were not noticed until now.
    mutating func listRead(_ keys: [ZoneKey], of viewer: DatabaseID) {
        guard let watch = watches[viewer], !listReads.isOutdated(viewer) else { return }
        let numbers = watch.sessions.keys
        if sharedZones.set(keys, of: viewer, afterSweep: sweepCount) { watches[viewer]?.tell(numbers) }
        watches[viewer]?.listRead()
        boundLists(of: watch.account, after: viewer, zoneCount: keys.count)
        _ = lineUp(viewer)
    }

    /// Forgets the account's lists that were read longest ago, if they are too many.
    ///
    /// The marks of these databases stay. So the sweep finds each change of their zones, has the list read again, and tells the
    /// devices: as after a lost notice (I-4).
    private mutating func boundLists(of account: AccountID, after viewer: DatabaseID, zoneCount: Int) {
        let byteCount = SharedZoneLists.byteCount(zones: zoneCount)
        for other in listMemory.keep(byteCount, of: viewer, for: account) { sharedZones.remove(other) }
    }

    mutating func dropList(of viewer: DatabaseID) {
        sharedZones.remove(viewer)
        if let watch = watches[viewer] { listMemory.forget(viewer, of: watch.account) }
    }

    /// Takes in that a list cannot be read now. Until it is read the viewer is told of no zone: access to any of them may have
    /// ended.
    mutating func listFailed(of viewer: DatabaseID) {
        listReads.failed(viewer, of: watches[viewer]?.account)
        dropList(of: viewer)
        guard watches[viewer] != nil else { return }
        watches[viewer]?.listFailed()
        _ = lineUp(viewer)
    }

    /// If the sweep finds that a hint was lost, the list may have changed as well. It is read, and then the devices are told.
    mutating func looksForOtherList(of viewer: DatabaseID, at mark: Int64) {
        guard let watch = watches[viewer], watch.isSurprised(by: mark) else { return }
        watches[viewer]?.awaitList()
        listReads.wantLater(viewer, of: watch.account)
    }

    /// The lists that were read longest ago are to be read again.
    mutating func wantsOldestLists() {
        for viewer in sharedZones.oldest(Self.listsPerSweep, readBefore: sweepCount - Self.sweepsPerList) {
            if let account = watches[viewer]?.account { listReads.wantLater(viewer, of: account) }
        }
    }
}

extension Identity {
    /// The private or the shared database.
    func database(in scope: DatabaseScope) -> DatabaseID { scope == .shared ? sharedDatabase : privateDatabase }
}
