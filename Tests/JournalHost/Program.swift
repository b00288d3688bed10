// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkKit

/// An app that is made to be killed: it adds and removes changes without end, sends them to a cloud in its own memory that
/// refuses some, and writes down, line by line, what it was promised and what it was told.
///
/// Arguments: a directory, a seed, a prefix for the names of records. In the directory: `journal` and `state.json`, as an app
/// has them; `log`, for the test that kills it.
@main
enum Program {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let app = try App(directory: arguments[1], prefix: arguments[3])
        let dice = Dice(seed: UInt64(arguments[2]) ?? 0)
        let engine = app.makeEngine(dice)
        // It would promise what it cannot keep.
        guard engine.journalError == nil else { exit(3) }
        // Gone with the test that started it.
        DispatchQueue.global().async {
            while readLine() != nil {}
            exit(0)
        }
        while true {
            app.addSome(engine, dice)
            if dice.roll(4) == 0 { try? await Task.sleep(for: .milliseconds(dice.roll(5))) }
        }
    }
}

/// Random numbers for several threads; the same ones for the same seed.
final class Dice: Sendable {
    private let state: Mutex<UInt64>

    init(seed: UInt64) {
        state = Mutex(seed)
    }

    /// In `0 ..< sides`.
    func roll(_ sides: Int) -> Int {
        state.withLock { state in
            // Knuth's MMIX generator; its high bits are good enough for dice.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % sides
        }
    }
}

final class App: CKSyncEngineDelegate, Sendable {
    private let directory: String
    private let prefix: String
    private let log: FileHandle
    private let count = Mutex(0)
    private let zoneID = CKRecordZone.ID(zoneName: "A")

    init(directory: String, prefix: String) throws {
        self.directory = directory
        self.prefix = prefix
        let path = "\(directory)/log"
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        log = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try log.seekToEnd()
    }

    func makeEngine(_ dice: Dice) -> CKSyncEngine {
        let stored = FileManager.default.contents(atPath: "\(directory)/state.json")
        let state = stored.flatMap { try? JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0) }
        var configuration = CKSyncEngine.Configuration(
            database: CKContainer(identifier: "iCloud.test").privateCloudDatabase, stateSerialization: state,
            delegate: self)
        configuration.journalFile = URL(fileURLWithPath: "\(directory)/journal")
        configuration.host = SyncEngineHost { _, _ in MemoryCloud(dice) }
        return CKSyncEngine(configuration)
    }

    /// One write each, so that a line is there or is not.
    private func note(_ text: String) {
        count.withLock { _ in try? log.write(contentsOf: Data((text + "\n").utf8)) }
    }

    func addSome(_ engine: CKSyncEngine, _ dice: Dice) {
        let names = (0...dice.roll(3)).map { _ in
            count.withLock { count in
                count += 1
                return "\(prefix)-\(count)"
            }
        }
        let ids = names.map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
        engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
        for name in names { note("added \(name)") }
        guard dice.roll(5) == 0, let name = names.first, let id = ids.first else { return }
        note("removing \(name)")
        engine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
        note("removed \(name)")
    }

    // MARK: CKSyncEngineDelegate

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            guard let data = try? JSONEncoder().encode(update.stateSerialization) else { return }
            try? data.write(to: URL(fileURLWithPath: "\(directory)/state.json"), options: .atomic)
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { note("told \(record.recordID.recordName)") }
            for failure in sent.failedRecordSaves where failure.error.code == .serverRecordChanged {
                note("told \(failure.record.recordID.recordName)")
                syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(failure.record.recordID)])
                note("added \(failure.record.recordID.recordName)")
            }
        default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
            self.note("taken \(id.recordName)")
            return CKRecord(recordType: "Note", recordID: id)
        }
    }
}

/// A cloud that has nothing, and takes most of what it is given.
private final class MemoryCloud: SyncEngineCloud {
    private let dice: Dice

    init(_ dice: Dice) {
        self.dice = dice
    }

    private func work() async {
        try? await Task.sleep(for: .milliseconds(dice.roll(8)))
    }

    func setObserver(_ observer: any SyncEngineCloudObserver) {}
    func close() {}
    func currentUser() async throws(CKError) -> CKRecord.ID? { CKRecord.ID(recordName: "_alice") }

    /// Of no consequence for what is pending, and told by no event.
    func ensureSubscription(id: CKSubscription.ID?, for user: CKRecord.ID) async throws(CKError) -> CKSubscription.ID {
        throw CKError(.permissionFailure)
    }

    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZoneResults { SyncEngineZoneResults() }

    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineRecordResults {
        await work()
        if dice.roll(6) == 0 { throw CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 0.002]) }
        var results = SyncEngineRecordResults()
        for record in records {
            results.saves[record.recordID] =
                dice.roll(4) == 0 ? .failure(CKError(.serverRecordChanged)) : .success(record)
        }
        return results
    }

    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage {
        await work()
        return SyncEngineDatabasePage(
            modifications: [], deletions: [], token: CKServerChangeToken(bytes: [1]), moreComing: false)
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZonePage { throw CKError(.zoneNotFound) }
}
