// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkDomain
import TidemarkTranslation
import TidemarkWire

extension LiveClient {
    /// To save and delete records; without any yet.
    func request(_ scope: DatabaseScope, _ policy: SavePolicy) -> WireModifyRecords {
        var request = WireModifyRecords()
        request.database = WireDatabaseScope(scope)
        request.stamp = stamp()
        request.policy = WireSavePolicy(rawValue: Int32(policy.rawValue))
        return request
    }

    func makeZone(_ name: String) async throws {
        var request = WireModifyZones()
        request.database = .private
        request.stamp = stamp()
        request.saves = [TestClient.zone(name)]
        let answer = try await ask(.modifyZones(request))
        guard answer.modifyZones.saves.first?.zone.id.name == name else { throw LiveError("no zone: \(answer)") }
    }

    func saving(_ names: [String], in zone: String, text: String = "text") throws -> WireModifyRecords {
        let saves = try names.map { try TestClient.note($0, text: text) }
        return WireModifyRecords(saving: saves, in: TestClient.zone(zone), stamp())
    }

    func save(_ names: [String], in zone: String, text: String = "text") async throws {
        let answer = try await ask(.modifyRecords(saving(names, in: zone, text: text)))
        let results = answer.modifyRecords.zones.first?.saves ?? []
        let count = results.count { if case .saved? = $0.result { true } else { false } }
        guard count == names.count else { throw LiveError("not saved: \(answer)") }
    }

    /// The names of a zone's living records, fetched from the beginning.
    func names(in zone: String) async throws -> [String] {
        var names: [String] = []
        var token: [UInt8] = []
        for _ in 0..<10_000 {
            let answer = try await ask(.fetchZoneChanges(TestClient.zoneChanges(zone, token: token)))
            guard case .fetchZoneChanges(let page)? = answer.answer else { throw LiveError("no page: \(answer)") }
            names += page.changes.map(\.record.name)
            token = page.token
            if !page.moreComing { return names }
        }
        throw LiveError("a feed without an end")
    }

    func subscribe() async throws {
        var request = WireModifySubscriptions()
        request.database = .private
        request.saves = [TestClient.subscription()]
        let answer = try await ask(.modifySubscriptions(request))
        guard answer.modifySubscriptions.saves.first?.subscription.id == "all" else {
            throw LiveError("not subscribed: \(answer)")
        }
    }
}
