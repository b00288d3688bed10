// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// What came of a change of an account's encryption mode.
    package enum EncryptionChange: Sendable, Equatable {
        /// How many zones ended because their keys went.
        case done(endedZoneCount: Int)
        /// The account has keys, and they were not to be forgotten.
        case hasKeys
    }

    /// Changes how the account's keys are kept.
    ///
    /// - Parameter resets: whether keys that there are may be forgotten, in all containers: zones with encrypted values then
    ///   end for that reason, the default zone (which always exists) begins anew.
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
        // no device did it, so that all are told.
        let notices = Set(ended).map { ServerNotice.zone(ZoneNotice(database: $0, life: .nobody, zoneName: "")) }
        if !notices.isEmpty { try await storage.post(notices) }
        return .done(endedZoneCount: ended.count)
    }

    /// What came of a change of the master key.
    package enum MasterKeyChange: Sendable, Equatable {
        /// How many account keys were closed anew.
        case done(keyCount: Int)
        /// The store has the new master key; so it is after a rotation whose answer was lost.
        case isDone
        /// The store has another master key than these two, or none yet.
        case isOther
        /// A key did not open by the old master key; nothing was changed.
        case unopened(UserID)
    }

    /// Closes every account key that is in escrow by another master key, in one transaction.
    ///
    /// - Parameters:
    ///   - old: the check of the store's master key.
    ///   - new: that of the one to come.
    ///   - closeAnew: from bytes closed by the old one to bytes closed by the new one; nil if they do not open.
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
