// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// The deletion of an account that has begun.
package struct AccountEndWork: Sendable, Equatable {
    package let account: AccountID
    /// Whether the records that it made in public databases go too.
    package let deletesPublic: Bool
    /// Whether no session of the account has been open for a while, so that nothing can come after this time.
    package let isLast: Bool
}

/// What private databases have, for a comparison: two that are equal say that nothing was changed between.
package struct AccountChangeMark: Sendable, Equatable {
    let zoneCount: Int
    let changeCount: Int64
    let newest: ZoneID?
}

/// What somebody has in others' shares.
package struct PersonParts: Sendable, Equatable {
    /// Accepted ones.
    package let partCount: Int
    package let invitationCount: Int
    /// Requests for access that wait for an answer.
    package let requestCount: Int
}

/// How an account ends. The work is a row that goes last, so somebody always completes it.
extension AdminStore {
    /// From now on nobody signs in for the account, and its sessions are told to close. A server completes what the caller does
    /// not.
    package func beginEnd(
        of account: AccountID, deletesPublic: Bool
    ) async throws(StorageError) -> AccountEndWork {
        // Under the account's lock, so that no `enable` that has looked for the work before undoes this.
        let (_, begun, _) = try await storage.writeRepeatably(
            sql.accounts.lockAccount(account), sql.ends.begin((account, deletesPublic)), sql.life.disable(account))
        guard let work = begun.rows.first else { throw StorageError(.rejected) }
        try await tellSessions(of: account)
        return work
    }

    /// Work that nobody has touched for a while; nil: there is none. No other server gets the same for that time.
    package func claimEnd() async throws(StorageError) -> AccountEndWork? {
        try await storage.write(sql.ends.claim()).rows.first
    }

    /// A sign of life of who works on it.
    package func touchEnd(of account: AccountID) async throws(StorageError) {
        _ = try await storage.writeRepeatably(sql.ends.touch(account))
    }

    /// Nothing is left to do.
    package func finishEnd(of account: AccountID) async throws(StorageError) {
        _ = try await storage.writeRepeatably(sql.ends.finish(account))
    }

    /// Whether a deletion of the account has begun.
    package func isEnding(_ account: AccountID) async throws(StorageError) -> Bool {
        try await !storage.read(sql.ends.isBegun(account)).isEmpty
    }

    /// Where private databases stand now.
    package func changeMark(of databases: [DatabaseID]) async throws(StorageError) -> AccountChangeMark? {
        try await storage.read(sql.ends.changeMark(databases)).first
    }

    // MARK: In others' shares

    /// Some living zones with a part, an invitation, a request or a ban of the person.
    ///
    /// - Parameter place: after which zone; nil: from the beginning.
    /// - Returns: with the place of the next step; nil if that was the last one.
    package func zones(
        of person: EndedPerson, after place: PersonZonesPlace?
    ) async throws(StorageError) -> (found: [ZoneKey], next: PersonZonesPlace?) {
        let query = PersonZonesQuery(
            users: Array(person.users), addresses: Array(person.addresses),
            database: place?.database ?? DatabaseID(.min), zone: place?.zone ?? ZoneID(.min),
            zonesMax: Self.zonesAtOnce)
        let rows = try await storage.read(sql.ends.zonesOfPerson(query))
        let last = rows.count == Self.zonesAtOnce ? rows.last : nil
        return (rows.map(\.key), last.map { PersonZonesPlace(database: $0.key.database, zone: $0.zone) })
    }

    /// What somebody has in the living shares of others, in all containers.
    ///
    /// - Throws: `tooSlow` if it takes too long to count.
    package func parts(of person: EndedPerson) async throws(StorageError) -> PersonParts {
        try await storage.read(sql.ends.partCounts(person)).first
            ?? PersonParts(partCount: 0, invitationCount: 0, requestCount: 0)
    }

    /// Removes rows of shares that grant nothing and say who somebody was.
    package func forgetRows(of person: EndedPerson) async throws(StorageError) {
        _ = try await storage.writeRepeatably(sql.ends.forgetRows(person))
    }

    private static let zonesAtOnce = 200
}

/// A place in the order of zones in whose shares somebody is.
package struct PersonZonesPlace: Sendable, Equatable {
    let database: DatabaseID
    let zone: ZoneID
}
