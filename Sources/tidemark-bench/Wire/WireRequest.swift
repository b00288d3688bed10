// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkWire

/// A request of a device, without the number and the stamp that it gets when it is sent.
enum WireRequest: Sendable {
    case createZone(String)
    /// Atomic, and whatever the server has is replaced.
    case saves([SaveMessage], in: String)
    case page(of: String, after: [UInt8], limit: Int)
    /// By name.
    case records([String], of: String)
    case query(WireQuery, limit: Int)

    func envelope(id: UInt64, stamp: WireRequestStamp) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        switch self {
        case .createZone(let zone):
            envelope.modifyZones.database = .private
            envelope.modifyZones.stamp = stamp
            envelope.modifyZones.saves = [Self.zone(zone)]
        case .saves(let records, let zone):
            var part = WireZoneModifications()
            part.zone = Self.zone(zone)
            let zone = part.encoded + SaveMessage.zone(records)
            var request = WireModifyRecords()
            request.database = .private
            request.stamp = stamp
            request.policy = .allKeys
            request.atomic = true
            // A field of a message may stand after all others: the saves are not encoded once more.
            let length = request.size + WireModifyRecords.size(zones: zone.count)
            var writer = WireWriter(capacity: length + 24)
            WireClientEnvelope.write(id: id, to: &writer)
            WireClientEnvelope.begin(modifyRecords: length, to: &writer)
            request.write(to: &writer)
            WireModifyRecords.begin(zones: zone.count, to: &writer)
            writer.raw(zone)
            return writer.bytes
        case .page(let zone, let token, let limit):
            envelope.fetchZoneChanges.database = .private
            envelope.fetchZoneChanges.zone = Self.zone(zone)
            envelope.fetchZoneChanges.token = token
            envelope.fetchZoneChanges.limit = UInt32(limit)
        case .records(let names, let zone):
            var part = WireZoneRecordNames()
            part.zone = Self.zone(zone)
            part.names = names
            envelope.fetchRecords.database = .private
            envelope.fetchRecords.zones = [part]
        case .query(let query, let limit):
            envelope.queryRecords.database = .private
            envelope.queryRecords.query = query
            envelope.queryRecords.limit = UInt32(limit)
        }
        return envelope.encoded
    }

    /// The first message of a connection, as a device that nobody has seen before.
    static func hello(credential: String) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = 1
        envelope.hello.container = BenchDatabase.container
        envelope.hello.environment = .development
        envelope.hello.credential = credential
        envelope.hello.device = SecureRandom.bytes(16)
        envelope.hello.clientName = "tidemark-bench"
        return envelope.encoded
    }

    private static func zone(_ name: String) -> WireZoneID {
        var zone = WireZoneID()
        zone.name = name
        return zone
    }
}
