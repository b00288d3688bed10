// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

// What is said to other servers, of all places of the process: one post after the other, at the pace that the database bears
// . So posts keep their order, and however many places there are, a post waits for the last one.

extension PresenceHall {
    /// After a post that failed.
    private static let pauseAfterFailure = Duration.seconds(1)

    /// The place has something to say. It does when its turn comes: of what changes until then only the newest is said.
    func post(_ place: PresencePlace) {
        let starts = state.withLock { state -> Bool in
            guard let room = state.rooms[place] else { return false }
            return state.posts.add([(place, room.key.database)])
        }
        if starts { postNext(after: .zero) }
    }

    private func postNext(after delay: Duration) {
        _ = scheduler.schedule(after: delay) { [weak self] in
            guard let self else { return }
            scheduler.run { [self] in
                let pace = bus.pace
                let notices = takePosts(pace.noticesMax)
                guard !notices.isEmpty else { return }
                let isPosted = await bus.publish(notices.map { .presence($0) })
                state.withLock { $0.unposted = isPosted ? [] : notices.compactMap(\.again) }
                postNext(after: isPosted ? pace.interval : max(pace.interval, Self.pauseAfterFailure))
            }
        }
    }

    /// What is posted now: again what could not be posted, because others count on the order. Nothing: there is no more.
    private func takePosts(_ countMax: Int) -> [PresenceNotice] {
        let now = scheduler.now
        let (notices, taken) = state.withLock { state -> ([PresenceNotice], [PresencePlace]) in
            guard state.unposted.isEmpty else { return (state.unposted, []) }
            var taken: [PresencePlace] = []
            while true {
                // A place has two notices at the most.
                let places = state.posts.take(max(1, countMax / 2))
                let notices = places.flatMap { state.takeNotices(of: $0, now: now) }
                taken += places
                guard notices.isEmpty, !places.isEmpty else { return (notices, taken) }
            }
        }
        // What found no room, or came too early.
        for place in taken { planNotice(place) }
        tellBus()
        return notices
    }
}

extension PresenceHall.State {
    /// The news of a place, and then that this server is there: by then others know all that it says it has told.
    fileprivate mutating func takeNotices(of place: PresencePlace, now: Duration) -> [PresenceNotice] {
        guard var room = rooms[place] else { return [] }
        var notices: [PresenceNotice] = []
        if let dueAt = room.topic.noticeDueAt, dueAt <= now {
            let news = room.topic.takeNotice(now: now)
            if !news.isEmpty {
                notices.append(
                    PresenceNotice(database: room.key.database, place: place, origin: origin, news: news))
            }
        }
        if !room.seats.isEmpty {
            let say = room.others.say(now: now)
            if say != .nothing {
                notices.append(
                    PresenceNotice(
                        database: room.key.database, place: place, origin: origin, asks: say == .ask,
                        told: room.topic.noticed))
            }
        }
        rooms[place] = room
        tidy(place)
        return notices
    }
}

extension PresenceNotice {
    /// What is posted once more after a failure; nil: nothing. Its messages are not: others may have heard them.
    fileprivate var again: PresenceNotice? {
        var news = news
        news.messages = []
        // NB: without news it would say something else.
        guard !news.isEmpty || self.news.isEmpty else { return nil }
        return PresenceNotice(database: database, place: place, origin: origin, asks: asks, told: told, news: news)
    }
}
