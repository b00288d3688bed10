// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkKit

/// Random histories: devices edit, the network fails in all ways, processes die; in the end all have everything.
@Suite struct CKSyncEngineConvergenceTests {
    /// Known seeds, and new ones each time; a failure names its seed.
    private static let seeds: [UInt64] = Array(1...40) + (0..<20).map { _ in UInt64.random(in: .min ... .max) }

    @Test(arguments: seeds)
    func `R-518, R-548, R-516, R-553: whatever happens, no edit is lost and all devices end equal`(seed: UInt64) {
        let history = History(seed: seed)
        history.run(steps: 150)
        history.heal()
        for device in history.devices {
            #expect(device.contents == history.server.edits, "seed \(seed), device \(device.number)")
            #expect(device.engine?.state.pendingRecordZoneChanges == [], "seed \(seed), device \(device.number)")
            #expect(device.complaints == [], "seed \(seed), device \(device.number)")
        }
        #expect(history.server.edits.values.reduce(into: Set()) { $0.formUnion($1) } == history.edits, "seed \(seed)")
    }
}

/// Three devices, one server, and dice.
private final class History: @unchecked Sendable {
    let server = FakeServer()
    let scheduler: ManualScheduler
    private(set) var devices: [Device] = []
    private(set) var edits: Set<String> = []
    private var dice: SeededRandom
    private var isHealed = false

    init(seed: UInt64) {
        dice = SeededRandom(seed: seed)
        scheduler = ManualScheduler(seed: seed)
        server.zonePageSize = Int.random(in: 1...5, using: &dice)
        server.feedPageSize = Int.random(in: 1...2, using: &dice)
        for number in 0..<3 {
            let device = Device(number: number)
            devices.append(device)
            start(device)
        }
        server.onChange = { [weak self] zoneID, origin in self?.push(zoneID, from: origin) }
    }

    private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &dice) < percent }

    private func start(_ device: Device) {
        let cloud = FakeCloud(server, scheduler)
        cloud.latency = { [unowned self] in .milliseconds(Int.random(in: 0...40, using: &dice)) }
        cloud.fault = { [unowned self] request in isHealed || request.isUser ? nil : fault(request) }
        device.start(on: cloud)
    }

    private func fault(_ request: SyncEngineRequest) -> FakeCloud.Fault? {
        switch Int.random(in: 0..<100, using: &dice) {
        case 0..<4: .refused(CKError(.networkFailure))
        case 4..<6: .refused(CKError(.zoneBusy, message: "", retryAfter: 0.3))
        case 6..<7: .refused(CKError(.requestRateLimited, message: "", retryAfter: 0.5))
        case 7..<9 where request.isFeed || request.isZone: .refused(CKError(.changeTokenExpired))
        case 9..<15 where request.isRecords || request.isZones: .lost
        default: nil
        }
    }

    /// Pushes may be lost, and need not name their zone.
    private func push(_ zoneID: CKRecordZone.ID, from origin: ObjectIdentifier?) {
        for device in devices where device.cloud.map(ObjectIdentifier.init) != origin && !chance(30) {
            let names = chance(50)
            _ = scheduler.schedule(after: .milliseconds(Int.random(in: 0...20, using: &dice))) {
                if names { device.cloud?.push(zoneID) } else { device.cloud?.push() }
            }
        }
    }

    func run(steps: Int) {
        for step in 0..<steps {
            let device = devices[Int.random(in: 0..<devices.count, using: &dice)]
            switch Int.random(in: 0..<100, using: &dice) {
            case 0..<60:
                let edit = "\(device.number).\(step)"
                edits.insert(edit)
                device.edit(Int.random(in: 0..<6, using: &dice), edit)
            case 60..<70: device.cloud?.isOnline.toggle()
            case 70..<76:
                device.crash()
                start(device)
            case 76..<80: call { try? await device.engine?.fetchChanges() }
            case 80..<84: call { try? await device.engine?.sendChanges() }
            case 84..<86:
                device.isCancelled = true
                call { await device.engine?.cancelOperations() }
            case 86..<87: server.delete(zone: zone("A"))
            default: break
            }
            scheduler.advance(by: .milliseconds(Int.random(in: 0...300, using: &dice)))
        }
    }

    private func call(_ body: @escaping @Sendable () async -> Void) { scheduler.run(body) }

    /// No faults any more, and time for all that is planned.
    func heal() {
        isHealed = true
        for device in devices {
            device.cloud?.isOnline = true
            // only something new ends that.
            if device.isCancelled { call { try? await device.engine?.fetchChanges() } }
        }
        scheduler.advance(by: .seconds(3600))
        // A last round, in case the last pushes were lost: the periodic fetch.
        scheduler.advance(by: .seconds(3600))
    }
}

/// An app whose records are sets of edits, which merge by union.
private final class Device: CKSyncEngineDelegate, @unchecked Sendable {
    private struct Note {
        /// As the server last gave it.
        var base: CKRecord?
        var edits: Set<String> = []
        var isDirty = false
    }

    let number: Int
    private(set) var engine: CKSyncEngine?
    private(set) var cloud: FakeCloud?
    /// What this delegate should never see.
    private(set) var complaints: [String] = []
    /// Whether the app has cancelled what its engine does, and edited nothing since.
    var isCancelled = false
    private var notes: [CKRecord.ID: Note] = [:]
    private var savedState: CKSyncEngine.State.Serialization?
    private var open: [String] = []

    init(number: Int) { self.number = number }

    var contents: [String: Set<String>] {
        var contents: [String: Set<String>] = [:]
        for (id, note) in notes { contents[id.text] = note.edits }
        return contents
    }

    func start(on cloud: FakeCloud) {
        self.cloud = cloud
        open = []
        isCancelled = false
        let engine = CKSyncEngine(.on(cloud, self, automatic: true, state: savedState))
        self.engine = engine
        // what the last state update does not hold is added again.
        let dirty = notes.filter(\.value.isDirty).keys.sorted { $0.text < $1.text }
        if savedState != nil { engine.state.add(pendingRecordZoneChanges: dirty.map { .saveRecord($0) }) }
    }

    /// The process dies; what the app stored stays.
    func crash() {
        engine = nil
        cloud?.isOnline = false
    }

    func edit(_ number: Int, _ edit: String) {
        let id = recordID("A/\(number)")
        notes[id, default: Note()].edits.insert(edit)
        notes[id]?.isDirty = true
        isCancelled = false
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await .init(pendingChanges: changes) { id in
            guard let note = self.notes[id] else { return nil }
            let record = note.base?.copy() as? CKRecord ?? CKRecord(recordType: "Note", recordID: id)
            record["value"] = note.edits.sorted().joined(separator: ",")
            return record
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        // An engine of a process that died may be held by a call; nobody hears it any more.
        guard syncEngine === engine else { return }
        check(event)
        switch event {
        case .stateUpdate(let update): savedState = update.stateSerialization
        case .accountChange: sendAll(syncEngine)
        case .fetchedDatabaseChanges(let changes):
            if !changes.deletions.isEmpty { sendAll(syncEngine) }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { merge(modification.record, syncEngine) }
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { merge(record, syncEngine) }
            for failure in sent.failedRecordSaves { solve(failure, syncEngine) }
        default: break
        }
    }

    /// The zone is not there, or not any more: all that this device has is sent anew.
    private func sendAll(_ engine: CKSyncEngine) {
        engine.state.add(pendingDatabaseChanges: [zoneChange("A")])
        for id in notes.keys.sorted(by: { $0.text < $1.text }) {
            notes[id]?.base = nil
            notes[id]?.isDirty = true
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }
    }

    private func merge(_ record: CKRecord, _ engine: CKSyncEngine) {
        var note = notes[record.recordID] ?? Note()
        let edits = record.edits
        note.base = record
        note.edits.formUnion(edits)
        note.isDirty = note.edits != edits
        notes[record.recordID] = note
        if note.isDirty { engine.state.add(pendingRecordZoneChanges: [.saveRecord(record.recordID)]) }
    }

    private func solve(_ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine) {
        let id = failure.record.recordID
        switch failure.error.code {
        case .serverRecordChanged:
            guard let record = failure.error.serverRecord else { return complaints.append("no server record") }
            merge(record, engine)
        case .zoneNotFound, .unknownItem:
            notes[id]?.base = nil
            engine.state.add(pendingDatabaseChanges: [zoneChange("A")])
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        default:
            if !engine.state.pendingRecordZoneChanges.contains(.saveRecord(id)) {
                complaints.append("\(failure.error.code) is not pending again")
            }
        }
    }

    /// begins and ends are nested as they should be.
    private func check(_ event: CKSyncEngine.Event) {
        switch event {
        case .willFetchChanges: begin("fetch", within: nil)
        case .willSendChanges: begin("send", within: nil)
        case .willFetchRecordZoneChanges(let event): begin(event.zoneID.zoneName, within: "fetch")
        case .didFetchChanges: end("fetch")
        case .didSendChanges: end("send")
        case .didFetchRecordZoneChanges(let event): end(event.zoneID.zoneName)
        case .fetchedDatabaseChanges: expectOpen(["fetch"])
        case .fetchedRecordZoneChanges: expectOpen(["fetch", "A"])
        case .sentDatabaseChanges, .sentRecordZoneChanges: expectOpen(["send"])
        case .accountChange: expectOpen([])
        case .stateUpdate: break
        }
    }

    private func begin(_ name: String, within outer: String?) {
        expectOpen(outer.map { [$0] } ?? [])
        open.append(name)
    }

    private func end(_ name: String) {
        if open.popLast() != name { complaints.append("end of \(name) in \(open)") }
    }

    private func expectOpen(_ expected: [String]) {
        if open != expected { complaints.append("open is \(open), not \(expected)") }
    }
}

extension CKRecord {
    fileprivate var edits: Set<String> {
        Set((self["value"] as? String ?? "").split(separator: ",").map(String.init))
    }
}

extension FakeServer {
    fileprivate var edits: [String: Set<String>] {
        contents.mapValues { Set($0.split(separator: ",").map(String.init)) }
    }
}
