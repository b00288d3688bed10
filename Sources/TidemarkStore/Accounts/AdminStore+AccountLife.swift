// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// Disables or enables an account. Servers close the sessions of one that is disabled; nothing is deleted.
    package func setDisabled(_ isDisabled: Bool, _ account: AccountID) async throws(StorageError) -> AccountChange {
        let call = isDisabled ? sql.life.disable(account) : sql.life.enable(account)
        let (_, changed) = try await storage.write(sql.accounts.lockAccount(account), call)
        guard changed.affectedCount > 0 else { return .unchanged }
        if isDisabled { try await tellSessions(of: account) }
        return .done
    }

    /// Servers look at the credentials once a minute as well, so a lost notice does no harm. Credentials that are gone count
    /// as void there.
    func tellSessions(of account: AccountID) async throws(StorageError) {
        let credentials = try await storage.read(sql.life.liveCredentials(account))
        try await storage.post(credentials.map { .credentialRevoked($0) })
    }

    /// Revokes a device: servers close its sessions and let it in no more. Another device of the account, or the
    /// same one under a new identity, is not concerned.
    package func revokeDevice(_ device: AccountDevice) async throws(StorageError) -> AccountChange {
        guard let isChanged = try await storage.writeRepeatably(sql.life.revokeDevice(device)).rows.first else {
            return .missing
        }
        try await storage.post([.deviceRevoked(device)])
        return isChanged ? .done : .unchanged
    }

    /// Removes a device from the list. If it connects again, it is listed again.
    package func forgetDevice(_ device: AccountDevice) async throws(StorageError) -> AccountChange {
        try await storage.write(sql.life.forgetDevice(device)).isEmpty ? .missing : .done
    }

    // MARK: Looking

    /// What the account is in each container that it has used.
    package func users(of account: AccountID) async throws(StorageError) -> [AccountUser] {
        try await storage.read(sql.life.users(account))
    }

    /// The names of users' accounts, of those that have one.
    package func accountNames(of users: [UserID]) async throws(StorageError) -> [UserID: String] {
        let rows = try await storage.read(sql.life.accountNames(users))
        return Dictionary(rows.map { ($0.user, $0.name) }) { $1 }
    }

    /// Nil if there is no such account.
    package func contents(of account: AccountID) async throws(StorageError) -> AccountContents? {
        try await storage.read(sql.life.contents(account)).first
    }

    // MARK: Deleting

    /// Names of living public records that a user has created.
    ///
    /// - Returns: with the name after which the next step begins; nil if that was the last one.
    package func records(
        createdBy user: UserID, in zone: ZoneState, after name: String
    ) async throws(StorageError) -> (names: [String], next: String?) {
        let rows = try await storage.read(
            sql.life.created((zone.key.database, zone.id, name, user, Self.rowsOfStep)))
        return (rows.filter(\.isWanted).map(\.name), rows.last.flatMap { $0.isLast ? $0.name : nil })
    }

    private static let rowsOfStep = 1_000

    /// Deletes what a private database holds, and tells everybody who has seen it. Repeating it does no harm.
    ///
    /// Assets are released: the next collection of a server removes those that nobody names, after their grace time.
    package func deletePrivateDatabase(_ database: DatabaseID) async throws(StorageError) {
        while true {
            let (_, ended) = try await storage.write(
                sql.zones.lockDatabase(database), sql.life.endZones((database, Self.zonesOfStep)))
            guard !ended.isEmpty else { break }
            let notices = ended.rows.map { name in
                ServerNotice.zone(ZoneNotice(database: database, life: .nobody, zoneName: name, changesShares: true))
            }
            try await storage.post(notices)
        }
        try await clearEndedZones(of: database)
        try await storage.forgetEndedZones(of: database, keeping: 0)
        try await forgetViewer(database)
    }

    private static let zonesOfStep = 500

    /// Removes what ended zones of a database have left, without waiting for a server to do it.
    func clearEndedZones(of database: DatabaseID) async throws(StorageError) {
        var place: EndedZone? = EndedZone(database: database, name: "", id: ZoneID(.min))
        while let after = place, after.database == database {
            place = try await storage.clearEndedZones(after: after)
        }
    }

    /// Deletes the list and the feed of a user's shared database, and what the user's devices marked in the zones of the list
    /// . The user's parts in shares end by themselves.
    package func deleteSharedDatabase(_ database: DatabaseID) async throws(StorageError) {
        // Apart, because these rows are in the owners' databases.
        _ = try await storage.writeRepeatably(sql.ends.forgetTokens(database))
        _ = try await storage.write(
            sql.changes.createFeed(database), sql.changes.lockFeed(database), sql.life.forgetPointers(database))
        try await forgetViewer(database)
    }

    /// Ends what a session has made in the private databases of an account that was deleted meanwhile. A session may live
    /// for a minute more if its server missed the notice.
    ///
    /// - Parameters:
    ///   - time: only of accounts that were deleted later.
    ///   - countMax: of databases. More are left to the next call.
    package func endSurvivors(
        deletedAfter time: Timestamp, countMax: Int
    ) async throws(StorageError) {
        for database in try await storage.read(sql.life.survivors((time, countMax))) {
            try await deletePrivateDatabase(database)
        }
    }

    private func forgetViewer(_ database: DatabaseID) async throws(StorageError) {
        _ = try await storage.writeRepeatably(
            sql.life.forgetFeedEntries(database), sql.life.forgetFeed(database), sql.life.forgetMemories(database))
    }

    /// Deletes what is kept of a user beside databases: subscriptions, roles, keys, which assets were sent, and requests for
    /// access to shares.
    package func deleteUser(_ user: UserID) async throws(StorageError) {
        _ = try await storage.writeRepeatably(
            sql.life.forgetSubscriptions(user), sql.life.forgetRoles(user), sql.life.forgetAccountKey(user),
            sql.life.forgetSenders(user), sql.life.forgetAccessRequests(user))
    }

    /// Deletes an account's credentials, devices, addresses and sign-ins, and its name, and what the audit names
    /// of its data. Its row stays without a name, and so
    /// do those of its users: records of others say by whom they were changed.
    package func deleteAccount(_ account: AccountID) async throws(StorageError) {
        try await tellSessions(of: account)
        _ = try await storage.writeRepeatably(
            sql.life.forgetCredentials(account), sql.life.forgetDevices(account), sql.life.forgetAddresses(account),
            sql.audit.forgetSignIns(account), sql.audit.forgetTargets(account), sql.life.forgetAccount(account))
    }
}
