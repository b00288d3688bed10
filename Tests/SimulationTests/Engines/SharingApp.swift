// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkDomain
import TidemarkKit
import TidemarkScheduling
import TidemarkTestSupport

/// What an app with shared zones has stored, its replica too. Each callback changes it at once, as in one transaction.
struct SharingAppDisk {
    /// Of the replica, by key.
    var rows: [String: Data] = [:]
    /// Records as the user sees them: sets of edits, which merge by union.
    var notes: [CKRecord.ID: Set<String>] = [:]
    var shares: [CKRecordZone.ID: CKShare] = [:]
    /// Zones that were ever seen.
    var known: Set<CKRecordZone.ID> = []
    /// Zones that the user has left, and the history's length then. The server may not know it yet.
    var leaving: [CKRecordZone.ID: Int] = [:]

    // What the judge asks for in the end.

    /// Every edit of the user.
    var edits: Set<String> = []
    /// How often the user was told that an edit is refused, or that its zone is gone.
    var refusals: [String: Int] = [:]
    /// Edits in zones that the user has left before they were sent.
    var withdrawn: Set<String> = []

    mutating func forget(_ id: CKRecord.ID) {
        if id.recordName == CKRecordNameZoneWideShare { shares[id.zoneID] = nil } else { notes[id] = nil }
    }

    /// Zones of others that the user takes for writable, in an order that does not depend on hashing.
    var writableZones: [CKRecordZone.ID] {
        let writable = shares.filter { zoneID, share in
            leaving[zoneID] == nil && share.currentUserParticipant?.permission == .readWrite
        }
        return writable.keys.sorted { $0.zoneName < $1.zoneName }
    }

    /// What the user sees, by "zone/record".
    var contents: [String: Set<String>] {
        Dictionary(uniqueKeysWithValues: notes.map { ($0.key.path, $0.value) })
    }
}

/// A device of the owner, who has an engine on the private database, or of a guest, who has one on the shared database.
final class SharingApp: @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    let world: SimulatedWorld
    let number: Int
    /// Its name is also the credential.
    let account: String
    /// Nil: the owner.
    let guest: Identity?
    let computer: SimulatedComputer
    var disk = SharingAppDisk()
    private(set) var process: SharingAppProcess?

    init(_ world: SimulatedWorld, number: Int, account: String, guest: Identity? = nil) {
        self.world = world
        self.number = number
        self.account = account
        self.guest = guest
        computer = world.makeComputer()
        world.mayMeet(.death) { [unowned self] in restart() }
    }

    // MARK: The process

    func start() {
        guard process == nil else { return }
        world.note("app \(number) of \(account) starts")
        let process = SharingAppProcess(of: self)
        self.process = process
        process.start()
    }

    /// The process ends wherever it is; what it stored stays.
    func die() {
        world.note("app \(number) dies")
        process?.die()
        process = nil
    }

    func restart() {
        guard process != nil else { return }
        die()
        let pause = world.delay()
        world.scheduler.run { [self] in
            await world.scheduler.pass(pause)
            start()
        }
    }

    // MARK: The user

    /// A guest edits only what looks writable.
    ///
    /// - Parameter text: unique.
    func edit(_ text: String) {
        let zones =
            guest == nil ? SimulatedWorld.zoneNames.map { CKRecordZone.ID(zoneName: $0) } : disk.writableZones
        guard let process, !zones.isEmpty else { return }
        let id = CKRecord.ID(
            recordName: world.oneOf(SimulatedWorld.recordNames), zoneID: world.oneOf(zones))
        process.edit(text, id)
    }

    /// A guest leaves a zone, whatever is not sent yet.
    func leave() {
        let zones = disk.shares.keys.filter { disk.leaving[$0] == nil }.sorted { $0.zoneName < $1.zoneName }
        guard guest != nil, let process, !zones.isEmpty else { return }
        process.leave(world.oneOf(zones))
    }

    /// Asks its engine for something.
    func call(_ body: @escaping @Sendable (CKSyncEngine) async -> Void) {
        guard let engine = process?.engine else { return }
        computer.run { await body(engine) }
    }
}
