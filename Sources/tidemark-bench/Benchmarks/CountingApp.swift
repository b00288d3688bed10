// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkKit
internal import TidemarkTLS

/// An app whose delegate does next to nothing, so that the engine is measured.
final class CountingApp: CKSyncEngineDelegate {
    struct Counts {
        var saved = 0
        var fetched = 0
        var failed = 0
    }

    private let counts = Mutex(Counts())

    /// An account's private database on the server at that port.
    static func database(_ port: UInt16, _ credential: String, _ bench: Bench) -> CKDatabase {
        container(port, credential, bench).privateCloudDatabase
    }

    static func container(_ port: UInt16, _ credential: String, _ bench: Bench) -> CKContainer {
        var configuration = TidemarkConfiguration(
            url: URL(string: "wss://127.0.0.1:\(port)"), token: credential,
            defaultContainerIdentifier: BenchDatabase.container)
        configuration.certificateAuthorityFile = bench.certificates.authorityFile
        return CKContainer(
            context: CloudContext(containerIdentifier: BenchDatabase.container, configuration: configuration))
    }

    static func record(_ id: CKRecord.ID) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["title"] = "A note"
        record["body"] = String(repeating: "the tide comes in ", count: 14)
        record["rank"] = 1.5
        return record
    }

    /// An engine that syncs only when it is called.
    func engine(_ database: CKDatabase) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(database: database, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }

    /// What happened since the last call.
    func takeCounts() throws -> Counts {
        let taken = counts.withLock { counts in
            defer { counts = Counts() }
            return counts
        }
        guard taken.failed == 0 else { throw BenchError("\(taken.failed) saves failed.") }
        return taken
    }

    // MARK: CKSyncEngineDelegate

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .fetchedRecordZoneChanges(let changes): counts.withLock { $0.fetched += changes.modifications.count }
        case .sentRecordZoneChanges(let sent):
            counts.withLock {
                $0.saved += sent.savedRecords.count
                $0.failed += sent.failedRecordSaves.count
            }
        default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: syncEngine.state.pendingRecordZoneChanges) {
            Self.record($0)
        }
    }
}
