// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkKit

/// what the delegate passes over is asked for again.
@Suite struct SyncEngineMachineAskingTests {
    /// How often the delegate is asked for a batch meanwhile.
    private func questions(_ harness: MachineHarness, _ work: () -> Void) -> Int {
        harness.log = []
        work()
        return harness.log.count { $0 == "ask batch" }
    }

    @Test func `R-580, R-588: what the provider passes over is asked for again, after seconds first, then minutes`() {
        let harness = MachineHarness.idle()
        var times: [Duration] = []
        harness.batch = { _ in
            times.append(harness.now)
            return nil
        }
        harness.add("A/1")
        harness.advance(by: .seconds(60))
        let waits = zip(times.dropFirst(), times).map { ($0 - $1) / .seconds(1) }
        #expect(waits.prefix(6) == [1, 2, 4, 8, 16])
        // An app that never sends it: a dozen questions an hour.
        harness.advance(by: .seconds(1_800))
        let perHour = questions(harness) { harness.advance(by: .seconds(3_600)) }
        #expect((10...20).contains(perHour), "\(perHour)")
        harness.batch = nil
        harness.advance(by: SyncEngineLimits.backoffMax)
        #expect(harness.pending == [] && harness.server.contents["A/1"] == "v")
        #expect(questions(harness) { harness.advance(by: .seconds(600)) } == 0)
    }

    @Test func `R-580: an addition, a push, a reconnect and a fetch of any kind bring the question at once`() {
        let triggers: [(String, (MachineHarness) -> Void)] = [
            ("addition", { $0.add("A/1") }),
            ("another addition", { $0.machine.add([change("A/2")], isInCallback: false, at: $0.moment) }),
            ("push", { $0.machine.pushReceived([], at: $0.moment) }),
            (
                "reconnect",
                {
                    $0.machine.connectivityChanged(isOnline: false, at: $0.moment)
                    $0.machine.connectivityChanged(isOnline: true, at: $0.moment)
                }
            ),
            ("fetch", { $0.fetch() }),
            ("send", { $0.send() }),
        ]
        for (name, trigger) in triggers {
            let harness = MachineHarness.idle()
            harness.batch = { _ in nil }
            harness.add("A/1")
            harness.advance(by: .seconds(800))
            let count = questions(harness) {
                trigger(harness)
                harness.advance(by: .milliseconds(200))
            }
            #expect(count == 1, "\(name)")
        }
    }

    @Test func `R-580: a change that is passed over for the first time is asked for after a second again`() {
        let harness = MachineHarness.idle()
        var times: [Duration] = []
        harness.batch = { _ in
            times.append(harness.now)
            return nil
        }
        harness.add("A/1")
        harness.advance(by: .seconds(1_800))
        times = []
        harness.add("A/2")
        harness.advance(by: .seconds(20))
        #expect(zip(times.dropFirst(), times).map { ($0 - $1) / .seconds(1) } == [1, 2, 4, 8])
    }

    @Test func `R-580: a send by hand that is cancelled leaves the question planned`() {
        let harness = MachineHarness.idle()
        harness.batch = { _ in nil }
        harness.add("A/1")
        harness.advance(by: .seconds(100))
        harness.batch = nil
        harness.holds = { $0.isRecords }
        let call = harness.send()
        harness.run()
        harness.holds = { _ in false }
        harness.cancelCaller(call)
        harness.release(.error(.operationCancelled))
        harness.advance(by: .seconds(2))
        #expect(harness.pending == [] && harness.server.contents["A/1"] == "v")
    }

    @Test func `R-520, R-580: an app that passes over what is pending is asked for what it does not list, too`() {
        let harness = MachineHarness.idle()
        harness.batch = { _ in nil }
        harness.add("A/1")
        harness.machine.setUntrackedChanges(true, at: harness.moment)
        harness.advance(by: .seconds(10))
        #expect(harness.machine.snapshot.hasUntrackedChanges)
        harness.batch = nil
        harness.advance(by: .seconds(20))
        #expect(!harness.machine.snapshot.hasUntrackedChanges && harness.pending == [])
    }

    @Test func `R-570, R-589: zones that are added while the delegate is asked go in the same pass`() {
        let harness = MachineHarness.started()
        harness.batch = { _ in
            harness.batch = nil
            harness.addZones("B")
            return nil
        }
        harness.send()
        #expect(
            harness.take() == [
                "willSend(manual)", "ask batch", "→ zones +B", "sentZones +B", "ask batch", "stateUpdate", "didSend",
                "call 1 ok",
            ])
        #expect(harness.machine.snapshot.pendingZones.isEmpty)
    }
}
