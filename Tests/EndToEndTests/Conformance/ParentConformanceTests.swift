// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Synchronization
import Testing

/// Parents and children that an engine sends, on TestKit and on a real server.
@Suite struct ParentConformanceTests {
    /// An app with a tree of records, which it may put into batches itself.
    private final class Tree: CKSyncEngineDelegate, Sendable {
        private struct State {
            var parents: [CKRecord.ID: CKRecord.ID?] = [:]
            var engine: CKSyncEngine?
            var failures: [String] = []
        }

        private let state = Mutex(State())
        private let makesBatches: Bool

        init(_ container: CKContainer, makesBatches: Bool) {
            self.makesBatches = makesBatches
            let configuration = CKSyncEngine.Configuration(
                database: container.privateCloudDatabase, stateSerialization: nil, delegate: self)
            let engine = CKSyncEngine(configuration)
            state.withLock { $0.engine = engine }
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Both.notes))])
        }

        var failures: [String] { state.withLock { $0.failures } }

        var isIdle: Bool {
            state.withLock { $0.engine }.map {
                $0.state.pendingRecordZoneChanges.isEmpty && $0.state.pendingDatabaseChanges.isEmpty
            } ?? false
        }

        func save(_ names: [String], of parent: String?) {
            let engine = state.withLock { state in
                for name in names { state.parents[Both.id(name)] = .some(parent.map(Both.id)) }
                return state.engine
            }
            engine?.state.add(pendingRecordZoneChanges: names.map { .saveRecord(Both.id($0)) })
        }

        func delete(_ names: [String]) {
            let engine = state.withLock { $0.engine }
            engine?.state.add(pendingRecordZoneChanges: names.map { .deleteRecord(Both.id($0)) })
        }

        private func record(_ id: CKRecord.ID) -> CKRecord? {
            guard let parent = state.withLock({ $0.parents[id] }) else { return nil }
            let record = CKRecord(recordType: "Note", recordID: id)
            record.parent = parent.map { CKRecord.Reference(recordID: $0, action: .none) }
            return record
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            let changes = syncEngine.state.pendingRecordZoneChanges
            guard makesBatches else {
                return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { self.record($0) }
            }
            var batch = CKSyncEngine.RecordZoneChangeBatch()
            for change in changes.prefix(100) {
                switch change {
                case .saveRecord(let id): batch.recordsToSave += record(id).map { [$0] } ?? []
                case .deleteRecord(let id): batch.recordIDsToDelete.append(id)
                }
            }
            return batch
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            guard case .sentRecordZoneChanges(let sent) = event else { return }
            state.withLock { state in
                state.failures += sent.failedRecordSaves.map { "\($0.record.recordID.recordName) \($0.error.code)" }
                state.failures += sent.failedRecordDeletes.map { "\($0.recordName) \($1.code)" }
            }
        }
    }

    @Test(arguments: [false, true])
    func `R-592: 300 children that are added, and deleted, on the wrong side of their parent`(
        makesBatches: Bool
    ) async throws {
        let seen = try await Both.clouds { cloud in
            let tree = Tree(try await cloud.device(of: "alice").container, makesBatches: makesBatches)
            let other = try await cloud.device(of: "alice").database
            let children = (0..<300).map { "child\($0)" }
            tree.save(children, of: "parent")
            tree.save(["parent"], of: nil)
            func holds(_ expected: Int) async throws -> Bool {
                guard tree.isIdle else { return false }
                var (count, token, more) = (0, CKServerChangeToken?.none, true)
                while more {
                    let page = try await other.recordZoneChanges(inZoneWith: Both.notes, since: token)
                    count += page.modificationResultsByID.count
                    (token, more) = (page.changeToken, page.moreComing)
                }
                return count == expected
            }
            try await cloud.run(until: "all are sent") { try await holds(301) }
            tree.delete(["parent"] + children)
            try await cloud.run(until: "all are deleted") { try await holds(0) }
            return tree.failures
        }
        #expect(seen == [])
    }
}
