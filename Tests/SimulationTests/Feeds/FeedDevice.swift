// SPDX-License-Identifier: Apache-2.0

import TidemarkBytes
import TidemarkDomain
import TidemarkWire

@testable import TidemarkKit

/// A device that follows the feeds: the Kit's machines, wired as a connection and an engine wire them, and an app that
/// checks what it is given.
struct FeedDevice {
    enum ToServer {
        case acknowledgement(UInt64)
        case feed(token: [UInt8], then: (zone: Int, token: [UInt8])?, follows: Bool, heard: UInt64)
        case zone(Int, token: [UInt8], heard: UInt64)
    }

    enum ToDevice {
        case push(WirePush, number: UInt64)
        case reminder(UInt64)
        case feedAnswer(WireFetchDatabaseChangesAnswer, pushes: UInt64)
        case zoneAnswer(WireFetchZoneChangesAnswer, pushes: UInt64)
    }

    private enum Phase {
        case idle, readingFeed
        case awaitingFeed(FeedFollowMachine.DatabaseFetch)
        case choosingZone
        case readingZone(Int), awaitingZone(Int)
    }

    let identity: DeviceID
    let mistake: FeedMistake?
    private var feed = FeedFollowMachine(returningUser: nil)
    private var heard = HeardPushes()

    // What the app has, and what the engine stores with it.
    private var versions: [[String: ChangeNumber]] = [[:], [:]]
    private var databaseToken: CKServerChangeToken?
    private var zoneTokens: [CKServerChangeToken?] = [nil, nil]
    private var unfetched: [Int] = []

    // The fetch.
    private var phase = Phase.idle
    private var wantsFetch = true
    private var takesPushes = true
    private var visited: Set<Int> = []
    private var pushedZones: Set<Int> = []
    private var wasPushed = false

    /// What was in the store when the device was last told that it may have missed something: what the next fetch has to
    /// bring, and what the fetch under way has to.
    private var owedByNext: [ChangeNumber] = [0, 0]
    private var owedByThis: [ChangeNumber] = [0, 0]

    private(set) var violation: String?
    /// Pages that needed no question.
    private(set) var broughtCount = 0
    private(set) var gapCount = 0

    init(identity: DeviceID, mistake: FeedMistake?) {
        self.identity = identity
        self.mistake = mistake
    }

    /// How far the app has read each zone, by its tokens.
    var numbers: [ChangeNumber] {
        zoneTokens.map { $0.flatMap { FeedToken.place($0.bytes)?.number } ?? 0 }
    }

    /// Whether nothing is under way.
    var isAtRest: Bool {
        if case .idle = phase { !wantsFetch } else { false }
    }

    private mutating func violate(_ text: String) { violation = violation ?? text }

    // MARK: The connection

    /// - Returns: what was asked before the cut, to be asked again.
    mutating func connected(_ store: FeedStore) -> ToServer? {
        if mistake != .numbersKeptAtReconnect { heard = HeardPushes() }
        mayHaveMissed(store)
        wantsFetch = true
        switch phase {
        case .awaitingFeed(let fetch): return askForFeed(fetch.place)
        case .awaitingZone(let zone): return askForZone(zone)
        case .idle, .readingFeed, .choosingZone, .readingZone: return nil
        }
    }

    mutating func disconnected() {
        if mistake != .cutIgnored { feed.missed() }
    }

    /// The process ends, and another one goes on with what is stored.
    mutating func restart() {
        (feed, heard, phase) = (FeedFollowMachine(returningUser: nil), HeardPushes(), .idle)
    }

    mutating func receive(_ message: ToDevice, _ store: FeedStore, at now: Duration, hearsFirst: Bool) -> ToServer? {
        switch message {
        case .push(let push, let number):
            let arrival = heard.pushed(number)
            if case .again = arrival { return nil }
            if case .afterGap = arrival { noteGap(true, store) }
            receive(push, store, at: now)
        case .reminder(let count):
            noteGap(heard.told(of: count), store)
            return .acknowledgement(Self.heardCount(in: heard.acknowledgement()))
        case .feedAnswer(let answer, let count):
            let isGap = heard.told(of: count)
            if hearsFirst { noteGap(isGap, store) }
            if case .awaitingFeed(let fetch) = phase {
                feed.answered(fetch, then: answer.hasThen ? answer.then : nil, generation: 0)
                took(answer)
            }
            if !hearsFirst { noteGap(isGap, store) }
        case .zoneAnswer(let answer, let count):
            let isGap = heard.told(of: count)
            if hearsFirst { noteGap(isGap, store) }
            if case .awaitingZone(let zone) = phase { took(answer, of: zone, store, fails: false) }
            if !hearsFirst { noteGap(isGap, store) }
        }
        return nil
    }

    private mutating func receive(_ push: WirePush, _ store: FeedStore, at now: Duration) {
        let zones = push.zones.compactMap { FeedStore.names.firstIndex(of: $0.name) }
        if push.hasChanges, mistake == .pushTakenUnseen, case .idle = phase, let zone = zones.first {
            databaseToken = CKServerChangeToken(bytes: push.changes.answer.token)
            return apply(push.changes.answer.then, to: zone, store)
        }
        if push.hasChanges {
            feed.pushed(push.changes, generation: 0, at: now)
        } else if mistake != .gapIgnored {
            feed.pushed(nil, generation: 0, at: now)
        }
        if !push.hasChanges { mayHaveMissed(store) }
        pushReceived(zones)
    }

    private mutating func noteGap(_ isGap: Bool, _ store: FeedStore) {
        guard isGap else { return }
        gapCount += 1
        if mistake != .gapIgnored { feed.missed() }
        mayHaveMissed(store)
        pushReceived([])
    }

    private mutating func mayHaveMissed(_ store: FeedStore) { owedByNext = store.numbers }

    private static func heardCount(in message: [UInt8]) -> UInt64 {
        (try? WireClientEnvelope(reading: message))?.pushesHeard ?? 0
    }

    // MARK: The engine (`SyncEngineMachine`, in small)

    private mutating func pushReceived(_ zones: [Int]) {
        for zone in zones where !unfetched.contains(zone) { unfetched.append(zone) }
        switch phase {
        case .idle, .readingFeed: wantsFetch = true
        case .awaitingFeed, .choosingZone, .readingZone, .awaitingZone:
            pushedZones.formUnion(zones)
            wasPushed = true
        }
    }

    /// The fetch goes on, or the next one begins.
    ///
    /// - Parameters:
    ///   - takesPushes: whether a fetch that begins may be what a push brought.
    ///   - fails: whether the files of a page that needs no question cannot be had.
    ///   - isOtherPreferred: whether the app prefers another zone than the one that was to be next.
    mutating func step(
        _ store: FeedStore, at now: Duration, takesPushes: Bool, fails: Bool, isOtherPreferred: Bool
    ) -> ToServer? {
        switch phase {
        case .idle:
            guard wantsFetch else { return nil }
            (wantsFetch, self.takesPushes, visited, pushedZones, wasPushed) = (false, takesPushes, [], [], false)
            owedByThis = owedByNext
            phase = .readingFeed
        case .readingFeed:
            let next = unfetched.first.map { place($0) }
            switch feed.databasePage(
                since: databaseToken, expecting: next, asPushed: self.takesPushes, generation: 0, at: now)
            {
            case .apply(let answer):
                broughtCount += 1
                took(answer)
            case .fetch(let fetch):
                phase = .awaitingFeed(fetch)
                return askForFeed(next)
            }
        case .choosingZone:
            let open = unfetched.filter { !visited.contains($0) }
            guard let zone = isOtherPreferred ? open.last : open.first else {
                end()
                break
            }
            phase = .readingZone(zone)
        case .readingZone(let zone):
            let asOfFeed = pushedZones.remove(zone) == nil
            switch feed.zonePage(place(zone), asOfFeed: asOfFeed, generation: 0) {
            case .apply(let answer): took(answer, of: zone, store, fails: fails)
            case .fetch:
                phase = .awaitingZone(zone)
                return askForZone(zone)
            }
        case .awaitingFeed, .awaitingZone: return nil
        }
        return nil
    }

    private func place(_ zone: Int) -> SyncEngineZonePlace {
        SyncEngineZonePlace(zoneID: FeedStore.zoneIDs[zone], token: zoneTokens[zone])
    }

    private mutating func askForFeed(_ place: SyncEngineZonePlace?) -> ToServer {
        let zone = place.flatMap { FeedStore.zoneIDs.firstIndex(of: $0.zoneID) }
        return .feed(
            token: databaseToken?.bytes ?? [], then: zone.map { ($0, place?.token?.bytes ?? []) },
            follows: takesPushes, heard: Self.heardCount(in: heard.acknowledging(with: [])))
    }

    private mutating func askForZone(_ zone: Int) -> ToServer {
        .zone(zone, token: zoneTokens[zone]?.bytes ?? [], heard: Self.heardCount(in: heard.acknowledging(with: [])))
    }

    private mutating func took(_ answer: WireFetchDatabaseChangesAnswer) {
        for zone in answer.changed.compactMap({ FeedStore.names.firstIndex(of: $0.name) }) {
            if !unfetched.contains(zone) { unfetched.append(zone) }
            visited.remove(zone)
        }
        databaseToken = CKServerChangeToken(bytes: answer.token)
        phase = .choosingZone
    }

    private mutating func took(_ page: WireFetchZoneChangesAnswer, of zone: Int, _ store: FeedStore, fails: Bool) {
        if mistake == .tokenBeforePage { zoneTokens[zone] = CKServerChangeToken(bytes: page.token) }
        guard !fails else {
            owedByNext = zip(owedByNext, owedByThis).map(max)
            (wantsFetch, phase) = (true, .idle)
            return
        }
        apply(page, to: zone, store)
        feed.fetched(FeedStore.zoneIDs[zone])
        guard !page.moreComing else { return phase = .readingZone(zone) }
        if !pushedZones.contains(zone) { unfetched.removeAll { $0 == zone } }
        visited.insert(zone)
        phase = .choosingZone
    }

    private mutating func end() {
        phase = .idle
        if wasPushed { wantsFetch = true }
        // I-4: a device that was told that it may have missed something asks, and gets all that was there.
        if zip(numbers, owedByThis).contains(where: <) { violate("a fetch ended at \(numbers), not \(owedByThis)") }
    }

    // MARK: The app

    /// I-2: each version once, the newest last, and nothing before the token is left out.
    private mutating func apply(_ page: WireFetchZoneChangesAnswer, to zone: Int, _ store: FeedStore) {
        for record in page.changes.map(\.record) {
            if let known = versions[zone][record.name], known >= record.modifiedAt {
                violate("\(record.name) came twice: \(record.modifiedAt) after \(known)")
            }
            versions[zone][record.name] = record.modifiedAt
        }
        zoneTokens[zone] = CKServerChangeToken(bytes: page.token)
        if !store.isAll(versions[zone], upTo: numbers[zone], in: zone) { violate("skipped up to \(numbers[zone])") }
    }
}
