// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

// Whoever loses access to a zone is present there no longer. A notice says so at once, and the sweep if it was lost.

extension PresenceHall {
    /// Places that are looked at together.
    private static let placesPerRead = 20

    static func changesPlace(of database: DatabaseID) -> Int {
        Int(UInt64(bitPattern: database.rawValue) % 64)
    }

    /// Grows with each change of a database's shares and set of zones that was heard. Other databases may make it grow too.
    func changeCount(in database: DatabaseID) -> UInt64 {
        state.withLock { $0.changes[Self.changesPlace(of: database)] }
    }

    /// Changes of this database are to be heard until they are left as often.
    func follow(_ database: DatabaseID) { changesBus?.follow([.database(database)]) }
    func leave(_ database: DatabaseID) { changesBus?.leave([.database(database)]) }

    /// Tells the bus in which databases nobody is present any more.
    func tellBus() {
        let databases = state.withLock { state in
            defer { state.left = [] }
            return state.left
        }
        if !databases.isEmpty { changesBus?.leave(databases.map { .database($0) }) }
    }

    /// Shares, or sets of zones, may have changed.
    func zonesMoved(_ notices: [ZoneNotice], heardBy hub: SessionHub) {
        let changes = notices.filter { $0.changesShares || $0.zoneName.isEmpty }
        guard !changes.isEmpty else { return }
        let mustLook = state.withLock { state in
            for notice in changes { state.changes[Self.changesPlace(of: notice.database)] += 1 }
            guard !state.rooms.isEmpty else { return false }
            let databases = Set(changes.lazy.filter(\.zoneName.isEmpty).map(\.database))
            let zones = Set(changes.lazy.map { ZoneKey(database: $0.database, name: $0.zoneName) })
            let places = state.rooms.values.filter { databases.contains($0.key.database) || zones.contains($0.key) }
            return state.checks.add(places.map { ($0.place, $0.key.database) })
        }
        if mustLook { look(by: hub) }
    }

    /// Looks at all places where somebody else than the owner is present: a notice may have been lost.
    ///
    /// - Parameter atOnce: whether notices are known to have been lost.
    func sweep(by hub: SessionHub, atOnce: Bool = false) async {
        let now = hub.scheduler.now
        let mustLook = state.withLock { state in
            guard !state.rooms.isEmpty else { return false }
            guard state.checks.sweeps(at: now, each: hub.settings.sweepInterval) || atOnce else { return false }
            let shared = state.rooms.values.filter { $0.seats.values.contains { !$0.isOwner } }
            return state.checks.add(shared.map { ($0.place, $0.key.database) })
        }
        if mustLook { await lookNow(by: hub) }
    }

    private func look(by hub: SessionHub) {
        hub.scheduler.run { [weak self] in await self?.lookNow(by: hub) }
    }

    private func lookNow(by hub: SessionHub) async {
        while true {
            let checks = state.withLock { state in
                state.checks.take(Self.placesPerRead).map { place in
                    state.rooms[place].map { room in
                        PresenceCheck(key: room.key, place: place, users: Set(room.topic.members.map(\.user)))
                    }
                }
            }
            guard !checks.isEmpty else { return }
            let living = checks.compactMap(\.self)
            guard !living.isEmpty else { continue }
            switch await hub.service.stillPresent(living) {
            case .success(let present):
                for (check, users) in zip(living, present) {
                    end(check.users.subtracting(users), in: check.place, .zoneNotFound, by: hub)
                }
            case .failure(let reason):
                // I-5: whose access is not known now is not told anything. They join again when the store is back.
                for check in living { end(guests(in: check.place), in: check.place, reason, by: hub) }
            }
        }
    }

    /// Those who are there by a share.
    private func guests(in place: PresencePlace) -> Set<UserID> {
        state.withLock { state -> Set<UserID> in
            let guests = state.rooms[place]?.seats.values.filter { !$0.isOwner } ?? []
            return Set(guests.map(\.user))
        }
    }

    /// Users are present no longer, and are told so.
    private func end(_ users: Set<UserID>, in place: PresencePlace, _ reason: FailureReason, by hub: SessionHub) {
        guard !users.isEmpty else { return }
        let (ended, number) = state.withLock { state -> ([Seat], UInt64) in
            guard let room = state.rooms[place] else { return ([], 0) }
            var seats: [Seat] = []
            // Once for all users: there may be as many as members.
            for (member, seat) in room.seats.sorted(by: { $0.key < $1.key }) where users.contains(seat.user) {
                seats.append(seat)
                state.remove(member, from: place)
                SessionMetrics.shared.present.add(-1)
            }
            // Those at other servers.
            for user in users.sorted(by: { $0.rawValue < $1.rawValue }) { _ = state.rooms[place]?.topic.end(of: user) }
            state.tidy(place)
            return (seats, room.number)
        }
        let message = SharedMessage(ServerMessage.presence(WirePresencePush(endOf: number, reason)))
        for seat in ended {
            guard let target = seat.hub else { continue }
            let session = seat.connection.number
            target.scheduler.run { target.session(numbered: session)?.presenceEnded(message) }
        }
        plan(place, by: hub)
        planNotice(place)
        tellBus()
    }
}
