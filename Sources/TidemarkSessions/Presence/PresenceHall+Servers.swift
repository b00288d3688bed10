// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

// Several servers. A server that has members in a place says so, and tells them to others once these have some too. So a place
// that only one server has costs a short notice now and then, and none if nobody uses presence.

/// What a place knows of other servers. A pure value.
struct PresenceOthers {
    /// What is to be said.
    enum Say: Equatable {
        case nothing
        /// We are (still) here.
        case here
        /// The same, and who else is?
        case ask
    }

    /// How often a server says that it is here while others are, and while nobody else seems to be. Both are less than a state
    /// lives: others may hear it, and be unable to say so.
    private static let pace = Duration.seconds(5)
    private static let quietPace = Duration.seconds(10)
    /// Nothing is said more often, whatever is heard: two servers would answer each other without an end.
    private static let shortest = Duration.seconds(1)

    /// When each was last heard.
    private var heard: [UInt64: Duration] = [:]
    private var saidAt: Duration?
    private var askedAt: Duration?
    private var mustSay = false
    /// Whether members of others are not known here.
    private var mustAsk = false

    var isEmpty: Bool { heard.isEmpty }

    /// - Returns: whether it knows none of our members.
    mutating func hears(_ origin: UInt64, asks: Bool, now: Duration) -> Bool {
        let isNew = heard.updateValue(now, forKey: origin) == nil
        if isNew { mustAsk = true }
        if asks { mustSay = true }
        return isNew || asks
    }

    /// Some of their members are not known here. An answer takes seconds, so nobody asks again meanwhile.
    mutating func misses(now: Duration) {
        if let askedAt, now - askedAt < Self.pace { return }
        mustAsk = true
    }

    /// Anything may have been lost.
    mutating func missesAll() { mustAsk = true }

    /// Forgets those who have been silent for as long as a state lives.
    mutating func forget(life: Duration, now: Duration) {
        heard = heard.filter { $0.value + life > now }
    }

    /// Whether there is something to say now. What is urgent and came too early is said later.
    func isDue(now: Duration) -> Bool {
        let pace = mustSay || mustAsk ? Self.shortest : heard.isEmpty ? Self.quietPace : Self.pace
        return saidAt.map { now - $0 >= pace } ?? true
    }

    /// What is said now. It counts as said.
    mutating func say(now: Duration) -> Say {
        guard isDue(now: now) else { return .nothing }
        // Who seems to be alone asks again: the first question may have been lost.
        let asks = heard.isEmpty || mustAsk
        (saidAt, mustSay, mustAsk) = (now, false, false)
        if asks { askedAt = now }
        return asks ? .ask : .here
    }
}

extension PresenceHall {
    /// Another server tells of its members, or this one hears itself.
    func heard(_ notices: [PresenceNotice], by hub: SessionHub) {
        let now = hub.scheduler.now
        let places = state.withLock { state -> [PresencePlace] in
            var places: [PresencePlace] = []
            for notice in notices where notice.origin != state.origin {
                guard var room = state.rooms[notice.place] else { continue }
                if room.others.hears(notice.origin, asks: notice.asks, now: now) { room.topic.beginsElsewhere() }
                room.topic.heard(notice.news, from: notice.origin, now: now)
                if notice.news.isEmpty, !notice.asks, room.topic.compare(notice.told, of: notice.origin) {
                    room.others.misses(now: now)
                }
                state.rooms[notice.place] = room
                places.append(notice.place)
            }
            return places
        }
        for place in places {
            plan(place, by: hub)
            planNotice(place)
            say(place)
        }
    }

    /// Notices may have been lost: asks who else is in each place.
    func noticesMissed() {
        let places = state.withLock { state in
            for place in state.rooms.keys { state.rooms[place]?.others.missesAll() }
            return state.rooms.values.map(\.place)
        }
        for place in places { say(place) }
    }

    /// Says that this server has members in a place, if it is time for it.
    func say(_ place: PresencePlace) {
        let now = scheduler.now
        let isDue = state.withLock { state -> Bool in
            guard var room = state.rooms[place], !room.seats.isEmpty else { return false }
            room.others.forget(life: bounds.life, now: now)
            if room.others.isEmpty, room.topic.isToldElsewhere { room.topic.endsElsewhere() }
            state.rooms[place] = room
            return room.others.isDue(now: now)
        }
        if isDue { post(place) }
    }

    /// Schedules the next notice of a place, if there is something to tell to other servers.
    func planNotice(_ place: PresencePlace) {
        let now = scheduler.now
        let planned = state.withLock { state -> (delay: Duration, room: UInt64)? in
            guard let room = state.rooms[place], !room.isNoticePlanned, let dueAt = room.topic.noticeDueAt else {
                return nil
            }
            state.rooms[place]?.isNoticePlanned = true
            return (max(.zero, dueAt - now), room.number)
        }
        guard let (delay, number) = planned else { return }
        _ = scheduler.schedule(after: delay) { [weak self] in
            guard let self else { return }
            let isThere = state.withLock { state in
                guard state.rooms[place]?.number == number else { return false }
                state.rooms[place]?.isNoticePlanned = false
                return true
            }
            if isThere { post(place) }
        }
    }
}
