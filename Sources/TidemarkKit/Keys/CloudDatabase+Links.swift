// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto
internal import TidemarkTelemetry
internal import TidemarkWire

/// Keys of zones that a link brings, because no server can hand them on: an account is end-to-end encrypted.
extension CloudDatabase {
    /// The keys of one zone, as far as they are on this device; and why some are not.
    typealias LinkedKeys = (newest: ZoneSecret?, failure: CKError?)

    /// Takes the zones whose keys the server does not have for this account from its answer, and their keys from what the owner has given,
    /// or from this device.
    /// In the private database there are none: a server cannot make a device forget how its own keys are wrapped.
    ///
    /// Once a URL has brought keys of a zone, this device takes none of it from a server, whatever that offers. What a
    /// server wraps for this account, it may have made itself. What the owner's key pair has authenticated is not from a server.
    ///
    /// - Parameter name: under which the account's key is kept.
    func takeLinked(
        from found: inout ServerKeys, name: String
    ) async throws(CKError) -> [CKRecordZone.ID: LinkedKeys] {
        guard scope == .shared else { return [:] }
        var linked: [CKRecordZone.ID: LinkedKeys] = [:]
        for (zoneID, result) in found.zones {
            var kept = try keys.store.key(for: Self.linkName(of: zoneID, name)).flatMap(ZoneLinkKeys.init(bytes:))
            let ids: [[UInt8]]
            switch result {
            case .success(let wires):
                guard kept != nil || result.hasIDsAlone else { continue }
                ids = wires.map(\.id)
            case .failure(let error):
                // An older server does not tell ids.
                guard kept != nil, error.code == .serverRejectedRequest else { continue }
                ids = []
            }
            // Whoever has opened a URL of the zone gets one with the newer key too. Devices of the owner give keys to end-to-end
            // encrypted accounts, and to whomever they have given some before.
            let isToCome = kept != nil || found.account.mode == .endToEnd || found.given[zoneID] != nil
            var failure = Self.linkMissing
            var given: ZoneLinkKeys?
            if result.hasIDsAlone, let wire = found.given[zoneID] {
                do throws(CKError) {
                    // the owner's word counts more than a link's.
                    let opened = try await open(wire, of: zoneID, found.account, name: name, after: kept)
                    kept = kept.map { opened.adding($0) } ?? opened
                    given = opened
                } catch {
                    failure = error
                }
            }
            var encrypts = false
            if let newest = ids.last, kept?.secret(newest) != nil {
                do throws(CKError) {
                    try noteNewest(newest, given: given, of: zoneID, name)
                    encrypts = true
                } catch {
                    failure = error
                }
            }
            let adopted = keys.adopt(ids, of: zoneID, from: kept, encrypts: encrypts)
            if isToCome { failure = failure.ofKeysToCome }
            linked[zoneID] = (adopted.newest, adopted.hasAll ? nil : failure)
        }
        for zoneID in linked.keys { found.zones[zoneID] = nil }
        return linked
    }

    /// Notes which key of a zone the server names as the newest, in this device's file of keys, if the owner has given any of the zone.
    /// Of URLs nobody can tell which key is newer.
    ///
    /// - Parameter given: what the owner has given, if anything.
    /// - Throws: `serverRejectedRequest` if the device knows a newer key.
    private func noteNewest(
        _ id: [UInt8], given: ZoneLinkKeys?, of zoneID: CKRecordZone.ID, _ name: String
    ) throws(CKError) {
        let entry = "order " + Self.place(of: zoneID, name)
        let stored = try keys.store.key(for: entry)
        guard given != nil || stored != nil else { return }
        let known = stored.flatMap(ZoneKeyOrder.init(bytes:)) ?? ZoneKeyOrder()
        guard let order = known.going(to: id, given: given?.secrets.map(\.id) ?? []) else {
            Self.orderLog.warning(
                "the server names an older key of a zone as the newest", ["zone": zoneID.zoneName])
            throw Self.keyOlder
        }
        guard order != known else { return }
        // Another process may note something at the same time. Then this is noted when keys are fetched again.
        if stored == nil {
            _ = try keys.store.keep(order.bytes, for: entry)
        } else {
            try keys.store.replace(stored, by: order.bytes, for: entry)
        }
    }

    private static let orderLog = Log("encryption")

    /// Keeps the keys that came in URLs on this device, beside those that it has. It keeps them before a share is accepted. Of a
    /// share that is then refused they open nothing.
    ///
    /// - Throws: `internalError` if they cannot be written, `limitExceeded` if there are too many.
    func keepLinkKeys(of metadatas: [CKShare.Metadata]) async throws(CKError) {
        // An owner who opens the URL of a zone of theirs has its keys.
        let linked = metadatas.filter {
            $0.keys != nil && $0.containerIdentifier == keys.container && $0.share.recordID.zoneID.isOfOther
        }
        guard !linked.isEmpty else { return }
        let name = try await keyName()
        for metadata in linked {
            guard let new = metadata.keys else { continue }
            let zoneID = metadata.share.recordID.zoneID
            keys.add(try keep(new, under: Self.linkName(of: zoneID, name)), of: zoneID)
        }
        keys.imported()
    }

    /// - Returns: all that are kept now.
    private func keep(_ new: ZoneLinkKeys, under name: String) throws(CKError) -> ZoneLinkKeys {
        // Another process may keep some at the same time.
        for _ in 0..<Self.keepTriesMax {
            let stored = try keys.store.key(for: name)
            let wanted = stored.flatMap(ZoneLinkKeys.init(bytes:))?.adding(new) ?? new
            guard new.secrets.allSatisfy(wanted.secrets.contains) else { throw Self.tooManyLinkKeys(name) }
            if stored == wanted.bytes { return wanted }
            if stored == nil {
                if try keys.store.keep(wanted.bytes, for: name) == wanted.bytes { return wanted }
            } else {
                try keys.store.replace(stored, by: wanted.bytes, for: name)
            }
        }
        throw CKError(.zoneBusy, message: "Other apps of this user change the file of keys. Try again.", retryAfter: 1)
    }

    private static let keepTriesMax = 10

    private static func tooManyLinkKeys(_ name: String) -> CKError {
        CKError(
            .limitExceeded,
            message: "This device keeps \(ZoneLinkKeys.countMax) keys of the zone from URLs, and takes no more. Some "
                + "URLs may have been forged. Remove \"\(name)\" from the device's key file "
                + "(TidemarkConfiguration.keyFile), and accept the share by a URL that is surely from its owner.")
    }

    /// Names may have spaces, and a server says what an owner is called: so the length of the owner's name says where it ends.
    private static func linkName(of zoneID: CKRecordZone.ID, _ name: String) -> String {
        "link " + place(of: zoneID, name)
    }

    private static func place(of zoneID: CKRecordZone.ID, _ name: String) -> String {
        "\(name) \(zoneID.ownerName.utf8.count) \(zoneID.ownerName) \(zoneID.zoneName)"
    }

    /// Of a zone whose keys neither the server nor this device has. As the server's, it lasts until a link is opened.
    static let linkMissing = CKError(
        .serverRejectedRequest,
        message: "The server cannot read the keys of these encrypted values: an account is end-to-end encrypted. "
            + "A device of the zone's owner gives them to whoever was invited (CKContainer.grantKeys(of:)). Or ask for a "
            + "URL with keys (CKContainer.urlWithKeys(of:for:)), and accept the share by it on this device.")

    /// values are not encrypted with it. They can be read.
    private static let keyOlder = CKError(
        .serverRejectedRequest,
        message: "The server names an older key of the zone as its newest, and this device knows a newer one. Whoever "
            + "was removed from the share may have the older one. The server was restored, or deceives. Ask the zone's "
            + "owner to change the key (CKContainer.rotateEncryptionKey(of:)).",
        userInfo: [CKError.olderKeyKey: true])

    /// A URL of a share with the newest keys of its zone in the fragment. Makes a key if the zone has none.
    func urlWithKeys(_ url: URL, of zoneID: CKRecordZone.ID) async throws(CKError) -> URL {
        guard let sealing = try await sealingSecrets(of: [zoneID])[zoneID] else {
            throw Self.wrongAnswer(to: .fetchKeys)
        }
        _ = try sealing.get()
        // Older ones too, as far as they are on this device: a URL may have brought the newest ones alone.
        let failure = try await fetchKeys(of: [zoneID])[zoneID]
        if let failure, failure.code != Self.linkMissing.code { throw failure }
        let found = try await usableKeys(of: [zoneID])
        guard let wires = try found.zones[zoneID]?.get() else { throw Self.wrongAnswer(to: .fetchKeys) }
        let secrets = wires.compactMap { keys.secret($0.id, of: zoneID) }
        // Whoever accepts by the URL encrypts with the newest key.
        guard let newest = secrets.last, newest.id == wires.last?.id else { throw failure ?? Self.zoneKeysBusy }
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.fragment = ZoneLinkKeys(secrets.suffix(ZoneLinkKeys.urlCountMax))?.fragment
        guard let complete = components?.url, complete.fragment != nil else { throw Self.noURL }
        return complete
    }

    /// The number of the zone's newest key, by what the server says now. Makes a key if the zone has none, and this account
    /// may.
    func safetyNumber(of zoneID: CKRecordZone.ID) async throws(CKError) -> String {
        // The server may tell of a newer key than the one that is in use here.
        keys.forgetNewest(of: [zoneID])
        guard let newest = try await sealingSecrets(of: [zoneID])[zoneID]?.get() else {
            throw Self.wrongAnswer(to: .fetchKeys)
        }
        // Owner and participants call the owner differently. All know the record name.
        let owner = zoneID.ownerName == CKCurrentUserDefaultName ? try await identify() : zoneID.ownerName
        let place = [keys.container, owner, zoneID.zoneName].map { Array($0.utf8) }
        return SafetyNumber.text(of: newest.key, parts: place + [newest.id])
    }

    static let noURL = CKError(
        .invalidArguments,
        message: "The share has no such URL. Save the share first, and take it as the server returns it.")
}
