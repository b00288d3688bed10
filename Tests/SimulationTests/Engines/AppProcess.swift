// SPDX-License-Identifier: Apache-2.0

import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkKit

/// One process of a simulated app, with a real `CKSyncEngine`. It takes its time in every callback, and may die there or
/// anywhere else; then it does nothing any more.
final class AppProcess: TidemarkSyncEngineDelegate, CloudTransport, @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    let app: SimulatedApp
    let world: SimulatedWorld
    private(set) var engine: CKSyncEngine?
    private(set) var isAlive = true
    private var links: [MemoryLink] = []
    /// Whether the batch under way is atomic.
    private var isAtomic = false
    private var hasSeenZones = false
    private var hasFetchedZones = false
    /// Zones of which it drops all but unsent edits when their records are announced.
    var zonesToLose: Set<CKRecordZone.ID> = []

    init(of app: SimulatedApp) {
        self.app = app
        world = app.world
    }

    func start() {
        let context = CloudContext(
            containerIdentifier: "iCloud.test", token: "alice", transport: self, scheduler: app.computer,
            engineScheduler: app.computer)
        let database = CKContainer(context: context).privateCloudDatabase
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: app.disk.state, delegate: self)
        configuration.journalFile = app.journal
        if let fault = world.planted { configuration.host = PlantedCloud.host(of: database, fault) }
        let engine = CKSyncEngine(configuration)
        self.engine = engine
        if app.journal != nil {
            if let error = engine.journalError { world.history.accuse("app \(app.number): \(error)") }
            return
        }
        // what the last state update does not hold is added again.
        app.ledger = PendingLedger()
        addZones()
        addChanges()
    }

    private func addZones() {
        add(SimulatedWorld.zoneNames.map { .saveZone(CKRecordZone(zoneName: $0)) })
        if app.disk.isScratchUnwanted {
            add([.deleteZone(SimulatedApp.scratch)])
        } else if app.disk.ids.contains(where: { $0.zoneID == SimulatedApp.scratch }) {
            add([.saveZone(CKRecordZone(zoneID: SimulatedApp.scratch))])
        }
    }

    private func addChanges() {
        for id in app.disk.ids where app.disk.notes[id]?.isDirty == true { add([.saveRecord(id)]) }
        for id in app.disk.deleted.sorted(by: { $0.path < $1.path }) { add([.deleteRecord(id)]) }
    }

    // MARK: What the engine is to send

    func add(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        app.ledger.add(changes)
        engine?.state.add(pendingRecordZoneChanges: changes)
    }

    func add(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        app.ledger.add(changes)
        engine?.state.add(pendingDatabaseChanges: changes)
    }

    private func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        app.ledger.remove(changes)
        engine?.state.remove(pendingRecordZoneChanges: changes)
    }

    /// I-1: what the app was told nothing of is still to be sent.
    func judgeQueue(_ engine: CKSyncEngine) {
        guard isAlive else { return }
        let missing = app.ledger.missing(in: engine)
        if !missing.isEmpty { world.history.accuse("I-1: app \(app.number): left the queue untold: \(missing)") }
    }

    func die() {
        isAlive = false
        // A callback that is under way keeps the engine for a while.
        engine?.driver.journal?.release()
        engine = nil
        cutLinks()
    }

    func cutLinks() {
        for link in links { link.cut() }
        links = []
    }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        let isReachable = isAlive && app.isOnline && (world.isCalm || !world.oneIn(10))
        let server = isReachable ? world.oneOf(world.servers) : nil
        let channel = DeviceChannel(of: app, observer: observer)
        let (link, base) = MemoryLink.open(over: world, observer: channel) { server?.accept($0) }
        channel.connect(base)
        links.removeAll(where: \.isClosed)
        links.append(link)
        return channel
    }

    // MARK: CKSyncEngineDelegate

    /// Lets others go first, perhaps for a while.
    func takeTime() async {
        if world.oneIn(3) { await app.computer.pass(world.shortDelay()) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        app.ledger.batchAsked()
        judgeQueue(syncEngine)
        await takeTime()
        guard isAlive else { return nil }
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        let batchID = world.oneIn(3) ? app.newBatchID() : nil
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            guard let note = self.app.disk.notes[id], note.isDirty else {
                // pending since an earlier process, or since before the note was gone.
                self.remove([.saveRecord(id)])
                return nil
            }
            let record = note.base?.copy() as? CKRecord ?? CKRecord(recordType: "Note", recordID: id)
            record["text"] = note.edits.sorted().joined(separator: ",")
            record["batch"] = batchID
            return record
        }
        guard var batch else { return nil }
        batch.atomicByZone = batchID != nil
        isAtomic = batch.atomicByZone
        if let batchID {
            let names = Dictionary(grouping: batch.recordsToSave.map(\.recordID), by: \.zoneID.zoneName)
            world.history.planBatch(batchID, saving: names.mapValues { Set($0.map(\.recordName)) })
        }
        await takeTime()
        return batch
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        await takeTime()
        if world.planted == .recordsStoredLate, case .fetchedRecordZoneChanges = event {
            let pause = world.delay()
            app.computer.run {
                await self.app.computer.pass(pause)
                if self.isAlive { self.handle(event, syncEngine) }
            }
        } else if isAlive {
            handle(event, syncEngine)
            judgeQueue(syncEngine)
        }
        await takeTime()
    }

    private func handle(_ event: CKSyncEngine.Event, _ engine: CKSyncEngine) {
        world.note("app \(app.number): \(event)")
        app.disk.fetched.take(event)
        switch event {
        case .stateUpdate(let update):
            app.disk.take(update.stateSerialization)
            if hasFetchedZones { app.disk.knowsZones = true }
        case .accountChange:
            app.ledger.accountChanged()
            for id in app.disk.ids {
                app.disk.notes[id]?.base = nil
                app.disk.notes[id]?.isDirty = true
            }
            addZones()
            addChanges()
        case .fetchedDatabaseChanges(let changes):
            hasSeenZones = true
            for deletion in changes.deletions { zoneEnded(deletion.zoneID) }
        case .didFetchChanges:
            hasFetchedZones = hasSeenZones
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications {
                if world.planted == .restoreTakenForNews, changes.fullFetchReason == .anotherLife {
                    app.disk.notes[modification.record.recordID] = nil
                }
                merge(modification.record)
            }
            for deletion in changes.deletions { recordEnded(deletion.recordID) }
        case .sentDatabaseChanges(let sent): settle(sent)
        case .sentRecordZoneChanges(let sent): settle(sent)
        default: break
        }
    }

    // MARK: What was fetched

    private func merge(_ record: CKRecord) {
        let id = record.recordID
        guard !app.disk.deleted.contains(id) else {
            add([.deleteRecord(id)])
            return
        }
        var note = app.disk.notes[id] ?? AppDisk.Note()
        note.base = record
        note.edits.formUnion(record.edits)
        note.isDirty = note.edits != record.edits
        app.disk.notes[id] = note
        // An earlier process may have sent it: then there is nothing left to send.
        if note.isDirty { add([.saveRecord(id)]) } else { remove([.saveRecord(id)]) }
    }

    func recordEnded(_ id: CKRecord.ID) {
        if !id.recordName.hasPrefix("draft-") { world.history.accuse("I-1: app \(app.number): \(id.path) is deleted") }
        app.disk.notes[id] = nil
    }

    private func zoneEnded(_ zoneID: CKRecordZone.ID) {
        if zoneID != SimulatedApp.scratch {
            world.history.accuse("I-1: app \(app.number): zone \(zoneID.zoneName) is deleted")
        }
        forgetZone(zoneID)
    }

    func forgetZone(_ zoneID: CKRecordZone.ID) {
        let gone = app.disk.forgetZone(zoneID)
        remove(gone.map { .saveRecord($0) })
    }

    // MARK: What was sent

    private func settle(_ sent: CKSyncEngine.Event.SentDatabaseChanges) {
        let isGone =
            sent.deletedZoneIDs.contains(SimulatedApp.scratch)
            || sent.failedZoneDeletes[SimulatedApp.scratch]?.code == .zoneNotFound
        if isGone {
            app.disk.isScratchUnwanted = false
            forgetZone(SimulatedApp.scratch)
        }
        for failure in sent.failedZoneSaves { expectToBeTriedAgain(failure.error, failure.zone.zoneID.zoneName) }
        app.ledger.told(sent.savedZones.map(\.zoneID) + sent.deletedZoneIDs)
        app.ledger.told(sent.failedZoneDeletes.filter { $0.value.code == .zoneNotFound }.keys)
    }

    private func settle(_ sent: CKSyncEngine.Event.SentRecordZoneChanges) {
        // What failed and is tried again is pending again by now: of that nothing was told yet.
        app.ledger.told(sent.savedRecords.map(\.recordID) + sent.deletedRecordIDs)
        app.ledger.told(sent.failedRecordSaves.filter { !$0.error.isTriedAgain }.map(\.record.recordID))
        app.ledger.told(sent.failedRecordDeletes.filter { !$0.value.isTriedAgain }.keys)
        if isAtomic { judgeAtomicity(sent) }
        for record in sent.savedRecords {
            let id = record.recordID
            // I-1: said to be saved, so the database has had it.
            let text = record["text"] as? String ?? ""
            if !world.history.hasHad(text, named: id.recordName, in: id.zoneID.zoneName) {
                world.history.accuse("I-1: acknowledged, but not written: \(id.path)")
            }
            merge(record)
        }
        for failure in sent.failedRecordSaves { solve(failure.error, failure.record.recordID) }
        for (id, error) in sent.failedRecordDeletes.sorted(by: { $0.key.path < $1.key.path }) {
            switch error.code {
            case .zoneNotFound, .unknownItem: break
            case .batchRequestFailed: add([.deleteRecord(id)])
            default: expectToBeTriedAgain(error, id.path)
            }
        }
    }

    /// I-3, R-151: within a zone all or nothing.
    private func judgeAtomicity(_ sent: CKSyncEngine.Event.SentRecordZoneChanges) {
        let done = Set((sent.savedRecords.map(\.recordID) + sent.deletedRecordIDs).map(\.zoneID))
        let failed = Set((sent.failedRecordSaves.map(\.record.recordID) + sent.failedRecordDeletes.keys).map(\.zoneID))
        if !done.isDisjoint(with: failed) { world.history.accuse("I-3: app \(app.number): half of an atomic batch") }
    }

    private func solve(_ error: CKError, _ id: CKRecord.ID) {
        switch error.code {
        case .serverRecordChanged:
            if let record = error.serverRecord { merge(record) } else { tryAnew(id) }
        case .batchRequestFailed:
            if app.disk.notes[id] != nil { add([.saveRecord(id)]) }
        case .zoneNotFound where id.zoneID == SimulatedApp.scratch:
            app.disk.notes[id] = nil
        case .zoneNotFound, .unknownItem:
            add([.saveZone(CKRecordZone(zoneID: id.zoneID))])
            tryAnew(id)
        default:
            expectToBeTriedAgain(error, id.path)
            let isDropped = world.planted == .unknownOutcomeDropped && error.code == .serverResponseLost
            if world.planted == .pendingChangeDropped || isDropped {
                engine?.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
            }
        }
    }

    /// The server has no such record: it is new.
    private func tryAnew(_ id: CKRecord.ID) {
        guard app.disk.notes[id] != nil else { return }
        app.disk.notes[id]?.base = nil
        add([.saveRecord(id)])
    }

    private func expectToBeTriedAgain(_ error: CKError, _ item: String) {
        if !error.isTriedAgain { world.history.accuse("app \(app.number): unexpected \(error.code) for \(item)") }
    }
}

extension CKError {
    /// after these the engine keeps what it was to send.
    fileprivate var isTriedAgain: Bool {
        switch code {
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .requestRateLimited,
            .notAuthenticated, .accountTemporarilyUnavailable, .operationCancelled, .serverResponseLost:
            true
        default: false
        }
    }
}
