// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct SyncEngineMachineStateTests {
    @Test func `R-510, R-511: pending changes are ordered, once each, the newest of a record wins`() {
        let cases: [(added: [String], expected: [String])] = [
            (["A/1", "A/2", "A/1"], ["A/1", "A/2"]),
            (["A/1", "A/2", "-A/1"], ["A/2", "-A/1"]),
            (["-A/1", "A/2", "A/1"], ["A/2", "A/1"]),
            (["A/1", "B/1"], ["A/1", "B/1"]),
            (["A/1", "-A/1", "A/1"], ["A/1"]),
        ]
        for (added, expected) in cases {
            let harness = MachineHarness.started()
            for text in added { harness.add(text) }
            #expect(harness.pending == expected)
        }
    }

    @Test func `R-512: changes of zones replace each other by zone ID`() {
        let harness = MachineHarness.started()
        harness.addZones("A", "B", "-A", "B", "C", "-C", "C")
        #expect(harness.machine.snapshot.pendingZones.elements.map(\.text) == ["B", "-A", "C"])
        #expect(zoneChange("A") == .saveZone(CKRecordZone(zoneID: zone("A"))))
        #expect(zoneChange("A") != zoneChange("-A"))
        #expect(Set([zoneChange("A"), zoneChange("A"), zoneChange("-A")]).count == 2)
    }

    @Test func `R-513: only exactly equal changes are removed`() {
        let harness = MachineHarness.started()
        harness.add("A/1", "-A/2")
        harness.machine.remove([change("-A/1"), change("A/2"), change("A/3")], at: harness.moment)
        #expect(harness.pending == ["A/1", "-A/2"])
        harness.machine.remove([change("-A/2")], at: harness.moment)
        #expect(harness.pending == ["A/1"])
        harness.addZones("A", "-B")
        harness.machine.remove([zoneChange("B"), zoneChange("A")], at: harness.moment)
        #expect(harness.machine.snapshot.pendingZones.elements.map(\.text) == ["-B"])
    }

    @Test func `R-510: a long list with many removals keeps its order`() {
        var list = KeyedList<CKSyncEngine.PendingRecordZoneChange>()
        var expected: [String] = []
        for number in 0..<2_000 {
            list.add(change("A/\(number)"))
            expected.append("A/\(number)")
            if number % 3 > 0 {
                list.remove(key: recordID("A/\(number / 2)"))
                expected.removeAll { $0 == "A/\(number / 2)" }
            }
        }
        #expect(list.elements.map(\.text) == expected)
        #expect(list.count == expected.count)
    }

    @Test func `R-600, R-601: a change is told 100 ms after the last one`() {
        let harness = MachineHarness.started()
        harness.add("A/1")
        harness.advance(by: .milliseconds(60))
        harness.add("A/2")
        harness.advance(by: .milliseconds(99))
        #expect(harness.log == [])
        harness.advance(by: .milliseconds(1))
        #expect(harness.log == ["stateUpdate"])
        #expect(harness.lastSerialization?.snapshot.pendingRecords.count == 2)
    }

    @Test func `R-601: changes that do not stop are told once a second all the same`() {
        let harness = MachineHarness.started()
        for number in 0..<60 {
            harness.add("A/\(number)")
            harness.advance(by: .milliseconds(50))
        }
        #expect(harness.log == ["stateUpdate", "stateUpdate", "stateUpdate"])
    }

    @Test func `R-601: a change is told while a request is under way`() {
        let harness = MachineHarness.started()
        harness.holds = { $0.isFeed }
        harness.fetch()
        harness.run()
        harness.add("A/1")
        harness.advance(by: .milliseconds(100))
        #expect(harness.log.last == "stateUpdate")
        harness.release()
        #expect(harness.log.last == "call 1 ok")
    }

    @Test(arguments: [1, 3, 1_000])
    func `R-601: what the handler of a state update changes is told before the end as well, though not for ever`(
        changeCount: Int
    ) {
        for isFetch in [true, false] {
            let harness = MachineHarness.started()
            harness.server.save(zone: zone("A"))
            harness.batch = { _ in nil }
            var count = 0
            harness.onEvent = { event in
                guard case .stateUpdate = event, count < changeCount else { return }
                count += 1
                harness.machine.add([change("A/\(count)")], isInCallback: true, at: harness.moment)
            }
            harness.add("A/0")
            if isFetch { harness.fetch() } else { harness.send() }
            let log = harness.take()
            let end = isFetch ? "didFetch" : "didSend"
            let updates = log.prefix { $0 != end }.filter { $0 == "stateUpdate" }.count
            #expect(updates == min(changeCount + 1, SyncEngineLimits.lastStateUpdatesMax))
            #expect(log.filter { $0 == end }.count == 1 && log.last == "call 1 ok")
            if changeCount < SyncEngineLimits.lastStateUpdatesMax {
                #expect(harness.lastSerialization?.snapshot.pendingRecords.count == changeCount + 1)
                #expect(log.suffix(2) == [end, "call 1 ok"])
            }
        }
    }

    @Test func `R-604: nothing is told when nothing changed`() {
        let harness = MachineHarness.started()
        harness.add("A/1")
        harness.advance(by: .seconds(1))
        harness.log = []
        harness.add("A/1")
        harness.machine.remove([change("A/2")], at: harness.moment)
        harness.machine.setUntrackedChanges(false, at: harness.moment)
        harness.fetch()
        harness.run()
        harness.log = []
        harness.fetch()
        harness.advance(by: .seconds(1))
        #expect(!harness.log.contains("stateUpdate"))
    }

    @Test func `R-516, R-517: in-flight changes are in the state, and pending when an engine starts from it`() {
        let harness = MachineHarness.started()
        harness.add("A/1", "A/2")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.run()
        harness.add("-A/2", "A/3")
        harness.advance(by: .milliseconds(100))
        let state = harness.lastSerialization?.snapshot
        #expect(state?.inFlightRecords.map(\.text) == ["A/1", "A/2"])
        let next = state.map { MachineHarness(snapshot: $0) }
        #expect(next?.pending == ["A/1", "-A/2", "A/3"])
        #expect(next?.inFlight == [])
    }

    @Test func `R-602: no state that is told holds a token of changes that were not told before`() {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        for number in 0..<20 { harness.server.save("\(number)", in: zone("A"), value: "x") }
        harness.server.zonePageSize = 3
        // State updates between the pages.
        harness.options = { context in
            harness.add("A/\(harness.pending.count)")
            harness.now += .seconds(1)
            return context.options
        }
        harness.fetch()
        harness.run()
        var told = 0
        var updateCount = 0
        for event in harness.events {
            if case .fetchedRecordZoneChanges(let changes) = event {
                told = changes.modifications.last.map(\.record.tagNumber) ?? told
            }
            if case .stateUpdate(let update) = event {
                updateCount += 1
                #expect((update.stateSerialization.snapshot.zoneTokens[zone("A")]?.number ?? 0) <= told)
            }
        }
        #expect(updateCount > 3)
    }
}

extension CKRecord {
    fileprivate var tagNumber: Int {
        changeTag.map { CKServerChangeToken(bytes: $0).number } ?? 0
    }
}
