// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct SyncEngineMachineSendingScopeTests {
    @Test func `R-575: a scope names what is sent`() {
        let cases: [(CKSyncEngine.SendChangesOptions.Scope, [String])] = [
            (.all, ["A/1", "A/2", "B/3"]),
            (.allExcluding([zone("A")]), ["B/3"]),
            (.zoneIDs([zone("A")]), ["A/1", "A/2"]),
            (.recordIDs([recordID("A/2"), recordID("A/9")]), ["A/2"]),
        ]
        for (scope, expected) in cases {
            let harness = MachineHarness.started(zones: "A", "B")
            harness.add("A/1", "A/2", "B/3")
            harness.send(.init(scope: scope))
            harness.run()
            #expect(harness.server.contents.keys.sorted() == expected, "\(scope)")
            #expect(Set(harness.pending) == Set(["A/1", "A/2", "B/3"]).subtracting(expected), "\(scope)")
        }
    }

    @Test func `R-576: changes of zones follow the scope; recordIDs sends saves only`() {
        let cases: [(CKSyncEngine.SendChangesOptions.Scope, String?)] = [
            (.all, "→ zones +C +D -E"),
            (.allExcluding([zone("C")]), "→ zones +D -E"),
            (.zoneIDs([zone("D"), zone("E")]), "→ zones +D -E"),
            (.recordIDs([recordID("C/1"), recordID("E/1")]), "→ zones +C"),
            (.recordIDs([recordID("A/1")]), nil),
        ]
        for (scope, expected) in cases {
            let harness = MachineHarness.started(zones: "A", "B")
            harness.addZones("C", "D", "-E")
            harness.send(.init(scope: scope))
            #expect(harness.take().first { $0.hasPrefix("→ zones") } == expected, "\(scope)")
        }
    }

    @Test func `R-577: a batch with anything outside the scope is not sent, and stays pending`() {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.add("A/1", "B/2")
        harness.batch = { _ in .init(recordsToSave: [harness.record("A/1"), harness.record("B/2")]) }
        harness.send(.init(scope: .zoneIDs([zone("A")])))
        #expect(
            harness.take() == ["willSend(manual)", "ask batch", "stateUpdate", "didSend", "call 1 invalidArguments"])
        #expect(harness.pending == ["A/1", "B/2"])
    }

    @Test func `R-578: a batch over the limit fails as a whole with limitExceeded`() {
        let harness = MachineHarness.started(zones: "A", "B")
        let records = (0...250).map { CKRecord(recordType: "Note", recordID: recordID("A/\($0)")) }
        harness.machine.add(
            records.map { .saveRecord($0.recordID) }, isInCallback: false, at: harness.moment)
        harness.batch = { _ in .init(recordsToSave: records) }
        harness.send()
        let log = harness.take()
        #expect(!log.contains { $0.hasPrefix("→ records") })
        #expect(log.contains { $0.hasPrefix("sent !+A/0:limitExceeded") })
        #expect(log.last == "call 1 limitExceeded")
        #expect(harness.pending == [])
        let failures = harness.events.compactMap { event in
            if case .sentRecordZoneChanges(let sent) = event { sent.failedRecordSaves } else { nil }
        }
        #expect(failures.count == 1 && failures[0].count == 251)
        #expect(failures[0].allSatisfy { $0.error.code == .limitExceeded })
    }

    @Test func `R-578, R-156: saves and deletes count together, and 250 are not too many`() {
        for deleteCount in [125, 126] {
            let harness = MachineHarness.started(zones: "A", "B")
            var isAsked = false
            harness.batch = { _ in
                defer { isAsked = true }
                let saves = (0..<125).map { harness.record("A/\($0)") }
                let deletes = (0..<deleteCount).map { recordID("A/gone\($0)") }
                return isAsked ? nil : .init(recordsToSave: saves, recordIDsToDelete: deletes)
            }
            let call = harness.send()
            let log = harness.take()
            let isTooMany = 125 + deleteCount > SyncEngineLimits.batchItemsMax
            #expect(log.contains { $0.hasPrefix("→ records") } == !isTooMany)
            #expect(harness.error(of: call)?.code == (isTooMany ? .limitExceeded : nil))
        }
    }

    @Test func `R-591, R-116: two changes of one record in a batch are invalid`() {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.batch = { _ in
            .init(recordsToSave: [harness.record("A/1")], recordIDsToDelete: [recordID("A/1")])
        }
        harness.send()
        #expect(harness.take().contains("sent !+A/1:invalidArguments !-A/1:invalidArguments"))
        #expect(harness.server.contents.isEmpty)
    }

    @Test func `R-521: a batch may hold what was never pending; a retried failure makes it pending`() {
        let harness = MachineHarness.started(zones: "A", "B")
        var answers = 0
        harness.batch = { _ in
            answers += 1
            return answers == 1 ? .init(recordsToSave: [harness.record("A/1")]) : nil
        }
        harness.respond = { $0.isRecords ? .error(.networkFailure) : nil }
        harness.send()
        harness.run()
        #expect(harness.pending == ["A/1"])
    }

    @Test func `R-520: the untracked flag falls when the delegate had nothing left and nothing failed`() {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.machine.setUntrackedChanges(true, at: harness.moment)
        harness.respond = { $0.isRecords ? .error(.networkFailure) : nil }
        harness.batch = { _ in .init(recordsToSave: [harness.record("A/1")]) }
        harness.send()
        harness.run()
        #expect(harness.machine.snapshot.hasUntrackedChanges)
        harness.respond = { _ in nil }
        harness.batch = { _ in nil }
        harness.send(.init(scope: .zoneIDs([zone("A")])))
        harness.run()
        #expect(harness.machine.snapshot.hasUntrackedChanges, "only a part was asked for")
        harness.send()
        harness.run()
        #expect(harness.machine.snapshot.hasUntrackedChanges, "what is pending was passed over")
        harness.batch = nil
        harness.send()
        harness.run()
        #expect(!harness.machine.snapshot.hasUntrackedChanges)
    }

    @Test func `R-581: an empty batch is like nil`() {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.add("A/1")
        harness.batch = { _ in .init() }
        harness.send()
        #expect(harness.take() == ["willSend(manual)", "ask batch", "stateUpdate", "didSend", "call 1 ok"])
    }

    @Test func `R-582: a batch is atomic by zone if it says so`() {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.add("A/1")
        var answers = 0
        harness.batch = { _ in
            answers += 1
            return answers == 1 ? .init(recordsToSave: [harness.record("A/1")], atomicByZone: true) : nil
        }
        harness.send()
        #expect(harness.take().contains("→ records A/1 atomic"))
    }

    @Test func `R-590: changing a record after it was handed over has no effect`() {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.add("A/1", value: "then")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.run()
        harness.record("A/1")["value"] = "later"
        harness.holds = { _ in false }
        harness.release()
        #expect(harness.server.contents == ["A/1": "then"])
    }

    @Test func `R-522: a zone that this engine deletes is no longer unfetched`() {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.fetch(.init(scope: .zoneIDs([zone("B")])))
        harness.run()
        #expect(harness.unfetched == ["A"])
        harness.addZones("-A")
        harness.send()
        harness.run()
        #expect(harness.unfetched == [])
    }

    @Test func `R-523: pending changes of a zone that was deleted on the server are left alone`() {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.fetch()
        harness.run()
        harness.add("A/1")
        harness.server.delete(zone: zone("A"))
        harness.fetch()
        #expect(harness.take().contains("zones -A"))
        #expect(harness.pending == ["A/1"])
    }

    @Test func `R-535: which scope covers which`() {
        typealias Scope = CKSyncEngine.SendChangesOptions.Scope
        let (a, b) = (zone("A"), zone("B"))
        let cases: [(Scope, Scope, Bool)] = [
            (.all, .all, true), (.all, .recordIDs([recordID("A/1")]), true),
            (.zoneIDs([a]), .all, false), (.zoneIDs([a, b]), .zoneIDs([b]), true),
            (.zoneIDs([a]), .recordIDs([recordID("A/1")]), true), (.zoneIDs([a]), .recordIDs([recordID("B/1")]), false),
            (.allExcluding([]), .all, true), (.allExcluding([a]), .all, false),
            (.allExcluding([a]), .allExcluding([a, b]), true), (.allExcluding([a, b]), .allExcluding([a]), false),
            (.allExcluding([a]), .zoneIDs([b]), true), (.allExcluding([a]), .zoneIDs([a]), false),
            (.recordIDs([recordID("A/1")]), .recordIDs([recordID("A/1")]), true),
            (.recordIDs([recordID("A/1")]), .zoneIDs([a]), false),
        ]
        for (scope, other, expected) in cases {
            #expect(scope.covers(other) == expected, "\(scope) covers \(other)")
        }
    }
}
