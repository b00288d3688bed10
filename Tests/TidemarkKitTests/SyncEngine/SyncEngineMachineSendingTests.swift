// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct SyncEngineMachineSendingTests {
    @Test func `R-570, R-571, R-572: zones first, then batches until nil, then the end`() {
        let harness = MachineHarness.started()
        harness.add("A/1", "A/2")
        harness.addZones("A")
        harness.send()
        #expect(
            harness.take() == [
                "willSend(manual)", "→ zones +A", "sentZones +A",
                "ask batch", "→ records A/1 A/2", "sent +A/1 +A/2", "ask batch",
                "stateUpdate", "didSend", "call 1 ok",
            ])
        #expect(harness.pending == [] && harness.inFlight == [])
    }

    @Test func `R-572: deletes are told by ID, each batch for itself`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.send()
        harness.run()
        harness.log = []
        harness.add("-A/1", "A/2")
        harness.send()
        #expect(harness.take().filter { $0.hasPrefix("sent") } == ["sent +A/2 -A/1"])
        #expect(harness.server.contents == ["A/2": "v"])
    }

    @Test func `R-156, R-570: more than a batch holds goes in several`() {
        let harness = MachineHarness.started(zones: "A")
        let paths = (0..<600).map { "A/\($0)" }
        for path in paths { harness.add(path) }
        harness.send()
        let batches = harness.take().filter { $0.hasPrefix("→ records") }.map { $0.split(separator: " ").count - 2 }
        #expect(batches == [250, 250, 100])
        #expect(harness.server.contents.count == 600)
    }

    @Test func `R-516: a batch is in flight, not pending; what is added meanwhile is pending besides`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "A/2")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.run()
        #expect(harness.pending == [] && harness.inFlight == ["A/1", "A/2"])
        harness.add("A/1", value: "w")
        #expect(harness.pending == ["A/1"] && harness.inFlight == ["A/1", "A/2"])
        harness.holds = { _ in false }
        harness.batch = { _ in nil }
        harness.release()
        #expect(harness.pending == ["A/1"] && harness.inFlight == [])
    }

    @Test func `R-516: what is added while the delegate is asked stays pending if the batch may hold an older state`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "A/2")
        harness.batch = { context in
            defer { harness.batch = { _ in nil } }
            let batch = harness.pendingBatch(context)
            harness.machine.add([change("A/1")], isInCallback: false, at: harness.moment)
            return batch
        }
        harness.send()
        harness.run()
        #expect(harness.pending == ["A/1"])
    }

    @Test func `R-516: what is deleted and saved again while the delegate is asked is sent once more`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.batch = { context in
            defer { harness.batch = nil }
            let batch = harness.pendingBatch(context)
            for text in ["-A/1", "A/1"] {
                harness.machine.add([change(text)], isInCallback: false, at: harness.moment)
            }
            harness.records[recordID("A/1")]?["value"] = "newest"
            return batch
        }
        harness.send()
        harness.run()
        #expect(harness.server.contents["A/1"] == "newest" && harness.pending == [])
    }

    @Test func `R-518, R-585: items that keep failing do not keep those behind them from being sent`() {
        let harness = MachineHarness.started(zones: "A")
        let stuck = (0..<250).map { "A/\($0)" }
        for text in stuck + ["A/next", "-A/gone"] { harness.add(text) }
        harness.respond = { request in
            guard case .modifyRecords(let batch, _) = request else { return nil }
            var results = SyncEngineRecordResults()
            for record in batch.recordsToSave {
                let isStuck = stuck.contains("A/\(record.recordID.recordName)")
                results.saves[record.recordID] =
                    isStuck ? .failure(CKError(.accountTemporarilyUnavailable)) : .success(record)
            }
            for recordID in batch.recordIDsToDelete { results.deletes[recordID] = .success(()) }
            return .success(.recordResults(results))
        }
        harness.send()
        harness.run()
        #expect(harness.pending == ["A/next", "-A/gone"] + stuck)
        harness.send()
        harness.run()
        #expect(Set(harness.pending) == Set(stuck))
    }

    @Test func `R-155, R-571: more zones than a request takes go in several, before the records`() {
        let harness = MachineHarness.started(zones: "A")
        harness.machine.add(
            (0..<600).map { .saveZone(CKRecordZone(zoneName: "Z\($0)")) }, at: harness.moment)
        harness.add("Z599/1")
        harness.send()
        let log = harness.take().filter { $0.hasPrefix("→") }
        #expect(log.map { $0.split(separator: " ").count - 2 } == [250, 250, 100, 1])
        #expect(harness.server.contents["Z599/1"] == "v")
    }

    @Test func `R-515, R-516: what the delegate itself adds while it is asked goes with its batch`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.batch = { context in
            defer { harness.batch = { _ in nil } }
            harness.machine.add([change("A/1")], isInCallback: true, at: harness.moment)
            return harness.pendingBatch(context)
        }
        harness.send()
        harness.run()
        #expect(harness.pending == [])
    }

    @Test(
        arguments: [
            CKError.Code.notAuthenticated, .accountTemporarilyUnavailable, .networkFailure, .networkUnavailable,
            .requestRateLimited, .serviceUnavailable, .zoneBusy, .operationCancelled, .serverResponseLost,
            .internalError, .badContainer, .missingEntitlement, .incompatibleVersion, .managedAccountRestricted,
        ])
    func `R-373, R-518, R-573, R-585: what is retried is pending again, told all the same, and ends the pass`(
        code: CKError.Code
    ) {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "-A/2", "A/3")
        harness.respond = { request in
            guard request.isRecords else { return nil }
            var results = SyncEngineRecordResults()
            results.saves[recordID("A/1")] = .failure(CKError(code))
            results.saves[recordID("A/3")] = .success(harness.record("A/3"))
            results.deletes[recordID("A/2")] = .failure(CKError(code))
            return .success(.recordResults(results))
        }
        let call = harness.send()
        let log = harness.take()
        #expect(log.contains("sent +A/3 !+A/1:\(code) !-A/2:\(code)"))
        #expect(log.filter { $0 == "ask batch" }.count == 1)
        #expect(harness.pending == ["A/1", "-A/2"])
        #expect(harness.error(of: call)?.code == .partialFailure)
        #expect(harness.error(of: call)?.partialErrorsByItemID?.count == 2)
    }

    @Test(
        arguments: [
            CKError.Code.serverRecordChanged, .unknownItem, .zoneNotFound, .batchRequestFailed, .limitExceeded,
            .permissionFailure, .invalidArguments, .quotaExceeded, .userDeletedZone, .serverRejectedRequest,
        ])
    func `R-518, R-519, R-583: any other failure leaves the list, and ends the pass`(code: CKError.Code) {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.respond = { request in
            guard request.isRecords else { return nil }
            return .success(.recordResults(.init(saves: [recordID("A/1"): .failure(CKError(code))])))
        }
        harness.onEvent = { event in
            guard case .sentRecordZoneChanges = event else { return }
            #expect(harness.pending == [] && harness.inFlight == [])
        }
        let call = harness.send()
        #expect(
            harness.take() == [
                "willSend(manual)", "ask batch", "→ records A/1", "sent !+A/1:\(code)", "stateUpdate", "didSend",
                "call 1 partialFailure",
            ])
        #expect(harness.pending == [])
        #expect((harness.error(of: call)?.partialErrorsByItemID?[recordID("A/1")] as? CKError)?.code == code)
    }

    @Test func `R-373, R-518: what a fault of the server hits stays pending, behind what has not been tried`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "A/2")
        harness.respond = { request in
            guard request.isRecords else { return nil }
            harness.machine.add([change("A/3")], isInCallback: false, at: harness.moment)
            return .error(.internalError)
        }
        harness.send()
        #expect(harness.take().contains("sent !+A/1:internalError !+A/2:internalError"))
        #expect(harness.pending == ["A/3", "A/1", "A/2"])
    }

    /// The server fails at any request with this record.
    private func harness(failingAt path: String) -> MachineHarness {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.respond = { request in
            guard case .modifyRecords(let batch, _) = request, batch.recordIDs.contains(recordID(path)) else {
                return nil
            }
            return .error(.internalError)
        }
        return harness
    }

    @Test(arguments: [2, 10, 300])
    func `R-593: a record at which the server fails each time does not hold up the others, and stays pending`(
        count: Int
    ) {
        let harness = harness(failingAt: "A/1")
        for number in 0..<count { harness.add("A/\(number)") }
        harness.advance(by: .seconds(20 * 60))
        #expect(harness.pending == ["A/1"])
        #expect(harness.server.contents.count == count - 1)
        // What comes later goes without it, and at once.
        _ = harness.take()
        harness.add("A/late")
        harness.advance(by: .milliseconds(500))
        #expect(harness.pending == ["A/1"] && harness.server.contents["A/late"] != nil)
        #expect(harness.take().filter { $0.hasPrefix("→ records") } == ["→ records A/late", "→ records A/1"])
        // The record itself is tried every five minutes, however often the app adds it again.
        for _ in 0..<60 {
            harness.add("A/1")
            harness.advance(by: .seconds(10))
        }
        #expect((1...3).contains(harness.take().count { $0.hasPrefix("→ records") }))
        // Others take it along, every two seconds at most.
        for number in 0..<100 {
            harness.add("A/later \(number)")
            harness.advance(by: .milliseconds(100))
        }
        #expect((3...12).contains(harness.take().count { $0.hasPrefix("→ records") }))
        harness.advance(by: .seconds(2))
        #expect(harness.pending == ["A/1"])
        // The server is mended.
        harness.respond = { _ in nil }
        harness.advance(by: .seconds(5 * 60))
        #expect(harness.pending == [])
    }

    @Test func `R-593: what is added while a record fails alone does not wait for it either`() {
        let harness = harness(failingAt: "A/1")
        harness.add("A/1", "A/2")
        harness.advance(by: .seconds(20 * 60))
        #expect(harness.pending == ["A/1"])
        let fail = harness.respond
        harness.respond = { request in
            guard request.isRecords else { return nil }
            harness.respond = fail
            harness.add("A/3")
            return fail(request)
        }
        for _ in 0..<300 where harness.server.contents["A/3"] == nil && !harness.pending.contains("A/3") {
            harness.advance(by: .seconds(1))
        }
        harness.advance(by: .seconds(3))
        #expect(harness.pending == ["A/1"] && harness.server.contents["A/3"] != nil)
    }

    /// The server fails at all records.
    @Test(arguments: [2, 3, 40])
    func `R-375, R-593: a server that fails at everything is asked less and less`(count: Int) {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.respond = { $0.isRecords ? .error(.internalError) : nil }
        for number in 0..<count { harness.add("A/\(number)") }
        harness.advance(by: .seconds(60 * 60))
        let first = harness.take().count { $0.hasPrefix("→ records") }
        #expect((10...30).contains(first), "\(first) requests in an hour")
        // Whatever is added meanwhile.
        for number in 0..<600 {
            harness.add("A/new \(number)")
            harness.advance(by: .milliseconds(100))
        }
        let second = harness.take().count { $0.hasPrefix("→ records") }
        #expect(second <= 40, "\(second) requests in a minute")
        harness.respond = { _ in nil }
        harness.advance(by: .seconds(5 * 60))
        #expect(harness.pending == [] && harness.server.contents.count == count + 600)
    }

    @Test(
        arguments: [1, 2, 600],
        [
            CKError(.assetNotAvailable, userInfo: [CKError.passingKey: true]), CKError(.accountTemporarilyUnavailable),
            CKError(.serviceUnavailable).ofMissingKeys,
        ])
    func `R-067, R-084, R-593: new changes do not wait for those that lack files or keys`(count: Int, unread: CKError) {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.respond = { request in
            guard case .modifyRecords(let batch, _) = request else { return nil }
            var results = SyncEngineRecordResults()
            for record in batch.recordsToSave {
                results.saves[record.recordID] =
                    record.recordID.recordName.hasPrefix("photo") ? .failure(unread) : .success(record)
            }
            return .success(.recordResults(results))
        }
        for number in 0..<count { harness.add("A/photo\(number)") }
        harness.advance(by: .seconds(20 * 60))
        let attempts = harness.take().count { $0.hasPrefix("→ records") }
        #expect((8...16).contains(attempts), "\(attempts) attempts in 20 minutes")
        harness.add("A/1")
        harness.advance(by: .seconds(count > 250 ? 20 * 60 : 1))
        #expect(harness.pending.count == count)
    }

    @Test(arguments: [CKError.Code.networkFailure, .operationCancelled, .zoneBusy])
    func `R-593: what did not get through goes apart from the others as before`(code: CKError.Code) {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "A/2")
        for failure in [CKError.Code.internalError, code] {
            harness.respond = { $0.isRecords ? .error(failure) : nil }
            harness.send()
            harness.run()
        }
        harness.respond = { _ in nil }
        harness.add("A/3")
        harness.log = []
        harness.send()
        let sent = harness.take().filter { $0.hasPrefix("→ records") }
        #expect(sent == ["→ records A/3", "→ records A/1", "→ records A/2"])
    }

    @Test func `R-594: what the network does not carry at once goes in halves, and in larger parts as it does`() {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        var counts: [Int] = []
        var carried = 3
        harness.respond = { request in
            guard case .modifyRecords(let batch, _) = request else { return nil }
            counts.append(batch.itemCount)
            return batch.itemCount > carried ? .error(.serverResponseLost) : nil
        }
        for number in 10..<30 { harness.add("A/\(number)") }
        harness.advance(by: .seconds(10 * 60))
        #expect(harness.pending == [] && harness.server.contents.count == 20)
        #expect(counts.prefix(4) == [20, 10, 5, 2], "\(counts)")
        carried = .max
        counts = []
        for number in 1_000..<4_000 { harness.add("A/\(number)") }
        harness.advance(by: .seconds(10 * 60))
        #expect(harness.pending == [] && harness.server.contents.count == 3_020)
        #expect(counts.max() == 250, "\(counts)")
    }

    @Test func `R-594: of a batch that is too large nothing is left out that is not pending`() {
        let harness = MachineHarness.started(zones: "A")
        var counts: [Int] = []
        harness.respond = { request in
            guard case .modifyRecords(let batch, _) = request else { return nil }
            counts.append(batch.itemCount)
            return counts.count == 1 ? .error(.serverResponseLost) : nil
        }
        harness.add("A/1", "A/2", "A/3", "A/4")
        harness.send()
        harness.run()
        harness.batch = { _ in
            harness.batch = nil
            return CKSyncEngine.RecordZoneChangeBatch(
                recordsToSave: ["A/1", "A/2", "A/3", "A/9"].map { harness.record($0) })
        }
        harness.send()
        harness.run()
        #expect(counts.prefix(2) == [4, 3])
        #expect(Set(harness.server.contents.keys) == ["A/1", "A/2", "A/3", "A/4", "A/9"])
    }

    @Test func `R-584, R-593: what is refused and added again for ever does not keep suspects from being sent`() {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.server.save("refused", in: zone("A"), value: "other")
        harness.respond = { $0.isRecords ? .error(.internalError) : nil }
        harness.add("A/1", "A/2")
        harness.advance(by: .milliseconds(500))
        harness.respond = { _ in nil }
        harness.onEvent = { event in
            guard case .sentRecordZoneChanges(let sent) = event, !sent.failedRecordSaves.isEmpty else { return }
            harness.machine.add([change("A/refused")], isInCallback: true, at: harness.moment)
        }
        harness.add("A/refused")
        harness.advance(by: .seconds(60))
        #expect(harness.pending == ["A/refused"])
        #expect(harness.server.contents == ["A/1": "v", "A/2": "v", "A/refused": "other"])
    }

    @Test func `R-373, R-593: others do not wait again for an upload that stands still`() {
        let harness = MachineHarness.started(zones: "A")
        harness.respond = { request in
            guard case .modifyRecords(let batch, _) = request else { return nil }
            var results = SyncEngineRecordResults()
            for record in batch.recordsToSave {
                let stands = CKError(.networkFailure, userInfo: [CKError.standstillKey: true])
                results.saves[record.recordID] =
                    record.recordID == recordID("A/large") ? .failure(stands) : .success(record)
            }
            return .success(.recordResults(results))
        }
        harness.add("A/large", "A/1")
        harness.send()
        harness.run()
        harness.add("A/2")
        harness.log = []
        harness.send()
        let sent = harness.take().filter { $0.hasPrefix("→ records") }
        #expect(sent == ["→ records A/2", "→ records A/large"])
        #expect(harness.pending == ["A/large"])
    }

    @Test func `R-592, R-593: a child does not keep the parent at which the server failed from being sent`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/parent")
        harness.respond = { $0.isRecords ? .error(.internalError) : nil }
        harness.send()
        harness.run()
        harness.add("A/child")
        harness.respond = { request in
            guard case .modifyRecords(let batch, _) = request, batch.recordIDs == [recordID("A/child")],
                harness.server.contents["A/parent"] == nil
            else { return nil }
            return .error(.referenceViolation)
        }
        harness.records[recordID("A/child")]?.parent = CKRecord.Reference(
            recordID: recordID("A/parent"), action: .none)
        harness.send()
        harness.run()
        #expect(harness.pending == [])
        #expect(harness.server.contents.count == 2)
    }

    @Test func `R-373, R-514: an item of which the answer says nothing is pending, and its outcome is fetched first`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "-A/2")
        harness.respond = { $0.isRecords ? .success(.recordResults(.init())) : nil }
        harness.send()
        #expect(harness.take().contains("sent !+A/1:serverResponseLost !-A/2:serverResponseLost"))
        #expect(harness.pending == ["A/1", "-A/2"])
        harness.respond = { _ in nil }
        harness.send()
        let log = harness.take().filter { $0.hasPrefix("→") }
        #expect(log.first?.hasPrefix("→ feed") == true && log.last == "→ records A/1 -A/2", "\(log)")
    }

    @Test func `R-583: a failed record that the app adds again in the event is pending once when the call throws`() {
        let harness = MachineHarness.started(zones: "A")
        harness.server.save("1", in: zone("A"), value: "other")
        harness.add("A/1")
        harness.onEvent = { event in
            guard case .sentRecordZoneChanges(let sent) = event, !sent.failedRecordSaves.isEmpty else { return }
            harness.machine.add([change("A/1")], isInCallback: true, at: harness.moment)
        }
        let call = harness.send()
        #expect(harness.take().contains("sent !+A/1:serverRecordChanged"))
        #expect(harness.pending == ["A/1"])
        #expect(harness.error(of: call) != nil)
    }

    @Test func `R-511, R-518: a newer change is not replaced by one that failed and is retried`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "A/2")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.run()
        harness.add("-A/1")
        harness.release(.error(.networkFailure))
        #expect(harness.pending == ["A/2", "-A/1"])
    }

    @Test func `R-511, R-518, R-592: nor by one that failed by itself, or waits for its parent`() {
        let harness = MachineHarness.started(zones: "A")
        harness.record("A/2").parent = CKRecord.Reference(recordID: recordID("A/parent"), action: .none)
        harness.add("A/1", "A/2")
        harness.holds = { $0.isRecords }
        harness.send()
        harness.run()
        harness.add("A/parent", "-A/1", "-A/2")
        // The first request answers this; whatever comes after it does not get through.
        harness.respond = { $0.isRecords ? .error(.networkFailure) : nil }
        let saves = [recordID("A/1"): CKError(.zoneBusy), recordID("A/2"): CKError(.referenceViolation)]
        harness.release(.success(.recordResults(.init(saves: saves.mapValues { .failure($0) }))))
        #expect(harness.pending == ["A/parent", "-A/1", "-A/2"])
    }

    @Test func `R-586: a request that fails as a whole gives its own error, and each item in the event has it`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "-A/2")
        harness.respond = { $0.isRecords ? .error(.networkFailure) : nil }
        harness.send()
        #expect(
            harness.take() == [
                "willSend(manual)", "ask batch", "→ records A/1 -A/2",
                "sent !+A/1:networkFailure !-A/2:networkFailure", "stateUpdate", "didSend", "call 1 networkFailure",
            ])
        #expect(harness.pending == ["A/1", "-A/2"])
    }

    @Test func `R-152, R-586: a partialFailure is unpacked item by item`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1", "A/2")
        harness.respond = { request in
            guard request.isRecords else { return nil }
            let errors: [AnyHashable: any Error] = [
                recordID("A/1"): CKError(.serverRecordChanged), recordID("A/2"): CKError(.batchRequestFailed),
            ]
            return .failure(CKError(partialErrors: errors))
        }
        harness.send()
        #expect(harness.take().contains("sent !+A/1:serverRecordChanged !+A/2:batchRequestFailed"))
        #expect(harness.pending == [])
    }

    @Test func `R-587: a zone that is refused is told, the records go on, and the call throws`() {
        let harness = MachineHarness.started(zones: "A")
        harness.addZones("B", "-C")
        harness.add("A/1")
        harness.respond = { request in
            guard request.isZones else { return nil }
            return .success(
                .zoneResults(
                    .init(saves: [zone("B"): .failure(CKError(.quotaExceeded))], deletes: [zone("C"): .success(())])))
        }
        harness.send()
        #expect(
            harness.take() == [
                "willSend(manual)", "→ zones +B -C", "sentZones !+B:quotaExceeded -C", "ask batch", "→ records A/1",
                "sent +A/1", "ask batch", "stateUpdate", "didSend", "call 1 partialFailure",
            ])
        #expect(harness.machine.snapshot.pendingZones.isEmpty)
    }

    @Test func `R-585: zones that do not get through are pending again, and the pass ends`() {
        let harness = MachineHarness.started(zones: "A")
        harness.addZones("B")
        harness.add("A/1")
        harness.respond = { $0.isZones ? .error(.networkUnavailable) : nil }
        harness.send()
        #expect(
            harness.take() == [
                "willSend(manual)", "→ zones +B", "sentZones !+B:networkUnavailable", "stateUpdate", "didSend",
                "call 1 networkUnavailable",
            ])
        #expect(harness.machine.snapshot.pendingZones.elements.map(\.text) == ["B"])
        #expect(harness.pending == ["A/1"])
    }

    @Test func `R-588: a manual send with nothing pending asks once`() {
        let harness = MachineHarness.started(zones: "A")
        harness.send()
        #expect(harness.take() == ["willSend(manual)", "ask batch", "didSend", "call 1 ok"])
    }

    @Test func `R-589, R-571: what is added during a pass goes in it, zones before records`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.onEvent = { event in
            guard case .sentRecordZoneChanges(let sent) = event, sent.savedRecords.first?.recordID == recordID("A/1")
            else { return }
            harness.addZones("B")
            harness.add("B/2")
        }
        harness.send()
        #expect(
            harness.take() == [
                "willSend(manual)", "ask batch", "→ records A/1", "sent +A/1", "→ zones +B", "sentZones +B",
                "ask batch", "→ records B/2", "sent +B/2", "ask batch", "stateUpdate", "didSend", "call 1 ok",
            ])
    }

    @Test func `R-554, R-223: what was sent comes back in the next fetch`() {
        let harness = MachineHarness.started(zones: "A")
        harness.add("A/1")
        harness.send()
        harness.run()
        harness.fetch()
        #expect(harness.take().contains("records +A/1"))
        harness.fetch()
        #expect(!harness.take().contains { $0.hasPrefix("records") })
    }
}
