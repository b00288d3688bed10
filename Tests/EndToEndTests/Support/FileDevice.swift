// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkKit

/// A device with an app that syncs files: keeps what comes, as its own.
final class FileDevice: CKSyncEngineDelegate, Sendable {
    private struct State {
        var contents: [String: Data] = [:]
        var recordsWithoutFile: Set<String> = []
        var engine: CKSyncEngine?
    }

    private let state = Mutex(State())
    private let makeRecord: @Sendable (CKRecord.ID) -> CKRecord?

    init(_ container: CKContainer, makeRecord: @escaping @Sendable (CKRecord.ID) -> CKRecord?) {
        self.makeRecord = makeRecord
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        state.withLock { $0.engine = engine }
    }

    var engine: CKSyncEngine? { state.withLock { $0.engine } }

    /// By record name.
    var contents: [String: Data] { state.withLock { $0.contents } }

    /// Names of records that came without the file that they should have.
    var recordsWithoutFile: Set<String> { state.withLock { $0.recordsWithoutFile } }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { self.makeRecord($0) }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard case .fetchedRecordZoneChanges(let changes) = event else { return }
        for modification in changes.modifications {
            let record = modification.record
            let name = record.recordID.recordName
            let data = (record["file"] as? CKAsset)?.fileURL.flatMap { try? Data(contentsOf: $0) }
            state.withLock { state in
                state.contents[name] = data
                if data == nil { state.recordsWithoutFile.insert(name) }
            }
        }
    }
}
