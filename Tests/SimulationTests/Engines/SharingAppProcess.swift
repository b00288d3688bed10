// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkDomain
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkKit

/// One process of a ``SharingApp``: a real engine and a real replica, as in the article *Sharing*. It takes its time in
/// every callback, and may die there or anywhere else; then it does nothing any more.
final class SharingAppProcess: TidemarkSyncEngineDelegate, CloudTransport, @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    private let app: SharingApp
    private let world: SimulatedWorld
    let replica: TidemarkReplica
    private(set) var engine: CKSyncEngine?
    private var isAlive = true
    private var links: [MemoryLink] = []

    private static let rules = TidemarkMerge(
        .custom { conflict in
            let texts = [conflict.server as? String ?? "", conflict.client as? String ?? ""]
            let edits = texts.reduce(into: Set<String>()) { $0.formUnion(History.edits(in: $1)) }
            return edits.sorted().joined(separator: ",")
        })

    init(of app: SharingApp) {
        self.app = app
        world = app.world
        do {
            replica = try TidemarkReplica(rows: app.disk.rows)
        } catch {
            replica = TidemarkReplica()
            app.world.history.accuse("app \(app.number) cannot read its replica: \(error)")
        }
    }

    func start() {
        let context = CloudContext(
            containerIdentifier: "iCloud.test", token: app.account, transport: self, scheduler: app.computer,
            engineScheduler: app.computer)
        let container = CKContainer(context: context)
        let database = app.guest == nil ? container.privateCloudDatabase : container.sharedCloudDatabase
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: replica.engineState, delegate: self)
        if let fault = world.planted { configuration.host = PlantedCloud.host(of: database, fault) }
        let engine = CKSyncEngine(configuration)
        self.engine = engine
        replica.begin(engine)
        store()
    }

    /// As in one transaction with what the callback has changed.
    private func store() {
        for (key, data) in replica.takeChangedRows() { app.disk.rows[key] = data }
    }

    func die() {
        isAlive = false
        engine = nil
        cutLinks()
    }

    func cutLinks() {
        for link in links { link.cut() }
        links = []
    }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        let isReachable = isAlive && (world.isCalm || !world.oneIn(10))
        let server = isReachable ? world.oneOf(world.servers) : nil
        let (link, channel) = MemoryLink.open(over: world, observer: observer) { server?.accept($0) }
        links.removeAll(where: \.isClosed)
        links.append(link)
        return channel
    }

    // MARK: What the user does

    func edit(_ text: String, _ id: CKRecord.ID) {
        world.note("app \(app.number) edits \(id.path): \(text)")
        app.disk.edits.insert(text)
        app.disk.notes[id, default: []].insert(text)
        replica.edited(id, as: "Note", engine)
        store()
    }

    func leave(_ zoneID: CKRecordZone.ID) {
        guard let engine else { return }
        world.note("app \(app.number) leaves \(zoneID.zoneName)")
        for id in app.disk.notes.keys where id.zoneID == zoneID {
            app.disk.withdrawn.formUnion(unsaved(id))
            app.disk.notes[id] = nil
        }
        app.disk.shares[zoneID] = nil
        app.disk.leaving[zoneID] = world.history.length
        replica.deletedZone(zoneID, engine)
        store()
    }

    /// What the server is not known to have of a record.
    private func unsaved(_ id: CKRecord.ID) -> Set<String> {
        (app.disk.notes[id] ?? []).subtracting(replica.serverRecord(for: id)?.edits ?? [])
    }

    // MARK: CKSyncEngineDelegate

    /// Lets others go first, perhaps for a while.
    private func takeTime() async {
        if world.oneIn(3) { await app.computer.pass(world.shortDelay()) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await takeTime()
        guard isAlive else { return nil }
        let batch = await replica.nextBatch(context, syncEngine) { record in self.fill(record) }
        guard isAlive else { return nil }
        store()
        await takeTime()
        return batch
    }

    private func fill(_ record: CKRecord) -> Bool {
        guard let edits = app.disk.notes[record.recordID] else { return false }
        record["text"] = edits.sorted().joined(separator: ",")
        return true
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        await takeTime()
        if isAlive { handle(event, syncEngine) }
        await takeTime()
    }

    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
        guard isAlive else { return }
        world.note("app \(app.number): \(event)")
        replica.take(event, syncEngine)
        store()
    }

    private func handle(_ event: CKSyncEngine.Event, _ engine: CKSyncEngine) {
        world.note("app \(app.number): \(event)")
        let unsaved = Dictionary(uniqueKeysWithValues: replica.unsentIDs.map { ($0, self.unsaved($0)) })
        if case .sentDatabaseChanges(let sent) = event { judgeLeaving(sent.deletedZoneIDs) }
        let steps = replica.steps(after: event, engine, merging: Self.rules) { fill($0) }
        for step in steps { carryOut(step, unsaved, engine) }
        store()
    }

    /// who was told that they have left has left.
    private func judgeLeaving(_ zoneIDs: [CKRecordZone.ID]) {
        for zoneID in zoneIDs {
            guard let guest = app.guest, let askedAt = app.disk.leaving[zoneID],
                let zone = world.history.livingZone(zoneID.zoneName)
            else { continue }
            if world.sharing?.hasHadAccess(guest.user, to: zone.id, since: askedAt) == true {
                accuse("R-330: was said to have left \(zoneID.zoneName)")
            }
        }
    }

    // MARK: What the replica says

    /// - Parameter unsaved: what the server was not known to have before the event.
    private func carryOut(
        _ step: TidemarkReplica.Step, _ unsaved: [CKRecord.ID: Set<String>], _ engine: CKSyncEngine
    ) {
        switch step {
        case .store(let record): keep(record)
        case .remove(let id):
            let isShare = id.recordName == CKRecordNameZoneWideShare
            if app.guest == nil, !isShare { accuse("I-1: \(id.path) is deleted") }
            app.disk.forget(id)
        case .removeAll:
            // Nobody signs in or out here. The app has one database.
            accuse("lost its account")
            (app.disk.notes, app.disk.shares) = ([:], [:])
        case .zoneDeleted(let zoneID, _, let unsent):
            if app.guest == nil { accuse("I-1: zone \(zoneID.zoneName) is deleted") }
            app.disk.shares[zoneID] = nil
            app.disk.leaving[zoneID] = nil
            refuse(unsent, unsaved, engine)
        case .refused(let id, let error):
            guard app.guest != nil, error.code == .permissionFailure else {
                return accuse("unexpected \(error.code) for \(id.path)")
            }
            refuse([id], unsaved, engine)
        case .zoneRefused(let zoneID, let error): accuse("unexpected \(error.code) for \(zoneID.zoneName)")
        }
    }

    private func keep(_ record: CKRecord) {
        app.disk.known.insert(record.recordID.zoneID)
        if let share = record as? CKShare {
            app.disk.shares[share.recordID.zoneID] = share
        } else {
            app.disk.notes[record.recordID] = record.edits
        }
    }

    /// The user is told, and sees what the server has.
    private func refuse(_ ids: [CKRecord.ID], _ unsaved: [CKRecord.ID: Set<String>], _ engine: CKSyncEngine) {
        for step in replica.discard(ids, engine) { carryOut(step, [:], engine) }
        for id in ids {
            for text in (unsaved[id] ?? []).subtracting(app.disk.notes[id] ?? []) {
                app.disk.refusals[text, default: 0] += 1
            }
        }
    }

    private func accuse(_ what: String) {
        world.history.accuse("app \(app.number) of \(app.account): \(what)")
    }
}
