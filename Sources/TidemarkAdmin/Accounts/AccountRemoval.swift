// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// Deletes an account with all that it owns (R-863). Each step may be repeated; the name goes last, so that whoever is cut
/// off can run the command again.
struct AccountRemoval: Sendable {
    let account: AccountID
    /// What the account is in each container.
    var users: [AccountUser]
    /// Whether the records that it made in public databases go too.
    let deletesPublic: Bool

    /// Steps of one count of what is lost. What is beyond is not counted, because the command must be possible on a large
    /// store.
    private static let countStepsMax = 1_000

    /// What is lost, in numbers; nil if there is no such account.
    func loss(_ store: AdminStore) async throws -> String? {
        guard let holdings = try await holdings(store) else { return nil }
        var parts = CountedNumber.exactly(0)
        let isWhole = try await eachParticipation(store, stepsMax: Self.countStepsMax) { _ in
            parts = parts + .exactly(1)
        }
        if !isWhole { parts = parts + .atLeast(0) }
        let text = "It has \(holdings), \(Amount.text(parts, "part")) in others' shares. All of it will be lost."
        return deletesPublic ? "\(text) \(try await publicLoss(store))" : text
    }

    /// What it owns; nil if there is no such account.
    private func holdings(_ store: AdminStore) async throws -> String? {
        let found: AccountContents?
        do throws(StorageError) {
            found = try await store.contents(of: account)
        } catch {
            guard error.code == .tooSlow else { throw error }
            return "zones and more (not counted: it takes too long)"
        }
        guard let contents = found else { return nil }
        let records = try await store.recordCount(in: users.map(\.privateDatabase))
        return [
            "\(Amount.zones(contents.zoneCount)) with \(Amount.records(records))",
            "\(Amount.bytes(contents.recordBytes + contents.assetBytes)) with assets",
            Amount.text(contents.shareCount, "share"), Amount.text(contents.credentialCount, "credential"),
            Amount.text(contents.deviceCount, "device"),
            "\(Amount.text(contents.addressCount, "verified mail or telephone number"))",
            Amount.text(contents.subscriptionCount, "subscription"),
        ].joined(separator: ", ")
    }

    /// Public records, and those of others that go with them (R-133).
    private func publicLoss(_ store: AdminStore) async throws -> String {
        var (own, others) = (CountedNumber.exactly(0), CountedNumber.exactly(0))
        let isWhole = try await eachPublicPage(store, stepsMax: Self.countStepsMax) { user, zone, names in
            own = own + .exactly(names.count)
            others = others + .exactly(try await store.dependentCount(of: names, in: zone, besides: user.user))
        }
        if !isWhole { (own, others) = (own + .atLeast(0), others + .atLeast(0)) }
        let text = "So will \(Amount.text(own, "public record"))"
        guard others != .exactly(0) else { return "\(text)." }
        return "\(text), and \(Amount.records(others)) of others that refer to these with the action delete, with what "
            + "refers to them in turn."
    }

    func run(_ console: Console) async throws {
        // From now on nobody signs in for it. Sessions that are open are told to close.
        _ = try await console.store.setDisabled(true, account)
        do {
            // It may have used another container since it was looked at.
            var current = self
            current.users = try await console.store.users(of: account)
            try await current.removeAll(console)
        } catch {
            throw AdminFailure(
                error,
                done: "The account is disabled, and a part of it may be deleted. Run the command again for the rest.")
        }
    }

    private func removeAll(_ console: Console) async throws {
        let store = console.store
        let service = CloudService(
            storage: console.storage, scheduler: console.loop, limits: .standard, onMoved: { _ in })
        _ = try await eachParticipation(store) { part in
            if case .failure(let reason) = await service.revokeShare(of: part.zone, participant: part.participant),
                reason != .zoneNotFound
            {
                throw AdminFailure(reason)
            }
            let notice = ZoneNotice(
                database: part.zone.database, life: .nobody, zoneName: part.zone.name, changesShares: true)
            try await console.storage.post([.zone(notice)])
        }
        try await deletePublicRecords(service, console)
        for user in users {
            try await store.deletePrivateDatabase(user.privateDatabase)
            if let shared = user.sharedDatabase { try await store.deleteSharedDatabase(shared) }
            try await store.deleteUser(user.user)
        }
        try await store.deleteAccount(account)
    }

    /// - Returns: whether there are no more.
    private func eachParticipation(
        _ store: AdminStore, stepsMax: Int = .max, _ body: (Participation) async throws -> Void
    ) async throws -> Bool {
        var place: ParticipationPlace? = users.isEmpty ? nil : .beginning
        var steps = 0
        while let after = place {
            guard steps < stepsMax else { return false }
            steps += 1
            let page = try await store.participations(of: users.map(\.user), after: after)
            for part in page.found { try await body(part) }
            place = page.next
        }
        return true
    }

    // MARK: Public records

    /// User records are always emptied, because nobody deletes one (R-058). Others go if the operator wants that.
    private func deletePublicRecords(_ service: CloudService, _ console: Console) async throws {
        for user in users {
            guard let zone = try await publicZone(of: user, console.store) else { continue }
            try await emptyUserRecord(of: user, in: zone, service, console)
        }
        guard deletesPublic else { return }
        _ = try await eachPublicPage(console.store) { user, zone, names in
            try await delete(names, of: user, in: zone, service, console)
        }
    }

    private func emptyUserRecord(
        of user: AccountUser, in zone: ZoneState, _ service: CloudService, _ console: Console
    ) async throws {
        let found = try await console.storage.records(
            named: [user.recordName], in: zone.key, bytesMax: .max, sharing: .nothing)
        guard let record = found.records[user.recordName], !record.isDeleted, !record.fields.isEmpty else { return }
        let save = RecordSave(
            name: user.recordName, type: record.type, tag: nil,
            fields: try FieldMap(record.fields.map { Field($0.key, .removed, isEncrypted: $0.isEncrypted) }),
            parent: .unchanged, isOwnUser: true)
        try await change(zone, by: user, saves: [save], deletes: [], service, console)
    }

    private func publicZone(of user: AccountUser, _ store: AdminStore) async throws -> ZoneState? {
        try await store.publicZone(of: user.container)
    }

    /// - Returns: whether there are no more.
    private func eachPublicPage(
        _ store: AdminStore, stepsMax: Int = .max, _ body: (AccountUser, ZoneState, [String]) async throws -> Void
    ) async throws -> Bool {
        var steps = 0
        for user in users {
            guard let zone = try await publicZone(of: user, store) else { continue }
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
        _ names: [String], of user: AccountUser, in zone: ZoneState, _ service: CloudService, _ console: Console
    ) async throws {
        let step = Limits.standard.itemsMax
        for start in stride(from: 0, to: names.count, by: step) {
            let some = Array(names[start..<min(start + step, names.count)])
            try await change(zone, by: user, saves: [], deletes: some, service, console)
        }
    }

    private func change(
        _ zone: ZoneState, by user: AccountUser, saves: [RecordSave], deletes: [String], _ service: CloudService,
        _ console: Console
    ) async throws {
        let life = DeviceID(high: console.loop.randomBits(), low: console.loop.randomBits())
        let request = RecordsRequest(
            id: RequestID(device: life, counter: 1, lowestUnanswered: 1), key: zone.key, saves: saves,
            deletes: deletes, policy: .allKeys, isAtomic: false, user: user.user, access: .owner(user.user))
        for outcome in await service.modifyRecords([request], for: .nobody) {
            if case .failure(let reason) = outcome { throw AdminFailure(reason) }
        }
        let notice = ZoneNotice(database: zone.key.database, life: .nobody, zoneName: zone.key.name)
        try await console.storage.post([.zone(notice)])
    }
}
