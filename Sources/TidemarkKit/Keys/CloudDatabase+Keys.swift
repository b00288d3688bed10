// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

/// Fetches and makes keys of encrypted values ("Keys.proto").
extension CloudDatabase {
    /// Zones of one request for keys; the server allows as many.
    private static let keyZonesMax = 100
    /// How often a zone's key is made anew because another device was faster with one that does not open here.
    private static let keyTriesMax = 3
    /// with how long to wait, which is as long as a server says of a zone that is busy.
    static let zoneKeysBusy = CKError(
        .zoneBusy, message: "Other devices change the zone's keys. Try again after the delay.", retryAfter: 1)

    /// What the server has.
    struct ServerKeys {
        var account = WireAccountKey()
        var zones: [CKRecordZone.ID: Result<[WireZoneKey], CKError>] = [:]
        /// What the owners of zones have given this account.
        var given: [CKRecordZone.ID: WireGivenKeys] = [:]
    }

    /// An answer covers the first zones of its request, at least one. The others are asked for again.
    func serverKeys(of zoneIDs: [CKRecordZone.ID]) async throws(CKError) -> ServerKeys {
        var found = ServerKeys()
        var rest = zoneIDs[...]
        while true {
            let zoneIDs = rest.prefix(Self.keyZonesMax)
            var request = WireFetchKeys()
            request.database = wireScope
            request.zones = zoneIDs.map { WireZoneID($0) }
            request.inPages = true
            request.knowsLinks = true
            let reply = try await self.request { [request] _ in .fetchKeys(request) }
            guard case .fetchKeys(let answer) = reply.answer, answer.zones.count <= zoneIDs.count,
                zoneIDs.isEmpty || !answer.zones.isEmpty
            else { throw Self.wrongAnswer(to: .fetchKeys) }
            found.account = answer.account
            for (zoneID, result) in zip(zoneIDs, answer.zones) {
                switch result.result {
                case .keys(let keys):
                    found.zones[zoneID] = .success(keys.keys)
                    if keys.hasGiven { found.given[zoneID] = keys.given }
                case .failure(let failure): found.zones[zoneID] = .failure(CKError(failure, to: reply.request))
                case nil: throw Self.wrongAnswer(to: .fetchKeys)
                }
            }
            rest = rest.dropFirst(answer.zones.count)
            guard !rest.isEmpty else { return found }
            try checkMayGoOn()
        }
    }

    /// The same for reading or writing values there.
    ///
    /// The keys of a zone that others share come wrapped with this account's key. So the account gets one first. Where they do not, it
    /// is told the public key to which an owner's device may encrypt them.
    func usableKeys(of zoneIDs: [CKRecordZone.ID]) async throws(CKError) -> ServerKeys {
        let found = try await serverKeys(of: zoneIDs)
        guard scope == .shared else { return found }
        if found.account.mode == .escrowed, found.account.id.isEmpty {
            _ = try await accountSecret(found.account)
            return try await serverKeys(of: zoneIDs)
        }
        guard found.zones.values.contains(where: \.hasIDsAlone), await publishesNow(found.account) else { return found }
        // A server that has the owner's key gives them at once.
        return try await serverKeys(of: zoneIDs)
    }

    /// Under which name a key is kept on this device.
    func keyName() async throws(CKError) -> String {
        let user = try await identify()
        guard !user.isEmpty else { throw CKError.noAccount }
        return "\(keys.container) \(keys.environment.rawValue) \(user)"
    }

    // MARK: For reading

    /// Fetches the keys of zones into the ring.
    ///
    /// - Returns: the zones whose keys cannot be had. All of them, if this device does not have the account's key, but for keys
    ///   from links.
    /// - Throws: what concerns no zone in particular.
    func fetchKeys(of zoneIDs: [CKRecordZone.ID]) async throws(CKError) -> [CKRecordZone.ID: CKError] {
        var found = try await usableKeys(of: zoneIDs)
        let name = try await keyName()
        let linked = try await takeLinked(from: &found, name: name)
        let account = try keys.take(found.account, name: name)
        var failures: [CKRecordZone.ID: CKError] = [:]
        for zoneID in zoneIDs {
            if let linked = linked[zoneID] {
                if let failure = linked.failure { failures[zoneID] = failure }
                continue
            }
            switch found.zones[zoneID] {
            case .success(let wrapped):
                if let account {
                    keys.adopt(wrapped, of: zoneID, with: account)
                } else if !found.account.id.isEmpty {
                    failures[zoneID] = KeyRing.accountKeyMissing
                }
            case .failure(let error): failures[zoneID] = error
            case nil: failures[zoneID] = Self.wrongAnswer(to: .fetchKeys)
            }
        }
        return failures
    }

    // MARK: For writing

    /// With which key to encrypt values of each zone. Makes those that are missing. Others with whom the zones are shared are given
    /// what they lack, when a zone's keys are first asked for.
    ///
    /// - Throws: what concerns no zone in particular.
    func sealingSecrets(
        of zoneIDs: [CKRecordZone.ID]
    ) async throws(CKError) -> [CKRecordZone.ID: Result<ZoneSecret, CKError>] {
        let unknown = zoneIDs.filter { keys.newest(of: $0) == nil }
        let secrets = try await ownSealingSecrets(of: zoneIDs)
        await grantQuietly(Set(unknown))
        return secrets
    }

    /// The same, and nobody is given anything.
    func ownSealingSecrets(
        of zoneIDs: [CKRecordZone.ID]
    ) async throws(CKError) -> [CKRecordZone.ID: Result<ZoneSecret, CKError>] {
        var secrets: [CKRecordZone.ID: Result<ZoneSecret, CKError>] = [:]
        var unknown: [CKRecordZone.ID] = []
        for zoneID in zoneIDs {
            if let secret = keys.newest(of: zoneID) {
                secrets[zoneID] = .success(secret)
            } else {
                unknown.append(zoneID)
            }
        }
        guard !unknown.isEmpty else { return secrets }
        var found = try await usableKeys(of: unknown)
        for (zoneID, linked) in try await takeLinked(from: &found, name: try await keyName()) {
            if let newest = linked.newest {
                secrets[zoneID] = .success(newest)
            } else {
                secrets[zoneID] = .failure(linked.failure ?? Self.linkMissing)
            }
        }
        unknown.removeAll { secrets[$0] != nil }
        guard !unknown.isEmpty else { return secrets }
        let account = try await accountSecret(found.account)
        for zoneID in unknown {
            switch found.zones[zoneID] {
            case .success(let wrapped): secrets[zoneID] = try await secret(of: zoneID, having: wrapped, account)
            case .failure(let error): secrets[zoneID] = .failure(error)
            case nil: throw Self.wrongAnswer(to: .fetchKeys)
            }
        }
        return secrets
    }

    /// The account's key, made if it has none.
    ///
    /// - Throws: `accountTemporarilyUnavailable` if this device does not have it.
    func accountSecret(_ wire: WireAccountKey) async throws(CKError) -> AccountSecret {
        let name = try await keyName()
        if let secret = try keys.take(wire, name: name) { return secret }
        guard wire.id.isEmpty else { throw KeyRing.accountKeyMissing }
        var fresh = AccountSecret.randomKey()
        // Kept before the server hears of it: a device that ends now must not leave a key that nobody has.
        if wire.mode == .endToEnd { fresh = try keys.store.keep(fresh, for: name) }
        guard let mine = AccountSecret(fresh) else {
            throw CKError(
                .internalError,
                message:
                    "The account's key on this device is damaged. Restore its file (TidemarkConfiguration.keyFile).")
        }
        var request = WireSaveAccountKey()
        request.account.mode = wire.mode
        request.account.id = mine.id
        if wire.mode == .escrowed { request.account.key = mine.key }
        request.account.publicKey = mine.publicKey(in: keys.container)
        guard
            case .saveAccountKey(let answer) =
                try await self.request({ [request] _ in .saveAccountKey(request) }).answer
        else { throw Self.wrongAnswer(to: .saveAccountKey) }
        if wire.mode == .endToEnd, answer.account.id != mine.id {
            // Another device was faster; ours has encrypted nothing.
            try keys.store.replace(mine.key, by: nil, for: name)
        }
        guard let secret = try keys.take(answer.account, name: name) else { throw KeyRing.accountKeyMissing }
        return secret
    }

    /// The zone's newest key; makes one if there is none that can be opened.
    ///
    /// - Throws: what concerns more than this zone.
    private func secret(
        of zoneID: CKRecordZone.ID, having wrapped: [WireZoneKey], _ account: AccountSecret
    ) async throws(CKError) -> Result<ZoneSecret, CKError> {
        var wrapped = wrapped
        for _ in 0..<Self.keyTriesMax {
            if let newest = keys.adopt(wrapped, of: zoneID, with: account) { return .success(newest) }
            do throws(CKError) {
                wrapped = try await saveZoneSecret(after: wrapped.last, of: zoneID, account)
            } catch {
                guard concernsKeysAlone(error) else { throw error }
                return .failure(error)
            }
        }
        guard let newest = keys.adopt(wrapped, of: zoneID, with: account) else {
            return .failure(Self.zoneKeysBusy)
        }
        return .success(newest)
    }

    /// Gives the zone a new key, if its newest one still is `newest`.
    ///
    /// - Returns: the zone's keys, as they are now.
    private func saveZoneSecret(
        _ secret: ZoneSecret = .random(), after newest: WireZoneKey?, of zoneID: CKRecordZone.ID,
        _ account: AccountSecret, retiresOlder: Bool = false
    ) async throws(CKError) -> [WireZoneKey] {
        var request = WireSaveZoneKey()
        request.database = wireScope
        request.zone = WireZoneID(zoneID)
        request.key.id = secret.id
        request.key.accountKeyID = account.id
        request.key.wrapped = account.wrap(secret, container: keys.container, zoneName: zoneID.zoneName)
        if let newest { request.newestID = newest.id }
        request.retiresOlder = retiresOlder
        guard case .saveZoneKey(let answer) = try await self.request({ [request] _ in .saveZoneKey(request) }).answer
        else { throw Self.wrongAnswer(to: .saveZoneKey) }
        return answer.keys.keys
    }

    // MARK: For people

    /// Gives the zone a new key, with which values are encrypted from now on.
    func rotateKey(of zoneID: CKRecordZone.ID) async throws(CKError) {
        let found = try await serverKeys(of: [zoneID])
        let account = try await accountSecret(found.account)
        guard var now = try found.zones[zoneID]?.get() else { throw Self.wrongAnswer(to: .fetchKeys) }
        for _ in 0..<Self.keyTriesMax {
            let fresh = ZoneSecret.random()
            now = try await saveZoneSecret(fresh, after: now.last, of: zoneID, account, retiresOlder: true)
            // A faster key of another device may have retired none, and be known to whoever was removed.
            guard now.last?.id == fresh.id else { continue }
            keys.adopt(now, of: zoneID, with: account)
            // those who stay get it. Whoever was removed is none of them.
            await grantQuietly([zoneID])
            return
        }
        throw Self.zoneKeysBusy
    }

    /// The account's key, for another device. Makes it if there is none yet.
    func exportAccountKey() async throws(CKError) -> [UInt8] {
        let account = try await serverKeys(of: []).account
        guard account.mode != .escrowed else { throw Self.noRecoveryKey }
        return try await accountSecret(account).key
    }

    /// Keeps the account's key on this device.
    func importAccountKey(_ key: [UInt8]) async throws(CKError) {
        guard let secret = AccountSecret(key) else {
            throw CKError(.invalidArguments, message: "The recovery key has a mistake in it. Compare it once more.")
        }
        let account = try await serverKeys(of: []).account
        guard account.mode != .escrowed else { throw Self.noRecoveryKey }
        guard account.id.isEmpty || account.id == secret.id else {
            throw CKError(
                .invalidArguments,
                message:
                    "The recovery key is of another account, or was replaced. Export it again on a device that has the key."
            )
        }
        let name = try await keyName()
        try keys.store.replace(try keys.store.key(for: name), by: key, for: name)
        _ = try await accountSecret(account)
        keys.imported()
    }

    private static let noRecoveryKey = CKError(
        .invalidArguments,
        message: "The server keeps this account's key and gives it to its devices. No recovery key is needed.")
}

extension Result where Success == [WireZoneKey], Failure == CKError {
    /// Whether the server has the keys, and cannot hand them on.
    var hasIDsAlone: Bool {
        guard case .success(let keys) = self else { return false }
        return !keys.isEmpty && keys.allSatisfy(\.wrapped.isEmpty)
    }
}
