// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkFairness
internal import TidemarkScheduling

extension CloudService {
    /// One page of the zones that others share with a user, by id.
    ///
    /// - Parameters:
    ///   - viewer: the user's shared database.
    ///   - cursor: from the page before; nil for the first page.
    package func sharedZonesPage(
        of viewer: DatabaseID, for user: UserID, after cursor: ZonesCursor?
    ) async -> Result<ZonesPage, FailureReason> {
        await retry.run { () async throws(StorageError) in
            let zones = try await storage.sharedZones(
                of: viewer, for: user, after: cursor?.lastZone, zonesMax: limits.pageZonesMax + 1)
            return .success(ZonesPage(of: zones, in: viewer, within: limits))
        }
    }

    /// The zones that others share with a user, for pushes: changes of other zones do not concern the user.
    ///
    /// - Parameters:
    ///   - viewer: the user's shared database.
    ///   - zonesMax: the most zones that are read.
    package func zonesShown(
        in viewer: DatabaseID, to user: UserID, zonesMax: Int
    ) async -> Result<[ZoneState], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.sharedZones(of: viewer, for: user, after: nil, zonesMax: zonesMax))
        }
    }

    /// Zones of others, in that order. The result for a zone without access is `zoneNotFound`, whatever its state (I-5). `tooManyItems`
    /// over the limit of R-155.
    package func sharedZones(
        _ keys: [ZoneKey], for user: UserID
    ) async -> Result<[Result<ZoneState, FailureReason>], FailureReason> {
        guard keys.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await retry.run { () async throws(StorageError) in
            // Names that no zone can have must not reach the store.
            let possible = Set(keys).filter { ZoneName.isValid($0.name, limits: limits) }.sorted()
            let read = possible.isEmpty ? [] : try await storage.sharings(of: possible, .access(of: [user]))
            var found: [ZoneKey: ZoneState] = [:]
            for (zone, sharing) in read where ShareAccess(of: user, in: sharing).isParticipant {
                found[zone.key] = zone
            }
            return .success(keys.map { key in found[key].map { .success($0) } ?? .failure(.zoneNotFound) })
        }
    }

    /// A user's permissions in a zone of another user: `zoneNotFound` without access (I-5).
    package func access(
        to key: ZoneKey, by access: RecordAccess
    ) async -> Result<RecordAccess, FailureReason> {
        guard access.scope == .shared else { return .success(access) }
        guard ZoneName.isValid(key.name, limits: limits) else { return .failure(.zoneNotFound) }
        return await retry.run { () async throws(StorageError) in
            let read = try await storage.sharing(of: key, SharingRead(for: access))
            guard let access = access.sharing(read?.sharing) else { return .failure(.zoneNotFound) }
            return .success(access)
        }
    }

    /// The same for a user who wants to upload an asset for a record of the zone: `notPermitted` if the user may only
    /// read.
    ///
    /// - Parameter owner: whose client uploads.
    package func uploadAccess(
        to key: ZoneKey, by caller: RecordAccess, for owner: WorkOwner
    ) async -> Result<RecordAccess, FailureReason> {
        let found: Result<RecordAccess, FailureReason> = await access(to: key, by: caller).flatMap { access in
            access.mayCreateRecords ? .success(access) : .failure(.notPermitted)
        }
        if let user = caller.user {
            let place = AccessLooks.Place(user: user, zone: key)
            let (mayUpload, now) = ((try? found.get()) != nil, scheduler.now)
            sharedWrites.uploadSights.withLock { $0.note(mayUpload, at: place, of: owner, now: now) }
        }
        return found
    }

    /// The same for a part of the asset that is not the last. If the user was found to have the right a while ago, nothing is
    /// read, and this does not suspend.
    ///
    /// Parts of a file go to the owner's database, so a stranger must not send even one (I-5). The right is read when an upload is
    /// prepared, and with its last part. For parts in between, the last result is used for a while: they are under way together, and a read
    /// could change their order. A user who has lost the right in between leaves a part of a file, which never becomes an asset.
    package func partAccess(
        to key: ZoneKey, by caller: RecordAccess, for owner: WorkOwner
    ) async -> Result<Void, FailureReason> {
        guard let user = caller.user else { return .failure(.notAuthenticated) }
        let place = AccessLooks.Place(user: user, zone: key)
        let now = scheduler.now
        if sharedWrites.uploadSights.withLock({ $0.isTrusted(place, now: now) }) { return .success(()) }
        return await uploadAccess(to: key, by: caller, for: owner).map { _ in () }
    }
}
