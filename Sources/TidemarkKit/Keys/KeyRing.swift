// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkWire

/// The keys of an account in a container, as far as this process has them. All databases and engines of the container share
/// one. Keys are fetched when a record first needs them, and stay.
package final class KeyRing: Sendable {
    private struct State {
        /// At least one each. The first one encrypts.
        var secrets: [Place: [ZoneSecret]] = [:]
        /// With what values of a zone are encrypted, as far as known.
        var newest: [CKRecordZone.ID: ZoneSecret] = [:]
        /// Zones of which a link has brought keys: they take none from a server.
        var linked: Set<CKRecordZone.ID> = []
        /// Zones of this account in which somebody may lack keys who can be given some soon, and when to try again, on the
        /// connection's clock.
        var waiting: [CKRecordZone.ID: Duration] = [:]
        var observers: [Observer] = []
    }

    /// Where a key belongs. Its id alone does not name it. The owner of another zone may have given that zone a key with
    /// the same id, in order to be believed to have made this one.
    private struct Place: Hashable {
        let zoneID: CKRecordZone.ID
        let id: [UInt8]
    }

    private struct Observer {
        weak var object: (any KeyRingObserver)?
    }

    let container: String
    /// Tells environments apart where keys are kept.
    let environment: TidemarkConfiguration.Environment
    /// Where a key is kept that no server has.
    let store: any KeyStore
    /// Whether the server must never have the account's key, whatever it says.
    let requiresEndToEnd: Bool
    /// Whether keys may be given to accounts whose keys servers have.
    let allowsEscrowedParticipants: Bool
    private let state = Mutex(State())

    package init(
        container: String, environment: TidemarkConfiguration.Environment, store: any KeyStore,
        requiresEndToEnd: Bool = false, allowsEscrowedParticipants: Bool = false
    ) {
        self.container = container
        self.environment = environment
        self.store = store
        self.requiresEndToEnd = requiresEndToEnd
        self.allowsEscrowedParticipants = allowsEscrowedParticipants
    }

    // MARK: Zones

    func secret(_ id: [UInt8], of zoneID: CKRecordZone.ID) -> ZoneSecret? { secrets(id, of: zoneID).first }

    /// The keys that may open what is encrypted under that id: links may have brought several.
    func secrets(_ id: [UInt8], of zoneID: CKRecordZone.ID) -> [ZoneSecret] {
        state.withLock { $0.secrets[Place(zoneID: zoneID, id: id)] ?? [] }
    }

    /// Whether there is no key here for some of the ids.
    func missing(among ids: [[UInt8]], of zoneID: CKRecordZone.ID) -> Bool {
        state.withLock { state in ids.contains { state.secrets[Place(zoneID: zoneID, id: $0)] == nil } }
    }

    func newest(of zoneID: CKRecordZone.ID) -> ZoneSecret? { state.withLock { $0.newest[zoneID] } }

    /// The zone may have other keys by now.
    func forgetNewest(of zoneIDs: Set<CKRecordZone.ID>) {
        state.withLock { state in for zoneID in zoneIDs { state.newest[zoneID] = nil } }
    }

    /// Takes over the keys of a zone, oldest first, as far as the account's key opens them.
    ///
    /// - Returns: the newest, if it can be opened: the others are for reading alone.
    @discardableResult
    func adopt(
        _ keys: [WireZoneKey], of zoneID: CKRecordZone.ID, with account: AccountSecret
    ) -> ZoneSecret? {
        state.withLock { state in
            // A link may have come while the server was asked.
            guard !state.linked.contains(zoneID) else { return nil }
            var newest: ZoneSecret?
            for key in keys {
                let place = Place(zoneID: zoneID, id: key.id)
                newest =
                    state.secrets[place]?.first
                    ?? account.unwrap(
                        key.wrapped, id: key.id, container: container, zoneName: zoneID.zoneName)
                if let newest, state.secrets[place] == nil { state.secrets[place] = [newest] }
            }
            state.newest[zoneID] = newest
            return newest
        }
    }

    /// Takes over keys of a zone that a link has brought, whose ids the server tells, oldest first. They take the place of what a
    /// server gave before the link was opened.
    ///
    /// - Parameter encrypts: whether values may be encrypted with the newest. Otherwise the keys are for reading alone.
    /// - Returns: the newest, if it is here and encrypts; and whether all are.
    func adopt(
        _ ids: [[UInt8]], of zoneID: CKRecordZone.ID, from link: ZoneLinkKeys?, encrypts: Bool
    ) -> (newest: ZoneSecret?, hasAll: Bool) {
        state.withLock { state in
            if let link {
                for id in ids {
                    let secrets = link.secrets(id)
                    state.secrets[Place(zoneID: zoneID, id: id)] = secrets.isEmpty ? nil : secrets
                }
            }
            let newest = encrypts ? ids.last.flatMap { link?.secret($0) } : nil
            state.newest[zoneID] = newest
            return (newest, newest != nil && ids.allSatisfy { link?.secret($0) != nil })
        }
    }

    /// Adds keys of a link under ids that are known here already: for reading, nobody asks for those again.
    func add(_ link: ZoneLinkKeys, of zoneID: CKRecordZone.ID) {
        state.withLock { state in
            state.linked.insert(zoneID)
            for secret in link.secrets {
                let place = Place(zoneID: zoneID, id: secret.id)
                if state.secrets[place]?.contains(secret) == false { state.secrets[place]?.append(secret) }
            }
        }
    }

    // MARK: Others

    /// - Parameter time: when to try again; nil: nobody waits.
    func setWaiting(until time: Duration?, in zoneID: CKRecordZone.ID) {
        state.withLock { $0.waiting[zoneID] = time }
    }

    /// The zones in which somebody waits, and it is time to try again.
    func waitedZones(at now: Duration) -> Set<CKRecordZone.ID> {
        state.withLock { Set($0.waiting.filter { $0.value <= now }.keys) }
    }

    /// Those of the zones in which somebody waits whose time has come. Until `next` they are not taken again.
    func takeWaited(
        among zoneIDs: Set<CKRecordZone.ID>, at now: Duration, until next: Duration
    ) -> Set<CKRecordZone.ID> {
        guard !zoneIDs.isEmpty else { return [] }
        return state.withLock { state in
            let due = zoneIDs.filter { zoneID in state.waiting[zoneID].map { $0 <= now } ?? false }
            for zoneID in due { state.waiting[zoneID] = next }
            return due
        }
    }

    // MARK: The account

    /// The account's key, by what the server says of it.
    ///
    /// - Parameter name: under which a key is kept here that no server has.
    /// - Returns: nil if there is no key yet, or this device does not have it.
    /// - Throws: `accountTemporarilyUnavailable` if the server wants to have a key that it must not have, `internalError` for
    ///   a key that is none.
    func take(_ wire: WireAccountKey, name: String) throws(CKError) -> AccountSecret? {
        let kept = try store.key(for: name)
        let secret: AccountSecret?
        switch wire.mode {
        case .escrowed:
            if requiresEndToEnd || kept != nil { throw Self.notEndToEnd }
            if wire.id.isEmpty {
                secret = nil
            } else {
                guard let given = AccountSecret(wire.key), given.id == wire.id else {
                    throw CKError(
                        .internalError,
                        message: "The account's key on the server is damaged. Tell the server's operator.")
                }
                secret = given
            }
        case .endToEnd:
            secret = kept.flatMap(AccountSecret.init).flatMap { $0.id == wire.id ? $0 : nil }
        case .unspecified, .unrecognized:
            throw CKError(
                .incompatibleVersion,
                message: "The server keeps keys in a way that this version does not know. Update the app.")
        }
        return secret
    }

    static let notEndToEnd = CKError(
        .accountTemporarilyUnavailable,
        message: "The server wants to keep this account's key, but on this device it is end-to-end encrypted. Nothing "
            + "was sent. To let the server have the key, remove it from the device's key file "
            + "(TidemarkConfiguration.keyFile), and turn requiresEndToEndEncryption off.")

    static let accountKeyMissing = CKError(
        .accountTemporarilyUnavailable,
        message: "The account is end-to-end encrypted, and this device does not have its key. Export the recovery key "
            + "on another device, and import it here (CKContainer.importRecoveryKey).")

    // MARK: Who waits for keys

    func observe(_ observer: any KeyRingObserver) {
        state.withLock { state in
            state.observers.removeAll { $0.object == nil || $0.object === observer }
            state.observers.append(Observer(object: observer))
        }
    }

    /// The account's key, or keys of a zone, have come to this device.
    func imported() {
        let observers = state.withLock { state in
            // What could not be opened before, can be now.
            state.newest = [:]
            return state.observers.compactMap(\.object)
        }
        for observer in observers { observer.keysImported() }
    }
}

/// Hears that what could not be decrypted may be, from now on.
protocol KeyRingObserver: AnyObject, Sendable {
    func keysImported()
}
