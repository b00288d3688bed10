// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkService

extension MemoryStore {
    package func accountKey(of user: UserID) async throws(StorageError) -> StoredAccountKey {
        try await call { $0.accountKey(of: user) }
    }

    package func saveAccountKey(
        _ key: StoredAccountKey, of user: UserID, masterKeyCheck: [UInt8], now: Timestamp
    ) async throws(StorageError) -> StoredAccountKey {
        try await call { tables in
            var current = tables.accountKey(of: user)
            if current.id != nil, current.id == key.id, current.publicKey == nil, key.publicKey != nil {
                current.publicKey = key.publicKey
                tables.accountKeys[user] = current
            }
            let isClosedAsOthers = key.escrow == nil || tables.masterKeyCheck == masterKeyCheck
            guard current.id == nil, current.mode == key.mode, isClosedAsOthers else { return current }
            tables.accountKeys[user] = key
            return key
        }
    }

    package func claimMasterKey(check: [UInt8]) async throws(StorageError) -> Bool {
        try await call { tables in
            if tables.masterKeyCheck == nil { tables.masterKeyCheck = check }
            return tables.masterKeyCheck == check
        }
    }

    package func zoneKeys(
        of zones: [ZoneKey], keysMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> [ZoneKeysRead] {
        try await call { tables in
            var found: [ZoneKeysRead] = []
            var keyCount = 0
            for zone in zones {
                let read = tables.zoneKeys(of: zone, sharing)
                if let keys = read.keys { keyCount += max(1, keys.count) }
                guard keyCount <= keysMax else { break }
                found.append(read)
            }
            return found
        }
    }

    package func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int, rowsMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> ZoneKeysRead {
        try await call { tables in
            if let id = tables.livingZone(zone) {
                let keys = tables.zoneKeys[id] ?? []
                let hasRoom = keys.isEmpty || tables.sharingRowCount(of: zone.database) < rowsMax
                if keys.last?.id == newest, keys.count < countMax, hasRoom { tables.zoneKeys[id] = keys + [key] }
            }
            return tables.zoneKeys(of: zone)
        }
    }

    package func retireZoneKeys(in zone: ZoneKey, before id: [UInt8]) async throws(StorageError) {
        try await call { tables in
            guard let living = tables.livingZone(zone), let keys = tables.zoneKeys[living],
                let place = keys.firstIndex(where: { $0.id == id })
            else { return }
            tables.retiredKeyIDs[living, default: []].formUnion(keys[..<place].map(\.id))
            tables.zones[living]?.keysWereRetired()
        }
    }
}

extension MemoryTables {
    func accountKey(of user: UserID) -> StoredAccountKey {
        if let key = accountKeys[user] { return key }
        let isEndToEnd = userKeys[user].map { endToEndAccounts.contains($0.account) } ?? false
        return StoredAccountKey(mode: isEndToEnd ? .endToEnd : .escrowed)
    }

    /// False, with nothing changed, if the account has keys.
    mutating func keepNoKeys(of account: AccountID) -> Bool {
        if endToEndAccounts.contains(account) { return true }
        guard !accountKeys.keys.contains(where: { userKeys[$0]?.account == account }) else { return false }
        endToEndAccounts.insert(account)
        return true
    }

    /// The rows that count for ``Limits/sharingRowsMax`` of the account that owns a private database.
    func sharingRowCount(of database: DatabaseID) -> Int {
        guard let account = users.first(where: { $0.value.database == database })?.key.account else { return 0 }
        let own = users.filter { $0.key.account == account }.map(\.value.database)
        return own.flatMap { databases[$0]?.zones ?? [] }.reduce(0) { count, zone in
            let shares = sharing[zone]
            let participants = shares?.participants.values.reduce(0) { $0 + $1.count } ?? 0
            let requests = shares?.requests.values.reduce(0) { $0 + $1.count } ?? 0
            let keys = max(0, (zoneKeys[zone]?.count ?? 0) - 1)
            let links = rootSecrets[zone]?.count ?? 0
            return count + (shares?.shares.count ?? 0) + participants + requests + keys + links
        }
    }

    func zoneKeys(of key: ZoneKey, _ sharing: SharingRead = .nothing) -> ZoneKeysRead {
        if let refused = refusedSharing(of: key, sharing) {
            var read = ZoneKeysRead(keys: nil)
            read.sharing = refused
            return read
        }
        guard let zone = livingZone(key) else {
            return ZoneKeysRead(keys: nil, lastRemoval: sharing == .nothing ? lastRemoval(key) : nil)
        }
        var read = ZoneKeysRead(keys: zoneKeys[zone] ?? [])
        read.sharing = self.sharing(of: zone, sharing)
        return read
    }
}
