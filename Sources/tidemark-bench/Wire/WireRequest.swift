// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkWire

/// A request of a device, without the number and the stamp that it gets when it is sent.
enum WireRequest: Sendable {
    case createZone(String)
    /// Atomic, and whatever the server has is replaced.
    case saves([SaveMessage], in: MeasuredZone)
    case page(of: MeasuredZone, after: [UInt8], limit: Int)
    /// A page of the feed of zones that changed.
    case databaseFeed(WireDatabaseScope, after: [UInt8])
    /// By name.
    case records([String], of: MeasuredZone)
    case query(WireQuery, limit: Int)

    /// The names of the records that it saves.
    var savedNames: [String] {
        if case .saves(let records, _) = self { records.map(\.name) } else { [] }
    }

    /// - Parameter tags: of the versions that the device knows of the zone's records, by name.
    func envelope(id: UInt64, stamp: WireRequestStamp, tags: [String: [UInt8]]) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        switch self {
        case .createZone(let zone):
            envelope.modifyZones.database = .private
            envelope.modifyZones.stamp = stamp
            envelope.modifyZones.saves = [MeasuredZone(name: zone).wire]
        case .saves(let records, let zone):
            var part = WireZoneModifications()
            part.zone = zone.wire
            let modifications = part.encoded + SaveMessage.zone(records, tags: tags)
            var request = WireModifyRecords()
            request.database = zone.scope
            request.stamp = stamp
            request.policy = .allKeys
            request.atomic = true
            // A field of a message may stand after all others: the saves are not encoded once more.
            let length = request.size + WireModifyRecords.size(zones: modifications.count)
            var writer = WireWriter(capacity: length + 24)
            WireClientEnvelope.write(id: id, to: &writer)
            WireClientEnvelope.begin(modifyRecords: length, to: &writer)
            request.write(to: &writer)
            WireModifyRecords.begin(zones: modifications.count, to: &writer)
            writer.raw(modifications)
            return writer.bytes
        case .page(let zone, let token, let limit):
            envelope.fetchZoneChanges.database = zone.scope
            envelope.fetchZoneChanges.zone = zone.wire
            envelope.fetchZoneChanges.token = token
            envelope.fetchZoneChanges.limit = UInt32(limit)
        case .databaseFeed(let scope, let token):
            envelope.fetchDatabaseChanges.database = scope
            envelope.fetchDatabaseChanges.token = token
        case .records(let names, let zone):
            var part = WireZoneRecordNames()
            part.zone = zone.wire
            part.names = names
            envelope.fetchRecords.database = zone.scope
            envelope.fetchRecords.zones = [part]
        case .query(let query, let limit):
            envelope.queryRecords.database = .private
            envelope.queryRecords.query = query
            envelope.queryRecords.limit = UInt32(limit)
        }
        return envelope.encoded
    }

    /// The first message of a connection, as a device that nobody has seen before.
    static func hello(credential: String, container: String = BenchDatabase.container) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = 1
        envelope.hello.container = container
        envelope.hello.environment = .development
        envelope.hello.credential = credential
        envelope.hello.device = SecureRandom.bytes(16)
        envelope.hello.clientName = "tidemark-bench"
        return envelope.encoded
    }
}
