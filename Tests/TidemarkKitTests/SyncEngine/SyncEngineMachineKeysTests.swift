// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain

@testable import TidemarkKit

/// Records of another's zone that wait for its keys, to be read and to be sent.
@Suite struct SyncEngineMachineKeysTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "A", ownerName: "_bob")

    private static func recordID(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    /// As servers make them.
    private static func token(_ number: ChangeNumber) -> CKServerChangeToken {
        let token = ChangeToken.zone(
            ZoneKey(database: DatabaseID(9), name: "A"), viewer: nil, store: StoreIncarnation(1),
            position: .init(zone: ZoneID(3), number: number, begunAt: number))
        return CKServerChangeToken(bytes: token.bytes)
    }

    private static func feedToken(_ number: ChangeNumber) -> CKServerChangeToken {
        CKServerChangeToken(
            bytes: ChangeToken.database(
                store: StoreIncarnation(1), viewer: DatabaseID(9), position: FeedPosition(number: number)
            ).bytes)
    }

    /// A zone with a plain record, and one that is encrypted. Both came after the token 5.
    private final class Served {
        var hasKeys = false
        /// From where the zone was read.
        var tokens: [CKServerChangeToken?] = []
        /// How often the keys were asked for.
        var questionCount = 0
        /// How often records came to be sent.
        var sendCount = 0
    }

    private func serve(_ served: Served, to harness: MachineHarness) {
        harness.respond = { request in
            switch request {
            case .databaseChanges(let since, _, _, _):
                return .success(
                    .databasePage(
                        .init(
                            modifications: since == nil ? [.init(zoneID: Self.zoneID)] : [], deletions: [],
                            token: Self.feedToken(5), moreComing: false)))
            case .zoneChanges(_, let since, _, _):
                served.tokens.append(since)
                let names = since == Self.token(7) ? [] : served.hasKeys ? ["plain", "sealed"] : ["plain"]
                var page = SyncEngineZonePage(
                    modifications: names.map {
                        .init(record: CKRecord(recordType: "Note", recordID: Self.recordID($0)))
                    }, deletions: [], token: Self.token(7), moreComing: false)
                if names == ["plain"] {
                    (page.unreadableRecordIDs, page.lacksKeys) = ([Self.recordID("sealed")], true)
                }
                return .success(.zonePage(page))
            case .zonesWithKeys(let zoneIDs):
                served.questionCount += 1
                return .success(.zonesWithKeys(served.hasKeys ? Set(zoneIDs) : []))
            case .modifyRecords(let batch, _):
                served.sendCount += 1
                var results = SyncEngineRecordResults()
                for record in batch.recordsToSave {
                    let missing = CKError(.accountTemporarilyUnavailable).ofMissingKeys
                    results.saves[record.recordID] = served.hasKeys ? .success(record) : .failure(missing)
                }
                return .success(.recordResults(results))
            default: return nil
            }
        }
    }

    /// - Parameter token: how far the zone was read; nil: it was never read.
    private func harness(
        _ served: Served, from token: CKServerChangeToken?, automatic: Bool = false
    ) -> MachineHarness {
        var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        snapshot.user = user("alice")
        snapshot.databaseToken = Self.feedToken(5)
        snapshot.zoneTokens[Self.zoneID] = token
        snapshot.unfetchedZones.add(Self.zoneID)
        return harness(served, snapshot, automatic: automatic)
    }

    private func harness(
        _ served: Served, _ snapshot: SyncEngineSnapshot, automatic: Bool = false
    ) -> MachineHarness {
        let harness = MachineHarness(snapshot: snapshot, automatic: automatic)
        serve(served, to: harness)
        harness.advance(by: .seconds(1))
        return harness
    }

    private func fetch(_ harness: MachineHarness) {
        harness.fetch()
        harness.run()
    }

    /// The names that came with each page.
    private func pages(_ harness: MachineHarness) -> [[String]] {
        harness.events.compactMap { event in
            guard case .fetchedRecordZoneChanges(let changes) = event else { return nil }
            return changes.modifications.map(\.record.recordID.recordName)
        }
    }

    @Test func `R-283: what was left out for want of keys is read again from there, once there are some`() {
        let served = Served()
        let harness = harness(served, from: Self.token(5))
        fetch(harness)
        #expect(pages(harness) == [["plain"]] && served.questionCount == 0)
        fetch(harness)
        #expect(served.tokens == [Self.token(5)] && served.questionCount == 1, "there are none yet")
        served.hasKeys = true
        fetch(harness)
        #expect(pages(harness) == [["plain"], ["plain", "sealed"]])
        #expect(served.tokens == [Self.token(5), Self.token(5)])
        fetch(harness)
        #expect(served.questionCount == 2 && served.tokens.count == 2, "nothing waits any more")
    }

    @Test func `R-283, R-552: where there was no token, all of the zone comes again`() {
        let served = Served()
        let harness = harness(served, from: nil)
        fetch(harness)
        served.hasKeys = true
        fetch(harness)
        #expect(pages(harness) == [["plain"], ["plain", "sealed"]])
        #expect(served.tokens == [nil, nil])
        var ends: [TidemarkFullFetch] = []
        for case .didFetchRecordZoneChanges(let end) in harness.events {
            if let full = end.fullFetch { ends.append(full) }
        }
        let absent = ends.first?.recordIDsNotFetched(among: ["plain", "sealed", "gone"].map(Self.recordID))
        #expect(ends.count == 1 && absent == [Self.recordID("gone")])
        #expect(ends.first?.reason == .deletionsForgotten && ends.first?.isResync == false)
    }

    @Test func `R-283, R-524: another process knows what waits`() throws {
        let served = Served()
        let first = harness(served, from: Self.token(5))
        fetch(first)
        first.advance(by: .seconds(2))
        let data = try JSONEncoder().encode(try #require(first.lastSerialization))
        let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
        #expect(state.snapshot.keylessTokens == [Self.zoneID: Self.token(5)])
        served.hasKeys = true
        let second = harness(served, state.snapshot)
        fetch(second)
        #expect(pages(second) == [["plain", "sealed"]])
        #expect(second.machine.snapshot.keylessTokens.isEmpty)
        // Of an account or a zone that is gone nothing waits.
        var snapshot = state.snapshot
        snapshot.forgetZone(Self.zoneID)
        #expect(snapshot.keylessTokens.isEmpty)
        snapshot = state.snapshot
        snapshot.forgetAccount()
        #expect(snapshot.keylessTokens.isEmpty)
    }

    @Test func `R-283: keys that the app has brought are tried at once, also if some are still missing`() {
        let served = Served()
        let harness = harness(served, from: Self.token(5))
        fetch(harness)
        harness.machine.keysImported()
        fetch(harness)
        #expect(served.tokens == [Self.token(5), Self.token(5)], "read again")
        #expect(pages(harness) == [["plain"], ["plain"]], "in vain")
        fetch(harness)
        #expect(served.tokens.count == 2 && served.questionCount == 1, "it waits as before")
    }

    @Test func `R-283, R-284: an edit without keys stays pending, and is sent when a push brings the keys`() {
        let served = Served()
        let harness = harness(served, from: Self.token(7), automatic: true)
        let id = Self.recordID("edit")
        harness.records[id] = CKRecord(recordType: "Note", recordID: id)
        harness.machine.add([.saveRecord(id)], isInCallback: false, at: harness.moment)
        harness.advance(by: .seconds(10 * 60))
        #expect(harness.machine.snapshot.pendingRecords.elements == [.saveRecord(id)])
        let tries = served.sendCount
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        #expect(served.sendCount == tries && served.questionCount > 0, "a push that brought none")
        served.hasKeys = true
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        #expect(served.sendCount == tries + 1)
        #expect(harness.machine.snapshot.pendingRecords.isEmpty && harness.machine.snapshot.inFlightRecords.isEmpty)
        let saved = harness.events.flatMap { event -> [CKRecord.ID] in
            guard case .sentRecordZoneChanges(let sent) = event else { return [] }
            return sent.savedRecords.map(\.recordID)
        }
        #expect(saved == [id], "the server has said so")
    }
}
