// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit

/// A device that edits and fetches at random, repeats what was not answered, and dies now and then. It accuses the
/// service in the history of everything that must not be.
final class SimulatedDevice: @unchecked Sendable {
    /// A place in the feeds to which somebody may come back at any time.
    struct Bookmark {
        var databaseToken: [UInt8] = []
        var views: [String: ZoneView] = [:]
        /// During a first fetch of the database feed: the zones that it has listed so far. Ends of zones are not told
        /// without a token (R-204), so in the end what was not listed is gone.
        var listed: Set<String>?
        /// Whether it may have something that its tokens do not know of.
        var isReturning = false

        /// As when a process dies between records and their token: it comes back without tokens, but not without records.
        mutating func loseTokens() {
            databaseToken = []
            listed = nil
            for name in views.keys { views[name]?.token = [] }
            isReturning = true
        }
    }

    let world: SimulatedWorld
    /// Unique, where `id` is the same as that of copies.
    private let number: Int
    let id: DeviceID
    let computer: SimulatedComputer
    var bookmark = Bookmark()
    /// Every bookmark that it ever had.
    private(set) var bookmarks: [Bookmark] = []
    private var counter: UInt64 = 0
    /// Requests that it still waits for.
    private var unanswered: Set<UInt64> = []
    private var textCount = 0

    init(_ world: SimulatedWorld, number: Int) {
        self.world = world
        self.number = number
        id = DeviceID(high: 7, low: UInt64(number))
        computer = world.makeComputer()
    }

    /// Another one that goes on from what this one has written down by now, and takes itself for the same.
    init(copyOf original: SimulatedDevice, number: Int) {
        (world, id) = (original.world, original.id)
        self.number = number
        (bookmark, bookmarks, counter) = (original.bookmark, original.bookmarks, original.counter)
        computer = world.makeComputer()
    }

    func live(stepCount: Int) async {
        for _ in 0..<stepCount {
            await world.scheduler.pass(world.delay())
            switch world.below(20) {
            case 0...4: await edit()
            case 5...8: await editAtOnce()
            case 9: await edit(isLarge: true)
            case 10...16: await sync()
            case 17: await editZone()
            default: restart()
            }
        }
    }

    /// Several requests under way together.
    private func editAtOnce() async {
        let edits = (0..<(2 + world.below(3))).map { _ in world.scheduler.run { await self.edit() } }
        for edit in edits { await edit.value }
    }

    /// The process dies: what it waited for is forgotten, what it had written down is not.
    private func restart() {
        if world.planted == .reusedRequestID, counter > 0 { counter -= 1 }
        if world.oneIn(3) { bookmark.loseTokens() }
    }

    var tellsEnds: Bool { bookmark.isReturning && world.planted != .returnUnknown }

    func keepBookmark() {
        bookmarks.append(bookmark)
    }

    // MARK: Requests that change something

    private func nextRequestID() -> RequestID {
        counter += 1
        unanswered.insert(counter)
        return RequestID(
            device: id, counter: counter, lowestUnanswered: unanswered.min() ?? counter)
    }

    /// Sends the identical request until it is answered, or it is given up.
    private func insist<Outcome: Sendable>(
        on id: RequestID,
        _ request: @escaping @Sendable (CloudService) async -> Result<Outcome, FailureReason>
    ) async -> Result<Outcome, FailureReason>? {
        defer { unanswered.remove(id.counter) }
        var last: Result<Outcome, FailureReason>?
        for _ in 0..<6 {
            last = await world.send(request)
            switch last {
            case .success: return last
            case .failure(.requestForgotten): world.history.accuse("R-157: a request that is waited for is forgotten")
            case .failure(.requestInvalid): world.history.accuse("a request that was good is invalid")
            case .failure, nil: await world.scheduler.pass(world.delay())
            }
            if world.oneIn(8) { return last }
        }
        return last
    }

    private func editZone() async {
        let name = world.oneOf(SimulatedWorld.zoneNames)
        let before = world.history.livingZone(name)
        let sentAt = world.history.length
        let isCreation = before == nil || world.oneIn(3)
        let request = ZonesRequest(
            id: nextRequestID(), saves: isCreation ? [name] : [], deletes: isCreation ? [] : [name])
        let viewer = world.viewer
        guard case .success? = await insist(on: request.id, { await $0.modifyZones(in: viewer, request) }) else {
            return
        }
        if isCreation {
            let lived = world.history.zones.values.contains { $0.name == name && ($0.endedAt ?? .max) > sentAt }
            if !lived { world.history.accuse("I-1: zone \(name) was said to exist") }
        } else if let before, world.history.zones[before.id]?.endedAt == nil {
            world.history.accuse("I-1: zone \(name) was said to be deleted")
        }
    }

    private func edit(isLarge: Bool = false) async {
        let zone = world.oneOf(SimulatedWorld.zoneNames)
        guard let identity = world.identity else { return }
        let policy = world.oneOf(SavePolicy.allCases)
        let isAtomic = world.oneIn(2)
        var names = SimulatedWorld.recordNames.filter { _ in isLarge || world.oneIn(3) }
        let deletes = names.filter { _ in world.oneIn(4) }
        names.removeAll { deletes.contains($0) }
        guard !names.isEmpty || !deletes.isEmpty else { return }
        let id = nextRequestID()
        let saves = names.map { name in
            save(name, in: zone, id, policy, batchCount: isAtomic ? names.count : nil)
        }
        let request = RecordsRequest(
            id: id, zoneName: zone, saves: saves, deletes: deletes, policy: policy, isAtomic: isAtomic,
            user: identity.user)
        let before = world.history.livingZone(zone)
        let viewer = world.viewer
        let key = History.RequestKey(device: id.device, counter: id.counter)
        world.history.planDeletion(of: deletes, key)
        let answer = await insist(on: id) { await $0.modifyRecords(in: viewer, [request])[0] }
        if case .success? = answer { world.history.settleDeletion(key) }
        judge(answer, request, before: before)
    }

    private func save(
        _ name: String, in zone: String, _ id: RequestID, _ policy: SavePolicy, batchCount: Int?
    ) -> RecordSave {
        textCount += 1
        let text = "device \(number), save \(textCount)"
        let view = bookmark.views[zone]
        let seen = view?.seen[name].flatMap { $0.text == nil ? nil : $0.number }
        let tag = seen.flatMap { number in
            view?.zone.map { ChangeTag.version(store: StoreIncarnation(1), zone: $0, number: number) }
        }
        world.history.plan(
            text,
            History.Intent(
                request: .init(device: id.device, counter: id.counter), name: name, policy: policy, base: seen,
                batchCount: batchCount))
        let fields = (try? FieldMap([Field("text", .string(text))])) ?? FieldMap()
        return RecordSave(name: name, type: "Note", tag: tag, fields: fields, parent: .unchanged)
    }

    private func judge(
        _ answer: Result<RecordsOutcome, FailureReason>?, _ request: RecordsRequest, before: History.Zone?
    ) {
        switch answer {
        case .success(let outcome):
            for (save, result) in zip(request.saves, outcome.saves) { judge(save, result) }
            for (name, result) in zip(request.deletes, outcome.deletes) where result == .deleted {
                judgeDeletion(of: name, before: before)
            }
        case .failure(.serverFault):
            // Said of a request that the store refuses, so that nothing of it may have been written.
            for save in request.saves where world.history.wasWritten(save.fields.text ?? "") {
                world.history.accuse("I-1: written, but said to be impossible: \(save.fields.text ?? "")")
            }
        case .failure, nil: break
        }
    }

    private func judge(_ save: RecordSave, _ result: SaveOutcome) {
        let text = save.fields.text ?? ""
        switch result {
        case .saved(let metadata):
            let version = world.history.zones[metadata.zone]?.versions[metadata.changeNumber]
            if let version, version.name == save.name, version.version.text == text { return }
            // A later request of the same group may have replaced it before it reached the store.
            let current = world.history.zones[metadata.zone]?.records[save.name]
            if version == nil, let current, current.number > metadata.changeNumber { return }
            world.history.accuse("I-1: acknowledged, but not written: \(text)")
        case .failed(let failure):
            if failure.reason.isConflict, failure.serverRecord == nil {
                world.history.accuse("R-111: a conflict without the record that is in the way")
            }
        }
    }

    private func judgeDeletion(of name: String, before: History.Zone?) {
        guard let before, let version = before.records[name], version.text != nil else { return }
        guard let now = world.history.zones[before.id], now.endedAt == nil else { return }
        if now.records[name] == version { world.history.accuse("I-1: said to be deleted: \(name)") }
    }
}

extension FieldMap {
    var text: String? {
        guard case .string(let text)? = try? self["text"]?.value() else { return nil }
        return text
    }
}
