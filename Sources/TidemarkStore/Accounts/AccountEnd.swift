// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
package import TidemarkScheduling
package import TidemarkService

/// Deletes an account with all that it owns, and ends what it has in others' shares.
///
/// Each step may be repeated, and several may work on one account at once. The account's name goes last, so that whoever is
/// cut off can run the command again. The row of the work stays until no session of the account can be open any more, so that
/// a server completes what a command has left, and what a session has made meanwhile.
package struct AccountEnd: Sendable {
    package let account: AccountID
    private let storage: PostgresStorage
    private let scheduler: any Scheduler
    private let limits: Limits
    private let store: AdminStore

    package init(of account: AccountID, _ storage: PostgresStorage, scheduler: any Scheduler, limits: Limits) {
        (self.account, self.storage, self.scheduler, self.limits) = (account, storage, scheduler, limits)
        store = AdminStore(storage)
    }

    /// Begins the end, or takes it up again.
    ///
    /// - Parameter deletesPublic: whether the records that it made in public databases go too. It holds for who goes on.
    /// - Throws: ``StorageError`` or `FailureReason`. What was done until then stays done.
    package func run(deletesPublic: Bool) async throws {
        try await carryOut(try await store.beginEnd(of: account, deletesPublic: deletesPublic))
    }

    /// Completes an end that nobody has worked on for a while.
    ///
    /// - Returns: whether there was one.
    package static func completeOne(
        in storage: PostgresStorage, scheduler: any Scheduler, limits: Limits
    ) async throws -> Bool {
        guard let work = try await AdminStore(storage).claimEnd() else { return false }
        try await AccountEnd(of: work.account, storage, scheduler: scheduler, limits: limits).carryOut(work)
        return true
    }

    private func carryOut(_ work: AccountEndWork) async throws {
        let users = try await store.users(of: account)
        let service = CloudService(storage: storage, scheduler: scheduler, limits: limits, onMoved: { _ in })
        _ = try await leaveShares(as: users, service)
        try await endPublicRecords(of: users, deletingAll: work.deletesPublic, service)
        for user in users {
            try await store.touchEnd(of: account)
            try await store.deletePrivateDatabase(user.privateDatabase)
            if let shared = user.sharedDatabase { try await store.deleteSharedDatabase(shared) }
            try await store.deleteUser(user.user)
        }
        // Once more, because others may have invited the account meanwhile. Its name and addresses stay for who goes on with
        // shares that could not be left.
        if let reason = try await leaveShares(as: users, service) { throw reason }
        try await store.forgetRows(of: try await person(as: users))
        try await store.deleteAccount(account)
        if work.isLast { try await store.finishEnd(of: account) }
    }

    /// The account, as others' shares know it.
    package func person(as users: [AccountUser]) async throws(StorageError) -> EndedPerson {
        EndedPerson(
            users: Set(users.map(\.user)), addresses: Set(try await store.addresses(of: account).map(\.text)))
    }

    /// Each share is changed under its zone's lock, and has a new version, so all devices of the others hear of it.
    ///
    /// - Returns: why a share could not be left, if so. The others are.
    private func leaveShares(as users: [AccountUser], _ service: CloudService) async throws -> FailureReason? {
        var place: PersonZonesPlace?
        var failure: FailureReason?
        repeat {
            let step = try await store.zones(of: try await person(as: users), after: place)
            for key in step.found {
                try await store.touchEnd(of: account)
                // Anew for each, because an address may be somebody else's by now.
                let person = try await person(as: users)
                // A zone that was deleted meanwhile has no share.
                if case .failure(let reason) = await service.forget(person, in: key), reason != .zoneNotFound {
                    failure = reason
                    continue
                }
                let notice = ZoneNotice(database: key.database, life: .nobody, zoneName: key.name, changesShares: true)
                try await storage.post([.zone(notice)])
            }
            place = step.next
        } while place != nil
        return failure
    }

    // MARK: Public records

    /// User records are always emptied, because nobody deletes one. Others go if the operator wants that.
    private func endPublicRecords(
        of users: [AccountUser], deletingAll: Bool, _ service: CloudService
    ) async throws {
        for user in users {
            guard let zone = try await store.publicZone(of: user.container) else { continue }
            try await emptyUserRecord(of: user, in: zone, service)
        }
        guard deletingAll else { return }
        _ = try await eachPublicPage(of: users) { user, zone, names in
            try await store.touchEnd(of: account)
            try await delete(names, of: user, in: zone, service)
        }
    }

    private func emptyUserRecord(of user: AccountUser, in zone: ZoneState, _ service: CloudService) async throws {
        let found = try await storage.records(
            named: [user.recordName], in: zone.key, bytesMax: .max, sharing: .nothing)
        guard let record = found.records[user.recordName], !record.isDeleted, !record.fields.isEmpty else { return }
        let save = RecordSave(
            name: user.recordName, type: record.type, tag: nil,
            fields: try FieldMap(record.fields.map { Field($0.key, .removed, isEncrypted: $0.isEncrypted) }),
            parent: .unchanged, isOwnUser: true)
        try await change(zone, by: user, saves: [save], deletes: [], service)
    }

    /// The records that users of the account made in public databases, page by page.
    ///
    /// - Parameter stepsMax: pages to read. A page may have none.
    /// - Returns: whether there are no more.
    package func eachPublicPage(
        of users: [AccountUser], stepsMax: Int = .max, _ body: (AccountUser, ZoneState, [String]) async throws -> Void
    ) async throws -> Bool {
        var steps = 0
        for user in users {
            guard let zone = try await store.publicZone(of: user.container) else { continue }
            var place: String? = ""
            while let after = place {
                guard steps < stepsMax else { return false }
                steps += 1
                let page = try await store.records(createdBy: user.user, in: zone, after: after)
                if !page.names.isEmpty { try await body(user, zone, page.names) }
                place = page.next
            }
        }
        return true
    }

    /// An operator may do everything, whatever the grants are. It goes the way of all requests, so that rules, feeds and pushes
    /// hold. A record that is gone already is no failure.
    private func delete(
        _ names: [String], of user: AccountUser, in zone: ZoneState, _ service: CloudService
    ) async throws {
        let step = limits.itemsMax
        for start in stride(from: 0, to: names.count, by: step) {
            let some = Array(names[start..<min(start + step, names.count)])
            try await change(zone, by: user, saves: [], deletes: some, service)
        }
    }

    private func change(
        _ zone: ZoneState, by user: AccountUser, saves: [RecordSave], deletes: [String], _ service: CloudService
    ) async throws {
        let life = DeviceID(high: scheduler.randomBits(), low: scheduler.randomBits())
        let request = RecordsRequest(
            id: RequestID(device: life, counter: 1, lowestUnanswered: 1), key: zone.key, saves: saves,
            deletes: deletes, policy: .allKeys, isAtomic: false, user: user.user, access: .owner(user.user))
        for outcome in await service.modifyRecords([request], for: .nobody) {
            if case .failure(let reason) = outcome { throw reason }
        }
        let notice = ZoneNotice(database: zone.key.database, life: .nobody, zoneName: zone.key.name)
        try await storage.post([.zone(notice)])
    }
}
