// SPDX-License-Identifier: Apache-2.0

import TidemarkKit
import TidemarkTestSupport

/// What must be so when nothing has gone wrong for a while: every device holds what is stored, nothing that a user did is
/// missing, and whoever comes back with an old state gets there as well.
struct EngineJudge {
    private static let bookmarksMax = 3
    /// In calm weather a push takes milliseconds. Below the interval of the servers' sweeps, which repair what pushes miss.
    private static let pushPatience = Duration.seconds(5)

    private let world: SimulatedWorld
    private let apps: [SimulatedApp]
    /// By "zone/record".
    private let stored: [String: Set<String>]

    /// R-248, I-4: what any device saves now, all the others have in a moment.
    static func judgePushes(_ world: SimulatedWorld, _ apps: [SimulatedApp]) async {
        for app in apps where !world.isFaultSeen {
            app.edit("\(app.number).last")
            await world.scheduler.pass(pushPatience)
            let judge = EngineJudge(world, apps)
            for other in apps {
                let difference = judge.difference(other.disk.contents)
                guard !difference.isEmpty else { continue }
                world.history.accuse(
                    "I-4: app \(other.number) was not told what app \(app.number) saved: \(difference)")
            }
        }
    }

    init(_ world: SimulatedWorld, _ apps: [SimulatedApp]) {
        self.world = world
        self.apps = apps
        stored = Self.stored(in: world.history)
    }

    /// What living zones have, by "zone/record", without the records of shares.
    static func stored(in history: History) -> [String: Set<String>] {
        var stored: [String: Set<String>] = [:]
        for zone in history.zones.values where zone.endedAt == nil {
            for (name, version) in zone.records {
                if let text = version.text { stored["\(zone.name)/\(name)"] = History.edits(in: text) }
            }
        }
        return stored
    }

    func judge() async {
        for app in apps {
            judge(app)
            app.die()
        }
        for app in apps { await judgeBookmarks(of: app) }
    }

    private func judge(_ app: SimulatedApp) {
        let wrong = difference(app.disk.contents)
        if !wrong.isEmpty { world.history.accuse("I-2: app \(app.number) differs in \(wrong)") }
        if !app.pendingChanges.isEmpty {
            world.history.accuse("app \(app.number) has still to send \(app.pendingChanges)")
        }
        let missing = app.edits.subtracting(stored.values.reduce(into: []) { $0.formUnion($1) }).sorted()
        if !missing.isEmpty { world.history.accuse("I-1: edits of app \(app.number) are lost: \(missing)") }
        for path in app.disk.deleted.map(\.path).sorted() where stored[path] != nil {
            world.history.accuse("I-1: app \(app.number) deleted \(path)")
        }
    }

    /// I-2: nothing is skipped behind any token that an app ever stored.
    private func judgeBookmarks(of app: SimulatedApp) async {
        let bookmarks = app.disk.bookmarks
        guard !bookmarks.isEmpty else { return }
        for _ in 0..<Self.bookmarksMax {
            let index = world.below(bookmarks.count)
            let reader = BookmarkReader(world, bookmarks[index])
            do {
                try await reader.fetch(from: bookmarks[index])
            } catch {
                world.history.accuse("in calm weather a fetch failed: \(error)")
                continue
            }
            let wrong = difference(reader.fetched.records)
            if !wrong.isEmpty {
                world.history.accuse(
                    "I-2: from state \(index) app \(app.number) does not come to what is stored: \(wrong)")
            }
        }
    }

    private func difference(_ contents: [String: Set<String>]) -> [String] {
        Set(stored.keys).union(contents.keys).filter { stored[$0] != contents[$0] }.sorted()
    }
}
