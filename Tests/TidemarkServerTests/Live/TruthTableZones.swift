// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkStore
import TidemarkTestSupport
import TidemarkWire

extension LiveWorld {
    /// Makes the zones of the truth tables what their names say.
    ///
    /// - Parameter client: of bob.
    /// - Returns: a tag of the zone that is created again, from before.
    @discardableResult
    func makeTruthTableZones(by client: LiveClient) async throws -> [UInt8] {
        typealias Zone = SaveTruthTable.Zone
        for zone in [Zone.living, .recreated, .deleted, .purged, .keysReset] {
            try await client.makeZone(zone.rawValue)
        }
        let saved = try await client.ask(.modifyRecords(client.saving(["old"], in: Zone.recreated.rawValue)))
        for zone in [Zone.recreated, .deleted] {
            var request = WireModifyZones()
            request.database = .private
            request.stamp = client.stamp()
            request.deletes = [TestClient.zone(zone.rawValue)]
            _ = try await client.ask(.modifyZones(request))
        }
        try await client.makeZone(Zone.recreated.rawValue)
        let container = ContainerKey(identifier: Self.container, environment: .development)
        let database = try #require(try await admin.privateDatabase(ofAccount: "bob", in: container))
        for (zone, reason) in [(Zone.purged, ZoneRemovalReason.purged), (.keysReset, .encryptedDataReset)] {
            #expect(try await admin.endZone(ZoneKey(database: database, name: zone.rawValue), reason: reason))
        }
        return saved.modifyRecords.zones[0].saves[0].saved.tag
    }

    /// Connected, and `Hello` accepted without a credential.
    func enterAsNobody(server: Server) async throws -> LiveClient {
        let client = try await connect(to: server, greeting: .hello(SessionWorld.hello("", device: 9)))
        _ = try await client.answer(to: 1)
        return client
    }
}
