// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkKit
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// One history of real engines and replicas of an owner and of guests, who come, edit and go, and what the judge says of it.
///
/// It is beside ``EngineRun``, so that the seeds of that one keep their histories. The store is never restored: what was
/// refused, or given up, would have to be judged anew.
struct SharingEngineRun: SeededRun {
    let outcome: RunOutcome

    init(seed: UInt64, planted: PlantedFault? = nil) {
        let world = SimulatedWorld(seed: seed, planted: planted, clients: .uniting, isRestored: false)
        outcome = RunOutcome(of: world) {
            try world.scheduler.simulate(stepsMax: 3_000_000) { try await Self.live(in: world) }
        }
    }

    /// Who takes part.
    private struct Cast {
        let apps: [SharingApp]
        let owner: ShareKeeper
        let guests: [ShareKeeper]

        /// - Parameter world: with guests.
        init(_ world: SimulatedWorld) {
            let (bob, carol) = (world.guests[0], world.guests[1])
            // Two devices of bob may be about, and of carol none.
            let users: [(account: String, guest: Identity?, count: Int)] = [
                ("alice", nil, 1 + world.below(2)), ("bob", bob, 1 + world.below(2)), ("carol", carol, world.below(2)),
            ]
            let owners = users.flatMap { user in Array(repeating: (user.account, user.guest), count: user.count) }
            apps = owners.enumerated().map { number, user in
                SharingApp(world, number: number, account: user.0, guest: user.1)
            }
            // Their numbers are no app's.
            owner = ShareKeeper(SimulatedDevice(world, number: 100))
            guests = [
                ShareKeeper(SimulatedDevice(world, number: 101, guest: bob)),
                ShareKeeper(SimulatedDevice(world, number: 102, guest: carol)),
            ]
        }
    }

    private static func live(in world: SimulatedWorld) async throws {
        for account in ["alice", "bob", "carol"] {
            world.database.issueCredential(hash: Array(account.utf8), account: account)
        }
        world.limits.pageRecordsDefault = world.oneOf([1, 2, 5, 200])
        try await world.prepare(serverCount: 1 + world.below(3))
        try await world.admit(["bob", "carol"])
        let cast = Cast(world)
        for _ in SimulatedWorld.zoneNames { await cast.owner.change() }
        for _ in SimulatedWorld.zoneNames { for guest in cast.guests { await guest.change() } }
        for app in cast.apps { app.start() }
        await world.scheduler.pass(.seconds(20))
        for step in 0..<(15 + world.below(30)) where !world.isFaultSeen {
            await world.scheduler.pass(world.delay())
            await act(world.oneOf(cast.apps), step, world, cast)
        }
        if world.isFaultSeen { return }
        await settle(world, cast)
        SharingEngineJudge(world, cast.apps).judge()
        for app in cast.apps { app.die() }
    }

    private static func act(_ app: SharingApp, _ step: Int, _ world: SimulatedWorld, _ cast: Cast) async {
        let deed = world.below(20)
        world.note("step \(step) of app \(app.number): \(deed)")
        switch deed {
        case 0...6: app.edit("\(app.number).\(step)")
        case 7, 8: editAll(cast, step)
        case 9...12:
            // While the owner changes what guests may do, those do not know it yet.
            cast.owner.beginChange()
            if world.oneIn(2) { editAll(cast, step) }
        case 13, 14: world.oneOf(cast.guests).beginChange()
        case 15: app.leave()
        case 16: app.process?.cutLinks()
        case 17: app.restart()
        default: await world.scheduler.pass(.seconds(1 + world.below(30)))
        }
    }

    private static func editAll(_ cast: Cast, _ step: Int) {
        for app in cast.apps { app.edit("\(app.number).\(step)") }
    }

    /// Returns when engines have had the time, and were asked, to send and fetch everything.
    private static func settle(_ world: SimulatedWorld, _ cast: Cast) async {
        await world.calmDown()
        // What was asked for before is answered, or given up, by then.
        await world.scheduler.pass(.seconds(180))
        for app in cast.apps { app.start() }
        for _ in 0..<3 {
            for app in cast.apps {
                app.call { engine in
                    try? await engine.sendChanges()
                    try? await engine.fetchChanges()
                }
            }
            await world.scheduler.pass(.seconds(60))
        }
    }
}
