// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// What a container holds, or some of its databases and users.
package struct ContainerContents: Sendable, Equatable {
    package var userCount = CountedNumber.exactly(0)
    /// Living ones, with default zones.
    package var zoneCount = 0
    package var recordCount = CountedNumber.exactly(0)
    /// As quotas count them.
    package var recordBytes: Int64 = 0
    package var assetBytes: Int64 = 0
    package var shareCount = 0
    package var subscriptionCount = 0
    package var recordTypeCount = 0

    mutating func add(_ more: ContainerContents) {
        userCount = userCount + more.userCount
        zoneCount += more.zoneCount
        recordCount = recordCount + more.recordCount
        recordBytes += more.recordBytes
        assetBytes += more.assetBytes
        shareCount += more.shareCount
        subscriptionCount += more.subscriptionCount
    }
}

/// How an operator deletes a container. Each step may be repeated, and none of them reads or removes more than a
/// bounded number of rows. What is kept are numbers: those of the container, its users and its databases.
extension AdminStore {
    /// Users whose rows one step reads.
    private static let usersOfStep = 100
    private static let zonesOfStep = 500
    private static let rowsOfRemoval = 1_000

    /// What the container holds.
    ///
    /// - Parameter stepsMax: what is beyond is not counted, because the command must be possible on a large store.
    /// - Returns: nil if there is no such container.
    package func contents(
        of key: ContainerKey, stepsMax: Int = 1_000
    ) async throws(StorageError) -> ContainerContents? {
        guard let id = try await container(key.identifier, key.environment) else { return nil }
        var sum = ContainerContents()
        sum.recordTypeCount = try await storage.read(sql.closing.typeCount(id)).first ?? 0
        let publics = try await storage.read(sql.closing.publicDatabase(id))
        var isWhole = try await add(publics, [], to: &sum)
        var (place, steps): (AccountID?, Int) = (AccountID(.min), 0)
        while let after = place {
            guard isWhole, steps < stepsMax else {
                isWhole = false
                break
            }
            steps += 1
            let users = try await storage.read(sql.closing.users((id, after, Self.usersOfStep)))
            isWhole = try await add(users.compactMap(\.privateDatabase), users.map(\.user), to: &sum)
            place = users.count == Self.usersOfStep ? users.last?.account : nil
        }
        if !isWhole {
            sum.userCount = sum.userCount + .atLeast(0)
            sum.recordCount = sum.recordCount + .atLeast(0)
        }
        return sum
    }

    /// - Returns: false if it took too long.
    private func add(
        _ databases: [DatabaseID], _ users: [UserID], to sum: inout ContainerContents
    ) async throws(StorageError) -> Bool {
        let found = try await unlessTooSlow { () async throws(StorageError) in
            try await storage.read(sql.closing.contents((databases, users))).first
        }
        guard var more = found ?? nil else { return false }
        more.userCount = .exactly(users.count)
        sum.add(more)
        return true
    }

    /// When the container was created, the last time; nil if there is no such container.
    package func createdAt(of key: ContainerKey) async throws(StorageError) -> Timestamp? {
        try await storage.read(sql.closing.createdAt(key)).first
    }

    /// Closes a container and tells the servers, which close its sessions.
    ///
    /// - Returns: nil if there is no such container.
    package func closeContainer(_ key: ContainerKey) async throws(StorageError) -> ClosedContainer? {
        guard let closed = try await storage.closeContainer(key) else { return nil }
        // It is closed in any case. Servers look once a minute as well.
        try? await storage.post([.containerClosed(closed.id)])
        return closed
    }

    /// Whether the container is there, and closed.
    package func isClosed(_ key: ContainerKey) async throws(StorageError) -> Bool {
        try await storage.read(sql.accounts.publicDatabase(key)).first?.isClosed ?? false
    }

    /// Deletes all that a closed container holds, and then the container.
    ///
    /// - Parameter onStep: is told how many users' databases are empty.
    /// - Returns: false if another deletion has ended meanwhile. Then nothing of a container that was created again since is
    ///   touched.
    package func deleteContainer(
        _ closed: ClosedContainer, onStep: (_ userCount: Int) -> Void = { _ in }
    ) async throws(StorageError) -> Bool {
        for database in try await storage.read(sql.closing.publicDatabase(closed.id)) {
            guard try await empty(database, of: closed) else { return false }
        }
        var count = 0
        // First all zones, then who saw them: until then a share may still be accepted.
        let isEmptied = try await eachUser(of: closed) { (user) async throws(StorageError) -> Bool in
            guard let database = user.privateDatabase else { return true }
            guard try await empty(database, of: closed) else { return false }
            count += 1
            onStep(count)
            return true
        }
        guard isEmptied else { return false }
        let isForgotten = try await eachUser(of: closed) { (user) async throws(StorageError) -> Bool in
            if let database = user.sharedDatabase {
                guard try await forgetFeed(of: database, closed) else { return false }
            }
            return try await forget([user.user], of: closed)
        }
        guard isForgotten else { return false }
        // Every server notices this at its next write transaction.
        let (held, _, _, deleted, _) = try await storage.write(
            sql.closing.holdAlone(closed), sql.closing.forgetOwnRoles(closed), sql.closing.forgetTypes(closed),
            sql.closing.delete(closed), sql.schemas.countOn())
        return !held.isEmpty && !deleted.isEmpty
    }

    /// - Returns: false as soon as `body` does.
    private func eachUser(
        of closed: ClosedContainer, _ body: (ContainerUserRow) async throws(StorageError) -> Bool
    ) async throws(StorageError) -> Bool {
        var place: AccountID? = AccountID(.min)
        while let after = place {
            let users = try await storage.read(sql.closing.users((closed.id, after, Self.usersOfStep)))
            for user in users {
                guard try await body(user) else { return false }
            }
            place = users.count == Self.usersOfStep ? users.last?.account : nil
        }
        return true
    }

    /// Empties a private or public database. Its default zone is a new one, and nothing else is in it.
    ///
    /// Assets are released: the next collection of a server removes those that nobody names, after their grace time.
    private func empty(_ database: DatabaseID, of closed: ClosedContainer) async throws(StorageError) -> Bool {
        while true {
            let (held, _, ended) = try await storage.write(
                sql.closing.hold(closed), sql.zones.lockDatabase(database),
                sql.closing.endZones((closed, database, Self.zonesOfStep)))
            guard !held.isEmpty else { return false }
            guard !ended.isEmpty else { break }
            try await storage.post(
                ended.rows.map {
                    .zone(ZoneNotice(database: database, life: .nobody, zoneName: $0, changesShares: true))
                })
        }
        let (held, _, _, _) = try await storage.write(
            sql.closing.hold(closed), sql.zones.lockDatabase(database),
            sql.closing.endDefaultZone((closed, database)), sql.closing.createDefaultZone((closed, database)))
        guard !held.isEmpty else { return false }
        try await clearEndedZones(of: database)
        guard try await repeatedly(closed, database, { sql.closing.forgetZones($0) }),
            try await repeatedly(closed, database, { sql.closing.forgetMemories($0) }),
            try await repeatedly(closed, database, { sql.closing.forgetPublicUses($0) })
        else { return false }
        return try await forgetFeed(of: database, closed)
    }

    /// All tokens expire, and all entries go. Of a shared database the list goes too.
    private func forgetFeed(of database: DatabaseID, _ closed: ClosedContainer) async throws(StorageError) -> Bool {
        let (held, _, _, _) = try await storage.write(
            sql.closing.hold(closed), sql.changes.createFeed(database), sql.changes.lockFeed(database),
            sql.closing.expireFeed((closed, database)))
        guard !held.isEmpty else { return false }
        guard try await repeatedly(closed, database, { sql.closing.forgetPointers($0) }) else { return false }
        return try await repeatedly(closed, database, { sql.closing.forgetEntries($0) })
    }

    /// Removes rows in steps until there are no more.
    private func repeatedly(
        _ closed: ClosedContainer, _ database: DatabaseID, _ removal: (ClosingStatements.Step) -> Call<Void>
    ) async throws(StorageError) -> Bool {
        while true {
            let (held, _, gone) = try await storage.write(
                sql.closing.hold(closed), sql.changes.lockFeed(database),
                removal((closed, database, Self.rowsOfRemoval)))
            guard !held.isEmpty else { return false }
            guard gone.affectedCount == Self.rowsOfRemoval else { return true }
        }
    }

    private func forget(_ users: [UserID], of closed: ClosedContainer) async throws(StorageError) -> Bool {
        let (held, _, _, _, _) = try await storage.write(
            sql.closing.hold(closed), sql.closing.lockUsers(users), sql.closing.forgetSubscriptions((closed, users)),
            sql.closing.forgetRoles((closed, users)), sql.closing.forgetAccountKeys((closed, users)))
        return !held.isEmpty
    }
}

extension PostgresStorage {
    package func closeContainer(_ container: ContainerKey) async throws(StorageError) -> ClosedContainer? {
        // Every server notices the new version at its next write transaction, and then finds no schema.
        let (closed, _) = try await write(sql.closing.close(container), sql.schemas.countOn())
        return closed.rows.first
    }

    package func closedContainers(among containers: [ContainerID]) async throws(StorageError) -> [ContainerID] {
        try await read(sql.closing.closed(containers))
    }
}
