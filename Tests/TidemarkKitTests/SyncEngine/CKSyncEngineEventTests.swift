// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

/// What each event carries, and between which others it stands: one test for each.
@Suite struct CKSyncEngineEventTests {
    private func filled() -> MachineHarness {
        let harness = MachineHarness.started(zones: "A")
        harness.server.save("1", in: zone("A"), value: "x")
        return harness
    }

    /// The lines before, of and after the first event for which `text` is the beginning.
    private func place(of text: String, in log: [String]) -> [String] {
        let events = log.filter { !$0.hasPrefix("→") && !$0.hasPrefix("ask") && !$0.hasPrefix("call") }
        guard let index = events.firstIndex(where: { $0.hasPrefix(text) }) else { return [] }
        return Array(events[max(0, index - 1)...min(events.count - 1, index + 1)])
    }

    private func first<Payload>(
        _ harness: MachineHarness, _ payload: (CKSyncEngine.Event) -> Payload?
    ) throws -> Payload {
        try #require(harness.events.lazy.compactMap(payload).first)
    }

    @Test func `R-600, R-602: stateUpdate carries the state as it is then`() throws {
        let harness = filled()
        harness.add("A/9")
        harness.fetch()
        #expect(place(of: "stateUpdate", in: harness.take()) == ["didFetch A", "stateUpdate", "didFetch"])
        let state = try #require(harness.lastSerialization)
        let decoded = try JSONDecoder().decode(
            CKSyncEngine.State.Serialization.self, from: JSONEncoder().encode(state)
        ).snapshot
        #expect(decoded.pendingRecords.elements == [change("A/9")] && decoded.user == user("alice"))
        #expect(decoded.databaseToken == harness.machine.snapshot.databaseToken && decoded.databaseToken != nil)
        #expect(decoded.zoneTokens.keys.map(\.zoneName) == ["A"] && decoded.unfetchedZones.isEmpty)
    }

    @Test(arguments: [false, true])
    func `R-560 to R-562, R-565, R-566: accountChange carries who it was and who it is, first of all at a start`(
        automatic: Bool
    ) {
        typealias Change = CKSyncEngine.Event.AccountChange.ChangeType
        let switched = Change.switchAccounts(previousUser: user("alice"), currentUser: user("bob"))
        let cases: [(saved: String?, now: String?, expected: Change, told: String)] = [
            (nil, "alice", .signIn(currentUser: user("alice")), "signIn _alice"),
            ("alice", nil, .signOut(previousUser: user("alice")), "signOut _alice"),
            ("alice", "bob", switched, "switch _alice _bob"),
        ]
        let firstFetch = [
            "→ subscription(any)", "willFetch(scheduled)", "ask options", "→ feed(nil)", "stateUpdate", "didFetch",
        ]
        for (saved, now, expected, told) in cases {
            var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            snapshot.user = saved.map(user)
            let harness = MachineHarness(snapshot: snapshot, automatic: automatic)
            harness.account = .success(now.map(user))
            harness.advance(by: .seconds(1))
            let start = ["→ user", "accountChange \(told)", "stateUpdate"]
            #expect(harness.log == start + (automatic && now != nil ? firstFetch : []), "\(told)")
            let changes = harness.events.compactMap { event -> Change? in
                if case .accountChange(let change) = event { change.changeType } else { nil }
            }
            #expect(changes == [expected])
        }
    }

    @Test func `R-563, R-565, R-566: accountChange comes when what was under way has ended, and before what begins`() {
        let all: [(now: String?, told: String)] = [(nil, "signOut _alice"), ("bob", "switch _alice _bob")]
        for (now, told) in all {
            let harness = filled()
            harness.holds = { $0.isZone }
            harness.fetch()
            #expect(harness.take().last == "→ A(nil)")
            harness.holds = { _ in false }
            harness.account = .success(now.map(user))
            harness.machine.accountHinted(at: harness.moment)
            harness.run()
            #expect(
                harness.take() == [
                    "→ user", "cancel", "didFetch A operationCancelled", "stateUpdate", "didFetch",
                    "call 1 operationCancelled", "accountChange \(told)", "stateUpdate",
                ])
        }
    }

    @Test func `R-540, R-575: willFetchChanges and didFetchChanges carry the context of the call`() throws {
        let harness = filled()
        let group = CKOperationGroup()
        group.name = "evening"
        var options = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([zone("A")]), operationGroup: group)
        options.prioritizedZoneIDs = [zone("A")]
        // What the delegate answers later is not what the fetch began with.
        harness.options = { _ in .init(scope: .all) }
        harness.fetch(options)
        let log = harness.take()
        #expect(log.first == "willFetch(manual)" && log.suffix(2) == ["didFetch", "call 1 ok"])
        let will = try first(harness) { if case .willFetchChanges(let event) = $0 { event.context } else { nil } }
        let did = try first(harness) { if case .didFetchChanges(let event) = $0 { event.context } else { nil } }
        for context in [will, did] {
            #expect(context.reason == .manual && context.options.scope == .zoneIDs([zone("A")]))
            #expect(context.options.prioritizedZoneIDs == [zone("A")])
            #expect(context.options.operationGroup.operationGroupID == group.operationGroupID)
        }
        let automatic = MachineHarness(automatic: true)
        automatic.advance(by: .seconds(1))
        let scheduled = try first(automatic) {
            if case .willFetchChanges(let event) = $0 { event.context } else { nil }
        }
        #expect(scheduled.reason == .scheduled && scheduled.options.scope == .all)
    }

    @Test(arguments: [CKDatabase.DatabaseChange.Deletion.Reason.deleted, .purged, .encryptedDataReset])
    func `R-542, R-206: fetchedDatabaseChanges carries changed zones, and gone ones with the reason`(
        reason: CKDatabase.DatabaseChange.Deletion.Reason
    ) throws {
        let harness = filled()
        harness.fetch()
        harness.run()
        (harness.log, harness.server.feedPageSize) = ([], 100)
        let count = harness.events.count
        harness.server.save(zone: zone("B"))
        harness.server.delete(zone: zone("A"), reason: reason)
        harness.fetch()
        #expect(
            place(of: "zones", in: harness.take()) == ["willFetch(manual)", "zones -A +B", "willFetch B"])
        let event = try #require(
            harness.events.dropFirst(count).lazy.compactMap { event in
                if case .fetchedDatabaseChanges(let changes) = event { changes } else { nil }
            }.first)
        #expect(event.modifications.map(\.zoneID) == [zone("B")])
        #expect(event.deletions.map(\.zoneID) == [zone("A")] && event.deletions.map(\.reason) == [reason])
    }

    @Test func `R-540, R-550: willFetchRecordZoneChanges and didFetchRecordZoneChanges carry the zone, and the error`()
        throws
    {
        let harness = filled()
        harness.fetch()
        let log = harness.take()
        #expect(place(of: "willFetch A", in: log) == ["zones +A", "willFetch A", "records +A/1"])
        #expect(place(of: "didFetch A", in: log) == ["records +A/1", "didFetch A", "stateUpdate"])
        let will = try first(harness) {
            if case .willFetchRecordZoneChanges(let event) = $0 { event.zoneID } else { nil }
        }
        let did = try first(harness) { if case .didFetchRecordZoneChanges(let event) = $0 { event } else { nil } }
        #expect(will == zone("A") && did.zoneID == zone("A") && did.error == nil)
        let failing = filled()
        failing.respond = { $0.isZone ? .failure(CKError(.permissionFailure, message: "no")) : nil }
        failing.fetch()
        failing.run()
        let failed = try first(failing) { if case .didFetchRecordZoneChanges(let event) = $0 { event } else { nil } }
        #expect(failed.error?.code == .permissionFailure && failed.error?.localizedDescription == "no")
    }

    @Test func `R-543: fetchedRecordZoneChanges carries whole records, and of deleted ones ID and type`() throws {
        let harness = filled()
        harness.server.save("2", in: zone("A"), value: "y")
        harness.fetch()
        harness.run()
        harness.log = []
        let count = harness.events.count
        harness.server.save("1", in: zone("A"), value: "z")
        harness.server.delete("2", in: zone("A"))
        harness.fetch()
        #expect(place(of: "records", in: harness.take()) == ["willFetch A", "records +A/1 -A/2", "didFetch A"])
        let event = try #require(
            harness.events.dropFirst(count).lazy.compactMap { event in
                if case .fetchedRecordZoneChanges(let changes) = event { changes } else { nil }
            }.first)
        let record = try #require(event.modifications.first?.record)
        #expect(record.recordID == recordID("A/1") && record.recordType == "Note" && record["value"] == "z")
        #expect(record.recordChangeTag != nil && record.changedKeys() == [])
        #expect(event.deletions.map(\.recordID) == [recordID("A/2")] && event.deletions.map(\.recordType) == ["Note"])
    }

    @Test func `R-555: a share arrives as a modification and as a deletion, like any record`() throws {
        let harness = filled()
        let share = CKRecord(
            recordID: CKRecord.ID(recordName: "cloudkit.zoneshare", zoneID: zone("A")),
            recordType: CKRecord.SystemType.share, fields: .init(),
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        harness.respond = { request in
            guard case .zoneChanges(_, let token, _, _) = request else { return nil }
            var page = SyncEngineZonePage(
                modifications: [.init(record: share)], deletions: [], token: .of("z1.1"), moreComing: false)
            if token != nil {
                page.modifications = []
                page.deletions = [.init(recordID: share.recordID, recordType: share.recordType)]
                page.token = .of("z1.2")
            }
            return .success(.zonePage(page))
        }
        harness.fetch()
        #expect(harness.take().contains("records +A/cloudkit.zoneshare"))
        let event = try first(harness) { if case .fetchedRecordZoneChanges(let event) = $0 { event } else { nil } }
        #expect(event.modifications.first?.record.recordType == "cloudkit.share")
        harness.server.save("9", in: zone("A"), value: "x")
        harness.fetch()
        #expect(harness.take().contains("records -A/cloudkit.zoneshare"))
    }

    @Test func `R-570, R-575: willSendChanges and didSendChanges carry the context of the call`() throws {
        let harness = filled()
        harness.add("A/2")
        let group = CKOperationGroup()
        harness.send(.init(scope: .recordIDs([recordID("A/2")]), operationGroup: group))
        let log = harness.take()
        #expect(log.first == "willSend(manual)" && log.suffix(2) == ["didSend", "call 1 ok"])
        let will = try first(harness) { if case .willSendChanges(let event) = $0 { event.context } else { nil } }
        let did = try first(harness) { if case .didSendChanges(let event) = $0 { event.context } else { nil } }
        for context in [will, did] {
            #expect(context.reason == .manual && context.options.scope == .recordIDs([recordID("A/2")]))
            #expect(context.options.operationGroup.operationGroupID == group.operationGroupID)
        }
    }

    @Test func `R-572: sentDatabaseChanges carries the server's zones, and what failed as it was sent`() throws {
        let harness = filled()
        harness.addZones("B", "C", "-A", "-D")
        let refused = CKRecordZone(zoneName: "C")
        harness.respond = { request in
            guard request.isZones else { return nil }
            return .success(
                .zoneResults(
                    .init(
                        saves: [
                            zone("B"): .success(CKRecordZone(zoneID: zone("B"), capabilities: [.atomic])),
                            zone("C"): .failure(CKError(.quotaExceeded)),
                        ], deletes: [zone("A"): .success(()), zone("D"): .failure(CKError(.permissionFailure))])))
        }
        harness.send()
        #expect(
            place(of: "sentZones", in: harness.take()) == [
                "willSend(manual)", "sentZones +B !+C:quotaExceeded -A !-D:permissionFailure", "stateUpdate",
            ])
        let event = try first(harness) { if case .sentDatabaseChanges(let event) = $0 { event } else { nil } }
        #expect(event.savedZones.map(\.zoneID) == [zone("B")] && event.savedZones.first?.capabilities == [.atomic])
        #expect(event.failedZoneSaves.map(\.zone.zoneID) == [refused.zoneID])
        #expect(event.failedZoneSaves.first?.error.code == .quotaExceeded)
        #expect(event.deletedZoneIDs == [zone("A")])
        #expect(event.failedZoneDeletes.mapValues(\.code) == [zone("D"): .permissionFailure])
    }

    @Test
    func `R-572: sentRecordZoneChanges carries new tags, and what failed as it was sent with the server's record`()
        throws
    {
        let harness = filled()
        harness.server.save("4", in: zone("A"), value: "x")
        harness.add("A/1", "A/2", "-A/4", "-B/5", value: "mine")
        harness.send()
        #expect(
            place(of: "sent", in: harness.take()) == [
                "willSend(manual)", "sent +A/2 !+A/1:serverRecordChanged -A/4 !-B/5:zoneNotFound", "stateUpdate",
            ])
        let event = try first(harness) { if case .sentRecordZoneChanges(let event) = $0 { event } else { nil } }
        let saved = try #require(event.savedRecords.first)
        #expect(saved.recordID == recordID("A/2") && saved["value"] == "mine" && saved.recordChangeTag != nil)
        let failed = try #require(event.failedRecordSaves.first)
        #expect(failed.record.recordID == recordID("A/1") && failed.record["value"] == "mine")
        #expect(failed.record.changedKeys() == ["value"])
        #expect(failed.error.serverRecord?["value"] == "x" && failed.error.clientRecord?["value"] == "mine")
        #expect(event.deletedRecordIDs == [recordID("A/4")])
        #expect(event.failedRecordDeletes.mapValues(\.code) == [recordID("B/5"): .zoneNotFound])
    }

    @Test func `R-502: every event describes itself by its name, without what is in records`() {
        let harness = filled()
        harness.server.save("1", in: zone("A"), value: "secret value")
        harness.addZones("B")
        harness.add("A/2", value: "secret value")
        harness.fetch()
        harness.send()
        harness.run()
        let names = Set(harness.events.map { $0.description.prefix { $0 != "(" } })
        #expect(
            names.isSuperset(of: [
                "StateUpdate", "WillFetchChanges", "FetchedDatabaseChanges", "WillFetchRecordZoneChanges",
                "FetchedRecordZoneChanges", "DidFetchRecordZoneChanges", "DidFetchChanges", "WillSendChanges",
                "SentDatabaseChanges", "SentRecordZoneChanges", "DidSendChanges",
            ]))
        #expect(!harness.events.contains { $0.description.contains("secret") })
    }
}
