// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain

@testable import TidemarkKit

/// Fetches from nothing that the app asks for.
@Suite struct SyncEngineMachineResyncTests {
    private static let old = StoreIncarnation(1)
    private static let new = old.next(mark: 7)

    /// As servers make them.
    private func token(_ name: String, _ number: ChangeNumber, _ store: StoreIncarnation = old) -> CKServerChangeToken {
        let token = ChangeToken.zone(
            ZoneKey(database: DatabaseID(9), name: name), viewer: nil, store: store,
            position: .init(zone: ZoneID(3), number: number, begunAt: number))
        return CKServerChangeToken(bytes: token.bytes)
    }

    private func feedToken(_ number: ChangeNumber, _ store: StoreIncarnation = old) -> CKServerChangeToken {
        CKServerChangeToken(
            bytes: ChangeToken.database(
                store: store, viewer: DatabaseID(9), position: FeedPosition(number: number)
            ).bytes)
    }

    /// A server with zones A and B. A token is that of the end, or there is none.
    private final class Served {
        var contents = ["A": ["1", "2"], "B": ["3"]]
        /// The number at the end.
        var number: ChangeNumber = 9
        var store = SyncEngineMachineResyncTests.old
    }

    private func serve(_ served: Served, to harness: MachineHarness) {
        harness.respond = { request in
            switch request {
            case .databaseChanges(let since, _, _, _):
                let end = self.feedToken(served.number, served.store)
                if let since, since != end, served.store != Self.old { return .error(.changeTokenExpired) }
                return .success(
                    .databasePage(
                        .init(
                            modifications: since == nil
                                ? served.contents.keys.sorted().map { .init(zoneID: zone($0)) } : [],
                            deletions: [], token: end, moreComing: false)))
            case .zoneChanges(let zoneID, let since, _, _):
                guard let names = served.contents[zoneID.zoneName] else { return .error(.zoneNotFound) }
                let end = self.token(zoneID.zoneName, served.number, served.store)
                if let since, since != end, served.store != Self.old { return .error(.changeTokenExpired) }
                let records = since == nil ? names : []
                return .success(
                    .zonePage(
                        .init(
                            modifications: records.map {
                                .init(
                                    record: CKRecord(
                                        recordType: "Note", recordID: recordID("\(zoneID.zoneName)/\($0)")))
                            }, deletions: [], token: end, moreComing: false)))
            default: return nil
            }
        }
    }

    /// One that has read A and B to number 5.
    private func harness(_ served: Served, automatic: Bool = false) -> MachineHarness {
        var read = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        read.user = user("alice")
        read.databaseToken = feedToken(5)
        read.zoneTokens = [zone("A"): token("A", 5), zone("B"): token("B", 5)]
        return harness(served, read, automatic: automatic)
    }

    private func harness(
        _ served: Served, _ snapshot: SyncEngineSnapshot, automatic: Bool = false
    ) -> MachineHarness {
        let harness = MachineHarness(snapshot: snapshot, automatic: automatic)
        serve(served, to: harness)
        harness.advance(by: .seconds(1))
        harness.log = []
        return harness
    }

    private func resync(_ harness: MachineHarness, _ name: String?, call: Int = 100) {
        harness.machine.resyncCalled(SyncEngineCallID(number: call), name.map(zone), at: harness.moment)
    }

    private func told(_ harness: MachineHarness) -> [String] {
        harness.take().filter { line in
            ["all of", "had all", "records", "zones", "didFetch A", "didFetch B", "call", "stateUpdate"].contains(
                where: line.hasPrefix)
        }
    }

    private func absent(_ harness: MachineHarness, among names: [String]) -> [String]? {
        for case .didFetchRecordZoneChanges(let end) in harness.events.reversed() {
            #expect(end.fullFetch?.isResync == true)
            return end.fullFetch?.recordIDsNotFetched(among: names.map(recordID)).map(\.text)
        }
        return nil
    }

    @Test func `R-842: all records of a zone come again, and its end says which are gone; what is pending stays`() {
        let harness = harness(Served())
        harness.add("A/unsent", "-A/2", "B/9")
        let pending = harness.pending
        resync(harness, "A")
        #expect(
            told(harness) == [
                "stateUpdate", "all of A: deletionsForgotten", "records +A/1 +A/2",
                "had all of A: deletionsForgotten", "didFetch A", "stateUpdate", "call 100 ok",
            ])
        #expect(absent(harness, among: ["A/1", "A/2", "A/gone", "A/unsent", "B/3"]) == ["A/gone"])
        for case .fetchedRecordZoneChanges(let changes) in harness.events { #expect(changes.isResync) }
        #expect(harness.pending == pending)
        // It is done: the next fetch is one like any other.
        harness.fetch()
        #expect(told(harness) == ["call 1 ok"])
        #expect(harness.machine.snapshot.resyncZones.isEmpty && harness.machine.snapshot.expiredZoneTokens.isEmpty)
    }

    @Test func `R-842: all zones come again with their list, and a zone that is not in it is told as deleted`() {
        let served = Served()
        served.contents["B"] = nil
        let harness = harness(served)
        resync(harness, nil)
        #expect(
            told(harness) == [
                "stateUpdate", "zones +A", "had all zones: deletionsForgotten -B", "zones -B",
                "all of A: deletionsForgotten", "records +A/1 +A/2", "had all of A: deletionsForgotten", "didFetch A",
                "stateUpdate", "call 100 ok",
            ])
        #expect(!harness.machine.snapshot.resyncsZoneList && harness.machine.snapshot.resyncZones.isEmpty)
        #expect(Array(harness.machine.snapshot.zoneTokens.keys) == [zone("A")])
    }

    /// A page that is under way goes on from the token before.
    @Test func `R-842: a fetch under way ends first, and its pages are not taken for those of the resync`() {
        let harness = harness(Served())
        harness.machine.snapshot.unfetchedZones.add(zone("A"))
        harness.holds = \.isZone
        harness.fetch()
        harness.run()
        resync(harness, "A")
        resync(harness, "A", call: 101)
        #expect(harness.machine.snapshot.zoneTokens[zone("A")] == token("A", 5))
        harness.holds = { _ in false }
        harness.release()
        #expect(
            told(harness).filter { $0 != "stateUpdate" } == [
                "didFetch A", "call 1 ok", "all of A: deletionsForgotten", "records +A/1 +A/2",
                "had all of A: deletionsForgotten", "didFetch A", "call 100 ok", "call 101 ok",
            ])
    }

    @Test func `R-842: who asks once more while it goes on gets everything once more`() {
        let harness = harness(Served())
        harness.holds = \.isZone
        resync(harness, "A")
        harness.run()
        resync(harness, "A", call: 101)
        harness.holds = { _ in false }
        harness.release()
        let lines = told(harness)
        #expect(lines.filter { $0 == "records +A/1 +A/2" }.count == 2, "\(lines)")
        #expect(lines.last == "call 101 ok" && harness.machine.snapshot.resyncZones.isEmpty)
    }

    @Test func `R-843: the state says it before the first record comes, so the next process goes on with it`() throws {
        for hasBegun in [false, true] {
            let first = harness(Served())
            // The process ends before it has begun, or when the first page is on its way.
            first.holds = { hasBegun ? $0.isZone : $0.isFeed }
            if !hasBegun {
                first.fetch()
                first.run()
            }
            resync(first, "A")
            first.advance(by: .seconds(1))
            let data = try JSONEncoder().encode(try #require(first.lastSerialization))
            let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
            #expect(state.snapshot.resyncZones == [zone("A")])
            let next = harness(Served(), state.snapshot)
            next.fetch()
            #expect(told(next).contains("records +A/1 +A/2"))
            #expect(absent(next, among: ["A/1", "A/gone"]) == ["A/gone"])
            let done = try #require(next.lastSerialization).snapshot
            #expect(done.resyncZones.isEmpty && done.zoneTokens[zone("A")] == token("A", 9))
        }
    }

    @Test func `R-843: without a network the call fails, and an automatic engine does it when it can`() {
        let harness = harness(Served(), automatic: true)
        let answers = harness.respond
        harness.respond = { $0.isFeed ? .error(.networkFailure) : answers($0) }
        resync(harness, nil)
        #expect(told(harness).contains("call 100 networkFailure"))
        harness.respond = answers
        harness.advance(by: .seconds(10))
        let lines = told(harness)
        #expect(lines.contains("records +A/1 +A/2") && lines.contains("records +B/3"), "\(lines)")
        #expect(harness.machine.snapshot.resyncZones.isEmpty && !harness.machine.snapshot.resyncsZoneList)
    }

    @Test func `R-843: who cancels, or has no account, is told so; what was asked for ends with the account`() {
        let harness = harness(Served())
        harness.holds = \.isZone
        resync(harness, "A")
        harness.run()
        harness.cancelCaller(100)
        #expect(told(harness).contains("call 100 operationCancelled"))
        #expect(harness.machine.snapshot.resyncZones == [zone("A")])
        harness.holds = { _ in false }
        harness.account = .success(nil)
        harness.machine.accountHinted(at: harness.moment)
        harness.run()
        #expect(harness.machine.snapshot.resyncZones.isEmpty && harness.machine.fullFetches.resyncZones.isEmpty)
        resync(harness, "A", call: 101)
        #expect(told(harness).contains("call 101 notAuthenticated"))
        #expect(harness.machine.snapshot.resyncZones.isEmpty)
    }

    @Test func `R-842, R-552: a resync of a restored server is that of another life`() {
        let served = Served()
        served.store = Self.new
        let harness = harness(served)
        resync(harness, nil)
        #expect(told(harness).contains("had all of A: anotherLife"))
        #expect(harness.machine.snapshot.resyncZones.isEmpty)
    }

    @Test func `R-842: a zone that was never read is read as usual, and the default zone is refused`() {
        let served = Served()
        served.contents["C"] = ["7"]
        let harness = harness(served)
        resync(harness, "C")
        resync(harness, CKRecordZone.ID.defaultZoneName, call: 101)
        resync(harness, "D", call: 102)
        let lines = told(harness).filter { $0 != "stateUpdate" }
        #expect(lines.contains("records +C/7") && lines.contains("call 100 ok"))
        #expect(!lines.contains { $0.hasPrefix("all of") })
        #expect(lines.contains("call 101 invalidArguments") && lines.contains("call 102 zoneNotFound"))
        #expect(harness.machine.snapshot.resyncZones.isEmpty && harness.unfetched == [])
    }
}
