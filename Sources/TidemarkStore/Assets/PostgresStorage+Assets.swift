// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    /// Transactions in which assets become known that must fit in a quota, and that are under way at once. Those of an account
    /// wait for its row in PostgreSQL anyway. Each would hold a connection meanwhile, of those that all writes share.
    static let assetKeepBounds = FairBounds(
        room: 2, roomPerOwner: 1, waitingMax: 4_096, waitingPerOwnerMax: 1_024, workTime: .milliseconds(10))

    package func keepAsset(
        _ asset: AssetKey, from sender: UserID?, now: Timestamp, ifFull remove: @Sendable () async -> Void
    ) async throws(StorageError) -> Bool {
        let keep = sql.assets.keep((asset, now))
        // Nothing is inserted if nobody sent it.
        let keepSender = sql.assets.keepSender((sender.map { [AssetSender(asset: asset, user: $0)] } ?? [], now))
        // An operator may have set a quota while nobody wrote records here.
        let version = try await read(sql.accounts.store()).first?.schemaVersion ?? .max
        if let entry = containers.remembered(of: [asset.database])[asset.database], !entry.hasQuota,
            entry.version >= version
        {
            _ = try await write(keep, keepSender)
            return true
        }
        let owners = try await read(sql.quotas.owner(asset.database))
        return try await assetKeeps.run(for: owner(among: owners, sender)) { () async throws(StorageError) in
            try await keepIfItFits(asset, from: sender, keep, keepSender, of: owners, ifFull: remove)
        }
    }

    /// Whose turn it is: that of the account whose database it is, or of who sends to a public database. As for reads of
    /// others' zones, a user is told apart by their own number if the account is not known.
    private func owner(among owners: [AccountID], _ sender: UserID?) -> WorkOwner {
        if let account = owners.first { return .account(account.rawValue) }
        guard let sender else { return .nobody }
        return .account(sharedDatabases.account(of: sender)?.rawValue ?? -sender.rawValue)
    }

    private func keepIfItFits(
        _ asset: AssetKey, from sender: UserID?, _ keep: Call<Void>, _ keepSender: Call<Void>, of owners: [AccountID],
        ifFull remove: @Sendable () async -> Void
    ) async throws(StorageError) -> Bool {
        let database = asset.database
        let lease = try await acquire()
        defer { release(lease) }
        do {
            // The account's row before the database's, and that before the asset's, as everywhere. Whoever else keeps or
            // forgets this asset waits for its row, so nobody counts on a file that is removed here. The uses include it.
            let (_, _, _, added, uses, accountUses) = try await lease.connection.run(
                Call.begin, sql.quotas.lockAccounts(owners), sql.quotas.lock([database]), keep,
                sql.quotas.use(database), sql.quotas.accountUses(owners))
            let use = StorageUse.tighter(uses.rows.first ?? nil, accountUses.rows.first?.use)
            if !added.isEmpty, let use, use.byteCount > use.bytesMax {
                await remove()
                return false
            }
            _ = try await lease.connection.run(keepSender)
            if let sender, try await isShareFull(of: AssetSender(asset: asset, user: sender), on: lease.connection) {
                if !added.isEmpty { await remove() }
                return false
            }
        } catch {
            throw StorageError(error, duringCommit: false)
        }
        do {
            _ = try await lease.connection.run(Call.commit)
            return true
        } catch {
            throw StorageError(error, duringCommit: error.code == .connectionLost)
        }
    }

    /// Whether the sender has more of a public database now than an account may, because of this asset. What a record of
    /// the sender names counts with the record. What records of others name says nothing, so the answer does not tell whether
    /// others have the asset.
    private func isShareFull(
        of sent: AssetSender, on connection: PostgresConnection
    ) async throws(PostgresError) -> Bool {
        let (uses, unnamed) = try await connection.run(
            sql.publicUses.use((sent.asset.database, sent.user)), sql.publicUses.isUnnamed(sent))
        guard !unnamed.isEmpty, let use = uses.rows.first ?? nil else { return false }
        return use.byteCount > use.bytesMax
    }

    package func assetClaims(of asset: AssetKey, by user: UserID) async throws(StorageError) -> AssetClaims {
        let (known, senders, holders) = try await readAll(
            sql.assets.isKnown(asset), sql.assets.senders([AssetSender(asset: asset, user: user)]),
            sql.assets.holders(([asset], Self.holdersOfAssetMax, Self.holdersMax)))
        guard !known.isEmpty else { return AssetClaims() }
        return AssetClaims(senders: senders.isEmpty ? [] : [user], holders: holders.rows.map(\.holder))
    }

    /// The most records that are looked at for one asset, and for all assets of a group (``AssetStatements/holders``).
    static let holdersOfAssetMax = 20
    static let holdersMax = 5_000

    package func forgetSenders(before deadline: Timestamp) async throws(StorageError) {
        // In steps: there may be very many, and a statement has its time.
        while try await write(sql.assets.forgetSenders((deadline, Self.sendersOfStep))).rows.count == Self.sendersOfStep
        {}
    }

    private static let sendersOfStep = 5_000

    package func adoptAssets(_ assets: [AssetKey], now: Timestamp) async throws(StorageError) -> Int {
        try await write(sql.assets.adopt((assets, now))).rows.count
    }

    package func unusedAssets(
        touchedBefore deadline: Timestamp, after last: AssetKey?, among countMax: Int
    ) async throws(StorageError) -> (unused: [AssetKey], last: AssetKey?) {
        let (database, sha256) = (last?.database ?? DatabaseID(.min), last?.content.sha256 ?? [])
        let seen = try await read(sql.assets.unused((deadline, database, sha256, countMax)))
        return (seen.filter(\.isUnused).map(\.asset), seen.count < countMax ? nil : seen.last?.asset)
    }

    package func forgetAsset(
        _ asset: AssetKey, touchedBefore deadline: Timestamp, remove: @Sendable () async -> Bool
    ) async throws(StorageError) -> Bool {
        let lease = try await acquire()
        defer { release(lease) }
        do {
            let (_, mayRemove, _, unused) = try await lease.connection.run(
                Call.begin, sql.assets.mayRemove(), sql.assets.lockOne(asset),
                sql.assets.isStillUnused((asset, deadline)))
            guard mayRemove.rows == [true], !unused.isEmpty, await remove() else { return false }
            _ = try await lease.connection.run(sql.assets.forgetUses(asset), sql.assets.forget(asset), Call.commit)
            return true
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }
}
