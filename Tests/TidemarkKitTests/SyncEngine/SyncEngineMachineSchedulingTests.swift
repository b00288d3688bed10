// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkWire

@testable import TidemarkKit

@Suite struct SyncEngineMachineSchedulingTests {
    @Test func `R-505: without automatic sync nothing happens by itself`() {
        let harness = MachineHarness.started()
        harness.add("A/1")
        harness.machine.pushReceived([zone("A")], at: harness.moment)
        harness.machine.connectivityChanged(isOnline: false, at: harness.moment)
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        harness.advance(by: .seconds(7200))
        #expect(harness.log == ["stateUpdate"])
    }

    @Test func `R-532: nothing happens in the first moment, unless the app calls`() {
        let harness = MachineHarness(automatic: true)
        harness.run()
        #expect(harness.log == [] && harness.nextDue == SyncEngineLimits.startDelay)
        harness.add("A/1")
        harness.run()
        #expect(harness.log.first == "→ user")
    }

    @Test func `R-506, R-526: a start with a state fetches once, then sends what was pending and in flight`() {
        var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        snapshot.user = user("alice")
        snapshot.subscriptionID = "known"
        snapshot.pendingRecords.add(change("A/2"))
        snapshot.inFlightRecords = [change("A/1")]
        let harness = MachineHarness(snapshot: snapshot, automatic: true)
        harness.server.save(zone: zone("A"))
        harness.record("A/1")
        harness.record("A/2")
        harness.advance(by: .milliseconds(20))
        #expect(
            harness.log == [
                "→ user", "willFetch(scheduled)", "ask options", "→ feed(nil)", "zones +A", "ask options",
                "willFetch A", "→ A(nil)", "didFetch A", "stateUpdate", "didFetch",
                "willSend(scheduled)", "ask batch", "→ records A/1 A/2", "sent +A/1 +A/2", "ask batch", "stateUpdate",
                "didSend",
            ])
    }

    @Test func `R-508, R-514: the first change after idle is sent at once, further ones a moment later`() {
        let harness = MachineHarness.idle()
        harness.add("A/1")
        let start = harness.now
        harness.run()
        #expect(harness.server.contents.keys.sorted() == ["A/1"])
        harness.add("A/2")
        harness.run()
        #expect(harness.server.contents.keys.sorted() == ["A/1"])
        #expect(harness.machine.schedule.sendDue == start + SyncEngineLimits.sendInterval)
        harness.add("A/3")
        harness.advance(by: SyncEngineLimits.sendInterval)
        #expect(harness.log.filter { $0.hasPrefix("→ records") } == ["→ records A/1", "→ records A/2 A/3"])
    }

    @Test func `R-514, R-589: a zone that is added again after its pass has sent it goes in the next pass`() {
        let harness = MachineHarness.idle()
        harness.addZones("B")
        harness.onEvent = { event in
            guard case .sentDatabaseChanges = event else { return }
            harness.onEvent = { _ in }
            harness.addZones("B")
        }
        harness.advance(by: .seconds(1))
        #expect(harness.log.filter { $0.hasPrefix("→ zones") } == ["→ zones +B", "→ zones +B"])
        #expect(harness.machine.snapshot.pendingZones.isEmpty)
    }

    @Test func `R-508, R-522: a push fetches at once`() {
        let harness = MachineHarness.idle()
        harness.server.save("1", in: zone("A"), value: "x")
        harness.machine.pushReceived([zone("A")], at: harness.moment)
        #expect(harness.unfetched == ["A"])
        #expect(
            harness.take().filter { !$0.hasPrefix("ask") } == [
                "willFetch(scheduled)", "→ feed(d2)", "zones +A", "willFetch A", "→ A(z1.0)", "records +A/1",
                "didFetch A", "stateUpdate", "didFetch",
            ])
    }

    @Test func `R-522: what a push names before there is a list of zones is left to the list`() {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.run()
        harness.machine.pushReceived([zone("A"), zone("gone")], at: harness.moment)
        #expect(harness.unfetched == [])
        harness.advance(by: .seconds(1))
        #expect(harness.machine.snapshot.zoneTokens.keys.map(\.zoneName) == ["A"])
        #expect(!harness.log.contains { $0.contains("gone") }, "\(harness.log)")
    }

    @Test func `R-508: without pushes a fetch runs every 15 minutes, about`() {
        let harness = MachineHarness.idle()
        harness.advance(by: .seconds(3600 * 5 + 60))
        #expect(harness.log.filter { $0 == "willFetch(scheduled)" }.count == 20)
    }

    @Test func `R-536: fetch goes before send when both are due, a call before both`() {
        let harness = MachineHarness.idle()
        harness.machine.connectivityChanged(isOnline: false, at: harness.moment)
        harness.add("A/1")
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        harness.send(.init(scope: .zoneIDs([zone("B")])))
        #expect(
            harness.take().filter { $0.hasPrefix("will") } == [
                "willSend(manual)", "willFetch(scheduled)", "willSend(scheduled)",
            ])
    }

    @Test func `R-508: nothing is scheduled while offline; back online the engine fetches and sends`() {
        let harness = MachineHarness.idle()
        harness.machine.connectivityChanged(isOnline: false, at: harness.moment)
        harness.add("A/1")
        harness.machine.pushReceived([], at: harness.moment)
        harness.advance(by: .seconds(3600))
        #expect(harness.log == ["stateUpdate"])
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        #expect(harness.take().filter { $0.hasPrefix("will") } == ["willFetch(scheduled)", "willSend(scheduled)"])
    }

    @Test func `R-507: the subscription is looked for once, before the first fetch, and kept in the state`() {
        let harness = MachineHarness(automatic: true)
        harness.advance(by: .seconds(1))
        #expect(harness.log.filter { $0.hasPrefix("→") }.prefix(3) == ["→ user", "→ subscription(any)", "→ feed(nil)"])
        #expect(harness.lastSerialization?.snapshot.subscriptionID == "found")
        let next = MachineHarness(snapshot: harness.machine.snapshot, automatic: true)
        next.advance(by: .seconds(1))
        #expect(!next.log.contains { $0.hasPrefix("→ subscription") })
        let named = MachineHarness(snapshot: harness.machine.snapshot, automatic: true, subscriptionID: "mine")
        named.advance(by: .seconds(1))
        #expect(named.log.contains("→ subscription(mine)"))
    }

    @Test(arguments: [CKError.Code.networkFailure, .internalError])
    func `R-507, R-553: a subscription that fails is tried again, the fetch does not wait for it`(code: CKError.Code) {
        let harness = MachineHarness(automatic: true)
        harness.respond = { request in
            if case .ensureSubscription = request { .error(code) } else { nil }
        }
        harness.advance(by: .seconds(8))
        #expect(harness.log.filter { $0.hasPrefix("→ subscription") }.count == 4)
        #expect(harness.log.contains("didFetch"))
    }

    @Test func `R-507, R-552: a server that does not know the database token is asked for the subscription again`() {
        let harness = MachineHarness.idle()
        harness.respond = { request in
            if case .databaseChanges(.some, _, _, _) = request { return .error(.changeTokenExpired) }
            return nil
        }
        harness.machine.pushReceived([], at: harness.moment)
        #expect(harness.take().contains("→ subscription(any)"))
        #expect(harness.machine.snapshot.subscriptionID == "found")
    }

    @Test(arguments: [nil, "mine"])
    func `R-507: a subscription that is gone at the server is looked for again, at once and once`(wanted: String?) {
        let first = MachineHarness(automatic: true, subscriptionID: wanted)
        first.advance(by: .seconds(1))
        let harness = MachineHarness(snapshot: first.machine.snapshot, automatic: true, subscriptionID: wanted)
        harness.advance(by: .seconds(1))
        let id = wanted ?? "found"
        #expect(harness.machine.snapshot.subscriptionID == id)
        // The answer may come late: of one that has been found meanwhile it says nothing.
        for (missing, count) in [("other", 0), (id, 1)] {
            harness.log = []
            var isMissing = true
            harness.respond = { request in
                guard request.isFeed, isMissing, case .success(.databasePage(var page)) = harness.server.answer(request)
                else { return nil }
                isMissing = false
                page.missingSubscriptionID = missing
                return .success(.databasePage(page))
            }
            harness.advance(by: .seconds(1_000))
            #expect(harness.log.count { $0 == "→ subscription(\(wanted ?? "any"))" } == count, "\(missing)")
            #expect(harness.machine.snapshot.subscriptionID == id)
        }
    }

    @Test(arguments: [CKError.Code.networkFailure, .internalError, .permissionFailure], [true, false])
    func `R-375, R-553: without retry-after a failed fetch comes again after 1, 2, 4, 8 … s, at most 300`(
        code: CKError.Code, isFeed: Bool
    ) {
        let harness = MachineHarness.idle()
        harness.server.save(zone: zone("B"))
        var times: [Duration] = []
        harness.respond = { request in
            guard isFeed ? request.isFeed : request.isZone else { return nil }
            times.append(harness.now)
            return .error(code)
        }
        harness.machine.pushReceived([], at: harness.moment)
        harness.advance(by: .seconds(1900))
        let waits = zip(times.dropFirst(), times).map { $0 - $1 }
        let expected: [Duration] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { .seconds($0) }
        #expect(Array(waits.prefix(expected.count)) == expected)
        // One that succeeds ends it.
        harness.respond = { _ in nil }
        harness.advance(by: .seconds(310))
        #expect(harness.unfetched == [])
        harness.log = []
        harness.advance(by: .seconds(9 * 60))
        #expect(!harness.log.contains { $0.hasPrefix("→") })
    }

    @Test(arguments: [CKError.Code.zoneNotFound, .userDeletedZone])
    func `R-551, R-553: a zone that is gone is not asked for again`(code: CKError.Code) {
        let harness = MachineHarness.idle()
        harness.server.save(zone: zone("B"))
        harness.respond = { $0.isZone ? .error(code) : nil }
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        harness.log = []
        harness.advance(by: .seconds(13 * 60))
        #expect(!harness.log.contains { $0.hasPrefix("→") })
    }

    @Test func `R-550, R-553: while a zone fails the others are read at once`() {
        let harness = MachineHarness.idle()
        harness.server.save(zone: zone("B"))
        harness.respond = { request in
            if case .zoneChanges(zone("B"), _, _, _) = request { .error(.internalError) } else { nil }
        }
        harness.machine.pushReceived([], at: harness.moment)
        harness.advance(by: .seconds(200))
        #expect(harness.unfetched == ["B"])
        harness.server.save(zone: zone("C"))
        harness.server.save("1", in: zone("C"), value: "v")
        harness.log = []
        harness.machine.pushReceived([], at: harness.moment)
        #expect(harness.take().contains("records +C/1"))
        #expect(harness.unfetched == ["B"])
    }

    @Test func `R-550, R-553: while a file of one zone does not come the others are read at once`() {
        let harness = MachineHarness.idle()
        harness.server.save(zone: zone("B"))
        harness.server.save("1", in: zone("B"), value: "v")
        harness.server.save("1", in: zone("A"), value: "v")
        harness.options = { context in
            var options = context.options
            options.prioritizedZoneIDs = [zone("A")]
            return options
        }
        let stalled = CKError(.networkFailure, userInfo: [CKError.stalledDownloadKey: true])
        harness.respond = { request in
            if case .zoneChanges(zone("A"), _, _, _) = request { .failure(stalled) } else { nil }
        }
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        #expect(harness.log.contains("records +B/1") && harness.unfetched == ["A"])
        harness.respond = { _ in nil }
        harness.log = []
        harness.advance(by: .seconds(2))
        #expect(harness.log.contains("records +A/1") && harness.unfetched == [])
    }

    @Test func `R-375: the wait is spread, and never above 5 minutes`() {
        var (low, high) = (SyncEngineBackoff(), SyncEngineBackoff())
        for _ in 0..<20 {
            let least = low.nextDelay(at: SyncEngineMoment(now: .zero, randomBits: 0))
            let most = high.nextDelay(at: SyncEngineMoment(now: .zero, randomBits: .max))
            #expect(least >= .milliseconds(750) && least < most || most == SyncEngineLimits.backoffMax)
            #expect(most <= SyncEngineLimits.backoffMax)
        }
    }

    @Test func `R-372, R-585: retry-after is kept`() {
        let harness = MachineHarness.idle()
        var times: [Duration] = []
        harness.add("A/1")
        harness.respond = { request in
            guard request.isRecords else { return nil }
            times.append(harness.now)
            return times.count == 1 ? .error(.zoneBusy, retryAfter: 10) : nil
        }
        harness.advance(by: .seconds(12))
        #expect(times.count == 2)
        #expect(times[1] - times[0] >= .seconds(10) && times[1] - times[0] < .seconds(11))
        #expect(harness.server.contents == ["A/1": "v"])
    }

    @Test func `R-374: a throttled engine schedules nothing until retry-after, whatever comes`() {
        let harness = MachineHarness.idle()
        harness.add("A/1")
        harness.respond = { $0.isRecords ? .error(.requestRateLimited, retryAfter: 60) : nil }
        harness.run()
        harness.respond = { _ in nil }
        harness.log = []
        harness.machine.pushReceived([], at: harness.moment)
        harness.add("A/2")
        harness.advance(by: .seconds(59))
        #expect(harness.log.filter { $0.hasPrefix("→") } == [])
        harness.advance(by: .seconds(8))
        #expect(harness.log.filter { $0.hasPrefix("will") } == ["willFetch(scheduled)", "willSend(scheduled)"])
    }

    @Test(arguments: [true, false])
    func `R-374, R-377: that a busy server takes the connection ends its retry-after, and no throttling`(isBusy: Bool) {
        let harness = MachineHarness.idle()
        harness.add("A/1")
        let refusal = ConnectionMachine.RequestFailure(
            code: .refused(.requestRateLimited), retryAfter: 3_600, isOfGreeting: isBusy)
        harness.respond = { $0.isRecords ? .failure(CKError(refusal)) : nil }
        harness.run()
        harness.respond = { _ in nil }
        harness.log = []
        harness.machine.pushReceived([], at: harness.moment)
        harness.advance(by: .seconds(60))
        #expect(harness.log.filter { $0.hasPrefix("→") } == [])
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        harness.advance(by: .seconds(1))
        let begun = harness.log.filter { $0.hasPrefix("will") }
        #expect(begun == (isBusy ? ["willFetch(scheduled)", "willSend(scheduled)"] : []))
        #expect(harness.server.contents == (isBusy ? ["A/1": "v"] : [:]))
    }

    @Test func `R-373: after a lost answer the engine fetches before it sends again`() {
        let harness = MachineHarness.idle()
        harness.add("A/1")
        harness.respond = { $0.isRecords ? .error(.serverResponseLost) : nil }
        harness.run()
        harness.respond = { $0.isFeed ? .error(.networkFailure) : nil }
        harness.log = []
        harness.advance(by: .milliseconds(2500))
        #expect(harness.log.filter { $0.hasPrefix("→") } == ["→ feed(d2)", "→ feed(d2)"], "no send before a fetch")
        harness.respond = { _ in nil }
        harness.advance(by: .seconds(10))
        #expect(harness.log.filter { $0.hasPrefix("→") }.suffix(2) == ["→ feed(d2)", "→ records A/1"])
    }

    @Test func `R-514: after a lost answer, and for who calls, the feed is asked for; else what was pushed will do`() {
        let harness = MachineHarness.idle()
        var asPushed: [Bool] = []
        harness.respond = { request in
            if case .databaseChanges(_, _, let isAsPushed, _) = request { asPushed.append(isAsPushed) }
            return nil
        }
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        harness.fetch()
        harness.run()
        #expect(asPushed == [true, false])
        let respond = harness.respond
        harness.add("A/1")
        harness.respond = { $0.isRecords ? .error(.serverResponseLost) : respond($0) }
        harness.run()
        harness.machine.pushReceived([], at: harness.moment)
        harness.respond = respond
        harness.advance(by: .seconds(60))
        #expect(asPushed == [true, false, false])
    }

    @Test func `R-514, R-610: after a lost answer and a cancellation a new change is sent, after a fetch`() {
        let harness = MachineHarness.idle()
        harness.add("A/1")
        harness.respond = { $0.isRecords ? .error(.serverResponseLost) : nil }
        harness.run()
        harness.cancelOperations()
        harness.respond = { _ in nil }
        harness.advance(by: .seconds(60))
        harness.log = []
        harness.add("A/2")
        harness.advance(by: .seconds(1))
        #expect(harness.log.filter { $0.hasPrefix("→") } == ["→ feed(d2)", "→ records A/1 A/2"])
    }

    @Test func `R-514: what waits for a fetch after a lost answer goes also if that fails for good`() {
        let harness = MachineHarness.idle()
        harness.add("A/1")
        harness.respond = { request in
            if request.isRecords { return .error(.serverResponseLost) }
            return request.isFeed ? .error(.permissionFailure) : nil
        }
        harness.run()
        harness.respond = { $0.isFeed ? .error(.permissionFailure) : nil }
        harness.log = []
        harness.advance(by: .milliseconds(1_500))
        #expect(harness.log.filter { $0.hasPrefix("→") } == ["→ feed(d2)", "→ records A/1"])
    }

    @Test func `R-514: removing plans no send, and what is removed is not asked for again`() {
        let harness = MachineHarness.idle()
        harness.batch = { _ in nil }
        harness.add("A/1", "A/2")
        // By now what the delegate passes over is asked for every few minutes (R-580).
        harness.advance(by: .seconds(400))
        harness.addZones("C")
        harness.machine.schedule.sendDue = nil
        let planned = harness.machine.schedule.plannedSend
        harness.log = []
        harness.machine.remove([change("A/1")], at: harness.moment)
        harness.machine.remove([zoneChange("C")], at: harness.moment)
        #expect(harness.machine.schedule.plannedSend == planned)
        harness.advance(by: .seconds(60))
        #expect(harness.log == ["stateUpdate"] && harness.pending == ["A/2"])
        harness.machine.remove([change("A/2")], at: harness.moment)
        harness.advance(by: .seconds(600))
        #expect(!harness.log.contains("ask batch") && harness.pending == [])
    }

    @Test func `R-375: what is refused shows that the server is there: a failure of the network begins anew`() {
        let harness = MachineHarness.idle()
        harness.respond = { $0.isRecords ? .error(.networkFailure) : nil }
        harness.add("A/1")
        harness.advance(by: .seconds(40))
        harness.respond = { $0.isRecords ? .error(.permissionFailure) : nil }
        harness.advance(by: .seconds(40))
        #expect(harness.pending == [])
        var times: [Duration] = []
        harness.respond = { request in
            guard request.isRecords else { return nil }
            times.append(harness.now)
            return .error(.networkFailure)
        }
        harness.add("A/2")
        harness.advance(by: .seconds(10))
        #expect(zip(times.dropFirst(), times).map { $0 - $1 }.prefix(3) == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test(arguments: [CKError.Code.networkFailure, .permissionFailure])
    func `R-585: a call for a part does not bring forward what the server wants to have later`(code: CKError.Code) {
        let harness = MachineHarness.idle()
        harness.server.save(zone: zone("B"))
        harness.add("A/1")
        harness.respond = { $0.isRecords ? .error(.zoneBusy, retryAfter: 60) : nil }
        harness.run()
        harness.add("B/2")
        harness.respond = { $0.isRecords ? .error(code) : nil }
        harness.send(.init(scope: .zoneIDs([zone("B")])))
        harness.run()
        harness.respond = { _ in nil }
        harness.log = []
        harness.advance(by: .seconds(59))
        #expect(!harness.log.contains { $0.hasPrefix("→ records") })
        harness.advance(by: .seconds(10))
        #expect(harness.server.contents["A/1"] == "v" && harness.pending == [])
    }

    @Test func `R-585, R-375: a call for everything that fails plans what is left anew`() {
        let harness = MachineHarness.idle()
        harness.add("A/1")
        harness.respond = { $0.isRecords ? .error(.zoneBusy, retryAfter: 60) : nil }
        harness.run()
        harness.respond = { $0.isRecords ? .error(.networkFailure) : nil }
        harness.send()
        harness.run()
        harness.respond = { _ in nil }
        harness.advance(by: .seconds(5))
        #expect(harness.pending == [])
    }

    @Test func `R-508: the periodic fetch comes after 13.5 to 16.5 minutes, at random`() {
        for (bits, expected) in [(UInt64(0), 810.0), (1 << 63, 900), (.max, 990)] {
            let harness = MachineHarness.idle()
            let moment = SyncEngineMoment(now: harness.now, randomBits: bits)
            harness.machine.schedulePeriodicFetch(at: moment)
            let wait = harness.machine.schedule.periodicFetchDue.map { ($0 - harness.now) / .seconds(1) }
            #expect(wait.map { abs($0 - expected) < 0.001 } == true, "\(bits)")
        }
    }

    @Test func `R-588: a scheduled send with nothing to send is none`() {
        let harness = MachineHarness.idle()
        harness.add("A/1")
        harness.machine.remove([change("A/1")], at: harness.moment)
        harness.advance(by: .seconds(1))
        #expect(harness.log == ["stateUpdate"])
    }

    @Test func `R-520: the untracked flag plans a send with nothing pending`() {
        let harness = MachineHarness.idle()
        harness.batch = { _ in nil }
        harness.machine.setUntrackedChanges(true, at: harness.moment)
        harness.advance(by: .seconds(1))
        #expect(harness.log == ["willSend(scheduled)", "ask batch", "stateUpdate", "didSend", "stateUpdate"])
        #expect(!harness.machine.snapshot.hasUntrackedChanges)
    }

    @Test func `R-584: after a failure for good the rest goes soon; the same item again and again goes slower`() {
        let harness = MachineHarness.idle()
        harness.server.save("1", in: zone("A"), value: "other")
        var times: [Duration] = []
        harness.onEvent = { event in
            guard case .sentRecordZoneChanges(let sent) = event, !sent.failedRecordSaves.isEmpty else { return }
            times.append(harness.now)
            // An app that does not merge.
            harness.machine.add([change("A/1")], isInCallback: true, at: harness.moment)
        }
        harness.add("A/1")
        harness.advance(by: .seconds(20))
        let waits = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(waits.prefix(5) == [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        harness.add("A/2")
        harness.advance(by: .milliseconds(100))
        #expect(harness.server.contents["A/2"] == "v", "another change does not wait for it")
    }

    @Test func `R-614: what fails in scheduled work is told in events, and to no call`() {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.respond = { request in
            if request.isRecords { return .error(.permissionFailure) }
            return request.isZone ? .error(.internalError) : nil
        }
        harness.add("A/1")
        harness.machine.pushReceived([zone("A")], at: harness.moment)
        harness.advance(by: .seconds(1))
        #expect(harness.log.contains("sent !+A/1:permissionFailure"))
        #expect(harness.log.contains("didFetch A internalError"))
        #expect(!harness.log.contains { $0.hasPrefix("call") })
    }

    // MARK: After a sleep

    @Test func `R-508: after an hour's sleep the engine is in sync seconds after its dead connection was noticed`() {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.machine.pushReceived([zone("A")], at: harness.moment)
        harness.advance(by: .seconds(5))
        harness.log = []
        // Nothing runs for an hour. Then all timers are due at once, on a connection that is dead.
        harness.server.save("1", in: zone("A"), value: "x")
        harness.now += .seconds(3_600)
        harness.respond = { $0.isUser ? nil : .error(.networkFailure) }
        harness.add("A/2")
        harness.advance(by: .seconds(1))
        harness.machine.connectivityChanged(isOnline: false, at: harness.moment)
        harness.advance(by: .seconds(2))
        #expect(harness.log.contains { $0.hasPrefix("willFetch(scheduled)") }, "the periodic fetch was overdue")
        harness.respond = { _ in nil }
        harness.log = []
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        harness.advance(by: .milliseconds(200))
        #expect(harness.log.contains("records +A/1"))
        #expect(harness.log.contains("sent +A/2") && harness.pending == [])
        // Without an end, the hour would come again and again.
        harness.log = []
        harness.advance(by: .seconds(600))
        #expect(harness.log == [])
    }

    @Test func `R-375: however long the sleep was, back-off ends when the server is back`() {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.respond = { $0.isUser ? nil : .error(.networkFailure) }
        harness.add("A/1")
        harness.advance(by: .seconds(3_600))
        harness.respond = { _ in nil }
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        harness.advance(by: .milliseconds(100))
        #expect(harness.pending == [])
    }
}
