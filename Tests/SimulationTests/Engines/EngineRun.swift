// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkKit
import TidemarkScheduling
import TidemarkTestKit

/// One history of real engines, sessions and services from one seed, and what the judge says of it.
struct EngineRun {
    let violations: [String]
    /// Equal for equal histories.
    let digest: String

    init(seed: UInt64, planted: PlantedFault? = nil) {
        let world = SimulatedWorld(seed: seed, planted: planted, knowsIntents: false)
        do {
            try world.scheduler.simulate(stepsMax: 3_000_000) { try await Self.live(in: world) }
        } catch {
            world.history.accuse("\(error)")
        }
        violations = world.history.violations + world.database.complaints.map { "the store refused: \($0)" }
        digest = "\(world.history.length) commits, at \(world.scheduler.now), then \(world.scheduler.randomBits())"
    }

    private static func live(in world: SimulatedWorld) async throws {
        world.database.issueCredential(hash: Array("alice".utf8), account: "alice")
        try await world.prepare(serverCount: 1 + world.below(2), zones: [])
        let apps = (0..<(2 + world.below(2))).map { SimulatedApp(world, number: $0) }
        for app in apps { app.start() }
        let stepCount = 20 + world.below(40)
        for step in 0..<stepCount {
            await world.scheduler.pass(world.delay())
            await act(world.oneOf(apps), step, world)
        }
        for app in apps where app.engine == nil { app.start() }
        for app in apps { app.setOnline(true) }
        await world.calmDown()
        // By then pushes, sweeps and what engines wait for have brought everything everywhere (I-4).
        await world.scheduler.pass(.seconds(900))
        judge(apps, in: world)
        for app in apps { app.crash() }
    }

    private static func act(_ app: SimulatedApp, _ step: Int, _ world: SimulatedWorld) async {
        let text = "\(app.number).\(step)"
        switch world.below(24) {
        case 0...9: app.edit(text)
        case 10...12: app.makeDraft(text)
        case 13, 14: app.deleteDraft()
        case 15: app.setOnline(!app.isOnline)
        case 16, 17: app.cutLinks()
        case 18:
            app.crash()
            await world.scheduler.pass(world.delay())
            app.start()
        case 19: call(app, world) { try? await $0.fetchChanges() }
        case 20: call(app, world) { try? await $0.sendChanges() }
        case 21: await world.scheduler.pass(.seconds(20))
        default: break
        }
    }

    private static func call(
        _ app: SimulatedApp, _ world: SimulatedWorld, _ body: @escaping @Sendable (CKSyncEngine) async -> Void
    ) {
        guard let engine = app.engine else { return }
        world.scheduler.run { await body(engine) }
    }

    private static func judge(_ apps: [SimulatedApp], in world: SimulatedWorld) {
        var stored: [String: Set<String>] = [:]
        for zone in world.history.zones.values where zone.endedAt == nil {
            for (name, version) in zone.records {
                guard let text = version.text else { continue }
                stored["\(zone.name)/\(name)"] = Set(text.split(separator: ",").map(String.init))
            }
        }
        for app in apps {
            let wrong = Set(stored.keys).union(app.contents.keys).filter { stored[$0] != app.contents[$0] }.sorted()
            if !wrong.isEmpty { world.history.accuse("I-2: app \(app.number) differs in \(wrong)") }
            if app.hasPendingChanges { world.history.accuse("app \(app.number) has still something to send") }
            let missing = app.edits.subtracting(stored.values.reduce(into: []) { $0.formUnion($1) }).sorted()
            if !missing.isEmpty { world.history.accuse("I-1: edits of app \(app.number) are lost: \(missing)") }
            for id in app.deleted where stored[id.path] != nil {
                world.history.accuse("I-1: app \(app.number) deleted \(id.path)")
            }
        }
    }
}
