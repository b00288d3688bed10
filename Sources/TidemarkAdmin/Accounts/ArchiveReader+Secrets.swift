// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// Keys of encrypted values.
extension ArchiveReader {
    /// Gives the zone a key of the archive. If that is not possible, the values that need it are left out, and counted there.
    func save(_ line: ArchiveLine.Key) async throws {
        guard let zone = place?.zone, let archived = line.wrappedKey else { throw Self.misplaced }
        let read = try await console.storage.zoneKeys(
            of: [zone], keysMax: Limits.standard.zoneKeysMax, sharing: .nothing)
        let there = read.first?.keys ?? []
        defer { place?.archivedKeys.insert(archived.id) }
        place?.openedKeys[archived.id] = line.opened
        guard !there.contains(where: { $0.id == archived.id }) else { return }
        guard let key = try await key(archived, opened: line.opened) else { return }
        let isNewest = Self.isNewest(after: there.last?.id, archived: place?.archivedKeys ?? [])
        switch try await save(key, asNewestAfter: isNewest ? .some(there.last?.id) : nil, in: zone) {
        case .success(let keys) where keys.contains { $0.id == key.id }: break
        case .success:
            console.say("\(zone.name) has too many keys, or they changed meanwhile. Import the archive again.")
        case .failure(let reason): console.say("\(zone.name): \(reason.text)")
        }
    }

    /// Devices encrypt with a zone's newest key. So a key of the archive becomes that only in a zone without keys, or after
    /// an earlier key of the same zone in the archive, which has the oldest first.
    ///
    /// - Parameters:
    ///   - newest: the zone's here; nil if it has none.
    ///   - archived: those that came before in the archive.
    static func isNewest(after newest: [UInt8]?, archived: Set<[UInt8]>) -> Bool {
        newest.map(archived.contains) ?? true
    }

    /// - Parameter newest: nil: the key becomes the oldest one.
    private func save(
        _ key: WrappedZoneKey, asNewestAfter newest: [UInt8]??, in zone: ZoneKey
    ) async throws -> Result<[WrappedZoneKey], FailureReason> {
        if let newest { return await service.saveZoneKey(key, in: zone, after: newest) }
        return .success(
            try await console.store.saveOldestZoneKey(key, in: zone, limits: .standard, now: console.now))
    }

    /// The key for the account's key here; nil if nobody could use it.
    private func key(_ archived: WrappedZoneKey, opened: [UInt8]?) async throws -> WrappedZoneKey? {
        guard let place else { throw Self.misplaced }
        let stored = try await console.storage.accountKey(of: place.user.id)
        if stored.id == archived.accountKeyID { return archived }
        if place.encryption == .endToEnd {
            guard stored.id == nil, stored.mode == .endToEnd else { return nil }
            let wanted = AccountKey(mode: .endToEnd, id: archived.accountKeyID, key: nil)
            let saved = try await service.saveAccountKey(wanted, of: place.user.id).mapError { AdminFailure($0) }.get()
            return saved.id == archived.accountKeyID ? archived : nil
        }
        guard stored.mode == .escrowed, let opened, let secret = try await accountKey(stored, place) else { return nil }
        return WrappedZoneKey(
            id: archived.id, accountKeyID: secret.id,
            wrapped: ZoneKeyWrap.wrap(
                opened, id: archived.id, with: secret.key, container: place.container.identifier,
                zoneName: place.zone?.name ?? ""))
    }

    /// The key of an account in escrow, which is made if there is none.
    private func accountKey(
        _ stored: StoredAccountKey, _ place: Place
    ) async throws -> (id: [UInt8], key: [UInt8])? {
        guard let escrow = choices.escrow else { return nil }
        if let id = stored.id {
            guard let key = stored.escrow.flatMap({ escrow.open($0, of: place.user.id) }) else {
                throw AdminFailure(
                    .refused, "The account's key does not open with the master key. Name the servers' file.")
            }
            return (id, key)
        }
        let made = SecureRandom.bytes(AccountKey.keyByteCount)
        let wanted = AccountKey(mode: .escrowed, id: AccountKeyID.make(of: made), key: made)
        let saved = try await service.saveAccountKey(wanted, of: place.user.id).mapError { AdminFailure($0) }.get()
        guard let id = saved.id, let key = saved.key else { return nil }
        return (id, key)
    }

    /// Makes the account end-to-end encrypted, as in the archive, also if no value is encrypted yet. Only an account without
    /// keys becomes so.
    func beginEndToEnd(_ place: Place) async throws {
        guard try await console.storage.accountKey(of: place.user.id).mode != .endToEnd else { return }
        guard case .done = try await console.store.setEncryptionMode(.endToEnd, of: account, resets: false) else {
            return console.say(
                "\(choices.account) has keys in escrow, so it does not get the end-to-end encryption of the archive.")
        }
        console.say("\(choices.account) has end-to-end encryption now, as in the archive.")
    }
}

/// Shares.
extension ArchiveReader {
    /// Shares the zone or the hierarchy again. People whom somebody here is are invited: to take part again they must accept.
    func save(_ line: ArchiveLine.Sharing) async throws {
        guard let saver, let place else { throw Self.misplaced }
        guard let everybody = SharePermission(named: line.publicPermission) else { throw Self.misplaced }
        var invited: [ParticipantSave] = []
        for person in line.participants {
            // nobody can be invited to a public share. They may join by its link.
            if everybody == .noAccess, let save = try await invitation(of: person, place) {
                invited.append(save)
            } else {
                unknownPeopleCount += 1
            }
        }
        let share = ShareSave(
            recordName: line.record.recordName, rootName: line.root, tag: nil, publicPermission: everybody,
            participants: invited)
        try await saver.save(line.record, sharing: share)
    }

    /// Nil if nobody here is the person.
    private func invitation(of person: ArchiveLine.Person, _ place: Place) async throws -> ParticipantSave? {
        guard let permission = SharePermission(named: person.permission), permission != .noAccess else { return nil }
        let who: InvitedPerson
        if let address = person.address {
            who = .address(address)
        } else if choices.matchesAccounts, let account = person.account,
            let user = try await console.store.user(ofAccount: account, in: place.container, now: console.now)
        {
            who = .user(user.id)
        } else {
            return nil
        }
        let role: ParticipantRole = person.role == ParticipantRole.administrator.name ? .administrator : .privateUser
        return ParticipantSave(
            id: ParticipantID(high: console.loop.randomBits(), low: console.loop.randomBits()), person: who, role: role,
            permission: permission)
    }
}

extension SharePermission {
    init?(named name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}
