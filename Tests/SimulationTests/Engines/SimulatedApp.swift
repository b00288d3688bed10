// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkKit
import TidemarkScheduling
import TidemarkTestSupport

/// A device: an app's storage, the process that runs it while there is one, and a user.
///
/// All devices edit the same records. Each makes records of its own (drafts), which it may delete. One zone, "scratch", is
/// deleted and made again by anybody; what was in it is lost then.
final class SimulatedApp: @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    static let scratch = CKRecordZone.ID(zoneName: "scratch")

    let world: SimulatedWorld
    let number: Int
    let computer: SimulatedComputer
    /// Whether it began as a copy of another one's disk.
    let isCopy: Bool
    /// With a journal the app adds nothing again when it starts: what its engine was given is pending.
    let journal: URL?
    var disk: AppDisk
    /// With a journal it outlives the process, as what it is about does.
    var ledger: PendingLedger
    private(set) var process: AppProcess?
    private(set) var isOnline = true
    /// Every edit that its user made where nothing is deleted.
    private(set) var edits: Set<String> = []
    private var batchCount = 0

    init(_ world: SimulatedWorld, number: Int, journal: URL?) {
        self.world = world
        self.number = number
        self.journal = journal
        isCopy = false
        (disk, ledger) = (AppDisk(), PendingLedger())
        computer = world.makeComputer()
        meetWorld()
    }

    /// A device with what is on the other one's disk now; nobody has told it that it is not the same.
    init(copyOf original: SimulatedApp, number: Int, journal: URL?) {
        (world, self.number, self.journal) = (original.world, number, journal)
        isCopy = true
        (disk, ledger) = (original.disk, original.ledger)
        computer = world.makeComputer()
        world.note("app \(number) is a copy of app \(original.number)")
        if let journal, let old = original.journal { try? FileManager.default.copyItem(at: old, to: journal) }
        world.history.copied(drafts: disk.ids.filter { disk.notes[$0]?.isDirty == true }.map(\.recordName))
        meetWorld()
    }

    private func meetWorld() {
        computer.losesTimers = world.planted == .timersLostAsleep
        world.mayMeet(.death) { [unowned self] in
            guard process != nil, !computer.isAsleep else { return }
            die()
            let pause = world.delay()
            world.scheduler.run {
                await self.world.scheduler.pass(pause)
                self.start()
            }
        }
        world.mayMeet(.sleep) { [unowned self] in fallAsleep() }
    }

    /// What its engine has still to send.
    var pendingChanges: [String] {
        guard let state = process?.engine?.state else { return [] }
        return state.pendingRecordZoneChanges.map(\.description) + state.pendingDatabaseChanges.map(\.description)
    }

    func newBatchID() -> String {
        batchCount += 1
        return "\(number).\(batchCount)"
    }

    // MARK: The process

    func start() {
        guard process == nil else { return }
        world.note("app \(number) starts")
        let process = AppProcess(of: self)
        self.process = process
        process.start()
    }

    /// The process ends wherever it is; what it stored stays.
    func die() {
        world.note("app \(number) dies")
        process?.die()
        process = nil
    }

    func setOnline(_ isOnline: Bool) {
        self.isOnline = isOnline
        if !isOnline { process?.cutLinks() }
    }

    /// The lid is closed, whatever is under way. Sooner or later its connections are cut by others, who hear nothing of it.
    private func fallAsleep() {
        guard process != nil, !computer.isAsleep, !world.isNight else { return }
        let length = world.sleepLength()
        let patience = Duration.seconds(1 + world.below(120))
        world.note("app \(number) sleeps for \(length)")
        computer.fallAsleep()
        world.scheduler.run { [self] in
            await world.scheduler.pass(min(length, patience))
            if patience < length, computer.isAsleep {
                process?.cutLinks()
                await world.scheduler.pass(length - patience)
            }
            world.note("app \(number) wakes up")
            computer.wakeUp()
        }
    }

    // MARK: The user

    /// Whether the user can do anything: to what is done without a process no journal can be a witness.
    var isUsable: Bool { !computer.isAsleep && (journal == nil || process != nil) }

    /// - Parameter text: unique.
    func edit(_ text: String) {
        guard isUsable else { return }
        let zone = CKRecordZone.ID(zoneName: world.oneOf(SimulatedWorld.zoneNames))
        edits.insert(text)
        add(text, to: CKRecord.ID(recordName: world.oneOf(SimulatedWorld.recordNames), zoneID: zone))
    }

    /// Edits of several records, which are sent together.
    func edit(_ text: String, _ names: [String], in zoneName: String) {
        guard isUsable else { return }
        let zone = CKRecordZone.ID(zoneName: zoneName)
        for name in names {
            let part = "\(text).\(name)"
            edits.insert(part)
            add(part, to: CKRecord.ID(recordName: name, zoneID: zone))
        }
    }

    func editScratch(_ text: String) {
        guard isUsable, disk.knowsZones, !disk.isScratchUnwanted else { return }
        add(text, to: CKRecord.ID(recordName: world.oneOf(SimulatedWorld.recordNames), zoneID: Self.scratch))
        process?.add([.saveZone(CKRecordZone(zoneID: Self.scratch))])
    }

    func deleteScratch() {
        guard isUsable, disk.knowsZones, !disk.isScratchUnwanted else { return }
        disk.isScratchUnwanted = true
        process?.forgetZone(Self.scratch)
        process?.add([.deleteZone(Self.scratch)])
    }

    /// Makes a record of its own, which it will delete.
    func makeDraft(_ text: String) {
        guard isUsable else { return }
        let zone = CKRecordZone.ID(zoneName: SimulatedWorld.zoneNames[0])
        add(text, to: CKRecord.ID(recordName: "draft-\(number)-\(text)", zoneID: zone))
    }

    func deleteDraft() {
        guard isUsable, let id = disk.ids.first(where: { $0.recordName.hasPrefix("draft-\(number)-") }) else { return }
        disk.notes[id] = nil
        disk.deleted.insert(id)
        process?.add([.deleteRecord(id)])
    }

    private func add(_ text: String, to id: CKRecord.ID) {
        disk.notes[id, default: AppDisk.Note()].edits.insert(text)
        disk.notes[id]?.isDirty = true
        process?.add([.saveRecord(id)])
    }
}
