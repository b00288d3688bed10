// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

extension Viewpoint {
    /// The zone that a client names. Nil for a zone that the caller's database cannot have. In the private and the public
    /// database that is a zone of another owner. In the shared database it is any zone, because no zone is shared yet
    ///
    ///
    /// This is the only place where a client's name of a zone becomes a ``ZoneKey``. When zones are shared, an owner and a
    /// name in the shared database stand for a key in the owner's private database. Finding it takes a read of the store,
    /// and requests are translated without one. So the handler will read it before, and give it to the viewpoint, as it does
    /// with ``userNames``. A key grants nothing: who may read and write in the zone is decided where the records are.
    package func zoneKey(of zone: WireZoneID) -> ZoneKey? {
        guard access.scope != .shared, isCaller(zone.owner) else { return nil }
        return ZoneKey(database: database, name: zone.name)
    }

    /// The same, for a request that makes no sense without the zone.
    ///
    /// - Throws: ``Refusal`` with `zoneNotFound`.
    package func requiredZoneKey(of zone: WireZoneID) throws(Refusal) -> ZoneKey {
        guard let key = zoneKey(of: zone) else { throw Refusal(.zoneNotFound) }
        return key
    }

    /// The name of the caller's own user record, if this zone is the one that has it.
    package func userRecordName(in zone: ZoneKey) -> String? {
        zone.name == ZoneName.default && zone.database == database && !userRecordName.isEmpty ? userRecordName : nil
    }
}

/// The zones that a request asks for.
package enum ZoneNames {
    /// Nil for a zone that the caller's database cannot have (``Viewpoint/zoneKey(of:)``).
    ///
    /// - Throws: ``Refusal`` with `tooManyItems`.
    package static func read(
        _ zones: [WireZoneID], by viewpoint: Viewpoint, limits: Limits
    ) throws(Refusal) -> [ZoneKey?] {
        try ItemCount.check(zones.count, limits)
        return zones.map(viewpoint.zoneKey(of:))
    }
}
