// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// The result of changing an account's encryption mode.
    package enum EncryptionChange: Sendable, Equatable {
        /// How many zones ended because their keys are gone.
        case done(endedZoneCount: Int)
        /// The account has keys, and the operator did not allow to forget them.
        case hasKeys
    }

    /// Changes how the account's keys are kept.
    ///
    /// - Parameter resets: whether existing keys may be forgotten, in all containers. Zones with encrypted values then
    ///   end for that reason. The default zone always exists, so it begins anew.
    /// - Throws: `zoneBusy` if a request holds a zone for too long.
    package func setEncryptionMode(
        _ mode: EncryptionMode, of account: AccountID, resets: Bool
    ) async throws(StorageError) -> EncryptionChange {
        let lease = try await storage.acquire()
        let ended: [DatabaseID]
        do {
            let (_, _, keys, databases) = try await lease.connection.run(
                Call.begin, sql.keys.lockEncryptionMode(account), sql.keys.accountKeys(account),
                sql.keys.lockDatabases(account))
            guard keys.isEmpty || resets else {
                storage.release(lease)
                return .hasKeys
            }
            let (zones, _, _, _, _) = try await lease.connection.run(
                sql.keys.endKeyedZones(databases.rows), sql.keys.createDefaultZones(databases.rows),
                sql.keys.forgetAccountKeys(account), sql.keys.setEncryptionMode((account, mode)), Call.commit)
            ended = zones.rows
            storage.release(lease)
        } catch {
            storage.release(lease)
            throw StorageError(error, duringCommit: false)
        }
        // no device made the change, so all are told.
        let notices = Set(ended).map { ServerNotice.zone(ZoneNotice(database: $0, life: .nobody, zoneName: "")) }
        if !notices.isEmpty { try await storage.post(notices) }
        return .done(endedZoneCount: ended.count)
    }

    /// Gives a zone that has keys a further one, as its oldest: devices go on to encrypt with the newest.
    ///
    /// - Returns: the zone's keys, from the oldest on. If the key is not among them, there was no room for it.
    package func saveOldestZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, limits: Limits, now: Timestamp
    ) async throws(StorageError) -> [WrappedZoneKey] {
        _ = try await storage.writeRepeatably(
            sql.keys.saveOldestZoneKey((zone, key, now, limits.zoneKeysMax, limits.sharingRowsMax)))
        let read = try await storage.zoneKeys(of: [zone], keysMax: limits.zoneKeysMax, sharing: .nothing)
        return read.first?.keys ?? []
    }

    /// The result of changing the master key.
    package enum MasterKeyChange: Sendable, Equatable {
        /// How many account keys were encrypted anew.
        case done(keyCount: Int)
        /// The store already has the new master key, for example after a rotation whose answer was lost.
        case isDone
        /// The store has another master key than these two, or none yet.
        case isOther
        /// A key could not be decrypted with the old master key. Nothing was changed.
        case unopened(UserID)
    }

    /// Encrypts every account key in escrow with another master key, in one transaction.
    ///
    /// - Parameters:
    ///   - old: the check of the store's master key.
    ///   - new: the check of the new master key.
    ///   - closeAnew: decrypts bytes with the old key and encrypts them with the new one; nil if they cannot be
    ///     decrypted.
    package func rotateMasterKey(
        from old: [UInt8], to new: [UInt8], closeAnew: @Sendable ([UInt8], UserID) -> [UInt8]?
    ) async throws(StorageError) -> MasterKeyChange {
        let lease = try await storage.acquire()
        defer { storage.release(lease) }
        do {
            let (_, checks) = try await lease.connection.run(Call.begin, sql.keys.lockMasterKeyCheck())
            let stored = checks.rows.first ?? nil
            guard stored != new else { return .isDone }
            guard stored == old else { return .isOther }
            var keyCount = 0
            var last = Int64.min
            while true {
                let page = try await lease.connection.run(sql.keys.escrows((last, Self.escrowsOfPage))).rows
                var closed: [(user: UserID, escrow: [UInt8])] = []
                for (user, escrow) in page {
                    guard let escrow = closeAnew(escrow, user) else { return .unopened(user) }
                    closed.append((user, escrow))
                }
                guard let lastUser = closed.last?.user else { break }
                _ = try await lease.connection.run(sql.keys.replaceEscrows(closed))
                keyCount += closed.count
                last = lastUser.rawValue
            }
            _ = try await lease.connection.run(sql.keys.setMasterKeyCheck(new), Call.commit)
            return .done(keyCount: keyCount)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    private static let escrowsOfPage = 1_000
}
