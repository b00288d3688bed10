// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService

extension SimulatedDevice {
    func editZone() async {
        let name = world.oneOf(SimulatedWorld.zoneNames)
        let before = world.history.livingZone(name)
        let (sentAt, store) = (world.history.length, world.history.store)
        let isCreation = before == nil || world.oneIn(3)
        let viewer = world.viewer
        let answer = await insist(on: nextRequestID()) {
            await $0.modifyZones(
                in: viewer, ZonesRequest(id: $1, saves: isCreation ? [name] : [], deletes: isCreation ? [] : [name]),
                for: .account(1))
        }
        guard case .success? = answer, store == world.history.store else { return }
        if isCreation {
            let lived = world.history.zones.values.contains { $0.name == name && ($0.endedAt ?? .max) > sentAt }
            if !lived { world.history.accuse("I-1: zone \(name) was said to exist") }
        } else if let before, world.history.zones[before.id]?.endedAt == nil {
            world.history.accuse("I-1: zone \(name) was said to be deleted")
        }
    }

    func edit(isLarge: Bool = false) async {
        let zone = world.oneOf(SimulatedWorld.zoneNames)
        guard let identity = world.identity else { return }
        let policy = world.oneOf(SavePolicy.allCases)
        let isAtomic = world.oneIn(2)
        var names = SimulatedWorld.recordNames.filter { _ in isLarge || world.oneIn(3) }
        let deletes = names.filter { _ in world.oneIn(4) }
        names.removeAll { deletes.contains($0) }
        guard !names.isEmpty || !deletes.isEmpty else { return }
        await learnEpoch()
        requestCount += 1
        let key = History.RequestKey(device: number, number: requestCount)
        let saves = names.map { name in
            save(name, in: zone, key, policy, batchCount: isAtomic ? names.count : nil)
        }
        let (zoneKey, owner) = (world.key(zone), workOwner)
        let access = reader ?? .owner(identity.user)
        @Sendable func request(_ id: RequestID) -> RecordsRequest {
            RecordsRequest(
                id: id, key: zoneKey, saves: saves, deletes: deletes, policy: policy, isAtomic: isAtomic,
                user: access.user ?? identity.user, access: access)
        }
        let (before, store) = (world.history.livingZone(zone), world.history.store)
        world.history.planDeletion(of: deletes, key)
        let id = nextRequestID()
        let answer = await insist(on: id, judgedBy: { self.judgeSight($0, in: zone, askedAt: $1) }) {
            await $0.modifyRecords([request($1)], for: owner)[0]
        }
        if case .success? = answer, before?.id == world.history.livingZone(zone)?.id {
            world.history.settleDeletion(key, in: before?.id)
        }
        // Of what was said of another life of the store nothing may be left.
        if store == world.history.store { judge(answer, request(id), before: before) }
    }

    private func save(
        _ name: String, in zone: String, _ request: History.RequestKey, _ policy: SavePolicy, batchCount: Int?
    ) -> RecordSave {
        textCount += 1
        let text = "device \(number), save \(textCount)"
        let view = bookmark.views[zone]
        let seen = view?.seen[name].flatMap { $0.text == nil ? nil : $0.number }
        let tag = seen.flatMap { number in
            view?.zone.map {
                ChangeTag.version(store: view?.store ?? StoreIncarnation(1), zone: $0, number: number)
            }
        }
        world.history.plan(
            text,
            History.Intent(
                request: request, name: name, policy: policy, base: seen,
                baseStore: seen.flatMap { _ in view?.store }, batchCount: batchCount))
        let fields = (try? FieldMap([Field("text", .string(text))])) ?? FieldMap()
        return RecordSave(name: name, type: "Note", tag: tag, fields: fields, parent: .unchanged)
    }

    private func judge(
        _ answer: Result<RecordsOutcome, FailureReason>?, _ request: RecordsRequest, before: History.Zone?
    ) {
        switch answer {
        case .success(let outcome):
            for (save, result) in zip(request.saves, outcome.saves) { judge(save, result, before: before) }
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

    private func judge(_ save: RecordSave, _ result: SaveOutcome, before: History.Zone?) {
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
            noteRefusal(of: text, failure.reason, before: before)
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
