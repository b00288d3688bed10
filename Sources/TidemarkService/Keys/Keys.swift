// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkTelemetry

extension CloudService {
    /// The user's account key, and the keys of zones of one or several databases, up to the size of a page.
    ///
    /// - Returns: the zones in that order, `zoneNameInvalid` for a name that no zone can have. If not all fit, the first
    ///   ones, and at least one. `tooManyItems` over ``Limits/keyZonesMax``; `keysUnavailable` and
    ///   `masterKeyWrong` if the account's key is in escrow and cannot be read.
    package func keys(
        of user: UserID, zones: [ZoneKey]
    ) async -> Result<(account: AccountKey, zones: [Result<[WrappedZoneKey], FailureReason>]), FailureReason> {
        guard zones.count <= limits.keyZonesMax else { return .failure(.tooManyItems) }
        // Names that no zone can have must not reach the store.
        let valid = zones.filter { ZoneName.isValid($0.name, limits: limits) }
        let keysMax = max(limits.pageKeysMax, limits.zoneKeysMax)
        let read = await retry.run { () async throws(StorageError) in
            let stored = try await storage.accountKey(of: user)
            return .success((stored, try await storage.zoneKeys(of: valid, keysMax: keysMax, sharing: .nothing)))
        }
        return await read.asyncFlatMap { stored, found in
            let all = await outcomes(of: zones, found, else: .zoneNameInvalid) { found, _ in found.outcome }
            return opened(stored, of: user).map { ($0, all) }
        }
    }

    /// One outcome for each zone, up to the first that was not read.
    ///
    /// - Parameters:
    ///   - read: of the zones with names that a zone can have.
    ///   - invalid: the outcome for the others.
    func outcomes(
        of zones: [ZoneKey], _ read: [ZoneKeysRead], else invalid: FailureReason,
        _ outcome: (ZoneKeysRead, _ zone: ZoneKey) async -> Result<[WrappedZoneKey], FailureReason>
    ) async -> [Result<[WrappedZoneKey], FailureReason>] {
        var rest = read[...]
        var outcomes: [Result<[WrappedZoneKey], FailureReason>] = []
        for zone in zones {
            if !ZoneName.isValid(zone.name, limits: limits) {
                outcomes.append(.failure(invalid))
            } else if let found = rest.popFirst() {
                outcomes.append(await outcome(found, zone))
            } else {
                break
            }
        }
        return outcomes
    }

    /// Saves the account's key, unless it has one, and the public half of the key that it has, unless there is one.
    ///
    /// - Returns: the account's key, which another device may have saved; `encryptionModeDiffers`, `requestInvalid`,
    ///   and the failures of ``keys(of:zones:)``.
    package func saveAccountKey(_ key: AccountKey, of user: UserID) async -> Result<AccountKey, FailureReason> {
        if let reason = key.refusal { return .failure(reason) }
        if key.mode == .escrowed, escrow == nil { return .failure(.keysUnavailable) }
        let wanted = StoredAccountKey(
            mode: key.mode, id: key.id, escrow: key.key.flatMap { escrow?.close($0, of: user) },
            publicKey: key.publicKey)
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        let saved = await retry.run { () async throws(StorageError) in
            .success(
                try await storage.saveAccountKey(wanted, of: user, masterKeyCheck: escrow?.check ?? [], now: now))
        }
        return saved.flatMap { stored in
            if stored.mode != key.mode { return .failure(.encryptionModeDiffers) }
            // It was not saved although there was none, so the keys in the store are encrypted with another master key.
            if stored.id == nil { return .failure(masterKeyWrong()) }
            return opened(stored, of: user)
        }
    }

    /// Adds a key to a zone, if the zone's newest key is the one that the device knows.
    ///
    /// - Parameters:
    ///   - newest: nil if the device knows of no key.
    ///   - retiringOlder: whether nothing more is encrypted with the older keys, if this one is the newest then.
    /// - Returns: the zone's current keys, oldest first, with or without the new one. `zoneNameInvalid` for a name that
    ///   no zone can have.
    package func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, retiringOlder: Bool = false
    ) async -> Result<[WrappedZoneKey], FailureReason> {
        let saved = await saveZoneKey(key, in: zone, after: newest, atMost: limits.zoneKeysMax, else: .tooManyZoneKeys)
        guard retiringOlder, case .success(let keys) = saved, keys.last?.id == key.id else { return saved }
        // NB: two transactions. If the second one fails, the device gets that error, and its next key retires this one as well.
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            try await storage.retireZoneKeys(in: zone, before: key.id)
            // also if nobody is left whom a device gives the new key.
            try await storage.saveKeyGrants([], in: zone, now: now)
            return saved
        }
    }

    /// The same for a user who may add keys to a zone only while it has fewer than `countMax`.
    func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int,
        else refusal: FailureReason
    ) async -> Result<[WrappedZoneKey], FailureReason> {
        if let reason = key.refusal { return .failure(reason) }
        guard ZoneName.isValid(zone.name, limits: limits) else { return .failure(.zoneNameInvalid) }
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            let read = try await storage.saveZoneKey(
                key, in: zone, after: newest, atMost: countMax, rowsMax: limits.sharingRowsMax, now: now)
            return read.outcome.flatMap { keys in
                if keys.isEmpty || keys.last?.id != newest || newest == key.id { return .success(keys) }
                return .failure(keys.count >= countMax ? refusal : .tooMuchShared)
            }
        }
    }

    func opened(_ stored: StoredAccountKey, of user: UserID) -> Result<AccountKey, FailureReason> {
        guard stored.mode == .escrowed, stored.id != nil else {
            return .success(AccountKey(mode: stored.mode, id: stored.id, key: nil, publicKey: stored.publicKey))
        }
        guard let escrow else { return .failure(.keysUnavailable) }
        guard let closed = stored.escrow, let key = escrow.open(closed, of: user) else {
            return .failure(masterKeyWrong())
        }
        return .success(AccountKey(mode: .escrowed, id: stored.id, key: key, publicKey: stored.publicKey))
    }

    private func masterKeyWrong() -> FailureReason {
        FailureLog.shared.note(.error, "account keys do not open with this master key", cause: "masterKeyWrong")
        return .masterKeyWrong
    }
}
