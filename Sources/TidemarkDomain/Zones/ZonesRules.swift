// SPDX-License-Identifier: Apache-2.0

// The order in which failures win, for a request that creates and deletes zones. For the request as a whole:
//  1. requestInvalid   a stamp that no device can have made
//  2. tooManyItems     R-155
//  3. itemRepeated     as R-116: a zone twice, be it once to create and once to delete
// then from the database's memory: a remembered request gets its outcome again, or
//  4. requestForgotten
// For one zone, the others unaffected:
//  5. zoneIsDefault    R-032, deletes only; to create it is to find it there
//  6. zoneNameInvalid  R-020
//  7. zoneScopeFixed   R-035: the zone exists, and is encrypted in another way
//  8. tooManyZones     zones that the same request deletes still count
//  9. tooManyAccountZones  R-991, the same of all containers
// 10. zoneBusy         R-753: too many zones have ended

extension ZonesRequest {
    /// A fault of the request that does not depend on stored data; nil if there is none. Check it before anything is
    /// read.
    package func refusal(within limits: Limits) -> FailureReason? {
        if !id.isPlausible { return .requestInvalid }
        if saves.count + deletes.count > limits.itemsMax { return .tooManyItems }
        if Set(saves + deletes).count < saves.count + deletes.count { return .itemRepeated }
        return nil
    }

    /// How many ended zones the database keeps if this request has found too many of them; nil if it has not.
    package static func endedZonesKept(by snapshot: ZonesSnapshot, limits: Limits) -> Int? {
        snapshot.endedCount > limits.endedZonesMax / 2 ? limits.endedZonesMax / 4 : nil
    }

    /// The names to lock and read. The default zone is left out, because it is neither created nor deleted.
    package func namesToRead(within limits: Limits) -> [String] {
        Set(saves + deletes).filter { $0 != ZoneName.default && ZoneName.isValid($0, limits: limits) }.sorted()
    }

    /// Decides the request.
    ///
    /// - Parameter arrivalEpoch: see `RequestMemory.recall`.
    /// - Returns: one entry for each item, or why the whole request is refused; and what must be written. Nothing is
    ///   written if the request is refused or remembered.
    package func decide(
        on snapshot: ZonesSnapshot, arrivalEpoch: Int64? = nil, limits: Limits
    ) -> (outcome: Result<ZonesOutcome, FailureReason>, changes: ZonesChanges?) {
        if let reason = refusal(within: limits) { return (.failure(reason), nil) }
        var memory = snapshot.memory ?? RequestMemory()
        switch memory.recall(id, arrivalEpoch: arrivalEpoch, epoch: snapshot.memoryEpoch, limits: limits) {
        case .remembered(let bytes): return (remembered(bytes), nil)
        case .forgotten: return (.failure(.requestForgotten), nil)
        case .unseen: break
        }
        let (outcome, created) = decideItems(on: snapshot, limits: limits)
        memory.remember(outcome.encoded, of: id, limits: limits)
        let removed = deletes.filter { $0 != ZoneName.default }.compactMap { snapshot.zones[$0]?.id }
        let changes = ZonesChanges(
            created: created, createdPerZone: Set(created.filter { encryptionScopes[$0] == .perZone }),
            removed: removed.sorted(), life: id.life,
            memory: memory)
        return (.success(outcome), changes)
    }

    private func decideItems(on snapshot: ZonesSnapshot, limits: Limits) -> (ZonesOutcome, created: [String]) {
        var created: [String] = []
        let saved = saves.map { name -> ZoneItemOutcome in
            guard ZoneName.isValid(name, limits: limits) else { return .failed(.zoneNameInvalid) }
            // an existing zone stays as it is. R-022: the default zone always exists.
            if let zone = snapshot.zones[name] { return resave(zone) }
            if name == ZoneName.default { return encryptionScopes[name] == .perZone ? .failed(.zoneScopeFixed) : .done }
            guard snapshot.zoneCount + created.count < limits.zonesMax else { return .failed(.tooManyZones) }
            guard snapshot.accountZoneCount + created.count < limits.accountZonesMax else {
                return .failed(.tooManyAccountZones)
            }
            guard snapshot.endedCount < limits.endedZonesMax else { return .failed(.zoneBusy) }
            created.append(name)
            return encryptionScopes[name] == .perZone ? .donePerZone : .done
        }
        let deleted = deletes.map { name -> ZoneItemOutcome in
            if name == ZoneName.default { return .failed(.zoneIsDefault) }
            // deleting a zone that does not exist succeeds.
            return ZoneName.isValid(name, limits: limits) ? .done : .failed(.zoneNameInvalid)
        }
        return (ZonesOutcome(saves: saved, deletes: deleted), created)
    }

    private func resave(_ zone: ZoneState) -> ZoneItemOutcome {
        if let scope = encryptionScopes[zone.key.name], scope != zone.encryptionScope {
            return .failed(.zoneScopeFixed)
        }
        return zone.encryptionScope == .perZone ? .donePerZone : .done
    }

    private func remembered(_ bytes: [UInt8]) -> Result<ZonesOutcome, FailureReason> {
        guard let outcome = ZonesOutcome(decoding: bytes) else { return .failure(.serverFault) }
        guard outcome.saves.count == saves.count, outcome.deletes.count == deletes.count else {
            return .failure(.requestInvalid)
        }
        return .success(outcome)
    }
}
