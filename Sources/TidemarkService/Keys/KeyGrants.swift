// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
package import TidemarkDomain
internal import TidemarkScheduling

// Keys of zones for accounts that no server can open. Owners' devices encrypt them to the public keys of those with whom a zone is
// shared. Servers keep that and hand it on.

extension CloudService {
    /// Keeps what an owner's device gives to readers of a zone, and says who of the next ones lacks keys.
    ///
    /// Whoever follows the zone is told that something happened there. So devices of readers ask for keys that they lack.
    ///
    /// - Parameters:
    ///   - grants: those that do not fit what is stored are left out.
    ///   - life: of the device, which is not told.
    ///   - last: where the readers begin; nil: with the first one.
    /// - Returns: `tooManyItems` over ``KeyGrant/pageMax``, `requestInvalid` for bytes that are not a grant, and for two grants for one
    ///   user, `zoneNameInvalid`, or `zoneNotFound`.
    package func grantKeys(
        _ grants: [KeyGrant], in zone: ZoneKey, by life: DeviceID = .nobody, readersAfter last: UserID?
    ) async -> Result<KeyReadersPage, FailureReason> {
        guard grants.count <= KeyGrant.pageMax else { return .failure(.tooManyItems) }
        if let reason = grants.lazy.compactMap(\.refusal).first { return .failure(reason) }
        guard Set(grants.map(\.user)).count == grants.count else { return .failure(.requestInvalid) }
        guard ZoneName.isValid(zone.name, limits: limits) else { return .failure(.zoneNameInvalid) }
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            if !grants.isEmpty {
                try await storage.saveKeyGrants(grants, in: zone, now: now)
                let notice = ZoneNotice(database: zone.database, life: life, zoneName: zone.name)
                onMoved(ZonesMoved([notice], growth: [zone.database: 0]))
            }
            let page = try await storage.keyReaders(of: zone, after: last, countMax: KeyGrant.pageMax)
            guard let page else { return .failure(.zoneNotFound) }
            return .success(
                KeyReadersPage(keys: page.keys, readers: page.readers.filter { $0.lacks(page.keys) }, last: page.last))
        }
    }

    /// A reader's keys of zones whose keys the server cannot wrap for the reader's account.
    ///
    /// - Parameters:
    ///   - zones: with the data that was read of each, including the reader's access.
    ///   - owners: the accounts' keys, as far as this server has them.
    ///   - publicKey: the reader's.
    func givenKeys(
        _ zones: [(key: ZoneKey, read: ZoneKeysRead)], to user: UserID, publicKey: [UInt8]?,
        from owners: [UserID: AccountKey?], in container: String
    ) async -> Result<[ZoneKey: GivenKeys], FailureReason> {
        guard !zones.isEmpty else { return .success([:]) }
        let users = Set(zones.compactMap { $0.read.sharing?.owner } + [user])
        return await userRecordNames(of: users).asyncFlatMap { names in
            var given: [ZoneKey: GivenKeys] = [:]
            var closed: [ZoneKey] = []
            var pairs: [UserID: X25519KeyPair] = [:]
            var steps = Self.keySteps
            for (zone, read) in zones {
                guard let owner = read.sharing?.owner, let account = owners[owner] ?? nil, let key = account.key else {
                    closed.append(zone)
                    continue
                }
                // the server has the owner's key, so it does what the owner's device would do.
                guard let publicKey, let ownerName = names[owner], let reader = names[user] else { continue }
                let place = ZoneKeyGrant(
                    container: container, zoneName: zone.name, owner: ownerName, reader: reader)
                let pair = pairs[owner] ?? ZoneKeyGrant.keyPair(of: key, container: container)
                pairs[owner] = pair
                let keys = read.keys ?? []
                given[zone] = Self.sealed(
                    keys, with: key, pair, mode: account.mode, for: publicKey, place, zone.name, container)
                await steps.did(Self.sealingCost + keys.count)
            }
            return await retry.run { [closed, given] () async throws(StorageError) in
                let kept = try await storage.givenKeys(in: closed, to: user)
                return .success(given.merging(kept) { first, _ in first })
            }
        }
    }

    /// Nil if none of the keys can be opened, or nobody can be given any.
    private static func sealed(
        _ keys: [WrappedZoneKey], with ownerKey: [UInt8], _ pair: X25519KeyPair, mode: EncryptionMode,
        for publicKey: [UInt8], _ place: ZoneKeyGrant, _ zoneName: String, _ container: String
    ) -> GivenKeys? {
        let opened = keys.compactMap { key in
            ZoneKeyWrap.unwrap(key.wrapped, id: key.id, with: ownerKey, container: container, zoneName: zoneName)
                .map { (id: key.id, key: $0) }
        }
        guard !opened.isEmpty, let sealed = try? place.seal(opened, to: publicKey, from: pair) else { return nil }
        return GivenKeys(sealed: sealed, ownerPublicKey: pair.publicKey, ownerMode: mode)
    }
}
