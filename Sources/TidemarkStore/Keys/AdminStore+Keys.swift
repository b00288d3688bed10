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
            let id = PostgresValue.int8(account.rawValue)
            let rows = try await lease.connection.execute([
                .begin, KeyStatements.lockEncryptionMode(id), KeyStatements.accountKeys(id),
                KeyStatements.lockDatabases(id),
            ])
            guard rows[2].isEmpty || resets else {
                storage.release(lease)
                return .hasKeys
            }
            var databases: [Int64] = []
            for row in rows[3] { databases.append(try row.int64(0)) }
            let written = try await lease.connection.execute([
                KeyStatements.endKeyedZones(.int8Array(databases)),
                KeyStatements.createDefaultZones(.int8Array(databases)),
                KeyStatements.forgetAccountKeys(id), KeyStatements.setEncryptionMode(id, .int2(mode.rawValue)),
                .commit,
            ])
            var zones: [DatabaseID] = []
            for row in written[0] { zones.append(DatabaseID(try row.int64(0))) }
            ended = zones
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
            let rows = try await lease.connection.execute([.begin, KeyStatements.lockMasterKeyCheck()])
            let stored = try rows[1][0].bytes(ifPresent: 0)
            guard stored != new else { return .isDone }
            guard stored == old else { return .isOther }
            var keyCount = 0
            var last = Int64.min
            while true {
                let page = try await lease.connection.execute([
                    KeyStatements.escrows(.int8(last), .int8(Self.escrowsOfPage))
                ])[0]
                var users: [Int64] = []
                var escrows: [[UInt8]] = []
                for row in page {
                    let user = UserID(try row.int64(0))
                    guard let escrow = closeAnew(try row.bytes(1), user) else { return .unopened(user) }
                    users.append(user.rawValue)
                    escrows.append(escrow)
                }
                guard let lastUser = users.last else { break }
                _ = try await lease.connection.execute([
                    KeyStatements.replaceEscrows(.int8Array(users), .byteaArray(escrows))
                ])
                keyCount += users.count
                last = lastUser
            }
            _ = try await lease.connection.execute([KeyStatements.setMasterKeyCheck(.bytea(new)), .commit])
            return .done(keyCount: keyCount)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    private static let escrowsOfPage: Int64 = 1_000
}
