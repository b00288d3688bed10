// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkService

extension MemoryStore {
    package func keyReaders(
        of zone: ZoneKey, after last: UserID?, countMax: Int
    ) async throws(StorageError) -> KeyReadersPage? {
        try await call { tables in
            guard let id = tables.livingZone(zone) else { return nil }
            let all = tables.sharing[id]?.keyReaders ?? []
            let users = all.filter { user in last.map { user.rawValue > $0.rawValue } ?? true }.prefix(countMax)
            return KeyReadersPage(
                keys: tables.keyCount(of: id), readers: users.compactMap { tables.keyReader($0, of: id) },
                last: users.count == countMax ? users.last : nil)
        }
    }

    package func saveKeyGrants(
        _ grants: [KeyGrant], in zone: ZoneKey, now: Timestamp
    ) async throws(StorageError) {
        try await call { tables in
            guard let id = tables.livingZone(zone) else { return }
            let readers = tables.sharing[id]?.keyReaders ?? []
            let keys = tables.keyCount(of: id)
            var kept = (tables.keyGrants[id] ?? [:]).filter { readers.contains($0.key) }
            for grant in grants where readers.contains(grant.user) {
                if grant.fits(tables.keyReader(grant.user, of: id), of: keys) { kept[grant.user] = grant }
            }
            tables.keyGrants[id] = kept
        }
    }

    package func givenKeys(
        in zones: [ZoneKey], to user: UserID
    ) async throws(StorageError) -> [ZoneKey: GivenKeys] {
        try await call { tables in
            var given: [ZoneKey: GivenKeys] = [:]
            for zone in zones {
                guard let id = tables.livingZone(zone), let sharing = tables.sharing[id],
                    sharing.hasAcceptedInvitation(user), let grant = tables.keyGrants[id]?[user]
                else { continue }
                let account = tables.accountKey(of: sharing.owner)
                guard let publicKey = account.publicKey else { continue }
                given[zone] = GivenKeys(
                    sealed: grant.sealed, ownerPublicKey: publicKey, ownerMode: account.mode)
            }
            return given
        }
    }
}

extension MemoryTables {
    fileprivate func keyCount(of zone: ZoneID) -> ZoneKeyCount {
        let keys = zoneKeys[zone] ?? []
        return ZoneKeyCount(count: keys.count, newestID: keys.last?.id)
    }

    /// Nil if the account was deleted.
    fileprivate func keyReader(_ user: UserID, of zone: ZoneID) -> KeyReader? {
        guard let recordName = userKeys[user].flatMap({ users[$0]?.recordName }) else { return nil }
        let account = accountKey(of: user)
        let granted = keyGrants[zone]?[user].map {
            KeyReader.Granted(publicKey: $0.publicKey, newestID: $0.newestID, keyCount: $0.keyCount)
        }
        return KeyReader(
            user: user, recordName: recordName, mode: account.mode, publicKey: account.publicKey, granted: granted)
    }
}

extension ZoneSharing {
    fileprivate func hasAcceptedInvitation(_ user: UserID) -> Bool {
        livingShares.contains { share in
            participants[share.number, default: [:]].values.contains {
                $0.user == user && $0.hasAccepted && $0.isKeyReader(in: share)
            }
        }
    }
}
