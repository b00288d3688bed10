// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry
internal import TidemarkWire

extension CloudDatabase {
    /// Creates and deletes zones, each with its own result.
    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID]
    ) async throws(CKError) -> SyncEngineZoneResults {
        guard !zones.isEmpty || !zoneIDs.isEmpty else { return SyncEngineZoneResults() }
        var request = WireModifyZones()
        request.database = wireScope
        request.saves = zones.map { WireZoneID($0.zoneID) }
        request.deletes = zoneIDs.map(WireZoneID.init)
        request.encryptionScopes = zones.map { WireEncryptionScope($0.chosenEncryptionScope) }
        let reply = try await self.request(isChange: true) { [request] stamp in
            var request = request
            if let stamp { request.stamp = stamp }
            return .modifyZones(request)
        }
        guard case .modifyZones(let answer) = reply.answer, answer.saves.count == zones.count,
            answer.deletes.count == zoneIDs.count
        else { throw Self.wrongAnswer(to: .modifyZones) }
        var results = SyncEngineZoneResults()
        for (zone, result) in zip(zones, answer.saves) {
            results.saves[zone.zoneID] = take(result, of: .modifyZones, reply.request)
        }
        for (zoneID, result) in zip(zoneIDs, answer.deletes) {
            switch result.result {
            case .done, .zone: results.deletes[zoneID] = .success(())
            case .failure(let failure): results.deletes[zoneID] = .failure(CKError(failure, to: reply.request))
            case nil: results.deletes[zoneID] = .failure(Self.wrongAnswer(to: .modifyZones))
            }
        }
        return results
    }

    /// Zones by ID.
    func zones(for ids: [CKRecordZone.ID]) async throws(CKError) -> [CKRecordZone.ID: Result<CKRecordZone, CKError>] {
        guard !ids.isEmpty else { return [:] }
        var results: [CKRecordZone.ID: Result<CKRecordZone, CKError>] = [:]
        let (answer, request) = try await fetchZones(ids)
        guard answer.zones.count == ids.count else { throw Self.wrongAnswer(to: .fetchZones) }
        for (id, zone) in zip(ids, answer.zones) { results[id] = take(zone, of: .fetchZones, request) }
        return results
    }

    /// All zones of the database, with the default zone. They come in pages.
    func allZones() async throws(CKError) -> [CKRecordZone] {
        var zones: [CKRecordZone] = []
        var (page, request) = try await fetchZones([])
        while true {
            for result in page.zones {
                guard result.result != nil else { throw Self.wrongAnswer(to: .fetchZones) }
                if let zone = try? take(result, of: .fetchZones, request).get() { zones.append(zone) }
            }
            guard !page.cursor.isEmpty else { break }
            // A server that sends nothing and says that there is more would be asked for ever.
            guard !page.zones.isEmpty else { throw Self.wrongAnswer(to: .fetchZones) }
            try checkMayGoOn()
            (page, request) = try await fetchZones([], after: page.cursor)
        }
        // A zone that was deleted and created again between two pages is in both. The later one lives.
        var seen: Set<CKRecordZone.ID> = []
        return zones.reversed().filter { seen.insert($0.zoneID).inserted }.reversed()
    }

    private func fetchZones(
        _ ids: [CKRecordZone.ID], after cursor: [UInt8] = []
    ) async throws(CKError) -> (WireFetchZonesAnswer, to: RequestUUID?) {
        var request = WireFetchZones()
        request.database = wireScope
        request.zones = ids.map(WireZoneID.init)
        request.cursor = cursor
        let reply = try await self.request { [request] _ in .fetchZones(request) }
        guard case .fetchZones(let answer) = reply.answer else { throw Self.wrongAnswer(to: .fetchZones) }
        return (answer, reply.request)
    }

    private func take(
        _ result: WireZoneResult, of request: WireRequestKind, _ uuid: RequestUUID?
    ) -> Result<CKRecordZone, CKError> {
        switch result.result {
        case .zone(let zone):
            .success(CKRecordZone(zone))
        case .failure(let failure):
            .failure(CKError(failure, to: uuid))
        case .done, nil:
            .failure(Self.wrongAnswer(to: request))
        }
    }
}

extension CKRecordZone {
    fileprivate convenience init(_ wire: WireZone) {
        let zoneID = CKRecordZone.ID(wire.id)
        let shareID = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
        self.init(
            zoneID: zoneID, capabilities: Capabilities(rawValue: UInt(wire.capabilities)),
            //
            share: wire.isShared ? CKRecord.Reference(recordID: shareID, action: .none) : nil,
            encryptionScope: wire.encryptionScope == .perZone ? .perZone : .perRecord)
    }
}

extension WireEncryptionScope {
    fileprivate init(_ scope: CKRecordZone.EncryptionScope?) {
        switch scope {
        case nil: self = .unspecified
        case .perRecord: self = .perRecord
        case .perZone: self = .perZone
        }
    }
}
