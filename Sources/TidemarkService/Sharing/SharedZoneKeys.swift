// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
package import TidemarkDomain
internal import TidemarkScheduling

// Keys of zones that others share with a user. A server that has the account keys of both in escrow hands the zone's keys on. It wraps them
// for each answer and stores nothing of that. If either account is end-to-end encrypted, the server cannot.

/// The keys of zones that others share with a user.
package struct SharedKeys: Sendable {
    /// The user's.
    package let account: AccountKey
    /// As many as fit into a page.
    package let zones: [Result<[WrappedZoneKey], FailureReason>]
    /// The keys that the user was given for zones whose keys come as ids alone.
    package let given: [ZoneKey: GivenKeys]
}

extension CloudService {
    /// As ``keys(of:zones:)``, for zones that others share with the user. Their keys are wrapped with the user's key.
    ///
    /// - Parameters:
    ///   - caller: the user's access.
    ///   - container: the container's identifier.
    ///   - knowsLinks: whether the device may have keys from links.
    /// - Returns: a zone is `zoneNotFound` without access (I-5). If this server can never open or wrap its keys, the result is
    ///   `keysUnavailable`. For a client that knows links, it has only the ids of the keys. A failure that may pass fails the whole request
    ///   instead, because a device gives up values whose keys are unavailable.
    package func sharedKeys(
        zones: [ZoneKey], by caller: RecordAccess, in container: String, knowsLinks: Bool = false
    ) async -> Result<SharedKeys, FailureReason> {
        guard zones.count <= limits.keyZonesMax else { return .failure(.tooManyItems) }
        guard let user = caller.user else { return .failure(.notAuthenticated) }
        let account: AccountKey
        switch await storedKey(of: user) {
        case .failure(let reason): return .failure(reason)
        case .success(let key): account = key
        }
        // Names that no zone can have must not reach the store. A zone without access takes as much room in the page as one that does not
        // exist, which is none.
        let valid = zones.filter { ZoneName.isValid($0.name, limits: limits) }
        let keysMax = max(limits.pageKeysMax, limits.zoneKeysMax)
        let read = await retry.run { () async throws(StorageError) in
            .success(try await storage.zoneKeys(of: valid, keysMax: keysMax, sharing: SharingRead(for: caller)))
        }
        return await read.asyncFlatMap { found in
            let readable = found.filter { (try? $0.outcome(for: caller).get())?.isEmpty == false }
            return await accountKeys(ofOwners: readable).asyncFlatMap { owners in
                var closed: [(key: ZoneKey, read: ZoneKeysRead)] = []
                var steps = Self.keySteps
                let all = await outcomes(of: zones, found, else: .zoneNotFound) { read, zone in
                    await read.outcome(for: caller).asyncFlatMap {
                        keys -> Result<[WrappedZoneKey], FailureReason> in
                        if keys.isEmpty { return .success([]) }
                        let ownersKey = read.sharing.flatMap { owners[$0.owner] ?? nil }
                        let rewrapping = Rewrapping(
                            from: ownersKey, to: account, zoneName: zone.name, container: container)
                        if let rewrapping { return .success(await rewrapping.all(keys, &steps)) }
                        guard knowsLinks else { return .failure(.keysUnavailable) }
                        closed.append((zone, read))
                        return .success(keys.map(\.idAlone))
                    }
                }
                let given = await givenKeys(
                    closed, to: user, publicKey: account.publicKey, from: owners, in: container)
                return given.map { SharedKeys(account: account, zones: all, given: $0) }
            }
        }
    }

    /// The account keys of the owners of zones, read at once.
    private func accountKeys(
        ofOwners zones: [ZoneKeysRead]
    ) async -> Result<[UserID: AccountKey?], FailureReason> {
        var owners: [UserID] = []
        for case let owner? in zones.lazy.map({ $0.sharing?.owner }) where !owners.contains(owner) {
            owners.append(owner)
        }
        return await withTaskGroup(of: (UserID, Result<AccountKey?, FailureReason>).self) { [owners] group in
            for owner in owners { group.addTask { (owner, await self.accountKey(of: owner)) } }
            var keys: Result<[UserID: AccountKey?], FailureReason> = .success([:])
            for await (owner, key) in group {
                keys = keys.flatMap { keys in key.map { keys.merging([owner: $0]) { $1 } } }
            }
            return keys
        }
    }

    /// Adds a key to a zone of another user, as ``saveZoneKey(_:in:after:)``.
    ///
    /// Participants leave the owner room for keys: without it, nobody could change the key after a participant was removed.
    ///
    /// Access is read just before the key is saved, and again before the answer. Somebody who loses it while the key is
    /// being saved leaves a key, and learns none.
    ///
    /// - Parameters:
    ///   - key: wrapped with the caller's account key.
    ///   - caller: the user's access.
    ///   - container: the container's identifier.
    /// - Returns: the zone's keys, wrapped for the caller. `zoneNotFound` without access, `notPermitted` for a user who may only read,
    ///   `keysUnavailable` as above, or `tooManySharedZoneKeys` over ``Limits/sharedZoneKeysMax``.
    package func saveSharedZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, by caller: RecordAccess, in container: String
    ) async -> Result<[WrappedZoneKey], FailureReason> {
        guard let user = caller.user else { return .failure(.notAuthenticated) }
        if let reason = key.refusal { return .failure(reason) }
        let keys: (owner: AccountKey?, caller: AccountKey?)
        switch await accountKeys(for: key, in: zone, by: caller, user, in: container) {
        case .failure(let reason): return .failure(reason)
        case .success(let found): keys = found
        }
        guard
            let giving = Rewrapping(from: keys.caller, to: keys.owner, zoneName: zone.name, container: container),
            let taking = Rewrapping(from: keys.owner, to: keys.caller, zoneName: zone.name, container: container),
            let wrapped = giving.one(key)
        else { return .failure(.keysUnavailable) }
        if case .failure(let reason) = await owner(of: zone, for: caller) { return .failure(reason) }
        let saved = await saveZoneKey(
            wrapped, in: zone, after: newest, atMost: min(limits.sharedZoneKeysMax, limits.zoneKeysMax),
            else: .tooManySharedZoneKeys)
        return await owner(of: zone, for: caller).asyncFlatMap { _ in
            await saved.asyncFlatMap { keys in
                var steps = Self.keySteps
                return .success(await taking.all(keys, &steps))
            }
        }
    }

    /// work with keys that is done in one turn of the event loop. To wrap one anew takes ten microseconds. To seal some to
    /// a public key takes as much as ``sealingCost`` of these.
    static var keySteps: WorkSteps { WorkSteps(costPerStep: 100) }
    static var sealingCost: Int { 50 }

    /// The account keys of the owner of a zone, and of the caller, who made a key for the zone.
    ///
    /// If the caller's key does not open that one, nobody can hand it on. Then no key is made for the owner's account: an
    /// operator may still choose how that account is encrypted.
    private func accountKeys(
        for key: WrappedZoneKey, in zone: ZoneKey, by caller: RecordAccess, _ user: UserID, in container: String
    ) async -> Result<(owner: AccountKey?, caller: AccountKey?), FailureReason> {
        let owner: UserID
        switch await self.owner(of: zone, for: caller) {
        case .failure(let reason): return .failure(reason)
        case .success(let found): owner = found
        }
        switch await accountKey(of: user) {
        case .failure(let reason): return .failure(reason)
        case .success(let callerKey):
            let own = Rewrapping(from: callerKey, to: callerKey, zoneName: zone.name, container: container)
            guard own?.one(key) != nil else { return .failure(.keysUnavailable) }
            return await ownersKey(of: owner).map { (owner: $0, caller: callerKey) }
        }
    }

    /// The owner of a zone in which the caller may write.
    private func owner(of zone: ZoneKey, for caller: RecordAccess) async -> Result<UserID, FailureReason> {
        guard ZoneName.isValid(zone.name, limits: limits) else { return .failure(.zoneNotFound) }
        return await retry.run { () async throws(StorageError) in
            let read = try await storage.sharing(of: zone, SharingRead(for: caller))
            guard let read, let access = caller.sharing(read.sharing) else { return .failure(.zoneNotFound) }
            return access.mayCreateRecords ? .success(read.sharing.owner) : .failure(.notPermitted)
        }
    }

    /// The key of an owner's account. If it has none yet, because the owner has saved no encrypted values so far, the server
    /// makes one. It would have the one that a device makes as well. Nil if this server can never have it.
    private func ownersKey(of owner: UserID) async -> Result<AccountKey?, FailureReason> {
        let found = await accountKey(of: owner)
        guard escrow != nil, case .success(let key?) = found, key.mode == .escrowed, key.id == nil else { return found }
        let fresh = SecureRandom.bytes(AccountKey.keyByteCount)
        let made = AccountKey(mode: .escrowed, id: AccountKeyID.make(of: fresh), key: fresh)
        switch await saveAccountKey(made, of: owner) {
        case .success(let saved): return .success(saved)
        // An operator has changed the mode meanwhile.
        case .failure(.encryptionModeDiffers): return .success(nil)
        case .failure(let reason): return .failure(reason)
        }
    }

    /// Nil if this server can never have it.
    private func accountKey(of user: UserID) async -> Result<AccountKey?, FailureReason> {
        switch await storedKey(of: user) {
        case .success(let key): .success(key)
        case .failure(.keysUnavailable): .success(nil)
        case .failure(let reason): .failure(reason)
        }
    }

    private func storedKey(of user: UserID) async -> Result<AccountKey, FailureReason> {
        let stored = await retry.run { () async throws(StorageError) in
            .success(try await storage.accountKey(of: user))
        }
        return stored.flatMap { opened($0, of: user) }
    }
}

/// Wraps the keys of one zone with another account's key.
private struct Rewrapping {
    private let ownerKey: [UInt8]
    private let accountKey: [UInt8]
    private let accountKeyID: [UInt8]
    private let zoneName: String
    private let container: String

    /// Nil unless both keys are known.
    init?(from owner: AccountKey?, to account: AccountKey?, zoneName: String, container: String) {
        guard let ownerKey = owner?.key, let accountKey = account?.key, let accountKeyID = account?.id,
            ownerKey.count == AESGCM.keyByteCount, accountKey.count == AESGCM.keyByteCount
        else { return nil }
        self.ownerKey = ownerKey
        self.accountKey = accountKey
        self.accountKeyID = accountKeyID
        self.zoneName = zoneName
        self.container = container
    }

    /// Nil if the owner's key does not open it.
    func one(_ key: WrappedZoneKey) -> WrappedZoneKey? {
        guard
            let secret = ZoneKeyWrap.unwrap(
                key.wrapped, id: key.id, with: ownerKey, container: container, zoneName: zoneName)
        else { return nil }
        let wrapped = ZoneKeyWrap.wrap(
            secret, id: key.id, with: accountKey, container: container, zoneName: zoneName)
        return WrappedZoneKey(id: key.id, accountKeyID: accountKeyID, wrapped: wrapped)
    }

    /// A key that the owner's key does not open stays as it is, so that devices see that it exists.
    /// Others have their turn in between.
    func all(_ keys: [WrappedZoneKey], _ steps: inout WorkSteps) async -> [WrappedZoneKey] {
        var wrapped: [WrappedZoneKey] = []
        wrapped.reserveCapacity(keys.count)
        for key in keys {
            wrapped.append(one(key) ?? key)
            await steps.did(1)
        }
        return wrapped
    }
}

extension RecordAccess {
    /// Whether the caller may create records in a zone of the shared database, by what its shares allow.
    var mayCreateRecords: Bool {
        if scope == .shared { return share?.mayWriteSomewhere ?? false }
        return effectivePermission(on: RecordPlace(type: "", creator: nil)).contains(.create)
    }
}
