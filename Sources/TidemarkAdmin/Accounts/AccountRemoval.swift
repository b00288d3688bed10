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
    let users: [AccountUser]
    /// Whether the records that it made in public databases go too.
    let deletesPublic: Bool

    /// What is lost, in numbers; nil if there is no such account.
    func loss(_ store: AdminStore) async throws -> String? {
        guard let contents = try await store.contents(of: account) else { return nil }
        let records = try await AccountRecords(users: users).count(store)
        let parts = try await participations(store)
        let amounts = [
            "\(Amount.zones(contents.zoneCount)) with \(Amount.records(records))",
            "\(Amount.bytes(contents.recordBytes + contents.assetBytes)) with assets",
            Amount.text(contents.shareCount, "share"), "\(Amount.text(parts, "part")) in others' shares",
            Amount.text(contents.credentialCount, "credential"), Amount.text(contents.deviceCount, "device"),
            "\(Amount.text(contents.addressCount, "verified mail or telephone number"))",
            Amount.text(contents.subscriptionCount, "subscription"),
        ]
        var text = "It has \(amounts.joined(separator: ", ")). All of it will be lost."
        if deletesPublic {
            var count = 0
            try await eachPublicPage(store) { _, names in count += names.count }
            text += " So will \(Amount.text(count, "public record"))."
        }
        return text
    }

    private func participations(_ store: AdminStore) async throws -> Int {
        var count = 0
        try await eachParticipation(store) { _ in count += 1 }
        return count
    }

    func run(_ console: Console) async throws {
        let store = console.store
        // From now on nobody writes for it. Sessions that are open are told to close.
        _ = try await store.setDisabled(true, account)
        let service = CloudService(
            storage: console.storage, scheduler: console.loop, limits: .standard, onMoved: { _ in })
        try await eachParticipation(store) { part in
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
            try await store.deleteSharedDatabase(user.sharedDatabase)
            try await store.deleteUser(user.user)
        }
        try await store.deleteAccount(account)
    }

    private func eachParticipation(_ store: AdminStore, _ body: (Participation) async throws -> Void) async throws {
        var place: ParticipationPlace? = users.isEmpty ? nil : .beginning
        while let after = place {
            let page = try await store.participations(of: users.map(\.user), after: after)
            for part in page.found { try await body(part) }
            place = page.next
        }
    }

    // MARK: Public records

    /// User records are always emptied, because nobody deletes one (R-058). Others go if the operator wants that.
    private func deletePublicRecords(_ service: CloudService, _ console: Console) async throws {
        for user in users {
            guard let zone = try await publicZone(of: user, console.store) else { continue }
            try await emptyUserRecord(of: user, in: zone, service, console)
        }
        guard deletesPublic else { return }
        try await eachPublicPage(console.store) { user, names in
            guard let zone = try await publicZone(of: user, console.store) else { return }
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

    private func eachPublicPage(
        _ store: AdminStore, _ body: (AccountUser, [String]) async throws -> Void
    ) async throws {
        for user in users {
            guard let zone = try await publicZone(of: user, store) else { continue }
            var place: String? = ""
            while let after = place {
                let page = try await store.records(createdBy: user.user, in: zone, after: after)
                if !page.names.isEmpty { try await body(user, page.names) }
                place = page.next
            }
        }
    }

    /// An operator may do everything, whatever the grants are. It goes the way of all requests, so that rules, feeds and pushes hold. A record that is gone already is no failure.
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
