// SPDX-License-Identifier: Apache-2.0

/// Zones to create and delete in one database. The request is not atomic: each zone has its own result.
package struct ZonesRequest: Sendable {
    package let id: RequestID
    package let saves: [String]
    package let deletes: [String]
    /// The scopes that saves ask for, by zone name. A zone that exists must have that scope already.
    package let encryptionScopes: [String: ZoneEncryptionScope]

    package init(
        id: RequestID, saves: [String], deletes: [String], encryptionScopes: [String: ZoneEncryptionScope] = [:]
    ) {
        self.id = id
        self.saves = saves
        self.deletes = deletes
        self.encryptionScopes = encryptionScopes
    }
}

/// The outcome of a ``ZonesRequest``: one entry for each item, in the order of the request.
package struct ZonesOutcome: Sendable, Equatable {
    package var saves: [ZoneItemOutcome]
    package var deletes: [ZoneItemOutcome]

    package init(saves: [ZoneItemOutcome], deletes: [ZoneItemOutcome]) {
        self.saves = saves
        self.deletes = deletes
    }

    /// Why the first zone failed; nil if none did.
    package var firstFailure: FailureReason? {
        (saves + deletes).lazy.compactMap { if case .failed(let reason) = $0 { reason } else { nil } }.first
    }
}

/// The outcome for one zone that a request saves or deletes.
package enum ZoneItemOutcome: Sendable, Equatable {
    case done
    /// As ``done``, and the saved zone is encrypted as a whole.
    case donePerZone
    case failed(FailureReason)
}

/// The data that is read under the lock of the database's row before zones are created or deleted.
package struct ZonesSnapshot: Sendable {
    /// Living zones among those that the request names; they are locked too.
    package var zones: [String: ZoneState]
    /// How many living zones the database has (`Limits.zonesMax`).
    package var zoneCount: Int
    /// How many living zones the account's private databases have in all containers (`Limits.accountZonesMax`); 0 for a public
    /// database. Beyond ``accountZonesCounted`` they are not counted.
    package var accountZoneCount: Int
    /// How many zones of the database have ended and are not forgotten (`Limits.endedZonesMax`).
    package var endedCount: Int
    package var memory: RequestMemory?
    /// The store's memory epoch when ``memory`` was read.
    package var memoryEpoch: Int64

    /// A count of an account's zones ends here.
    package static let accountZonesCounted = 20_000

    package init(
        zones: [String: ZoneState] = [:], zoneCount: Int = 0, accountZoneCount: Int = 0, endedCount: Int = 0,
        memory: RequestMemory? = nil, memoryEpoch: Int64 = 0
    ) {
        self.zones = zones
        self.zoneCount = zoneCount
        self.accountZoneCount = accountZoneCount
        self.endedCount = endedCount
        self.memory = memory
        self.memoryEpoch = memoryEpoch
    }
}

/// The data to write: new zones by name, ends of living ones, and the memory of the device's life.
package struct ZonesChanges: Sendable {
    package var created: [String]
    /// The new zones that are encrypted as a whole.
    package var createdPerZone: Set<String>
    package var removed: [ZoneID]
    package var removalReason: ZoneRemovalReason
    package var life: DeviceID
    package var memory: RequestMemory

    package init(
        created: [String], createdPerZone: Set<String> = [], removed: [ZoneID],
        removalReason: ZoneRemovalReason = .deleted, life: DeviceID,
        memory: RequestMemory
    ) {
        self.created = created
        self.createdPerZone = createdPerZone
        self.removed = removed
        self.removalReason = removalReason
        self.life = life
        self.memory = memory
    }
}
