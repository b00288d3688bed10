// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct SyncEngineMachineCallsTests {
    @Test func `R-535: calls at once share a fetch whose scope covers theirs`() {
        let harness = MachineHarness.started(zones: "A")
        harness.fetch()
        harness.fetch(.init(scope: .zoneIDs([zone("A")])))
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "zones +A", "ask options", "willFetch A", "→ A(nil)",
                "didFetch A", "stateUpdate", "didFetch", "call 1 ok", "call 2 ok",
            ])
    }

    @Test func `R-535: a scope that is not covered is fetched after`() {
        let harness = MachineHarness.started(zones: "A")
        harness.fetch(.init(scope: .zoneIDs([zone("B")])))
        harness.fetch()
        #expect(
            harness.take().filter { $0.hasPrefix("will") || $0.hasPrefix("call") } == [
                "willFetch(manual)", "call 1 ok", "willFetch(manual)", "willFetch A", "call 2 ok",
            ])
    }

    @Test func `R-535: who joins a fetch late gets what was on the server when they called`() {
        let harness = MachineHarness.started(zones: "A")
        harness.holds = { $0.isZone }
        harness.fetch()
        harness.run()
        harness.server.save(zone: zone("B"))
        harness.server.save("1", in: zone("B"), value: "x")
        harness.holds = { _ in false }
        harness.fetch()
        harness.run()
        harness.log = []
        harness.release()
        #expect(
            harness.log == [
                "didFetch A", "ask options", "→ feed(d2)", "zones +B", "ask options", "willFetch B", "→ B(nil)",
                "records +B/1", "didFetch B", "stateUpdate", "didFetch", "call 1 ok", "call 2 ok",
            ])
    }

    @Test func `R-535: calls at once share a send`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.run()
        harness.holds = { _ in false }
        harness.add("A/2")
        harness.send(.init(scope: .zoneIDs([zone("A")])))
        harness.release()
        #expect(
            harness.log == [
                "willSend(manual)", "ask batch", "→ records A/1", "sent +A/1", "ask batch", "→ records A/2",
                "sent +A/2",
                "ask batch", "stateUpdate", "didSend", "call 1 ok", "call 2 ok",
            ])
    }

    @Test func `R-535: who joins a send while the delegate is asked gets sent what they had added by then`() {
        let harness = MachineHarness.started(zones: "A")
        harness.batch = { _ in
            // The delegate has looked, and found nothing; then comes this, before it answers.
            harness.batch = nil
            harness.add("A/1")
            harness.send()
            return nil
        }
        harness.send()
        #expect(
            harness.take() == [
                "willSend(manual)", "ask batch", "ask batch", "→ records A/1", "sent +A/1", "ask batch", "stateUpdate",
                "didSend", "call 1 ok", "call 2 ok",
            ])
        #expect(harness.pending == [])
    }

    @Test func `R-535: who joins a send gets their change of a zone sent, also if the pass has sent it before`() {
        let harness = MachineHarness.started(zones: "A")
        harness.addZones("B")
        harness.add("A/1")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.run()
        harness.holds = { _ in false }
        harness.addZones("-B")
        harness.send()
        harness.log = []
        harness.release()
        #expect(
            harness.log == [
                "sent +A/1", "→ zones -B", "sentZones -B", "ask batch", "stateUpdate", "didSend", "call 1 ok",
                "call 2 ok",
            ])
    }

    @Test func `R-535, R-586: a zone that failed is not tried again for who joins the pass, and they are told`() {
        let harness = MachineHarness.started(zones: "A")
        harness.addZones("B")
        harness.respond = { request in
            guard request.isZones else { return nil }
            harness.send()
            return .success(.zoneResults(.init(saves: [zone("B"): .failure(CKError(.zoneBusy))])))
        }
        harness.send()
        let log = harness.take()
        #expect(log.filter { $0.hasPrefix("→ zones") }.count == 1)
        #expect(log.suffix(2) == ["call 1 partialFailure", "call 2 partialFailure"])
        #expect(harness.machine.snapshot.pendingZones.count == 1)
    }

    @Test func `R-535: a call when a send is about to end gets one of its own`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.onEvent = { event in
            guard case .didSendChanges = event, harness.results.isEmpty else { return }
            harness.onEvent = { _ in }
            harness.add("A/2")
            harness.send()
        }
        harness.send()
        #expect(harness.take().filter { $0.hasPrefix("willSend") }.count == 2)
        #expect(harness.server.contents.count == 2)
    }

    @Test func `R-534, R-601: a call returns after the state update that its last handler caused`() {
        let harness = MachineHarness.started(zones: "A")
        harness.onEvent = { event in
            if case .didFetchChanges = event {
                harness.machine.add([change("A/1")], isInCallback: true, at: harness.moment)
            }
        }
        harness.fetch()
        #expect(harness.take().suffix(4) == ["stateUpdate", "didFetch", "stateUpdate", "call 1 ok"])
        #expect(harness.lastSerialization?.snapshot.pendingRecords.count == 1)
    }

    @Test func `R-610: cancelOperations ends what runs with all its events, and all calls`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.run()
        harness.fetch()
        harness.cancelOperations()
        #expect(
            harness.take() == [
                "willSend(manual)", "ask batch", "→ records A/1", "call 2 operationCancelled", "cancel",
                "sent !+A/1:operationCancelled", "stateUpdate", "didSend", "call 1 operationCancelled", "call 3 ok",
            ])
        #expect(harness.pending == ["A/1"] && harness.inFlight == [])
    }

    @Test func `R-541, R-610: a fetch that is cancelled within a zone closes the zone, too`() {
        let harness = MachineHarness.started(zones: "A")
        harness.holds = { $0.isZone }
        harness.fetch()
        harness.run()
        harness.log = []
        harness.cancelOperations()
        #expect(
            harness.take() == [
                "cancel", "didFetch A operationCancelled", "stateUpdate", "didFetch", "call 1 operationCancelled",
                "call 2 ok",
            ])
    }

    @Test func `R-610: cancelOperations with nothing to cancel returns at once`() {
        let harness = MachineHarness.started(zones: "A")
        harness.cancelOperations()
        #expect(harness.take() == ["call 1 ok"])
    }

    @Test func `R-610: automatic sync goes on with the next change, push or call`() {
        let triggers: [(String, (MachineHarness) -> Void)] = [
            ("change", { $0.add("A/2") }),
            ("push", { $0.machine.pushReceived([], at: $0.moment) }),
            ("call", { $0.fetch() }),
        ]
        for (name, trigger) in triggers {
            let harness = MachineHarness(automatic: true)
            harness.server.save(zone: zone("A"))
            harness.advance(by: .seconds(1))
            harness.holds = { $0.isRecords }
            harness.add("A/1")
            harness.run()
            harness.cancelOperations()
            harness.run()
            harness.holds = { _ in false }
            harness.advance(by: .seconds(300))
            #expect(harness.server.contents.isEmpty, "nothing by itself")
            trigger(harness)
            harness.advance(by: .seconds(1))
            #expect(harness.server.contents["A/1"] == "v", "\(name)")
        }
    }

    @Test func `R-610: with the next change also the fetch that was cancelled goes on`() {
        let harness = MachineHarness(automatic: true)
        harness.advance(by: .seconds(1))
        harness.server.save(zone: zone("A"))
        harness.holds = { $0.isZone }
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        #expect(harness.unfetched == ["A"])
        harness.cancelOperations()
        harness.run()
        harness.holds = { _ in false }
        harness.add("A/1")
        harness.advance(by: .seconds(1))
        #expect(harness.unfetched == [] && harness.server.contents["A/1"] == "v")
    }

    @Test func `R-610: after cancelOperations neither time nor network nor a hint begins anything`() {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.advance(by: .seconds(1))
        harness.add("A/1")
        harness.holds = { $0.isRecords }
        harness.run()
        harness.cancelOperations()
        harness.run()
        harness.holds = { _ in false }
        harness.log = []
        harness.advance(by: .seconds(7_200))
        harness.machine.connectivityChanged(isOnline: false, at: harness.moment)
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        harness.advance(by: .seconds(60))
        harness.account = .failure(CKError(.accountTemporarilyUnavailable))
        harness.machine.accountHinted(at: harness.moment)
        harness.advance(by: .seconds(60))
        harness.account = .success(user("alice"))
        harness.machine.accountHinted(at: harness.moment)
        harness.advance(by: .seconds(60))
        #expect(!harness.log.contains { $0.hasPrefix("will") })
        harness.add("A/2")
        harness.run()
        #expect(harness.log.filter { $0.hasPrefix("will") } == ["willFetch(scheduled)", "willSend(scheduled)"])
        #expect(harness.pending == [])
    }

    @Test func `R-610, R-560: another account is a new start, also after cancelOperations`() {
        let harness = MachineHarness(automatic: true)
        harness.advance(by: .seconds(1))
        harness.cancelOperations()
        harness.run()
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        harness.log = []
        #expect(harness.take().contains("willFetch(scheduled)"))
    }

    @Test func `R-611: cancelling the only caller cancels the operation`() {
        let harness = MachineHarness.started(zones: "A")
        harness.holds = { $0.isFeed }
        let call = harness.fetch()
        harness.run()
        harness.cancelCaller(call)
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "cancel", "didFetch", "call 1 operationCancelled",
            ])
    }

    @Test func `R-611: cancelling one of two callers leaves the operation to the other`() {
        let harness = MachineHarness.started(zones: "A")
        harness.holds = { $0.isFeed }
        let call = harness.fetch()
        harness.fetch()
        harness.run()
        harness.log = []
        harness.cancelCaller(call)
        #expect(harness.take() == ["call 1 operationCancelled"])
        harness.release()
        #expect(harness.log.last == "call 2 ok")
    }

    @Test func `R-611: cancelling a caller that joined a scheduled fetch leaves the fetch to the engine`() {
        let harness = MachineHarness(automatic: true)
        harness.holds = { $0.isFeed }
        harness.advance(by: .seconds(1))
        let call = harness.fetch()
        harness.run()
        harness.log = []
        harness.cancelCaller(call)
        harness.run()
        harness.holds = { _ in false }
        harness.release()
        #expect(harness.log.first == "call 1 operationCancelled" && harness.log.last == "didFetch")
    }

    @Test func `R-611: a call that waits for its turn is taken back`() {
        let harness = MachineHarness.started(zones: "A")
        harness.holds = { $0.isRecords }
        harness.add("A/1")
        harness.send()
        harness.run()
        let call = harness.fetch()
        harness.run()
        harness.log = []
        harness.cancelCaller(call)
        #expect(harness.take() == ["call 2 operationCancelled"])
        harness.cancelCaller(call)
        #expect(harness.take() == [])
    }

    @Test func `R-613: a push while a fetch runs marks its zones, and one more fetch follows`() {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.advance(by: .seconds(1))
        harness.server.save("1", in: zone("A"), value: "x")
        harness.holds = { $0.isZone }
        harness.machine.pushReceived([zone("A")], at: harness.moment)
        harness.run()
        harness.holds = { _ in false }
        harness.machine.pushReceived([zone("A")], at: harness.moment)
        harness.log = []
        harness.release()
        #expect(
            harness.log.filter { !$0.hasPrefix("ask") } == [
                "records +A/1", "didFetch A", "stateUpdate", "didFetch",
                "willFetch(scheduled)", "→ feed(d4)", "willFetch A", "→ A(z1.3)", "didFetch A", "stateUpdate",
                "didFetch",
            ])
        #expect(harness.unfetched == [])
    }

    @Test func `R-508, R-522: the feed is asked for together with what would be read next`() {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.server.save(zone: zone("B"))
        harness.advance(by: .seconds(1))
        var places: [String] = []
        harness.holds = { request in
            guard case .databaseChanges(_, let place, _, _) = request else { return false }
            places.append(place.map { "\($0.zoneID.zoneName) \($0.token?.text ?? "nil")" } ?? "none")
            return false
        }
        let tokens = ["A", "B"].map { harness.machine.snapshot.zoneTokens[zone($0)]?.text ?? "none" }
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        harness.machine.pushReceived([zone("A"), zone("B")], at: harness.moment)
        harness.run()
        harness.machine.pushReceived([zone("new")], at: harness.moment)
        harness.run()
        var options = CKSyncEngine.FetchChangesOptions()
        options.prioritizedZoneIDs = [zone("B")]
        harness.machine.snapshot.unfetchedZones.add(zone("A"))
        harness.machine.snapshot.unfetchedZones.add(zone("B"))
        harness.fetch(options)
        harness.run()
        #expect(places == ["none", "A \(tokens[0])", "new nil", "B \(tokens[1])"])
    }

    @Test func `R-334, R-508: where pushes name no zone, the list is asked for with the zone that changed last`() {
        let harness = MachineHarness(automatic: true)
        let zones = ["A", "B"].map { CKRecordZone.ID(zoneName: $0, ownerName: "_owner") }
        for zoneID in zones { harness.server.save(zone: zoneID) }
        harness.advance(by: .seconds(1))
        var places: [String] = []
        harness.holds = { request in
            guard case .databaseChanges(_, let place, _, _) = request else { return false }
            places.append(place.map { "\($0.zoneID.zoneName) \($0.token?.text ?? "nil")" } ?? "none")
            return false
        }
        func push() {
            harness.machine.pushReceived([], at: harness.moment)
            harness.run()
        }
        func token(_ index: Int) -> String { harness.machine.snapshot.zoneTokens[zones[index]]?.text ?? "none" }
        let ofB = token(1)
        push()
        harness.server.save("1", in: zones[0], value: "x")
        push()
        let ofA = token(0)
        push()
        harness.server.delete(zone: zones[0])
        push()
        push()
        #expect(places == ["B \(ofB)", "B \(ofB)", "A \(ofA)", "A \(ofA)", "none"])
    }

    @Test func `R-542: with the further pages of a long list no zone is asked for`() {
        let harness = MachineHarness.started()
        for name in ["A", "B", "C"] { harness.server.save(zone: zone(name)) }
        harness.server.feedPageSize = 1
        var places: [String] = []
        harness.respond = { request in
            if case .databaseChanges(_, let place, _, _) = request { places.append(place?.zoneID.zoneName ?? "none") }
            return nil
        }
        harness.machine.snapshot.unfetchedZones.add(zone("B"))
        harness.fetch()
        harness.run()
        harness.machine.snapshot.unfetchedZones.add(zone("C"))
        harness.fetch()
        harness.run()
        #expect(places == ["B", "none", "none", "C"])
    }

    @Test func `R-613: what was pushed since the feed was asked for is not taken from what came with it`() {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.server.save(zone: zone("B"))
        harness.advance(by: .seconds(1))
        var asOfFeed: [String] = []
        harness.respond = { request in
            if case .zoneChanges(let zoneID, _, let isAsOfFeed, _) = request {
                asOfFeed.append("\(zoneID.zoneName) \(isAsOfFeed)")
            }
            return nil
        }
        harness.server.save("1", in: zone("A"), value: "x")
        harness.server.save("2", in: zone("B"), value: "x")
        harness.holds = { $0.isFeed }
        harness.machine.pushReceived([zone("A"), zone("B")], at: harness.moment)
        harness.run()
        harness.holds = { _ in false }
        harness.machine.pushReceived([zone("B")], at: harness.moment)
        harness.release()
        #expect(asOfFeed == ["A true", "B false"])
        #expect(harness.unfetched == [])
    }

    @Test func `R-504, R-503: an engine that stops cancels its requests and ends all calls`() {
        let harness = MachineHarness.started(zones: "A")
        harness.holds = { $0.isFeed }
        harness.fetch()
        harness.run()
        harness.log = []
        harness.send()
        harness.machine.stop()
        #expect(
            harness.take() == ["cancel", "call 2 operationCancelled", "call 1 operationCancelled", "stop"])
        harness.fetch()
        #expect(harness.take() == ["call 3 operationCancelled", "stop"])
    }
}
