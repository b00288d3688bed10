// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

/// what is sent before something that must come first.
@Suite struct SyncEngineMachineWaitingTests {
    /// As a server that checks parents on the end state of a request.
    private final class Family {
        var stored: [CKRecord.ID: CKRecord.ID?] = [:]
        /// Records that are refused for reasons of their own.
        var refusals: [CKRecord.ID: CKError.Code] = [:]
        var isAtomic = false

        func answer(_ request: SyncEngineRequest) -> SyncEngineOutcome? {
            guard case .modifyRecords(let batch, _) = request else { return nil }
            var refused: [CKRecord.ID: CKError.Code] = [:]
            for id in batch.recordIDs { refused[id] = refusals[id] }
            var end = stored
            while true {
                end = stored
                for record in batch.recordsToSave where refused[record.recordID] == nil {
                    end[record.recordID] = .some(record.parent?.recordID)
                }
                for id in batch.recordIDsToDelete where refused[id] == nil { end[id] = nil }
                let orphans = batch.recordsToSave.filter { record in
                    guard refused[record.recordID] == nil, let parent = record.parent?.recordID else { return false }
                    return end[parent] == nil
                }.map(\.recordID)
                let parents = batch.recordIDsToDelete.filter { id in
                    refused[id] == nil && end.values.contains { $0 == id }
                }
                if orphans.isEmpty && parents.isEmpty { break }
                for id in orphans + parents { refused[id] = .referenceViolation }
            }
            if batch.atomicByZone, !refused.isEmpty {
                for id in batch.recordIDs where refused[id] == nil { refused[id] = .batchRequestFailed }
                end = stored
            }
            stored = end
            var results = SyncEngineRecordResults()
            for record in batch.recordsToSave {
                results.saves[record.recordID] =
                    refused[record.recordID].map { .failure(CKError($0)) } ?? .success(record)
            }
            for id in batch.recordIDsToDelete {
                results.deletes[id] = refused[id].map { .failure(CKError($0)) } ?? .success(())
            }
            return .success(.recordResults(results))
        }
    }

    private func started(_ family: Family, automatic: Bool = false) -> MachineHarness {
        let harness = MachineHarness.started(automatic: automatic)
        harness.server.save(zone: zone("A"))
        harness.respond = family.answer
        return harness
    }

    private func add(_ path: String, of parent: String?, to harness: MachineHarness) {
        harness.record(path).parent = parent.map { CKRecord.Reference(recordID: recordID($0), action: .none) }
        harness.add(path)
    }

    private func failures(_ harness: MachineHarness) -> [String] {
        harness.log.filter { $0.hasPrefix("sent ") && $0.contains("!") }
    }

    @Test(arguments: [false, true])
    func `R-592: 300 children before their parent are all stored, and none is told of as refused`(isAtomic: Bool) {
        let family = Family()
        let harness = started(family)
        for number in 0..<300 { add("A/c\(number)", of: "A/parent", to: harness) }
        add("A/parent", of: nil, to: harness)
        harness.batch = { context in
            var batch = harness.pendingBatch(context)
            batch?.atomicByZone = isAtomic
            return batch
        }
        let call = harness.send()
        harness.run()
        #expect(family.stored.count == 301 && harness.pending == [])
        #expect(failures(harness) == [])
        #expect(harness.results[call] != nil && harness.error(of: call) == nil)
    }

    @Test func `R-592: a grandchild waits with its parent, and both come after the parent's parent`() {
        let family = Family()
        let harness = started(family)
        add("A/grandchild", of: "A/child", to: harness)
        add("A/child", of: "A/parent", to: harness)
        add("A/parent", of: nil, to: harness)
        harness.batch = { context in
            // One after the other, as an app with its own idea of a batch has it.
            guard let first = harness.pendingBatch(context)?.recordsToSave.first else { return nil }
            return .init(recordsToSave: [first])
        }
        harness.send()
        harness.run()
        #expect(family.stored.count == 3 && harness.pending == [] && failures(harness) == [])
    }

    /// From now on a batch has the first so many of what is pending.
    private func limitBatches(to count: Int, isAtomic: Bool, _ harness: MachineHarness) {
        harness.batch = { context in
            guard var batch = harness.pendingBatch(context) else { return nil }
            batch.recordsToSave = Array(batch.recordsToSave.prefix(count))
            batch.atomicByZone = isAtomic
            return batch
        }
    }

    @Test func `R-592: a grandchild waits with its parent that comes after it in one batch`() {
        let family = Family()
        let harness = started(family)
        add("A/grandchild", of: "A/child", to: harness)
        add("A/child", of: "A/parent", to: harness)
        add("A/parent", of: nil, to: harness)
        limitBatches(to: 2, isAtomic: false, harness)
        harness.send()
        harness.run()
        #expect(family.stored.count == 3 && harness.pending == [] && failures(harness) == [])
    }

    @Test func `R-592, R-519: what an atomic zone refuses for the sake of a child that waits, waits with it`() {
        let family = Family()
        let harness = started(family)
        add("A/child", of: "A/parent", to: harness)
        add("A/other", of: nil, to: harness)
        add("A/parent", of: nil, to: harness)
        limitBatches(to: 2, isAtomic: true, harness)
        harness.send()
        harness.run()
        #expect(family.stored.count == 3 && harness.pending == [] && failures(harness) == [])
    }

    @Test(arguments: [CKError.Code.zoneBusy, .invalidArguments])
    func `R-592, R-519: what an atomic zone refuses for the sake of a failure is told if that failure is final`(
        code: CKError.Code
    ) {
        let family = Family()
        family.refusals = [recordID("A/failing"): code]
        let harness = started(family)
        add("A/child", of: "A/parent", to: harness)
        add("A/other", of: nil, to: harness)
        add("A/failing", of: nil, to: harness)
        add("A/parent", of: nil, to: harness)
        limitBatches(to: 3, isAtomic: true, harness)
        harness.send()
        harness.run()
        if code == .zoneBusy {
            #expect(failures(harness) == ["sent !+A/failing:zoneBusy"])
            #expect(harness.pending.sorted() == ["A/child", "A/failing", "A/other", "A/parent"])
        } else {
            #expect(failures(harness) == ["sent !+A/other:batchRequestFailed !+A/failing:invalidArguments"])
            #expect(harness.pending.sorted() == ["A/child", "A/parent"])
        }
    }

    @Test func `R-592, R-585: a child of a parent that is retried stays pending with it`() {
        let family = Family()
        family.refusals = [recordID("A/parent"): .zoneBusy]
        let harness = started(family, automatic: true)
        add("A/child", of: "A/parent", to: harness)
        add("A/parent", of: nil, to: harness)
        harness.advance(by: .milliseconds(500))
        #expect(failures(harness) == ["sent !+A/parent:zoneBusy"])
        #expect(harness.pending == ["A/parent", "A/child"])
        family.refusals = [:]
        harness.advance(by: .seconds(5))
        #expect(family.stored.count == 2 && harness.pending == [])
    }

    @Test func `R-592: a child whose parent is never sent stays pending, and costs little`() {
        let family = Family()
        let harness = started(family, automatic: true)
        add("A/child", of: "A/parent", to: harness)
        harness.add("A/parent")
        harness.records[recordID("A/parent")] = nil
        harness.advance(by: .seconds(3_600))
        #expect(harness.pending.sorted() == ["A/child", "A/parent"] && failures(harness) == [])
        let requests = harness.log.filter { $0.hasPrefix("→ records") }
        #expect((10...60).contains(requests.count), "\(requests.count)")
        harness.record("A/parent")
        harness.advance(by: .seconds(310))
        #expect(family.stored.count == 2 && harness.pending == [])
    }

    @Test func `R-592, R-518: a child of nobody who is to come is told, and gone`() {
        let family = Family()
        let harness = started(family)
        add("A/child", of: "A/nobody", to: harness)
        harness.add("-A/other")
        harness.send()
        harness.run()
        #expect(failures(harness) == ["sent !+A/child:referenceViolation -A/other"])
        #expect(harness.pending == [])
    }

    @Test func `R-592: a parent that is deleted to come no more is none that a child waits for`() {
        let family = Family()
        let harness = started(family)
        add("A/child", of: "A/parent", to: harness)
        harness.add("-A/parent")
        harness.batch = { context in
            let record = harness.pendingBatch(context)?.recordsToSave.first
            return record.map { .init(recordsToSave: [$0]) }
        }
        harness.send()
        harness.run()
        #expect(failures(harness) == ["sent !+A/child:referenceViolation"])
    }

    @Test func `R-592, R-136: a parent that is deleted before its 300 children is gone with them`() {
        let family = Family()
        let harness = started(family)
        family.stored[recordID("A/parent")] = .some(nil)
        harness.add("-A/parent")
        for number in 0..<300 {
            family.stored[recordID("A/c\(number)")] = .some(recordID("A/parent"))
            harness.add("-A/c\(number)")
        }
        let call = harness.send()
        harness.run()
        #expect(family.stored.isEmpty && harness.pending == [])
        #expect(failures(harness) == [] && harness.error(of: call) == nil)
    }

    @Test func `R-592, R-136: three generations that are deleted one by one, the eldest first, are gone`() {
        let family = Family()
        let harness = started(family)
        family.stored[recordID("A/g")] = .some(nil)
        for (child, parent) in [("A/p", "A/g"), ("A/c", "A/p")] {
            family.stored[recordID(child)] = .some(recordID(parent))
        }
        harness.batch = { _ in
            harness.machine.snapshot.pendingRecords.elements.first.map { .init(recordIDsToDelete: [$0.recordID]) }
        }
        harness.add("-A/g", "-A/p", "-A/c")
        harness.send()
        harness.run()
        #expect(family.stored.isEmpty && harness.pending == [] && failures(harness) == [])
    }

    @Test func `R-592, R-136: parents that others have children of are told of, however many are pending`() {
        let family = Family()
        let harness = started(family, automatic: true)
        for parent in ["A/p", "A/q"] {
            family.stored[recordID(parent)] = .some(nil)
            family.stored[recordID(parent + "child")] = .some(recordID(parent))
        }
        harness.batch = { context in
            guard let change = harness.machine.snapshot.pendingRecords.elements.first else { return nil }
            return .init(recordIDsToDelete: [change.recordID])
        }
        harness.add("-A/p", "-A/q", "-A/r", "-A/s")
        harness.advance(by: .seconds(60))
        #expect(harness.pending == [])
        #expect(
            Set(failures(harness)) == ["sent !-A/p:referenceViolation", "sent !-A/q:referenceViolation"])
    }

    @Test func `R-592, R-107: a record whose zone has lost its keys is told of, also if the zone is to be saved`() {
        let harness = MachineHarness.started(automatic: true)
        harness.respond = { request in
            switch request {
            case .modifyZones: return .success(.zoneResults(.init(saves: [zone("B"): .failure(CKError(.zoneBusy))])))
            case .modifyRecords(let batch, _):
                let error = CKError(.zoneNotFound, userInfo: [CKErrorUserDidResetEncryptedDataKey: true])
                return .success(
                    .recordResults(
                        .init(
                            saves: Dictionary(
                                uniqueKeysWithValues: batch.recordsToSave.map { ($0.recordID, .failure(error)) }))))
            default: return nil
            }
        }
        harness.addZones("B")
        harness.add("B/1")
        harness.advance(by: .milliseconds(500))
        #expect(failures(harness) == ["sent !+B/1:zoneNotFound"] && harness.pending == [])
    }

    @Test func `R-592, R-571: records wait for a zone that is still to be saved`() {
        let harness = MachineHarness.started(automatic: true)
        var isBusy = true
        harness.respond = { request in
            guard isBusy, request.isZones else { return nil }
            return .success(.zoneResults(.init(saves: [zone("B"): .failure(CKError(.zoneBusy))])))
        }
        harness.addZones("B")
        harness.add("B/1")
        harness.advance(by: .milliseconds(500))
        #expect(harness.pending == ["B/1"] && failures(harness) == [])
        isBusy = false
        harness.advance(by: .seconds(5))
        #expect(harness.server.contents == ["B/1": "v"])
    }
}
