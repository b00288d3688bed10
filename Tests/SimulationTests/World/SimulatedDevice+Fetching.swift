// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFairness
import TidemarkService

extension SimulatedDevice {
    /// Fetches what changed since the bookmark: zones, and then each zone's records. Keeps a bookmark after each step.
    ///
    /// - Returns: whether it came to the end.
    @discardableResult
    func sync() async -> Bool {
        for _ in 0..<100 {
            let (before, store) = (world.history.zones, world.history.store)
            let askedAt = world.history.length
            guard let page = await databasePage() else { return false }
            meet(page.token.store)
            if bookmark.databaseToken.isEmpty, !bookmark.isReturning { bookmark.listed = [] }
            for zone in page.ended { forget(zone) }
            let toldAt = world.history.length
            if store == world.history.store, page.token.store == store { judgeReturn(page, askedAt: askedAt) }
            for zone in page.changed {
                guard await fetch(zone.key.name) else { return false }
                // It may be another zone of that name, or that of another life of the store. The list has not told of it yet.
                guard let view = bookmark.views[zone.key.name], view.zone == zone.zone,
                    view.store == page.token.store
                else { continue }
                bookmark.views[zone.key.name]?.toldAt = toldAt
            }
            bookmark.databaseToken = page.token.bytes
            list(page)
            keepBookmark()
            if page.moreComing { continue }
            if store == world.history.store { judgeSync(before, askedAt: askedAt) }
            return true
        }
        world.history.accuse("I-2: the database feed has no end")
        return false
    }

    /// What another life of the store had is not there any more.
    private func meet(_ store: StoreIncarnation) {
        if bookmark.store != store { bookmark.views = bookmark.views.filter { $0.value.store == store } }
        bookmark.store = store
    }

    private func list(_ page: DatabasePage) {
        guard let listed = bookmark.listed?.union(page.changed.map(\.key.name)) else { return }
        bookmark.listed = page.moreComing ? listed : nil
        if !page.moreComing { bookmark.views = bookmark.views.filter { listed.contains($0.key) } }
    }

    private func databasePage() async -> DatabasePage? {
        let (viewer, store) = (guest?.sharedDatabase ?? world.viewer, world.history.store)
        let askedAt = world.history.length
        let token = bookmark.databaseToken
        let zonesMax = world.below(3)
        let tellsEnds = tellsEnds
        let answer = await world.send {
            await $0.databaseChanges(of: viewer, token: token, zonesMax: zonesMax, tellsEnds: tellsEnds, then: nil)
                .map(\.page)
        }
        switch answer {
        case .success(let page):
            judgeSight(page, askedAt: askedAt)
            return page
        case .failure(.tokenExpired):
            if bookmark.store == store, store == world.history.store {
                world.history.accuse("I-2: a token of the database feed expired")
            }
            (bookmark.databaseToken, bookmark.isReturning) = ([], false)
            return await databasePage()
        case .failure(.tokenInvalid): world.history.accuse("a token of the database feed is invalid")
        case .failure, nil: break
        }
        return nil
    }

    private func forget(_ zone: DatabaseFeedEntry) {
        // A token may be older than the view: then the end is of an incarnation before the one that is known.
        if let known = bookmark.views[zone.key.name]?.zone, known > zone.zone { return }
        bookmark.views[zone.key.name] = nil
    }

    /// - Returns: false if it was interrupted.
    private func fetch(_ name: String) async -> Bool {
        var previous: ZonePage?
        for _ in 0..<200 {
            let key = world.key(name)
            let view = bookmark.views[name] ?? ZoneView()
            let (before, store) = (world.history.zones, world.history.store)
            let recordsMax = world.below(pageRecordsMax)
            let (device, tellsEnds, reader) = (id, self.tellsEnds, self.reader)
            let askedAt = world.history.length
            let server = world.oneOf(world.servers)
            let connection = connection(to: server)
            let question = ZoneQuestion(
                key: key, token: view.token, recordsMax: recordsMax, device: device, connection: connection,
                tellsEnds: tellsEnds, reader: reader)
            let answer = await world.send(to: server) { await $0.zoneChanges(question, for: .nobody, on: nil) { $0 } }
            switch answer {
            case .success(let page):
                judgeSight(page.entries, in: page.zone, askedAt: askedAt, "a page")
                take(page, name, view, before, since: store)
                if let previous, store == world.history.store, previous.token.store == store {
                    judgeCut(between: previous, and: page)
                }
                previous = page
                if !page.moreComing { return true }
            case .failure(.zoneNotFound):
                bookmark.views[name] = nil
                return true
            case .failure(.tokenExpired):
                if world.history.livingZone(name)?.id == view.zone, view.store == store, store == world.history.store {
                    world.history.accuse("I-2: a token of zone \(name) expired")
                }
                bookmark.views[name] = nil
            case .failure(.tokenInvalid):
                world.history.accuse("a token of zone \(name) is invalid")
                return false
            case .failure, nil:
                return false
            }
        }
        world.history.accuse("I-2: the feed of zone \(name) has no end")
        return false
    }

    private func take(
        _ page: ZonePage, _ name: String, _ view: ZoneView, _ before: [ZoneID: History.Zone],
        since store: StoreIncarnation
    ) {
        let isJudged = page.token.store == world.history.store && store == world.history.store
        if isJudged, let invention = ZoneView.invention(in: page, of: world.history.zones[page.zone]) {
            world.history.accuse("a page tells what never was: \(invention)")
        }
        var view = view
        view.take(page)
        bookmark.views[name] = view
        keepBookmark()
        guard isJudged, !page.moreComing, let then = before[page.zone], let now = world.history.zones[page.zone] else {
            return
        }
        if let missing = view.missing(of: then, now: now) {
            world.history.accuse("I-2: the feed of zone \(name) skipped \(missing)")
        }
    }

    /// I-3: a page ends where a batch ends, unless the batch is longer than a page.
    private func judgeCut(between previous: ZonePage, and page: ZonePage) {
        guard previous.zone == page.zone, let versions = world.history.zones[page.zone]?.versions,
            let last = previous.entries.last, let first = page.entries.first,
            let batch = versions[last.changeNumber]?.version.batchEnd,
            versions[first.changeNumber]?.version.batchEnd == batch
        else { return }
        let batches = Set(previous.entries.compactMap { versions[$0.changeNumber]?.version.batchEnd })
        if batches.count > 1 {
            world.history.accuse("I-3: a page ends in the middle of a batch, at \(last.changeNumber)")
        }
    }

    /// I-2 for the database feed: every zone as it was when the last page was asked for.
    private func judgeSync(_ before: [ZoneID: History.Zone], askedAt: Int) {
        for zone in before.values.sorted(by: { $0.id < $1.id }) where zone.name != ZoneName.default {
            guard let now = world.history.zones[zone.id] else { continue }
            let view = bookmark.views[zone.name]
            if zone.endedAt != nil {
                if view?.zone == zone.id { world.history.accuse("R-205: the end of zone \(zone.name) was skipped") }
            } else if now.endedAt == nil, judgeAccess(to: zone, view, askedAt: askedAt) {
                let missing = view?.zone == zone.id ? view?.missing(of: zone, now: now) : "all of it"
                if let missing { world.history.accuse("I-2: the database feed skipped zone \(zone.name): \(missing)") }
            }
        }
    }
}
