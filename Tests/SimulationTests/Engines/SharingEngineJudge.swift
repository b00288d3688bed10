// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkKit
import TidemarkTestSupport

/// What must be so when nothing has gone wrong for a while: the owner's devices have what is stored, each guest's have that
/// of the zones to which the guest has access, and of every edit it is known what became of it.
struct SharingEngineJudge {
    private let world: SimulatedWorld
    private let apps: [SharingApp]
    /// By "zone/record".
    private let stored: [String: Set<String>]

    init(_ world: SimulatedWorld, _ apps: [SharingApp]) {
        self.world = world
        self.apps = apps
        stored = EngineJudge.stored(in: world.history)
    }

    func judge() {
        for app in apps {
            for violation in violations(of: app) {
                world.history.accuse("app \(app.number) of \(app.account): \(violation)")
            }
        }
    }

    private func violations(of app: SharingApp) -> [String] {
        judgeContents(of: app) + judgeRest(of: app) + judgeEdits(of: app)
    }

    /// The names of the zones that the user sees.
    private func seenZones(of app: SharingApp) -> Set<String> {
        let living = world.history.zones.values.filter { $0.endedAt == nil }
        let seen = living.filter { zone in
            app.guest.map { world.sharing?.hasAccess($0.user, to: zone.id) == true } ?? true
        }
        return Set(seen.map(\.name))
    }

    /// I-2, I-5: all of the zones that the user sees, and nothing else.
    private func judgeContents(of app: SharingApp) -> [String] {
        let seen = seenZones(of: app)
        let wanted = stored.filter { path, _ in seen.contains { path.hasPrefix($0 + "/") } }
        let contents = app.disk.contents
        let wrong = Set(wanted.keys).union(contents.keys).filter { wanted[$0] != contents[$0] }.sorted()
        var violations = wrong.isEmpty ? [] : ["I-2: differs in \(wrong)"]
        let shares = Set(app.disk.shares.keys.map(\.zoneName))
        if app.guest != nil, shares != seen {
            violations.append("R-328: has shares of \(shares.sorted()), and access to \(seen.sorted())")
        }
        return violations
    }

    /// What is left to do, and what is left of zones that the user does not see.
    private func judgeRest(of app: SharingApp) -> [String] {
        guard let process = app.process else { return ["does not run"] }
        var violations: [String] = []
        let state = process.engine?.state
        let pending =
            (state?.pendingRecordZoneChanges.map(\.description) ?? [])
            + (state?.pendingDatabaseChanges.map(\.description) ?? []) + process.replica.unsentIDs.map(\.path)
        if !pending.isEmpty { violations.append("has still to send \(pending)") }
        let leaving = app.disk.leaving.keys.map(\.zoneName).sorted()
        if !leaving.isEmpty { violations.append("R-330: has not left \(leaving)") }
        let seen = seenZones(of: app)
        let names = SimulatedWorld.recordNames + [CKRecordNameZoneWideShare]
        for zoneID in app.disk.known.sorted(by: { $0.zoneName < $1.zoneName }) where !seen.contains(zoneID.zoneName) {
            let synced = names.filter {
                process.replica.serverRecord(for: CKRecord.ID(recordName: $0, zoneID: zoneID)) != nil
            }
            if !synced.isEmpty { violations.append("R-328: has \(synced) of \(zoneID.zoneName) as synced") }
        }
        return violations
    }

    /// I-1: each edit is stored, or its user was told once that it is not, or has given it up by leaving.
    ///
    /// An edit may be stored and refused: it was sent twice, because the answer was lost, and in between access ended.
    private func judgeEdits(of app: SharingApp) -> [String] {
        let all = stored.values.reduce(into: app.disk.withdrawn) { $0.formUnion($1) }
        let lost = app.disk.edits.subtracting(all).filter { app.disk.refusals[$0] == nil }
        let doubled = app.disk.refusals.filter { $0.value > 1 }.keys
        let foreign = Set(app.disk.refusals.keys).subtracting(app.disk.edits)
        var violations: [String] = []
        if !lost.isEmpty { violations.append("I-1: edits are lost, and nothing was said: \(lost.sorted())") }
        if !doubled.isEmpty { violations.append("R-523: was told more than once of \(doubled.sorted())") }
        if !foreign.isEmpty { violations.append("was told of edits of others: \(foreign.sorted())") }
        return violations
    }
}
