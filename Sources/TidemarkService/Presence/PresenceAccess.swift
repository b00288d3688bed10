// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Users who are present in a place, and may have lost their access to it.
package struct PresenceCheck: Sendable {
    package let key: ZoneKey
    package let place: PresencePlace
    package let users: Set<UserID>

    package init(key: ZoneKey, place: PresencePlace, users: Set<UserID>) {
        self.key = key
        self.place = place
        self.users = users
    }
}

extension CloudService {
    /// The place in which somebody wants to be present, if they may see it now.
    ///
    /// `zoneNotFound` if the zone does not live, or is not there for them (I-5). `shareUnknown` if the share does not live, or is
    /// not for them. `feedUnavailable` if they see hierarchies of the zone, and name none.
    ///
    /// - Parameter share: the name of the CKShare record of a hierarchy; empty: the whole zone.
    package func presencePlace(
        of key: ZoneKey, share: String, by access: RecordAccess
    ) async -> Result<PresencePlace, FailureReason> {
        guard ZoneName.isValid(key.name, limits: limits) else { return .failure(.zoneNotFound) }
        guard let user = access.user else { return .failure(.notAuthenticated) }
        return await retry.run { () async throws(StorageError) in
            if access.scope == .private, share.isEmpty {
                if let zone = try await storage.zones(named: [key.name], in: key.database).first {
                    return .success(PresencePlace(zone: zone.id, share: nil))
                }
                let removals = try await storage.removals(ofZones: [key.name], in: key.database)
                return .failure(.missingZone(removals[key.name]))
            }
            guard let (zone, sharing) = try await storage.shareAccess(of: user, to: key) else {
                return .failure(.zoneNotFound)
            }
            let own = ShareAccess(of: user, in: sharing)
            guard own.isOwner ? access.scope == .private : own.isParticipant else { return .failure(.zoneNotFound) }
            guard !share.isEmpty else {
                return own.readsEverything
                    ? .success(PresencePlace(zone: zone, share: nil)) : .failure(.feedUnavailable)
            }
            guard let named = sharing.livingShare(named: share), named.isOfHierarchy,
                own.mayBePresent(in: named.number)
            else { return .failure(.shareUnknown) }
            return .success(PresencePlace(zone: zone, share: named.number))
        }
    }

    /// The users who may still be present, for each of the checks. They are read together.
    package func stillPresent(_ checks: [PresenceCheck]) async -> Result<[Set<UserID>], FailureReason> {
        let keys = Set(checks.map(\.key)).sorted()
        let users = checks.reduce(into: Set<UserID>()) { $0.formUnion($1.users) }
        let sorted = users.sorted { $0.rawValue < $1.rawValue }
        return await retry.run { () async throws(StorageError) in
            var found: [ZoneID: ZoneSharing] = [:]
            for (zone, sharing) in try await storage.sharings(of: keys, .access(of: sorted)) {
                found[zone.id] = sharing
            }
            return .success(
                checks.map { check in
                    guard let sharing = found[check.place.zone] else { return [] }
                    if let share = check.place.share, sharing.shares[share]?.isLiving != true { return [] }
                    return check.users.filter {
                        ShareAccess(of: $0, in: sharing).mayBePresent(in: check.place.share)
                    }
                })
        }
    }
}
