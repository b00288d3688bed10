// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

// Pushes of shared databases. A change of a zone concerns its owner, and everybody who has the zone in their list. Viewers get
// bare pushes: what they may see is read when they fetch, and never pushed (I-5).

extension PushCenter {
    /// The watch of a shared database has begun, because its user has subscribed to it. Its devices are told that something
    /// may have changed, once changes of its zones are noticed.
    func begin(_ shared: DatabaseID) async {
        await readMark(of: shared)
        tell(state.withLock { $0.watches[shared]?.sessions.keys.sorted() ?? [] }, of: shared)
    }

    /// Reads lists again that may have changed.
    func renewLists(of viewers: [DatabaseID]) {
        guard !viewers.isEmpty else { return }
        scheduler.run { [self] in
            for viewer in viewers { _ = await readZones(of: viewer) }
        }
    }

    /// The feed of a shared database tells a device of the end of zones. Their changes concern it no more.
    func zonesEnded(in viewer: DatabaseID) {
        renewLists(of: state.withLock { $0.viewers(among: [viewer]) })
    }

    /// The marks of databases. Those that cannot be read now are left out.
    func marks(of databases: [DatabaseID]) async -> [DatabaseID: ChangeMark] {
        let shared = state.withLock { $0.viewers(among: databases) }
        let own = databases.filter { !shared.contains($0) }
        var marks = own.isEmpty ? [:] : (try? await service.changeMarks(of: own).get()) ?? [:]
        for viewer in shared { marks[viewer] = await readZones(of: viewer) }
        return marks
    }

    /// Reads the zones to which the user of a shared database has access. If there is another one, the devices are told:
    /// until now nobody noticed the changes of that zone.
    ///
    /// - Returns: the mark of the database. What the user may not see has no part in it (I-5). Nil if it cannot be read now.
    private func readZones(of viewer: DatabaseID) async -> ChangeMark? {
        guard let user = state.withLock({ $0.watches[viewer]?.user }),
            case .success(let zones) = await service.zonesShown(
                in: viewer, to: user, zonesMax: SharedZoneLists.zonesMax)
        else { return nil }
        let everyone = state.withLock { state -> [UInt64] in
            guard let watch = state.watches[viewer], state.sharedZones.set(zones.map(\.key), of: viewer) else {
                return []
            }
            return watch.sessions.keys.sorted()
        }
        tell(everyone, of: viewer)
        return ChangeMark(value: zones.reduce(0) { $0 + $1.changeNumber + 1 }, zoneCount: zones.count)
    }
}

extension PushCenter.State {
    /// Those of the databases that are watched as shared ones.
    func viewers(among databases: [DatabaseID]) -> [DatabaseID] {
        databases.filter { watches[$0]?.scope == .shared }
    }

    /// The viewers whose lists may have changed.
    func viewers(among notices: [ZoneNotice]) -> [DatabaseID] {
        sharedZones.isEmpty ? [] : Set(viewers(among: notices.map(\.database))).sorted()
    }

    /// Takes in a change for the shared databases that it concerns.
    ///
    /// - Returns: these databases.
    mutating func sharedZoneMoved(_ notice: ZoneNotice) -> Set<DatabaseID> {
        var concerned = sharedZones.viewers(concernedBy: notice)
        if watches[notice.database]?.scope == .shared { concerned.insert(notice.database) }
        for viewer in concerned { watches[viewer]?.sharedZoneMoved(by: notice.life) }
        return concerned
    }

    /// How much the mark of a watched database grows by a commit. Nil: not known.
    func growth(of database: DatabaseID, by moved: ZonesMoved) -> Int64? {
        guard watches[database]?.scope == .shared else { return moved.growth[database] }
        return sharedZones.growth(of: database, by: moved)
    }
}

extension Identity {
    /// The private or the shared database.
    func database(in scope: DatabaseScope) -> DatabaseID { scope == .shared ? sharedDatabase : privateDatabase }
}
