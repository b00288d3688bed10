// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

extension Viewpoint {
    /// The zone that a client names. Nil for a zone that the caller's database cannot have. In the private and the public
    /// database that is a zone of another owner. In the shared database it is one whose owner is not in ``zoneOwners``
    ///
    ///
    /// This is the only place where a client's name of a zone becomes a ``ZoneKey``, and ``ownerName(ofZonesIn:)`` is the way back.
    /// In the shared database an owner's name stands for the owner's private database. Who has a name takes a read of the
    /// store, and requests are translated without one. So whoever makes the viewpoint reads that before, and sets
    /// ``zoneOwners``. There a name that nobody has stands for a database that there is not, so that nobody can tell it
    /// from others (I-5). A key grants nothing: whether the zone is there, and who may read and write in it, is decided by
    /// what is read with its records.
    package func zoneKey(of zone: WireZoneID) -> ZoneKey? {
        guard access.scope == .shared else {
            return isCaller(zone.owner) ? ZoneKey(database: database, name: zone.name) : nil
        }
        return zoneOwners.first { $0.value == zone.owner }.map { ZoneKey(database: $0.key, name: zone.name) }
    }

    /// The same, for a request that makes no sense without the zone.
    ///
    /// - Throws: ``Refusal`` with `zoneNotFound`.
    package func requiredZoneKey(of zone: WireZoneID) throws(Refusal) -> ZoneKey {
        guard let key = zoneKey(of: zone) else { throw Refusal(.zoneNotFound) }
        return key
    }

    /// The owner of a zone, as answers and pushes name it. Empty in the caller's own database, and in the public one.
    ///
    /// - Throws: ``Refusal`` with `serverFault` for a zone that is neither in ``database`` nor in one of ``zoneOwners``: the
    ///   handler has not looked up its owner. Without an owner the caller would take the zone for one of their own.
    func ownerName(ofZonesIn database: DatabaseID) throws(Refusal) -> String {
        if database == self.database { return "" }
        guard let owner = zoneOwners[database] else {
            throw Refusal(.serverFault, "The server has not looked up the owner of a zone. Report it to the operator.")
        }
        return owner
    }

    /// The name of the caller's own user record, if this zone is the one that has it.
    package func userRecordName(in zone: ZoneKey) -> String? {
        zone.name == ZoneName.default && zone.database == database && !userRecordName.isEmpty ? userRecordName : nil
    }
}

extension WireZoneID {
    /// A zone as answers and pushes name it.
    ///
    /// - Throws: as ``Viewpoint/ownerName(ofZonesIn:)``.
    init(_ zone: ZoneKey, seenFrom viewpoint: Viewpoint) throws(Refusal) {
        self.init(ownZone: zone.name)
        owner = try viewpoint.ownerName(ofZonesIn: zone.database)
    }

    /// A zone of the database that was asked for. Such a zone names no owner.
    init(ownZone name: String) {
        self.init()
        self.name = name
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
