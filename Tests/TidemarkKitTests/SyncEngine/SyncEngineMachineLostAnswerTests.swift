// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

/// What an engine does with changes of which it does not know whether the server has them.
@Suite struct SyncEngineMachineLostAnswerTests {
    @Test func `R-157: also a call sends what has lost its answer only after a fetch, and fails as that does`() {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        harness.add("A/1")
        harness.respond = { $0.isRecords ? .error(.serverResponseLost) : nil }
        harness.send()
        harness.run()
        #expect(harness.pending == ["A/1"], "what may not have been carried out stays")
        harness.respond = { $0.isFeed ? .error(.networkFailure) : nil }
        harness.log = []
        let failing = harness.send()
        harness.advance(by: .seconds(60))
        #expect(harness.log.filter { $0.hasPrefix("→") }.count { $0.hasPrefix("→ records") } == 0)
        #expect(harness.error(of: failing)?.code == .networkFailure, "nobody waits for ever")
        harness.respond = { _ in nil }
        harness.log = []
        let call = harness.send()
        harness.advance(by: .seconds(60))
        let requests = harness.log.filter { $0.hasPrefix("→") }
        #expect(requests.first?.hasPrefix("→ feed") == true && requests.last == "→ records A/1")
        #expect(harness.results[call] != nil && harness.error(of: call) == nil && harness.pending == [])
        harness.log = []
        harness.add("A/2")
        harness.send()
        harness.advance(by: .seconds(60))
        #expect(harness.log.filter { $0.hasPrefix("→") } == ["→ records A/2"], "the next one needs no fetch")
    }

    @Test(arguments: [true, false])
    func `R-157: a fetch of another zone does not tell what became of a lost answer`(isAutomatic: Bool) {
        let harness = MachineHarness.started(automatic: isAutomatic)
        harness.server.save(zone: zone("A"))
        harness.server.save(zone: zone("B"))
        harness.add("A/1")
        harness.respond = { request in
            guard request.isRecords else { return nil }
            _ = harness.server.answer(request)
            return .error(.serverResponseLost)
        }
        harness.send()
        harness.run()
        harness.respond = { _ in nil }
        harness.log = []
        harness.fetch(.init(scope: .zoneIDs([zone("B")])))
        harness.send()
        harness.advance(by: .seconds(60))
        let requests = harness.log.filter { $0.hasPrefix("→") }
        let (read, sent) = (requests.firstIndex { $0.hasPrefix("→ A(") }, requests.firstIndex(of: "→ records A/1"))
        #expect(requests.contains { $0.hasPrefix("→ B(") } && sent != nil, "\(requests)")
        #expect(read.flatMap { read in sent.map { read < $0 } } == true, "\(requests)")
    }

    @Test(arguments: [true, false])
    func `R-157, R-393: what was under way when a send was cancelled, or its credential renewed, is sent after a fetch`(
        isCancelled: Bool
    ) {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        harness.add("A/1")
        harness.holds = { $0.isRecords }
        let call = harness.send()
        harness.run()
        if isCancelled {
            harness.cancelCaller(call)
        } else {
            harness.release(.error(.operationCancelled))
        }
        harness.run()
        #expect(harness.pending == ["A/1"])
        harness.holds = { _ in false }
        harness.log = []
        harness.send()
        harness.advance(by: .seconds(60))
        let requests = harness.log.filter { $0.hasPrefix("→") }
        #expect(requests.first?.hasPrefix("→ feed") == true && requests.last == "→ records A/1", "\(requests)")
    }

    @Test func `R-157: what a server without its store may have carried out is sent after a fetch`() {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        harness.add("A/1")
        harness.respond = { $0.isRecords ? .error(.serviceUnavailable, retryAfter: 2) : nil }
        harness.send()
        harness.run()
        #expect(harness.pending == ["A/1"])
        harness.respond = { _ in nil }
        harness.log = []
        harness.send()
        harness.advance(by: .seconds(60))
        let requests = harness.log.filter { $0.hasPrefix("→") }
        #expect(requests.first?.hasPrefix("→ feed") == true && requests.last == "→ records A/1", "\(requests)")
    }

    @Test func `R-067, R-157, R-374: what was not sent for want of keys needs no fetch, and silences nothing else`() {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        let unkeyed = CKError(.serviceUnavailable, message: "", retryAfter: 20).ofMissingKeys
        harness.respond = { request in
            guard case .modifyRecords(let batch, _) = request else { return nil }
            var results = SyncEngineRecordResults()
            for record in batch.recordsToSave {
                results.saves[record.recordID] =
                    record.recordID.recordName == "secret" ? .failure(unkeyed) : .success(record)
            }
            return .success(.recordResults(results))
        }
        harness.add("A/secret")
        harness.advance(by: .seconds(5))
        #expect(harness.pending == ["A/secret"])
        harness.log = []
        harness.add("A/1")
        harness.advance(by: .seconds(1))
        #expect(harness.pending == ["A/secret"])
        let requests = harness.take().filter { $0.hasPrefix("→") }
        #expect(!requests.isEmpty && requests.allSatisfy { $0.hasPrefix("→ records") }, "\(requests)")
    }

    @Test func `R-157, R-517: what was in flight when the process ended is sent after a fetch`() {
        let harness = MachineHarness.started()
        harness.add("A/1")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.advance(by: .milliseconds(100))
        guard let state = harness.lastSerialization?.snapshot else {
            Issue.record("no state was told")
            return
        }
        #expect(state.hasInFlight)
        let next = MachineHarness(snapshot: state)
        next.record("A/1")["value"] = "v"
        next.advance(by: .seconds(1))
        next.log = []
        next.send()
        next.advance(by: .seconds(60))
        let requests = next.log.filter { $0.hasPrefix("→") }
        #expect(requests.first?.hasPrefix("→ feed") == true && requests.last == "→ records A/1")
    }

    @Test
    func `R-157, R-517: what a state, or a journal, has as pending may have been sent, and is sent after a fetch`() {
        var state = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        state.user = user("alice")
        state.pendingRecords.add(.saveRecord(recordID("A/1")))
        let harness = MachineHarness(snapshot: state)
        harness.record("A/1")["value"] = "v"
        harness.advance(by: .seconds(1))
        harness.log = []
        harness.send()
        harness.advance(by: .seconds(60))
        let requests = harness.log.filter { $0.hasPrefix("→") }
        #expect(requests.first?.hasPrefix("→ feed") == true && requests.last == "→ records A/1")
    }

    @Test func `R-355: an engine whose identity another has keeps a new one, its tokens and what is pending`() {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.advance(by: .seconds(10))
        harness.holds = { $0.isRecords }
        harness.add("A/1", "A/2")
        let before = harness.machine.snapshot
        harness.machine.deviceReplaced(by: Array(repeating: 9, count: 16), at: harness.moment)
        harness.advance(by: .seconds(1))
        let stored = harness.lastSerialization?.snapshot
        #expect(stored?.deviceIdentity == Array(repeating: 9, count: 16))
        #expect(stored?.databaseToken == before.databaseToken && stored?.zoneTokens == before.zoneTokens)
        let kept = (stored?.pendingRecords.elements ?? []) + (stored?.inFlightRecords ?? [])
        #expect(kept.map(\.text) == ["A/1", "A/2"])
    }
}
