// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkDomain
import TidemarkKit
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// One history of real engines, sessions and services from one seed, and what the judge says of it.
struct EngineRun: SeededRun {
    let outcome: RunOutcome

    init(seed: UInt64, planted: PlantedFault? = nil) {
        let world = SimulatedWorld(seed: seed, planted: planted, clients: .uniting)
        outcome = RunOutcome(of: world) {
            let directory = Self.hasJournals(seed) ? try TestDirectory() : nil
            defer { directory?.remove() }
            try world.scheduler.simulate(stepsMax: 3_000_000) { try await Self.live(in: world, directory?.path, hasResyncs: Self.hasResyncs(seed)) }
        }
    }

    /// Whether engines have journals, in real files: without a throw of the dice, so that other histories are what they were.
    private static func hasJournals(_ seed: UInt64) -> Bool { seed % 8 == 5 }

    /// Whether apps resync, and lose what they can get back by that. The store is never restored in these. Without a
    /// throw of the dice, as above.
    private static func hasResyncs(_ seed: UInt64) -> Bool { [12, 14].contains(seed % 16) }

    /// - Parameter directory: for journals.
    private static func live(in world: SimulatedWorld, _ directory: String?, hasResyncs: Bool) async throws {
        world.database.issueCredential(hash: Array("alice".utf8), account: "alice")
        world.limits.pageRecordsDefault = world.oneOf([1, 2, 5, 200])
        try await world.prepare(serverCount: 1 + world.below(3), zones: [])
        let fleet = SimulatedFleet(world, count: 2 + world.below(3), directory: directory)
        for app in fleet.apps { app.start() }
        let stepCount = 20 + world.below(40)
        for step in 0..<stepCount where !world.isFaultSeen {
            await world.scheduler.pass(world.delay())
            let app = world.oneOf(fleet.apps)
            await act(app, step, world, fleet, hasResyncs: hasResyncs)
        }
        if world.isFaultSeen { return }
        await world.calmDown()
        for app in fleet.apps {
            app.start()
            app.setOnline(true)
            // after a cancellation nothing is planned before something new comes.
            call(app) { try? await $0.fetchChanges() }
        }
        // By then pushes, sweeps and what engines wait for have brought everything everywhere (I-4).
        await world.scheduler.pass(.seconds(900))
        await EngineJudge.judgePushes(world, fleet.apps)
        if world.isFaultSeen { return }
        await EngineJudge(world, fleet.apps).judge()
    }

    private static func act(
        _ app: SimulatedApp, _ step: Int, _ world: SimulatedWorld, _ fleet: SimulatedFleet, hasResyncs: Bool
    ) async {
        let text = "\(app.number).\(step)"
        let deed = world.below(30)
        world.note("step \(step) of app \(app.number): \(deed)")
        switch deed {
        case 0...7: app.edit(text)
        case 8, 9:
            // Two at the same records at the same time: half of a batch is in conflict.
            let (zone, other) = (world.oneOf(SimulatedWorld.zoneNames), world.oneOf(fleet.apps))
            app.edit(text, world.some(of: SimulatedWorld.recordNames), in: zone)
            other.edit("\(text).\(other.number)", world.some(of: SimulatedWorld.recordNames), in: zone)
        case 10...12: app.makeDraft(text)
        case 13, 14: app.deleteDraft()
        case 15, 16: app.editScratch(text)
        case 17: app.deleteScratch()
        case 18: app.setOnline(!app.isOnline)
        case 19, 20: app.process?.cutLinks()
        case 21 where !app.computer.isAsleep:
            app.die()
            await world.scheduler.pass(world.delay())
            app.start()
        case 22: call(app) { try? await $0.fetchChanges() }
        case 23: call(app) { try? await $0.sendChanges() }
        case 24: call(app) { await $0.cancelOperations() }
        case 25: await world.scheduler.pass(.seconds(20))
        case 26: await world.scheduler.pass(.seconds(90))
        case 27: await world.waitForSleepers()
        case 28 where hasResyncs: resync(app, in: CKRecordZone.ID(zoneName: SimulatedWorld.zoneNames[step % 3]))
        case 29 where hasResyncs: resync(app, in: nil)
        default: break
        }
    }

    private static func resync(_ app: SimulatedApp, in zoneID: CKRecordZone.ID?) {
        guard !app.computer.isAsleep else { return }
        app.process?.losesAtResync(in: zoneID)
        call(app) { engine in
            if let zoneID { try? await engine.resync(zoneID) } else { try? await engine.resync() }
        }
    }

    private static func call(_ app: SimulatedApp, _ body: @escaping @Sendable (CKSyncEngine) async -> Void) {
        guard !app.computer.isAsleep, let engine = app.process?.engine else { return }
        app.computer.run { await body(engine) }
    }
}
