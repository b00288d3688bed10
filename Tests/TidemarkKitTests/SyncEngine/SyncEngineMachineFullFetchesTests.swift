// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain

@testable import TidemarkKit

/// Fetches from nothing, after a token has expired.
@Suite struct SyncEngineMachineFullFetchesTests {
    private static let old = StoreIncarnation(1)
    private static let new = old.next(mark: 7)

    /// As servers make them.
    private func token(_ store: StoreIncarnation, _ number: ChangeNumber) -> CKServerChangeToken {
        let key = ZoneKey(database: DatabaseID(9), name: "A")
        let token = ChangeToken.zone(
            key, viewer: nil, store: store, position: .init(zone: ZoneID(3), number: number, begunAt: number))
        return CKServerChangeToken(bytes: token.bytes)
    }

    private func feedToken(_ store: StoreIncarnation, _ number: ChangeNumber) -> CKServerChangeToken {
        CKServerChangeToken(
            bytes: ChangeToken.database(
                store: store, viewer: DatabaseID(9), position: FeedPosition(number: number)
            ).bytes)
    }

    private func page(
        _ names: [String], gone: [String] = [], _ token: CKServerChangeToken, more: Bool = false
    ) -> SyncEngineOutcome {
        let records = names.map { CKRecord(recordType: "Note", recordID: recordID("A/\($0)")) }
        return .success(
            .zonePage(
                .init(
                    modifications: records.map { .init(record: $0) },
                    deletions: gone.map { .init(recordID: recordID("A/\($0)"), recordType: "Note") }, token: token,
                    moreComing: more)))
    }

    private typealias ZoneEnds = [String: CKDatabase.DatabaseChange.Deletion.Reason]

    private func feed(
        _ zones: [String], ended: ZoneEnds = [:], _ token: CKServerChangeToken, more: Bool = false
    ) -> SyncEngineOutcome {
        let deletions = ended.sorted { $0.key < $1.key }.map {
            CKDatabase.DatabaseChange.Deletion(zoneID: zone($0.key), reason: $0.value)
        }
        return .success(
            .databasePage(
                .init(
                    modifications: zones.map { .init(zoneID: zone($0)) }, deletions: deletions, token: token,
                    moreComing: more)))
    }

    /// What a server answers about zone A, by what it is asked with; what is not there has expired.
    private typealias Pages = [CKServerChangeToken?: SyncEngineOutcome]

    /// One that has read zone A in the old life, to number 5.
    private func harness(_ snapshot: SyncEngineSnapshot? = nil, storeLife: UInt64? = nil) -> MachineHarness {
        var read = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        read.user = user("alice")
        read.databaseToken = feedToken(Self.old, 5)
        read.zoneTokens = [zone("A"): token(Self.old, 5)]
        let harness = MachineHarness(snapshot: snapshot ?? read)
        harness.storeLife = storeLife
        harness.advance(by: .seconds(1))
        return harness
    }

    private func answer(_ harness: MachineHarness, _ pages: Pages) {
        harness.respond = { request in
            switch request {
            case .databaseChanges(let since, _, _, _): self.feed(["A"], since ?? self.feedToken(Self.old, 6))
            case .zoneChanges(_, let since, _, _): pages[since] ?? .error(.changeTokenExpired)
            default: nil
            }
        }
    }

    private func fetch(_ harness: MachineHarness) -> [String] {
        harness.log = []
        harness.fetch()
        return harness.take().filter { line in
            ["all of", "had all", "records", "zones", "didFetch A"].contains(where: line.hasPrefix)
        }
    }

    private func absent(_ harness: MachineHarness, among names: [String]) -> [String]? {
        for case .didFetchRecordZoneChanges(let end) in harness.events.reversed() {
            return end.fullFetch?.recordIDsNotFetched(among: names.map(recordID)).map(\.text)
        }
        return nil
    }

    @Test func `R-552: a full fetch says why it is one, and its end which records it did not bring`() {
        for (store, reason) in [
            (Self.old, TidemarkFullFetch.Reason.deletionsForgotten), (Self.new, .anotherLife),
            (StoreIncarnation(99), .anotherLife),
        ] {
            let harness = harness()
            answer(
                harness, [nil: page(["1"], token(store, 8), more: true), token(store, 8): page(["2"], token(store, 9))])
            #expect(
                fetch(harness) == [
                    "zones +A", "all of A: \(reason)", "records +A/1", "records +A/2", "had all of A: \(reason)",
                    "didFetch A",
                ])
            #expect(absent(harness, among: ["A/0", "A/1", "A/2", "A/3", "B/4"]) == ["A/0", "A/3"])
            for case .fetchedRecordZoneChanges(let changes) in harness.events {
                #expect(changes.fullFetchReason == reason)
            }
            // The next one is a fetch like any other.
            answer(harness, [token(store, 9): page(["2"], token(store, 10))])
            #expect(fetch(harness) == ["zones +A", "records +A/2", "didFetch A"])
            guard
                case .fetchedRecordZoneChanges(let changes)? = harness.events.last(where: { $0.text == "records +A/2" })
            else { return }
            #expect(changes.fullFetchReason == nil && absent(harness, among: ["A/1"]) == nil)
        }
    }

    @Test func `R-552: nobody who reads a zone for the first time is told of a full fetch`() {
        let harness = harness(SyncEngineSnapshot(deviceIdentity: Array(0..<16)))
        answer(harness, [nil: page(["1"], token(Self.old, 8))])
        #expect(fetch(harness) == ["zones +A", "records +A/1", "didFetch A"])
        #expect(harness.storeEvents.isEmpty && absent(harness, among: ["A/2"]) == nil)
    }

    /// A new engine may send, or die after it has reported records, before it has a token.
    @Test func `R-552, R-645: a restore before the first token is noticed by the life that the server named`() throws {
        for (store, isOther) in [(Self.old, false), (Self.new, true)] {
            let first = harness(SyncEngineSnapshot(deviceIdentity: Array(0..<16)), storeLife: Self.old.rawValue)
            let data = try JSONEncoder().encode(try #require(first.lastSerialization))
            let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
            let harness = harness(state.snapshot, storeLife: store.rawValue)
            harness.respond = { request in
                switch request {
                case .databaseChanges: self.feed(["A"], self.feedToken(store, 6))
                case .zoneChanges: self.page(["1"], self.token(store, 8))
                default: nil
                }
            }
            let told = fetch(harness)
            #expect(told.contains("all of A: anotherLife") == isOther)
            #expect(told.contains("had all zones: anotherLife") == isOther)
            #expect(absent(harness, among: ["A/1", "A/2"]) == (isOther ? ["A/2"] : nil))
            // The token says it from now on.
            #expect(harness.machine.snapshot.storeLife == nil)
        }
    }

    @Test func `R-552: what ends while the full fetch of another life goes on is told as an end`() throws {
        let harness = harness()
        harness.respond = { request in
            switch request {
            case .databaseChanges(let since, _, _, _):
                switch since {
                case self.feedToken(Self.new, 6): self.feed([], ended: ["B": .deleted], self.feedToken(Self.new, 7))
                case nil: self.feed(["A", "B"], ended: ["C": .deleted], self.feedToken(Self.new, 6), more: true)
                default: .error(.changeTokenExpired)
                }
            case .zoneChanges(_, let since, _, _):
                switch since {
                case self.token(Self.new, 8): self.page([], gone: ["1", "2"], self.token(Self.new, 9))
                case nil: self.page(["1"], self.token(Self.new, 8), more: true)
                default: .error(.changeTokenExpired)
                }
            default: nil
            }
        }
        #expect(
            fetch(harness) == [
                "zones +A +B", "zones -B", "had all zones: anotherLife", "all of A: anotherLife", "records +A/1",
                "records -A/1", "had all of A: anotherLife", "didFetch A",
            ])
        #expect(absent(harness, among: ["A/1", "A/2"]) == ["A/2"])
        guard case .didFetchZonesFromNothing(let list) = try #require(harness.storeEvents.first) else {
            Issue.record("\(harness.storeEvents)")
            return
        }
        #expect(list.zoneIDsNotFetched(among: [zone("A"), zone("B"), zone("C")]) == [zone("C")])
    }

    /// In another life a pending save may be one that an earlier process made: then no save will tell.
    @Test func `R-552: what cannot be read is not absent, nor what is to be saved if deletions were forgotten`() {
        let gone = ["A/unwanted", "A/gone"]
        for (store, expected) in [(Self.old, gone), (Self.new, ["A/unsent"] + gone)] {
            let harness = harness()
            harness.add("A/unsent", "-A/unwanted")
            guard case .success(.zonePage(var all)) = page(["1"], token(store, 8)) else { return }
            all.unreadableRecordIDs = [recordID("A/sealed")]
            answer(harness, [nil: .success(.zonePage(all))])
            _ = fetch(harness)
            let names = ["A/1", "A/unsent", "A/unwanted", "A/sealed", "A/gone"]
            #expect(absent(harness, among: names) == expected)
        }
    }

    @Test func `R-552, R-553: a full fetch that is interrupted goes on, and its end tells of all pages`() {
        let harness = harness()
        let pages: Pages = [
            nil: page(["1"], token(Self.old, 8), more: true), token(Self.old, 8): .error(.networkFailure),
        ]
        answer(harness, pages)
        #expect(fetch(harness).suffix(2) == ["records +A/1", "didFetch A networkFailure"])
        #expect(absent(harness, among: ["A/1"]) == nil)
        answer(harness, [token(Self.old, 8): page(["2"], token(Self.old, 9))])
        #expect(
            fetch(harness) == ["zones +A", "records +A/2", "had all of A: deletionsForgotten", "didFetch A"])
        #expect(absent(harness, among: ["A/1", "A/2", "A/3"]) == ["A/3"])
    }

    @Test func `R-552, R-524: a process that ends within a full fetch is followed by one that begins it anew`() throws {
        let harness = harness()
        answer(
            harness, [nil: page(["1"], token(Self.new, 8), more: true), token(Self.new, 8): .error(.networkFailure)])
        _ = fetch(harness)
        let data = try JSONEncoder().encode(try #require(harness.lastSerialization))
        let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
        #expect(state.snapshot.zoneTokens == [zone("A"): token(Self.new, 8)])
        let next = self.harness(state.snapshot)
        #expect(next.unfetched == ["A"])
        // The token is good; but which records the app was told of before, nobody knows any more.
        answer(
            next, [nil: page(["1", "2"], token(Self.new, 9)), token(Self.new, 8): page(["2"], token(Self.new, 9))])
        let expected = ["all of A: anotherLife", "records +A/1 +A/2", "had all of A: anotherLife", "didFetch A"]
        #expect(fetch(next).suffix(4) == expected[...])
        #expect(absent(next, among: ["A/2", "A/3"]) == ["A/3"])
        // It has come to its end.
        let last = self.harness(try #require(next.lastSerialization).snapshot)
        answer(last, [token(Self.new, 9): page([], token(Self.new, 9))])
        #expect(fetch(last) == ["zones +A", "didFetch A"])
    }

    @Test func `R-552: a token that expires once more within a full fetch begins it anew, for the reason of both`() {
        let harness = harness()
        answer(
            harness, [nil: page(["1"], token(Self.old, 8), more: true), token(Self.old, 8): .error(.networkFailure)])
        _ = fetch(harness)
        answer(harness, [nil: page(["2"], token(Self.new, 9))])
        #expect(
            fetch(harness) == [
                "zones +A", "all of A: anotherLife", "records +A/2", "had all of A: anotherLife", "didFetch A",
            ])
        #expect(absent(harness, among: ["A/1", "A/2"]) == ["A/1"])
        // What the app has is of the old life, although the last token was of the new one already.
        let restored = self.harness()
        answer(
            restored, [nil: page(["1"], token(Self.new, 8), more: true), token(Self.new, 8): .error(.networkFailure)])
        _ = fetch(restored)
        answer(restored, [nil: page(["2"], token(Self.new, 9))])
        #expect(fetch(restored)[1] == "all of A: anotherLife")
    }

    @Test func `R-552: a server that was restored and not told so has not forgotten deletions`() {
        let harness = harness()
        // It had told of number 5.
        answer(
            harness,
            [nil: page(["1"], token(Self.old, 3), more: true), token(Self.old, 3): page([], token(Self.old, 4))])
        _ = fetch(harness)
        #expect(harness.storeEvents.last?.text == "had all of A: anotherLife")
        #expect(absent(harness, among: ["A/2"]) == ["A/2"])
        let feed = self.harness()
        feed.respond = { request in
            switch request {
            case .databaseChanges(.some, _, _, _): .error(.changeTokenExpired)
            case .databaseChanges(nil, _, _, _): self.feed(["B"], self.feedToken(Self.old, 4))
            case .zoneChanges: self.page([], self.token(Self.old, 8))
            default: nil
            }
        }
        #expect(
            fetch(feed) == [
                "zones +B", "had all zones: anotherLife -A", "all of B: anotherLife", "had all of B: anotherLife",
            ])
    }

    @Test func `R-552, R-645: what a restored server has of a zone without a stored token is no news`() {
        for (store, number) in [(Self.new, ChangeNumber(3)), (Self.new, 8), (Self.old, 3)] {
            var read = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            read.user = user("alice")
            read.databaseToken = feedToken(Self.old, 5)
            let harness = self.harness(read)
            harness.respond = { request in
                switch request {
                case .databaseChanges(.some, _, _, _): .error(.changeTokenExpired)
                case .databaseChanges(nil, _, _, _): self.feed(["A"], self.feedToken(store, number))
                case .zoneChanges: self.page(["1"], self.token(store, 8))
                default: nil
                }
            }
            #expect(
                fetch(harness) == [
                    "zones +A", "had all zones: anotherLife", "all of A: anotherLife", "records +A/1",
                    "had all of A: anotherLife", "didFetch A",
                ])
            #expect(absent(harness, among: ["A/1", "A/2"]) == ["A/2"])
        }
    }

    @Test func `R-552: zones that the list does not have any more were deleted, unless it is another life's`() {
        for (store, reason) in [(Self.old, "deletionsForgotten"), (Self.new, "anotherLife")] {
            let harness = harness()
            harness.respond = { request in
                switch request {
                case .databaseChanges(.some, _, _, _): .error(.changeTokenExpired)
                case .databaseChanges(nil, _, _, _): self.feed(["B"], self.feedToken(store, 8))
                case .zoneChanges: self.page([], self.token(store, 8))
                default: nil
                }
            }
            let rest =
                reason == "deletionsForgotten"
                ? ["zones -A"] : ["all of B: anotherLife", "had all of B: anotherLife"]
            #expect(fetch(harness) == ["zones +B", "had all zones: \(reason) -A"] + rest)
            #expect(harness.machine.snapshot.zoneTokens.keys.map(\.zoneName) == ["B"])
            #expect(harness.machine.snapshot.expiredDatabaseToken == nil)
        }
    }

    @Test func `R-552: deletions that a backup has are not told: what they delete may have been made again since`() {
        for (store, isTold) in [(Self.old, true), (Self.new, false)] {
            let harness = harness()
            answer(
                harness,
                [
                    nil: page(["1", "3"], gone: ["2"], token(store, 8), more: true),
                    // Deleted while the zone is read, one of them made again.
                    token(store, 8): page([], gone: ["1", "3"], token(store, 9), more: true),
                    token(store, 9): page(["3"], token(store, 10)),
                ])
            let told = fetch(harness).joined(separator: " ")
            #expect(told.contains("-A/2") == isTold, "\(told)")
            // Those were not in the backup: the list had the records before.
            #expect(told.contains("-A/1 -A/3"), "\(told)")
            #expect(absent(harness, among: ["A/1", "A/2", "A/3", "A/4"]) == ["A/2", "A/4"])
        }
    }

    @Test func `R-552, R-645: a zone that was only sent to, and that the backup lacks, is absent`() throws {
        for sendsRecords in [false, true] {
            let first = harness()
            if sendsRecords { _ = first.server.save(zone: zone("B")) }
            if sendsRecords { first.add("B/1") } else { first.addZones("B") }
            first.send()
            first.advance(by: .seconds(1))
            // It outlives the process.
            let data = try JSONEncoder().encode(try #require(first.lastSerialization))
            let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
            let harness = self.harness(state.snapshot)
            harness.respond = { request in
                switch request {
                case .databaseChanges(.some, _, _, _): .error(.changeTokenExpired)
                case .databaseChanges(nil, _, _, _): self.feed(["A"], self.feedToken(Self.new, 8))
                case .zoneChanges(_, .some, _, _): .error(.changeTokenExpired)
                case .zoneChanges: self.page([], self.token(Self.new, 8))
                default: nil
                }
            }
            #expect(fetch(harness).prefix(2) == ["zones +A", "had all zones: anotherLife -B"])
            #expect(harness.machine.snapshot.tokenlessZones.isEmpty)
        }
    }

    @Test func `R-552, R-645: a store that is restored between the list of zones and a zone's first page`() {
        var read = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        read.user = user("alice")
        let harness = self.harness(read)
        harness.respond = { request in
            switch request {
            case .databaseChanges(nil, _, _, _): self.feed(["A"], self.feedToken(Self.old, 5))
            case .databaseChanges: self.feed([], self.feedToken(Self.new, 5))
            case .zoneChanges: self.page(["1"], self.token(Self.new, 8))
            default: nil
            }
        }
        #expect(
            fetch(harness) == [
                "zones +A", "all of A: anotherLife", "records +A/1", "had all of A: anotherLife", "didFetch A",
            ])
    }

    @Test func `R-552: a zone that was listed and never read is absent, too, and is not asked for any more`() {
        var read = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        read.user = user("alice")
        read.databaseToken = feedToken(Self.old, 5)
        read.unfetchedZones.add(zone("A"))
        let harness = self.harness(read)
        harness.respond = { request in
            switch request {
            case .databaseChanges(.some, _, _, _): .error(.changeTokenExpired)
            case .databaseChanges(nil, _, _, _): self.feed([], self.feedToken(Self.new, 8))
            case .zoneChanges: .error(.zoneNotFound)
            default: nil
            }
        }
        #expect(fetch(harness) == ["had all zones: anotherLife -A"])
        #expect(harness.unfetched == [] && harness.machine.snapshot.tokenlessZones.isEmpty)
    }

    @Test func `R-551, R-645: a zone that is gone when it is read, and that the backup lacks, is absent`() {
        for code in [CKError.Code.zoneNotFound, .userDeletedZone] {
            let harness = harness()
            harness.respond = { request in
                switch request {
                case .databaseChanges: self.feed(["A"], self.feedToken(Self.old, 6))
                case .zoneChanges: .error(code)
                default: nil
                }
            }
            _ = fetch(harness)
            harness.respond = { request in
                switch request {
                case .databaseChanges(.some, _, _, _): .error(.changeTokenExpired)
                case .databaseChanges(nil, _, _, _): self.feed([], self.feedToken(Self.new, 8))
                default: nil
                }
            }
            #expect(fetch(harness) == ["had all zones: anotherLife -A"])
            #expect(harness.machine.snapshot.tokenlessZones.isEmpty)
        }
    }

    /// - Parameter shared: zones of others that have been read.
    private func fetchRestoredFeed(
        _ zones: [String], ended: ZoneEnds, shared: [CKRecordZone.ID] = []
    ) -> (MachineHarness, [String]) {
        let harness = harness()
        for zoneID in shared { harness.machine.snapshot.zoneTokens[zoneID] = token(Self.old, 5) }
        harness.respond = { request in
            switch request {
            case .databaseChanges(.some, _, _, _): .error(.changeTokenExpired)
            case .databaseChanges(nil, _, _, _): self.feed(zones, ended: ended, self.feedToken(Self.new, 8))
            case .zoneChanges(_, .some, _, _): .error(.changeTokenExpired)
            case .zoneChanges: self.page([], self.token(Self.new, 8))
            default: nil
            }
        }
        return (harness, fetch(harness))
    }

    @Test func `R-552, R-645: a zone that had ended before the backup, and is there, is fetched as what it is`() {
        for reason in [CKDatabase.DatabaseChange.Deletion.Reason.deleted, .purged, .encryptedDataReset] {
            let (_, told) = fetchRestoredFeed(["A"], ended: ["A": reason])
            #expect(
                told == [
                    "zones +A", "had all zones: anotherLife", "all of A: anotherLife", "had all of A: anotherLife",
                    "didFetch A",
                ])
        }
    }

    @Test func `R-552, R-205: a zone that had ended before the backup is absent, or erased`() {
        let (harness, told) = fetchRestoredFeed(["B"], ended: ["A": .deleted, "C": .purged])
        #expect(told.prefix(2) == ["zones +B", "had all zones: anotherLife -A"])
        #expect(harness.machine.snapshot.zoneTokens.keys.map(\.zoneName) == ["B"])
        let (_, erased) = fetchRestoredFeed([], ended: ["A": .purged])
        #expect(erased.first == "had all zones: anotherLife" && erased.count == 2, "\(erased)")
        #expect(erased.last?.hasPrefix("zones -A") == true)
    }

    @Test func `R-225, R-552: another user's zone that a restored server does not list is told as deleted`() throws {
        let shared = CKRecordZone.ID(zoneName: "S", ownerName: "_bob")
        let (harness, told) = fetchRestoredFeed([], ended: [:], shared: [shared])
        #expect(told == ["had all zones: anotherLife -A", "zones -S"])
        let deletions = harness.events.compactMap { event -> [CKDatabase.DatabaseChange.Deletion]? in
            if case .fetchedDatabaseChanges(let changes) = event { changes.deletions } else { nil }
        }
        #expect(deletions.last?.map(\.zoneID) == [shared] && deletions.last?.map(\.reason) == [.deleted])
        #expect(harness.machine.snapshot.zoneTokens.isEmpty)
        guard case .didFetchZonesFromNothing(let list) = try #require(harness.storeEvents.first) else {
            Issue.record("\(harness.storeEvents)")
            return
        }
        #expect(list.zoneIDsNotFetched(among: [zone("A"), shared]) == [zone("A")])
    }

    @Test func `R-552, R-645: a zone that only the app knows, because its process ended too early, is absent`() throws {
        let (harness, _) = fetchRestoredFeed(["B"], ended: ["A": .purged, "C": .purged])
        guard case .didFetchZonesFromNothing(let list) = try #require(harness.storeEvents.first) else {
            Issue.record("\(harness.storeEvents)")
            return
        }
        let known = ["A", "B", "C", "D"].map(zone)
        // The engine reports the end of A. The app made C again since.
        #expect(list.zoneIDsNotFetched(among: known + [.default]) == [zone("C"), zone("D")])
    }

    @Test func `R-552, R-563: a full fetch ends with the account that it is of`() {
        var read = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        read.user = user("alice")
        read.databaseToken = feedToken(Self.old, 6)
        read.zoneTokens = [zone("A"): token(Self.old, 5)]
        read.expiredDatabaseToken = feedToken(Self.old, 5)
        read.expiredZoneTokens = [zone("B"): token(Self.old, 5)]
        let harness = MachineHarness(snapshot: read)
        harness.account = .success(user("bob"))
        harness.advance(by: .seconds(1))
        answer(harness, [nil: page(["1"], token(Self.old, 8))])
        #expect(fetch(harness) == ["zones +A", "records +A/1", "didFetch A"])
        #expect(harness.storeEvents.isEmpty)
    }

    @Test func `R-552, R-563: what one account was told of does not count as there for the next one`() {
        let harness = harness()
        answer(
            harness, [nil: page(["1"], token(Self.old, 8), more: true), token(Self.old, 8): .error(.networkFailure)])
        _ = fetch(harness)
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        harness.run()
        // A store that is restored between bob's list of zones and his zone's first page.
        harness.respond = { request in
            switch request {
            case .databaseChanges: self.feed(["A"], self.feedToken(Self.old, 5))
            case .zoneChanges: self.page(["2"], self.token(Self.new, 8))
            default: nil
            }
        }
        #expect(fetch(harness).contains("all of A: anotherLife"))
        #expect(absent(harness, among: ["A/1", "A/2"]) == ["A/1"])
    }
}

@Suite struct FetchedNamesTests {
    @Test func `R-552: names that were fetched are known, in any number and order, and no others`() {
        var names = FetchedNames()
        for number in 0..<10_000 { names.insert("\(number &* 7_919 % 10_000)") }
        for number in 0..<10_000 { #expect(names.contains("\(number)")) }
        for number in 10_000..<20_000 { #expect(!names.contains("\(number)")) }
    }
}
