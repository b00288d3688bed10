// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkTelemetry
internal import TidemarkWire

/// Keys of zones that the device of an end-to-end encrypted owner gives to those with whom a zone is shared.
extension CloudDatabase {
    private static let grantLog = Log("encryption")
    /// How long to wait before somebody without a key is asked about again.
    private static let grantPause: Duration = .seconds(60)

    // MARK: For owners

    /// Gives the keys of zones that this account shares to all who lack some. It does not throw: what was not given now is given the
    /// next time. Costs nothing but a look into the file of keys, if the server has this account's key.
    func grantQuietly(_ zoneIDs: Set<CKRecordZone.ID>) async {
        guard scope == .private, !zoneIDs.isEmpty, await keepsAccountKey() else { return }
        for zoneID in zoneIDs.sorted(by: { $0.zoneName < $1.zoneName }) {
            do throws(CKError) {
                // mostly nobody lacks any, and that is all that is asked.
                let asked = try await grant([], in: zoneID, after: [])
                let hasAll = asked.readers.isEmpty && asked.next.isEmpty
                let refused = hasAll ? [:] : try await grantKeys(of: zoneID, after: asked)
                // Somebody who has no key yet may have one soon.
                let isWaited = refused.values.contains { $0.isOfKeylessReader }
                keys.setWaiting(until: isWaited ? connection.now + Self.grantPause : nil, in: zoneID)
            } catch {
                keys.setWaiting(
                    until: error.isWorthAnotherTry ? connection.now + Self.grantPause : nil, in: zoneID)
                Self.grantLog.info(
                    "others were not given a zone's keys", ["code": "\(error.code.rawValue)"])
            }
        }
    }

    /// The same for zones of which CKShare records have come or were saved, and those in which somebody still waits. For those
    /// one call in a minute asks. The others, which need no keys, do not wait until it has an answer.
    func grantQuietly(after results: some Sequence<(id: CKRecord.ID, result: Result<CKRecord, CKError>)>) async {
        guard scope == .private else { return }
        let now = connection.now
        let waited = keys.waitedZones(at: now)
        var shared: Set<CKRecordZone.ID> = []
        var others: Set<CKRecordZone.ID> = []
        for (id, result) in results {
            guard case .success(let record) = result else { continue }
            if record is CKShare {
                shared.insert(id.zoneID)
            } else if waited.contains(id.zoneID) {
                others.insert(id.zoneID)
            }
        }
        await grantQuietly(shared.union(keys.takeWaited(among: others, at: now, until: now + Self.grantPause)))
    }

    /// Whether this device has an account key that no server has.
    private func keepsAccountKey() async -> Bool {
        guard let name = try? await keyName() else { return false }
        return (try? keys.store.key(for: name)) ?? nil != nil
    }

    /// Gives a zone's keys to those with whom it is shared by invitations, as far as they lack some.
    ///
    /// - Parameter asked: what the server has just said of those who lack some; nil: it is asked.
    /// - Returns: who gets none, and why, by record names.
    func grantKeys(
        of zoneID: CKRecordZone.ID, after asked: WireGrantKeysAnswer? = nil
    ) async throws(CKError) -> [String: CKError] {
        guard !zoneID.isOfOther else { throw Self.grantedByOther }
        let found = try await serverKeys(of: [zoneID])
        let name = try await keyName()
        // The server does it by itself.
        guard found.account.mode == .endToEnd else { return [:] }
        guard let account = try keys.take(found.account, name: name) else {
            if found.account.id.isEmpty { return [:] }
            throw KeyRing.accountKeyMissing
        }
        await publish(account, of: found.account)
        guard var wires = try found.zones[zoneID]?.get() else { throw Self.wrongAnswer(to: .fetchKeys) }
        var answer: WireGrantKeysAnswer
        if let asked { answer = asked } else { answer = try await grant([], in: zoneID, after: []) }
        if wires.isEmpty {
            guard !answer.readers.isEmpty else { return [:] }
            // So that those who are invited can write before the owner does.
            _ = try await ownSealingSecrets(of: [zoneID])[zoneID]?.get()
            wires = try await serverKeys(of: [zoneID]).zones[zoneID]?.get() ?? []
        }
        guard keys.adopt(wires, of: zoneID, with: account) != nil, let newest = wires.last else {
            throw Self.zoneKeysBusy
        }
        let secrets = wires.compactMap { keys.secret($0.id, of: zoneID) }.map { (id: $0.id, key: $0.key) }
        let owner = try await identify()
        var refused: [String: CKError] = [:]
        for _ in 0..<Self.readerPagesMax {
            var grants: [WireKeyGrant] = []
            for reader in answer.readers {
                let place = ZoneKeyGrant(
                    container: keys.container, zoneName: zoneID.zoneName, owner: owner, reader: reader.user)
                do throws(CKError) {
                    let person = try trusted(reader, name: name)
                    var grant = WireKeyGrant()
                    grant.user = reader.user
                    grant.publicKey = person.publicKey
                    grant.newestID = newest.id
                    grant.keyCount = UInt32(clamping: wires.count)
                    do {
                        grant.sealed = try place.seal(
                            secrets, to: person.publicKey, from: account.pair(in: keys.container))
                    } catch {
                        throw Self.keyUnusable
                    }
                    grants.append(grant)
                } catch {
                    refused[reader.user] = error
                }
            }
            let next = answer.next
            guard !grants.isEmpty || !next.isEmpty else { return refused }
            answer = try await grant(grants, in: zoneID, after: next)
            guard !next.isEmpty else { return refused }
            try checkMayGoOn()
        }
        throw Self.wrongAnswer(to: .grantKeys)
    }

    /// With 50 readers each, as many as an account may have participants.
    private static let readerPagesMax = 2_001
    /// Twice as many as servers name today. A request with more grants cannot be decoded.
    private static let pageReadersMax = 100

    /// - Parameter place: where the answer begins among the readers.
    private func grant(
        _ grants: [WireKeyGrant], in zoneID: CKRecordZone.ID, after place: [UInt8]
    ) async throws(CKError) -> WireGrantKeysAnswer {
        var request = WireGrantKeys()
        request.zone = WireZoneID(zoneID)
        request.grants = grants
        request.after = place
        guard case .grantKeys(let answer) = try await self.request({ [request] _ in .grantKeys(request) }).answer,
            answer.next.isEmpty || answer.next != place, answer.readers.count <= Self.pageReadersMax
        else { throw Self.wrongAnswer(to: .grantKeys) }
        return answer
    }

    /// The key of somebody who may be given keys.
    private func trusted(_ reader: WireKeyReader, name: String) throws(CKError) -> PersonKey {
        guard !reader.publicKey.isEmpty else { throw Self.readerWithoutKey }
        guard let person = PersonKey(reader.mode, reader.publicKey) else { throw Self.keyUnusable }
        // whoever runs the server could read what such an account can.
        guard person.isEndToEnd || keys.allowsEscrowedParticipants else { throw Self.readerEscrowed }
        try remember(person, of: reader.user, name: name)
        return person
    }

    // MARK: For readers

    /// Opens what the owner of a zone has given this account.
    ///
    /// A server says which public key the owner has. So a device that has keys of the zone from a URL believes a key that it meets first
    /// only if the same comes with it: no server has that.
    ///
    /// - Parameter link: what URLs have brought.
    /// - Throws: `accountTemporarilyUnavailable` if this device does not have the account's key; `serverRejectedRequest` for what is
    ///   not from the owner, or not for this account and zone.
    func open(
        _ given: WireGivenKeys, of zoneID: CKRecordZone.ID, _ account: WireAccountKey, name: String,
        after link: ZoneLinkKeys?
    ) async throws(CKError) -> ZoneLinkKeys {
        guard let secret = try keys.take(account, name: name) else { throw KeyRing.accountKeyMissing }
        guard let owner = PersonKey(given.ownerMode, given.ownerPublicKey) else { throw Self.givenDamaged }
        let known = try known(zoneID.ownerName, name: name)
        if let known, known != owner { throw CKError(changedKeyOf: zoneID.ownerName) }
        let place = ZoneKeyGrant(
            container: keys.container, zoneName: zoneID.zoneName, owner: zoneID.ownerName, reader: try await identify())
        guard
            let bytes = try? place.open(given.sealed, with: secret.pair(in: keys.container), from: owner.publicKey),
            let opened = ZoneLinkKeys(bytes: bytes)
        else { throw Self.givenDamaged }
        if known == nil, let link, !link.secrets.contains(where: opened.secrets.contains) {
            throw Self.givenByStranger
        }
        // Only now: what does not open must not be what counts from now on.
        try remember(owner, of: zoneID.ownerName, name: name)
        return opened
    }

    /// Before a share is accepted, so that the owner's device can give the zone's keys as soon as it sees the acceptance. It does not
    /// throw: it happens again when values cannot be read.
    func publishQuietly() async {
        var publishes = keys.requiresEndToEnd
        if !publishes { publishes = await keepsAccountKey() }
        guard publishes else { return }
        guard let found = try? await serverKeys(of: []) else { return }
        _ = await publishesNow(found.account)
    }

    /// Tells the server the account's public key, if it does not have it. Makes the account's key if there is none.
    ///
    /// - Returns: whether it was told now.
    func publishesNow(_ wire: WireAccountKey) async -> Bool {
        guard wire.publicKey.isEmpty else { return false }
        do throws(CKError) {
            // Making it tells it.
            if wire.id.isEmpty {
                _ = try await accountSecret(wire)
                return true
            }
            guard let account = try keys.take(wire, name: try await keyName()) else { return false }
            return await publish(account, of: wire)
        } catch {
            return false
        }
    }

    /// - Returns: whether it was told now.
    @discardableResult
    private func publish(_ account: AccountSecret, of wire: WireAccountKey) async -> Bool {
        let mine = account.publicKey(in: keys.container)
        guard wire.publicKey.isEmpty else {
            if wire.publicKey != mine {
                Self.grantLog.warning("the server has another public key of this account than its devices")
            }
            return false
        }
        var request = WireSaveAccountKey()
        request.account = wire
        request.account.publicKey = mine
        return (try? await self.request { [request] _ in .saveAccountKey(request) }) != nil
    }

    // MARK: What is known of others

    private static func personName(_ person: String, _ name: String) -> String { "person \(name) \(person)" }

    private func known(_ person: String, name: String) throws(CKError) -> PersonKey? {
        try keys.store.key(for: Self.personName(person, name)).flatMap(PersonKey.init(bytes:))
    }

    /// Remembers somebody's key, if none is known.
    ///
    /// - Throws: ``CKError/changedKeyUserRecordID`` says of whom another key is known.
    private func remember(_ key: PersonKey, of person: String, name: String) throws(CKError) {
        let kept = try keys.store.keep(key.bytes, for: Self.personName(person, name))
        guard kept == key.bytes else { throw CKError(changedKeyOf: person) }
    }

    /// Forgets what is known of somebody's key. The next one counts.
    func forgetKey(of person: String) async throws(CKError) {
        let entry = Self.personName(person, try await keyName())
        try keys.store.replace(try keys.store.key(for: entry), by: nil, for: entry)
        keys.imported()
    }

    /// The number that this user and somebody else compare.
    func safetyNumber(with person: String) async throws(CKError) -> String {
        let name = try await keyName()
        let wire = try await serverKeys(of: []).account
        guard let account = try keys.take(wire, name: name) else { throw KeyRing.accountKeyMissing }
        guard let known = try known(person, name: name) else { throw Self.personUnknown }
        // Of this account the device knows by itself what is right.
        let mine = PersonKey(isEndToEnd: wire.mode == .endToEnd, publicKey: account.publicKey(in: keys.container))
        return SafetyNumber.text(
            comparing: [mine.statement(of: try await identify()), known.statement(of: person)],
            container: keys.container)
    }
}

extension CloudDatabase {
    private static let personUnknown = CKError(
        .unknownItem,
        text: "This device has no key of that user yet. It has one as soon as either has been given keys of a zone of "
            + "the other.")

    private static let grantedByOther = CKError(
        .permissionFailure,
        message: "Only devices of a zone's owner give its keys, whatever this user may do in the share. Participants "
            + "believe the owner's public key, and nobody else's. Ask the owner to open the app, or send participants a "
            + "URL with keys (CKContainer.urlWithKeys(of:for:)).")

    private static let readerWithoutKey = CKError(
        .serverRejectedRequest,
        message: "The participant's account has no public key yet. It gets one when its devices next ask for keys.",
        userInfo: [CKError.keylessReaderKey: true])

    private static let readerEscrowed = CKError(
        .permissionFailure,
        message: "The server keeps the participant's account key, so it could read the zone's encrypted values. To "
            + "allow that, set TidemarkConfiguration.allowsEscrowedParticipants.")

    private static let keyUnusable = CKError(
        .serverRejectedRequest,
        message: "The participant's public key cannot be used. The server, or something between it and this device, is "
            + "broken. Tell its operator.")

    private static let givenDamaged = CKError(
        .serverRejectedRequest,
        message: "The keys of these encrypted values do not open. They are not from the zone's owner, or not for this "
            + "account and zone. Tell the owner, and compare the safety number (CKContainer.safetyNumber(with:)).")

    private static let givenByStranger = CKError(
        .serverRejectedRequest,
        message: "The keys that were given of these encrypted values have none in common with those of the URL by "
            + "which this device accepted the share. One of them is not from the owner. Ask the owner for a new URL "
            + "(CKContainer.urlWithKeys(of:for:)), by a way that nobody else can change.")
}

extension CKError {
    fileprivate static let keylessReaderKey = "TidemarkKeylessReader"

    fileprivate var isOfKeylessReader: Bool { userInfo[Self.keylessReaderKey] != nil }
}
