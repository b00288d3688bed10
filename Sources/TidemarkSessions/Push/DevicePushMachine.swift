// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What a session pushes to its device, decided from what the device was answered, pushed and acknowledged: no clock, no
/// peer, no lock.
///
/// A push is *bare* (something changed: fetch), or it brings the pages that a fetch would return. Only a device that has
/// read everything before these pages gets them.
///
/// | state | begins with | a small commit | an uncertain sweep |
/// | --- | --- | --- | --- |
/// | `asks` | the connection; an answer that is not the end of the list of zones | bare push | nothing |
/// | `follows` | the answer that is the end of the list | pages, then `reliesOnPushes` | nothing |
/// | `reliesOnPushes` | a push that brings pages | pages | bare push |
///
/// A device that takes no changes in pushes is always in `asks`. A commit brings pages only if it begins where the device
/// is in that zone; otherwise the push is bare and the state stays. A sweep is uncertain if a notice of another server
/// may be lost. A device that relies on pushes is then told to fetch. The others fetch at each push anyway.
///
/// The state is a guess, because pushes get lost. So each push says from where it continues, and a device that is
/// elsewhere fetches (`FeedFollowMachine` in TidemarkKit). Each connection has a machine of its own.
///
/// ``SentPushes`` is the other half: which pushes were sent and not acknowledged.
struct DevicePushMachine: Sendable {
    /// See the table.
    private enum State {
        case asks
        case follows(ReadPosition)
        case reliesOnPushes(ReadPosition)

        var read: ReadPosition? {
            switch self {
            case .asks: nil
            case .follows(let read), .reliesOnPushes(let read): read
            }
        }
    }

    /// How far the device has read in the feed of its private database.
    private struct ReadPosition {
        let position: FeedPosition
        let store: StoreIncarnation
    }

    /// What to do about pushes that the device has not acknowledged.
    enum Reminder: Equatable {
        /// All pushes are acknowledged.
        case nothingOwed
        /// It is too early: look again later.
        case later
        /// Tell the device how many pushes were sent, and look again later. `unacknowledged` counts pushes that an
        /// earlier reminder did not bring back.
        case send(count: UInt64, unacknowledged: Int)
    }

    /// The most zones in ``zones``. Devices fetch the others.
    private static let zonesMax = 16

    private var state = State.asks
    /// How far the device has read in the feeds of zones.
    private var zones: [ZoneID: ZonePageQuery.Position] = [:]
    /// Nil: the device does not count pushes.
    private var sent: SentPushes?

    /// Whether the device does not fetch although changes were pushed to it.
    var reliesOnPushes: Bool {
        if case .reliesOnPushes = state { true } else { false }
    }

    /// How far answers and pushes have brought the device in the feed of a zone. Nil: that is not known.
    func place(in zone: ZoneID) -> ChangeNumber? { zones[zone]?.number }

    /// The same of its private database.
    var placeInDatabase: ChangeNumber? { state.read?.position.number }

    // MARK: The feeds

    /// The device is answered a page of its private database's feed.
    ///
    /// - Parameter follows: whether the device takes changes in pushes.
    mutating func answered(_ page: DatabasePage, follows: Bool) {
        // In the middle of the list a push must not seem to be its end.
        if follows, !page.moreComing, case .database(let store, _, let position) = page.token {
            state = .follows(ReadPosition(position: position, store: store))
        } else {
            state = .asks
        }
    }

    /// The device is answered a page of the feed of one of its private database's zones.
    mutating func answered(_ page: ZonePage) {
        guard case .zone(_, _, _, _, let position) = page.token else { return }
        if zones[page.zone] == nil, zones.count >= Self.zonesMax { zones = [:] }
        zones[page.zone] = position
    }

    /// A small commit took place.
    ///
    /// - Parameters:
    ///   - viewer: the device's private database.
    ///   - isReading: whether the device has taken everything that was sent to it.
    /// - Returns: the pages to push; nil: a bare push.
    mutating func committed(
        _ news: ZoneNews, of viewer: DatabaseID, for device: DeviceID, isReading: Bool
    ) -> PushedPages? {
        guard isReading, let read = state.read, read.store == news.store, let zone = zones[news.before.id],
            let pages = news.pages(after: read.position, in: zone, of: viewer, for: device),
            case .database(_, _, let position) = pages.database.token
        else { return nil }
        state = .reliesOnPushes(ReadPosition(position: position, store: read.store))
        answered(pages.zone)
        return PushedPages(
            databaseToken: .database(store: read.store, viewer: viewer, position: read.position),
            zoneToken: .zone(news.before.key, viewer: nil, store: read.store, position: zone),
            database: pages.database, zone: pages.zone)
    }

    // MARK: Numbers

    /// The device has said Hello.
    mutating func greeted(countsPushes: Bool) {
        sent = countsPushes ? SentPushes() : nil
    }

    /// One more push is sent.
    ///
    /// - Returns: its number; nil if the device does not count.
    mutating func pushed(at now: Duration) -> UInt64? { sent?.push(at: now) }

    /// The device acknowledges so many pushes.
    ///
    /// - Returns: how many it had not acknowledged before.
    @discardableResult
    mutating func acknowledged(_ count: UInt64, at now: Duration) -> Int {
        sent?.acknowledged(count, at: now) ?? 0
    }

    /// What an answer says of the pushes sent before it; nil if all are acknowledged.
    var countForAnswer: UInt64? { sent?.owed }

    /// Time to look for pushes that nobody acknowledges.
    mutating func remind(at now: Duration, after patience: Duration) -> Reminder {
        let unacknowledged = sent?.remind(at: now, after: patience)
        guard let count = sent?.owed else { return .nothingOwed }
        return unacknowledged.map { .send(count: count, unacknowledged: $0) } ?? .later
    }

    /// The connection has ended.
    ///
    /// - Returns: how many pushes were not acknowledged although there was time for it.
    mutating func ended(at now: Duration, after patience: Duration) -> Int {
        sent?.end(at: now, after: patience) ?? 0
    }
}

/// What a fetch would have returned, and the tokens from which it continues.
struct PushedPages: Sendable {
    let databaseToken: ChangeToken
    let zoneToken: ChangeToken
    let database: DatabasePage
    let zone: ZonePage
}
