// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// How a sync engine follows the feeds of its database. The engine wants page after page. For each, this says whether a
/// push or an answer has brought it already, or whether the server must be asked. Decided from what happened: no
/// connection, no clock, no lock.
///
/// | state | begins with | the engine wants a page of the database's feed |
/// | --- | --- | --- |
/// | `upToDate` | the start; an answer, if nothing was missed since it was asked for | fetch |
/// | `brought` | a push that brings pages, but not in `behind` | apply or fetch, then `upToDate` |
/// | `behind` | a push without pages, a gap in the numbers of pushes, a cut | fetch |
///
/// Pages of a push are applied if they continue from where the engine is. Otherwise the server is asked.
///
/// In `behind` the device takes nothing from pushes, because the pages would leave out the changes that it missed. Only
/// an answer ends that state.
///
/// The engine's tokens say where it is. They move when the app has taken a page. So a page that is lost, comes
/// twice, or comes late does no harm. It does not continue from these tokens, and the server is asked (I-2).
///
/// The first page of the zone that the engine reads next comes with the database's page. It is used once, for the place
/// for which it was asked. `DevicePushMachine` in TidemarkSessions is the server's side.
struct FeedFollowMachine {
    /// See the table.
    private enum State {
        case upToDate
        case brought(WirePushedChanges, generation: Int, at: Duration)
        case behind
    }

    /// What to do for a page of the database's feed.
    enum DatabaseStep {
        case apply(WireFetchDatabaseChangesAnswer)
        /// Ask the server, then tell ``FeedFollowMachine/answered(_:then:generation:)``.
        case fetch(DatabaseFetch)
    }

    /// A question to the server.
    struct DatabaseFetch {
        /// The zone that is read next.
        let place: SyncEngineZonePlace?
        /// Whether zones that are gone are wanted, even without a token.
        let withEnds: Bool
        /// Whether records of ``place`` that are gone are wanted, even without a token.
        let zoneWithEnds: Bool
        fileprivate let missedCount: Int
    }

    /// What to do for a page of a zone's feed.
    enum ZoneStep {
        case apply(WireFetchZoneChangesAnswer)
        /// Ask the server, for records that are gone as well or not.
        case fetch(withEnds: Bool)
    }

    /// A page of a zone's feed that came with one of the database's.
    private struct AttachedPage {
        let place: SyncEngineZonePlace
        let answer: WireFetchZoneChangesAnswer
        let generation: Int
    }

    /// An engine that uses pushed pages does so at once.
    private static let broughtAgeMax: Duration = .seconds(2)

    private var state = State.upToDate
    /// The number of times that a change was missed. An answer makes up for changes that were missed before its
    /// request.
    private var missedCount = 0
    private var attached: AttachedPage?

    /// The user who is signed in; empty: nobody; nil: not known yet.
    private(set) var user: String?
    /// The user of the state from which the engine continues; nil: none.
    private let returningUser: String?
    /// Whether the app may have stored records of this user already, whatever the engine's tokens say. A process may
    /// have died after it stored the records, and before it stored the state that has their token. So ends are asked
    /// for even without a token. For another user the app has stored no records. Ends would make it drop
    /// the edits that it still has to send.
    private var isReturning = false
    private var hasFetchedZones = false
    private var fetchedZones: Set<CKRecordZone.ID> = []

    init(returningUser: String?) {
        self.returningUser = returningUser
    }

    // MARK: What the connection tells

    /// The server has named the user who is signed in; empty: nobody.
    mutating func found(_ name: String) {
        guard user != name else { return }
        isReturning = user == nil && name == returningUser
        (hasFetchedZones, fetchedZones, attached) = (false, [], nil)
        dropBrought()
        user = name
    }

    /// A push came for the database.
    ///
    /// - Parameters:
    ///   - changes: the pages that it brings; nil: none.
    ///   - generation: of the credential for which it came.
    mutating func pushed(_ changes: WirePushedChanges?, generation: Int, at now: Duration) {
        guard let changes else { return missed() }
        switch state {
        case .upToDate, .brought: state = .brought(changes, generation: generation, at: now)
        case .behind: break
        }
    }

    /// A change may have been missed: a push came without pages, pushes were lost, or the connection was cut.
    mutating func missed() {
        missedCount += 1
        state = .behind
    }

    // MARK: What the engine wants

    /// The engine wants the next page of the database's feed.
    ///
    /// - Parameters:
    ///   - token: where the engine is.
    ///   - place: the zone that it reads next, and its token there.
    ///   - asPushed: whether what a push brought will do.
    ///   - generation: of the credential for which the page is wanted; nil: that is not in force any more.
    mutating func databasePage(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool, generation: Int?,
        at now: Duration
    ) -> DatabaseStep {
        attached = nil
        let before = state
        // Whatever comes of it: nothing is kept for later.
        dropBrought()
        if asPushed, case .brought(let changes, let owner, let since) = before, owner == generation,
            now - since <= Self.broughtAgeMax, let place, Self.continues(changes, from: token, place)
        {
            attach(changes.answer.then, at: place, owner)
            return .apply(changes.answer)
        }
        return .fetch(
            DatabaseFetch(
                place: place, withEnds: isReturning || hasFetchedZones,
                zoneWithEnds: place.map { wantsEnds(of: $0.zoneID) } ?? false, missedCount: missedCount))
    }

    private static func continues(
        _ changes: WirePushedChanges, from token: CKServerChangeToken?, _ place: SyncEngineZonePlace
    ) -> Bool {
        changes.databaseToken == token?.bytes && changes.zoneToken == place.token?.bytes
            && CKRecordZone.ID(changes.zone) == place.zoneID && changes.answer.hasThen
    }

    /// The server has answered.
    ///
    /// - Parameters:
    ///   - page: of the zone that is read next, if it came along.
    ///   - generation: of the credential for which the answer is.
    mutating func answered(_ fetch: DatabaseFetch, then page: WireFetchZoneChangesAnswer?, generation: Int) {
        hasFetchedZones = true
        if fetch.missedCount == missedCount, case .behind = state { state = .upToDate }
        if let place = fetch.place, let page { attach(page, at: place, generation) }
    }

    /// The engine wants the next page of a zone's feed.
    ///
    /// - Parameters:
    ///   - asOfFeed: whether the page will do that came with the database's.
    ///   - generation: of the credential for which the page is wanted; nil: that is not in force any more.
    mutating func zonePage(_ place: SyncEngineZonePlace, asOfFeed: Bool, generation: Int?) -> ZoneStep {
        defer { attached = nil }
        guard asOfFeed, let attached, attached.place == place, attached.generation == generation else {
            return .fetch(withEnds: wantsEnds(of: place.zoneID))
        }
        return .apply(attached.answer)
    }

    /// The engine has got a page of the zone's feed.
    mutating func fetched(_ zoneID: CKRecordZone.ID) {
        fetchedZones.insert(zoneID)
    }

    private func wantsEnds(of zoneID: CKRecordZone.ID) -> Bool { isReturning || fetchedZones.contains(zoneID) }

    private mutating func attach(
        _ page: WireFetchZoneChangesAnswer, at place: SyncEngineZonePlace, _ generation: Int
    ) {
        attached = AttachedPage(place: place, answer: page, generation: generation)
    }

    private mutating func dropBrought() {
        if case .brought = state { state = .upToDate }
    }
}
