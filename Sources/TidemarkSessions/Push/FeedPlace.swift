// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// How far a session's device has read in the feeds of its private database, judged by the answers it got. Pushes may
/// continue from there, so that the device need not fetch. A pure value.
///
/// It is only a guess: each push says from where it continues, and a device that is elsewhere fetches.
struct FeedPlace: Sendable {
    /// The most zones in it. Devices fetch the others.
    private static let zonesMax = 16

    /// Nil if the device does not want changes in pushes, or is in the middle of a fetch, which a push must not seem to
    /// end.
    private var feed: (position: FeedPosition, store: StoreIncarnation)?
    private var zones: [String: ZonePageQuery.Position] = [:]
    /// Whether pushes have brought the device changes since its last fetch. Then a push without changes does not make
    /// it fetch.
    private(set) var isLed = false

    /// - Parameter follows: whether the device accepts changes in pushes.
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

    /// The pages that a push can bring the device; its position moves past them. Nil if the device has to fetch.
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

/// What a fetch would have returned, and the position from which it continues.
struct PushedPages: Sendable {
    let databaseToken: ChangeToken
    let zoneToken: ChangeToken
    let database: DatabasePage
    let zone: ZonePage
}
