// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// How far a session's device has read in the feeds of its private database, by the answers that it got: what it is pushed
/// may go on from there, so that it need not ask. Values in, values out.
///
/// Only a guess: each push says where it goes on from, and a device that is elsewhere asks.
struct FeedPlace: Sendable {
    /// More zones than that are forgotten: of them devices ask.
    private static let zonesMax = 16

    /// Nil: it does not want pushes to bring anything, or is in the middle of reading, which a push must not seem to end.
    private var feed: (position: FeedPosition, store: StoreIncarnation)?
    private var zones: [String: ZonePageQuery.Position] = [:]
    /// Whether the device was brought something since it last asked: then pushes do not make it ask.
    private(set) var isLed = false

    /// - Parameter follows: whether the device takes changes from pushes.
    mutating func answered(_ page: DatabasePage, follows: Bool) {
        feed = nil
        isLed = false
        guard follows, !page.moreComing, case .database(let store, _, let position) = page.token else { return }
        feed = (position, store)
    }

    mutating func answered(_ page: ZonePage, in name: String) {
        guard case .zone(_, _, _, let position) = page.token else { return }
        if zones[name] == nil, zones.count >= Self.zonesMax { zones = [:] }
        zones[name] = position
    }

    /// What the device can be pushed of the news: afterwards it is where that leads to. Nil if it has to ask.
    mutating func follow(_ news: ZoneNews, of viewer: DatabaseID, for device: DeviceID) -> PushedPages? {
        let name = news.before.key.name
        guard let feed, feed.store == news.store, let zone = zones[name],
            let pages = news.pages(after: feed.position, in: zone, of: viewer, for: device)
        else { return nil }
        answered(pages.database, follows: true)
        answered(pages.zone, in: name)
        isLed = true
        return PushedPages(
            databaseToken: .database(store: feed.store, viewer: viewer, position: feed.position),
            zoneToken: .zone(news.before.key, store: feed.store, position: zone), database: pages.database,
            zone: pages.zone)
    }
}

/// What a fetch would have brought, and where it goes on from.
struct PushedPages: Sendable {
    let databaseToken: ChangeToken
    let zoneToken: ChangeToken
    let database: DatabasePage
    let zone: ZonePage
}
