// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct SyncEngineMachineAccountTests {
    private func snapshot(of name: String?) -> SyncEngineSnapshot {
        var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        snapshot.user = name.map(user)
        snapshot.databaseToken = .of("d1")
        snapshot.zoneTokens[zone("A")] = .of("z1.1")
        snapshot.unfetchedZones.add(zone("A"))
        snapshot.pendingRecords.add(change("A/1"))
        snapshot.inFlightRecords = [change("A/2")]
        snapshot.pendingZones.add(zoneChange("B"))
        snapshot.subscriptionID = "old"
        return snapshot
    }

    @Test func `R-560, R-562, R-565: the first event is signIn, before any fetch, in both modes`() {
        let automatic = MachineHarness(automatic: true)
        automatic.advance(by: .milliseconds(50))
        #expect(
            automatic.log == [
                "→ user", "accountChange signIn _alice", "stateUpdate", "→ subscription(any)",
                "willFetch(scheduled)", "ask options", "→ feed(nil)", "stateUpdate", "didFetch",
            ])
        let manual = MachineHarness()
        manual.advance(by: .seconds(3600))
        #expect(manual.log == ["→ user", "accountChange signIn _alice", "stateUpdate"])
    }

    @Test func `R-560: what is added while it is asked who is signed in is told after the account event`() {
        let answers: [(Result<CKRecord.ID?, CKError>, [String])] = [
            (.success(user("alice")), ["accountChange signIn _alice", "stateUpdate"]),
            (.success(nil), ["stateUpdate"]), (.failure(CKError(.networkUnavailable)), ["stateUpdate"]),
        ]
        for (account, expected) in answers {
            let harness = MachineHarness()
            harness.account = account
            harness.holds = { $0.isUser }
            harness.add("A/1")
            harness.advance(by: .seconds(5))
            #expect(harness.log == ["→ user"])
            harness.log = []
            harness.release()
            harness.advance(by: .milliseconds(200))
            #expect(harness.log == expected)
            #expect(harness.lastSerialization?.snapshot.pendingRecords.count == 1)
        }
    }

    @Test func `R-157, R-517: what a journal has of a process that died before its first state is sent after a fetch`()
    {
        var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        snapshot.pendingRecords.add(change("A/1"))
        let harness = MachineHarness(snapshot: snapshot)
        harness.server.save(zone: zone("A"))
        harness.send()
        harness.advance(by: .seconds(1))
        let (fetch, send) = (harness.log.firstIndex(of: "→ feed(nil)"), harness.log.firstIndex(of: "willSend(manual)"))
        #expect(fetch != nil && send != nil && fetch ?? 0 < send ?? 0, "\(harness.log)")
    }

    @Test func `R-561: who has a user already hears of new states while it is asked who is signed in`() {
        let harness = MachineHarness(snapshot: snapshot(of: "alice"))
        harness.holds = { $0.isUser }
        harness.add("A/3")
        harness.advance(by: .seconds(1))
        #expect(harness.log == ["→ user", "stateUpdate"])
    }

    @Test(arguments: [CKError.Code.requestRateLimited, .zoneBusy])
    func `R-374, R-563: what a server wanted of one account does not hold another one back`(code: CKError.Code) {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.advance(by: .seconds(1))
        harness.respond = { $0.isRecords || $0.isFeed ? .error(code, retryAfter: 600) : nil }
        harness.add("A/1")
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        harness.respond = { _ in nil }
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        harness.onEvent = { event in
            if case .accountChange = event { harness.add("A/2") }
        }
        harness.log = []
        harness.run()
        #expect(harness.log.filter { $0.hasPrefix("will") }.prefix(1) == ["willFetch(scheduled)"])
        #expect(harness.server.contents == ["A/2": "v"])
        #expect(harness.machine.schedule.fetchBackoff.failureCount == 0)
    }

    @Test func `R-562: a manual call at once waits for the account event`() {
        let harness = MachineHarness()
        harness.fetch()
        #expect(
            harness.take() == [
                "→ user", "accountChange signIn _alice", "stateUpdate", "willFetch(manual)", "ask options",
                "→ feed(nil)", "stateUpdate", "didFetch", "call 1 ok",
            ])
    }

    @Test func `R-500, R-560: with no account nothing happens until there is one`() {
        let harness = MachineHarness(automatic: true)
        harness.account = .success(nil)
        harness.advance(by: .seconds(3600))
        #expect(harness.log == ["→ user"])
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        harness.advance(by: .zero)
        #expect(harness.log.prefix(3) == ["→ user", "→ user", "accountChange signIn _bob"])
    }

    @Test func `R-561: with a saved state only a difference is told`() {
        let cases: [(saved: String?, now: String?, expected: String?)] = [
            ("alice", "alice", nil),
            ("alice", nil, "accountChange signOut _alice"),
            ("alice", "bob", "accountChange switch _alice _bob"),
            (nil, "bob", "accountChange signIn _bob"),
            (nil, nil, nil),
        ]
        for (saved, now, expected) in cases {
            let harness = MachineHarness(snapshot: snapshot(of: saved))
            harness.account = .success(now.map(user))
            harness.advance(by: .seconds(1))
            #expect(harness.log.first { $0.hasPrefix("account") } == expected, "\(saved ?? "-") → \(now ?? "-")")
        }
    }

    @Test func `R-563: signOut and switchAccounts clear first; what the handler adds is kept`() {
        for now in [nil, "bob"] {
            let harness = MachineHarness(snapshot: snapshot(of: "alice"))
            harness.account = .success(now.map(user))
            harness.onEvent = { event in
                guard case .accountChange = event else { return }
                let snapshot = harness.machine.snapshot
                #expect(snapshot.databaseToken == nil && snapshot.zoneTokens.isEmpty)
                #expect(snapshot.unfetchedZones.isEmpty && snapshot.pendingRecords.isEmpty)
                #expect(snapshot.inFlightRecords.isEmpty && snapshot.pendingZones.isEmpty)
                #expect(snapshot.subscriptionID == nil)
                #expect(snapshot.deviceIdentity == Array(0..<16))
                harness.machine.add([change("A/9")], isInCallback: true, at: harness.moment)
            }
            harness.advance(by: .seconds(1))
            #expect(harness.pending == ["A/9"])
            #expect(harness.lastSerialization?.snapshot.user == now.map(user))
        }
    }

    @Test(arguments: [nil, "bob"])
    func
        `R-563: what was to be sent is told with the account change, also what was added just before; nobody else gets it`(
            now: String?
        ) throws
    {
        let harness = MachineHarness(snapshot: snapshot(of: "alice"), automatic: true)
        harness.server.save(zone: zone("A"))
        harness.account = .success(now.map(user))
        harness.holds = { $0.isUser }
        harness.advance(by: .seconds(1))
        harness.add("A/3", "-A/4")
        harness.addZones("-C")
        harness.machine.setUntrackedChanges(true, at: harness.moment)
        harness.release()
        harness.advance(by: .seconds(60))
        let changes = harness.events.compactMap { event in
            if case .accountChange(let change) = event { change } else { nil }
        }
        #expect(changes.count == 1)
        #expect(changes.first?.unsentRecordZoneChanges.map(\.text) == ["A/2", "A/1", "A/3", "-A/4"])
        #expect(changes.first?.unsentDatabaseChanges.map(\.text) == ["B", "-C"])
        #expect(changes.first?.hasUnsentUntrackedChanges == true)
        #expect(harness.pending == [] && !harness.machine.snapshot.hasUntrackedChanges)
        #expect(harness.server.contents == [:] && !harness.log.contains { $0.hasPrefix("willSend") })
    }

    @Test func `R-563: an app that adds again what was not sent hands it to the new account`() {
        let harness = MachineHarness(snapshot: snapshot(of: "alice"), automatic: true)
        for path in ["A/1", "A/2"] { harness.record(path)["value"] = "v" }
        harness.server.save(zone: zone("A"))
        harness.account = .success(user("bob"))
        harness.onEvent = { event in
            guard case .accountChange(let change) = event else { return }
            harness.machine.add(change.unsentRecordZoneChanges, isInCallback: true, at: harness.moment)
        }
        harness.advance(by: .seconds(1))
        #expect(harness.server.contents == ["A/1": "v", "A/2": "v"])
    }

    @Test func `R-563, R-564: what is kept for somebody is pending when they are back, and all is fetched anew`() {
        // The process ended while the app was being told of bob, and alice is back.
        var snapshot = snapshot(of: "alice")
        snapshot.setPendingAside()
        snapshot.pendingRecords.add(change("A/7"))
        snapshot.pendingOwner = .user("_bob")
        let harness = MachineHarness(snapshot: snapshot)
        harness.machine.beginJournal(id: "j", at: harness.moment)
        harness.advance(by: .seconds(1))
        #expect(!harness.log.contains { $0.hasPrefix("account") })
        #expect(harness.pending == ["A/2", "A/1"])
        #expect(harness.machine.snapshot.databaseToken == nil && harness.machine.snapshot.zoneTokens.isEmpty)
        // Bob's are kept for him.
        #expect(harness.machine.snapshot.unsent.map(\.owner) == [.user("_bob")])
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        harness.run()
        #expect(harness.pending == ["A/7"] && harness.machine.snapshot.unsent.isEmpty)
    }

    @Test func `R-564: signIn keeps what was queued while nobody was signed in`() {
        let harness = MachineHarness(automatic: true)
        harness.account = .success(nil)
        harness.advance(by: .seconds(1))
        harness.add("A/1")
        harness.addZones("A")
        harness.advance(by: .seconds(1))
        harness.account = .success(user("alice"))
        harness.machine.accountHinted(at: harness.moment)
        harness.advance(by: .seconds(1))
        #expect(harness.server.contents == ["A/1": "v"])
    }

    @Test func `R-566: an account change cancels what runs; its ends come before the event`() {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        harness.holds = { $0.isZone }
        harness.fetch()
        harness.run()
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "zones +A", "ask options", "willFetch A", "→ A(nil)",
                "→ user", "cancel", "didFetch A operationCancelled", "stateUpdate", "didFetch",
                "call 1 operationCancelled",
                "accountChange switch _alice _bob", "stateUpdate",
            ])
    }

    @Test func `R-566: a hint that turns out to be nothing disturbs nothing`() {
        let harness = MachineHarness.started()
        harness.holds = { $0.isFeed }
        harness.fetch()
        harness.run()
        harness.machine.accountHinted(at: harness.moment)
        harness.run()
        harness.release()
        #expect(
            harness.log == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "→ user", "stateUpdate", "didFetch", "call 1 ok",
            ])
    }

    @Test func `R-567: temporarilyUnavailable is no account change; the engine pauses and resumes`() {
        let harness = MachineHarness(snapshot: snapshot(of: "alice"), automatic: true)
        harness.account = .failure(CKError(.accountTemporarilyUnavailable))
        harness.advance(by: .milliseconds(500))
        #expect(harness.log == ["→ user"])
        harness.account = .success(user("alice"))
        harness.machine.accountHinted(at: harness.moment)
        harness.advance(by: .milliseconds(10))
        #expect(harness.log.contains("willFetch(scheduled)"))
        #expect(!harness.log.contains { $0.hasPrefix("account") })
    }

    @Test func `R-567: while it is not known who is signed in, the engine asks again with back-off`() {
        let harness = MachineHarness()
        harness.account = .failure(CKError(.networkFailure))
        harness.advance(by: .seconds(16))
        // At once, then after 1, 2, 4, 8 s.
        #expect(harness.log.count == 5)
    }

    @Test func `R-568: without an account a call throws and gets no events`() {
        let cases: [(Result<CKRecord.ID?, CKError>, CKError.Code)] = [
            (.success(nil), .notAuthenticated),
            (.failure(CKError(.accountTemporarilyUnavailable)), .accountTemporarilyUnavailable),
            (.failure(CKError(.networkUnavailable)), .networkUnavailable),
        ]
        for (account, code) in cases {
            let harness = MachineHarness()
            harness.account = account
            harness.fetch()
            harness.send()
            #expect(harness.take() == ["→ user", "call 1 \(code)", "call 2 \(code)"])
            harness.fetch()
            #expect(harness.take() == ["→ user", "call 3 \(code)"], "each call finds out anew")
        }
    }

    @Test func `R-567: an operation that fails for the account has the account looked at again`() {
        let harness = MachineHarness.started()
        harness.respond = { $0.isFeed ? .error(.notAuthenticated) : nil }
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "didFetch", "call 1 notAuthenticated", "→ user",
            ])
    }

    @Test func `R-561: several changes before the event is told collapse into one`() {
        let harness = MachineHarness.started()
        harness.holds = { $0.isFeed }
        harness.fetch()
        harness.run()
        harness.log = []
        // While a handler runs, the account goes to bob and back to carol.
        harness.account = .success(user("bob"))
        harness.onEvent = { event in
            guard case .didFetchChanges = event else { return }
            harness.account = .success(user("carol"))
            harness.machine.accountHinted(at: harness.moment)
        }
        harness.machine.accountHinted(at: harness.moment)
        #expect(
            harness.take().filter { $0.hasPrefix("account") } == ["accountChange switch _alice _carol"])
    }

    @Test func `R-159: each request names the user for whom it was decided`() {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.add("A/1")
        harness.addZones("B")
        harness.advance(by: .seconds(1))
        harness.onEvent = { event in
            if case .accountChange = event { harness.add("A/2") }
        }
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        harness.advance(by: .seconds(1))
        let questions = harness.owned.filter { $0.hasSuffix("→ user") }
        #expect(questions == ["nobody: → user", "nobody: → user"])
        let requests = harness.owned.filter { !questions.contains($0) }
        let first = requests.firstIndex { $0.hasPrefix("_bob: ") } ?? requests.endIndex
        #expect(requests[..<first].allSatisfy { $0.hasPrefix("_alice: ") }, "\(requests)")
        #expect(requests[first...].allSatisfy { $0.hasPrefix("_bob: ") }, "\(requests)")
        for request in ["_alice: → zones +B", "_alice: → records A/1", "_bob: → records A/2"] {
            #expect(requests.contains(request), "\(requests)")
        }
    }

    @Test(arguments: [true, false])
    func `R-159: what is not sent because the account has changed is pending, and told with the change`(
        hasZones: Bool
    ) {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        harness.add("A/1", "-A/2")
        if hasZones { harness.addZones("B", "-C") }
        // The cloud knows of bob, and the engine does not yet.
        harness.respond = { $0.isZones || $0.isRecords ? .failure(CKError.otherAccount) : nil }
        harness.account = .success(user("bob"))
        harness.onEvent = { event in
            if case .didSendChanges = event { #expect(harness.pending == ["A/1", "-A/2"]) }
        }
        let call = harness.send()
        harness.run()
        #expect(harness.results[call] != nil && harness.error(of: call) != nil)
        let changes = harness.events.compactMap { event in
            if case .accountChange(let change) = event { change } else { nil }
        }
        #expect(changes.last?.changeType.text == "switch _alice _bob")
        #expect(changes.last?.unsentRecordZoneChanges.map(\.text) == ["A/1", "-A/2"])
        #expect(changes.last?.unsentDatabaseChanges.map(\.text) == (hasZones ? ["B", "-C"] : []))
        #expect(harness.pending == [] && harness.inFlight == [] && harness.server.contents == [:])
    }

    @Test func `R-563, R-593: what failed for one account is no suspect for another`() {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        harness.respond = { $0.isRecords ? .error(.internalError) : nil }
        harness.add("A/1", "A/2")
        harness.send()
        harness.run()
        harness.respond = { _ in nil }
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        harness.run()
        #expect(harness.pending == [])
        harness.add("A/1", "A/2")
        harness.log = []
        harness.send()
        #expect(harness.take().filter { $0.hasPrefix("→ records") } == ["→ records A/1 A/2"])
    }

    @Test func `R-507, R-561: a subscription is looked for again if a change of account was taken back untold`() {
        let harness = MachineHarness(automatic: true)
        harness.holds = { request in
            if case .ensureSubscription = request { true } else { request.isFeed }
        }
        harness.advance(by: .seconds(1))
        harness.fetch()
        harness.run()
        harness.log = []
        // While a handler runs, the account goes to bob and back.
        harness.account = .success(user("bob"))
        harness.onEvent = { event in
            guard case .didFetchChanges = event else { return }
            harness.account = .success(user("alice"))
            harness.machine.accountHinted(at: harness.moment)
        }
        harness.machine.accountHinted(at: harness.moment)
        harness.run()
        harness.holds = { _ in false }
        harness.release()
        harness.advance(by: .seconds(1))
        #expect(!harness.log.contains { $0.hasPrefix("account") })
        #expect(harness.machine.snapshot.subscriptionID == "found")
    }

    @Test func `R-500: an engine that could not ask who is signed in asks when the server comes into reach`() {
        let harness = MachineHarness(automatic: true)
        harness.account = .failure(CKError(.networkUnavailable))
        harness.advance(by: .seconds(600))
        harness.log = []
        harness.account = .success(user("alice"))
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        #expect(harness.take().prefix(2) == ["→ user", "accountChange signIn _alice"])
    }

    @Test func `R-567: hints that come with each failure do not make the engine ask without pause`() {
        let harness = MachineHarness()
        harness.account = .failure(CKError(.accountTemporarilyUnavailable))
        harness.holds = { $0.isUser }
        harness.advance(by: .milliseconds(20))
        for _ in 0..<20 {
            if !harness.held.isEmpty { harness.machine.accountHinted(at: harness.moment) }
            harness.release()
            harness.advance(by: .milliseconds(100))
        }
        #expect(harness.log == ["→ user", "→ user", "→ user"])
    }
}
