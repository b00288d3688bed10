// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkCrypto
import TidemarkFields
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Keys of zones that devices give to others, on a server that has none of them. The current user is `_alice`.
@Suite struct CloudDatabaseGrantsTests {
    /// What the server has and says. Tests let it lie.
    final class Store: Sendable {
        struct State {
            var account = WireAccountKey()
            var keys: [WireZoneKey] = []
            var readers: [WireKeyReader] = []
            var grants: [WireKeyGrant] = []
            var given: WireGivenKeys?
        }

        let state = Mutex(State())

        func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
        var current: State { state.withLock { $0 } }

        func answer(_ envelope: WireClientEnvelope) -> WireServerEnvelope.OneOfAnswer? {
            state.withLock { state -> WireServerEnvelope.OneOfAnswer? in
                switch envelope.request {
                case .fetchKeys(let request):
                    var answer = WireFetchKeysAnswer()
                    answer.account = state.account
                    answer.zones = request.zones.map { _ in
                        var result = WireZoneKeysResult()
                        result.keys.keys = state.keys
                        if let given = state.given { result.keys.given = given }
                        return result
                    }
                    return .fetchKeys(answer)
                case .saveAccountKey(let request):
                    if state.account.id.isEmpty || state.account.id == request.account.id {
                        let publicKey = state.account.publicKey
                        state.account = request.account
                        if !publicKey.isEmpty { state.account.publicKey = publicKey }
                    }
                    var answer = WireSaveAccountKeyAnswer()
                    answer.account = state.account
                    return .saveAccountKey(answer)
                case .saveZoneKey(let request):
                    state.keys.append(request.key)
                    var answer = WireSaveZoneKeyAnswer()
                    answer.keys.keys = state.keys
                    return .saveZoneKey(answer)
                case .grantKeys(let request):
                    state.grants += request.grants
                    var answer = WireGrantKeysAnswer()
                    answer.readers = state.readers.filter { reader in
                        !state.grants.contains {
                            $0.user == reader.user && $0.newestID == state.keys.last?.id
                                && $0.publicKey == reader.publicKey
                        }
                    }
                    return .grantKeys(answer)
                default: return nil
                }
            }
        }
    }

    let scheduler = ManualScheduler()
    let server: ScriptedServer
    let stored = Store()
    let store = MemoryKeyStore()
    let identifier = "iCloud.test.\(UUID().uuidString)"
    let secret = AccountSecret([UInt8](repeating: 7, count: 32))

    init() {
        server = ScriptedServer(scheduler)
        server.answer { [stored] in stored.answer($0) }
    }

    func container(allowsEscrowed: Bool = false) -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: identifier, token: "alice", transport: server, scheduler: scheduler,
                engineScheduler: scheduler, keyStore: store, allowsEscrowedParticipants: allowsEscrowed))
    }

    var keyName: String { "\(identifier) development _alice" }

    /// The account is end-to-end encrypted, and this device has its key.
    func enterEndToEnd(publicKey: [UInt8] = []) throws -> AccountSecret {
        let secret = try #require(secret)
        _ = try store.keep(secret.key, for: keyName)
        stored.change { state in
            state.account.mode = .endToEnd
            state.account.id = secret.id
            state.account.publicKey = publicKey
        }
        return secret
    }

    static func reader(
        _ user: String, _ pair: X25519KeyPair, _ mode: WireEncryptionMode = .endToEnd
    ) -> WireKeyReader {
        var reader = WireKeyReader()
        (reader.user, reader.mode, reader.publicKey) = (user, mode, pair.publicKey)
        return reader
    }

    /// How many requests of a kind have come.
    func count(_ kind: WireRequestKind) -> Int { server.envelopes.count { $0.request?.kind == kind } }

    // MARK: Owners

    let own = CKRecordZone.ID(zoneName: "Plans")

    /// Gives keys, and says who gets none.
    func grant(_ container: CKContainer) throws -> [String: CKError] {
        try scheduler.complete { [own] in try await container.privateCloudDatabase.cloud.grantKeys(of: own) }
    }

    /// The keys that were given to somebody last.
    func opened(_ user: String, _ pair: X25519KeyPair, from owner: X25519KeyPair) throws -> ZoneLinkKeys? {
        let place = ZoneKeyGrant(container: identifier, zoneName: "Plans", owner: "_alice", reader: user)
        return try stored.current.grants.last { $0.user == user }.flatMap { grant in
            ZoneLinkKeys(bytes: try place.open(grant.sealed, with: pair, from: owner.publicKey))
        }
    }

    func rotate(_ container: CKContainer) throws {
        try scheduler.complete { [own] in try await container.rotateEncryptionKey(of: own) }
    }

    @Test func `R-268, R-269: an owner's device tells its public key, makes a key and gives it`() throws {
        let account = try enterEndToEnd()
        let (bob, container) = (X25519KeyPair.random(), container())
        #expect(try grant(container).isEmpty && stored.current.keys.isEmpty, "nobody is there")
        #expect(stored.current.account.publicKey == account.pair(in: identifier).publicKey)
        stored.change { $0.readers = [Self.reader("_bob", bob)] }
        #expect(try grant(container).isEmpty)
        #expect(stored.current.keys.count == 1)
        let given = try #require(try opened("_bob", bob, from: account.pair(in: identifier)))
        #expect(given.secrets.map(\.id) == stored.current.keys.map(\.id))
        let sealing = try scheduler.complete { [own] in
            try await container.privateCloudDatabase.cloud.sealingSecrets(of: [own])[own]?.get()
        }
        #expect(given.secrets.last == sealing, "it is the one that values are encrypted with")
        #expect(try grant(container).isEmpty && stored.current.grants.count == 1, "once")
    }

    @Test func `R-271: after a change of the key those get it who are named then, with all older ones`() throws {
        let account = try enterEndToEnd()
        let (bob, carol, container) = (X25519KeyPair.random(), X25519KeyPair.random(), container())
        stored.change { $0.readers = [Self.reader("_bob", bob), Self.reader("_carol", carol)] }
        #expect(try grant(container).isEmpty)
        #expect(Set(stored.current.grants.map(\.user)) == ["_bob", "_carol"])
        stored.change { $0.readers.removeFirst() }
        try rotate(container)
        #expect(stored.current.grants.map(\.user).filter { $0 == "_bob" }.count == 1, "who was removed gets none")
        let pair = account.pair(in: identifier)
        #expect(try opened("_carol", carol, from: pair)?.secrets.map(\.id) == stored.current.keys.map(\.id))
        #expect(try opened("_bob", bob, from: pair)?.secrets.count == 1)
        #expect(stored.current.keys.count == 2)
    }

    @Test func `R-272: nothing is given to an account whose key a server has, unless the app allows it`() throws {
        let account = try enterEndToEnd()
        let (bob, careful) = (X25519KeyPair.random(), container())
        stored.change { $0.readers = [Self.reader("_bob", bob, .escrowed)] }
        let refused = try grant(careful)
        #expect(refused["_bob"]?.code == .permissionFailure)
        #expect(refused["_bob"]?.localizedDescription.contains("allowsEscrowedParticipants") == true)
        try rotate(careful)
        #expect(stored.current.grants.isEmpty, "not after a change of the key either")
        // Nothing is remembered of what was refused.
        let another = X25519KeyPair.random()
        stored.change { $0.readers = [Self.reader("_bob", another, .escrowed)] }
        #expect(try grant(container(allowsEscrowed: true)).isEmpty)
        let given = try opened("_bob", another, from: account.pair(in: identifier))
        #expect(given?.secrets.map(\.id) == stored.current.keys.map(\.id))
    }

    @Test func `R-273: another public key of a participant is refused until the app accepts it`() throws {
        let account = try enterEndToEnd()
        let (bob, other, container) = (X25519KeyPair.random(), X25519KeyPair.random(), container())
        stored.change { $0.readers = [Self.reader("_bob", bob)] }
        #expect(try grant(container).isEmpty)
        // The server exchanges the key.
        stored.change { $0.readers = [Self.reader("_bob", other)] }
        for container in [container, self.container()] {
            let error = try #require(try grant(container)["_bob"])
            #expect(error.code == .serverRejectedRequest && error.changedKeyUserRecordID?.recordName == "_bob")
        }
        try rotate(container)
        #expect(stored.current.grants.map(\.publicKey) == [bob.publicKey], "nothing was given to it")
        // The same key, but the server says that it has it now.
        stored.change { $0.readers = [Self.reader("_bob", bob, .escrowed)] }
        #expect(try grant(self.container(allowsEscrowed: true))["_bob"]?.changedKeyUserRecordID != nil)
        stored.change { $0.readers = [Self.reader("_bob", other)] }
        try scheduler.complete { try await container.acceptChangedKey(of: CKRecord.ID(recordName: "_bob")) }
        #expect(try grant(container).isEmpty)
        #expect(try opened("_bob", other, from: account.pair(in: identifier))?.secrets.count == 2)
        #expect(CKError(.serverRejectedRequest).changedKeyUserRecordID == nil)
    }

    @Test func `R-269: who has no public key yet, or one that cannot be used, is left out alone`() throws {
        _ = try enterEndToEnd()
        let (bob, container) = (X25519KeyPair.random(), container())
        var none = Self.reader("_none", bob)
        none.publicKey = []
        var short = Self.reader("_short", bob)
        short.publicKey = [1, 2]
        var weak = Self.reader("_weak", bob)
        weak.publicKey = [UInt8](repeating: 0, count: 32)
        let readers = [none, short, weak, Self.reader("_bob", bob)]
        stored.change { $0.readers = readers }
        let refused = try grant(container)
        #expect(Set(refused.keys) == ["_none", "_short", "_weak"])
        #expect(refused.values.allSatisfy { $0.code == .serverRejectedRequest })
        #expect(stored.current.grants.map(\.user) == ["_bob"])
    }

    @Test func `R-969: a server that names more readers than a request can have is given nothing`() throws {
        _ = try enterEndToEnd()
        let (bob, container) = (X25519KeyPair.random(), container())
        stored.change { $0.readers = (1...101).map { Self.reader("_\($0)", bob) } }
        let error = #expect(throws: CKError.self) { try grant(container) }
        #expect(error?.code == .serverResponseLost && stored.current.grants.isEmpty)
        let known = try store.key(for: "person \(keyName) _1")
        #expect(known == nil, "nothing is remembered of it")
        stored.change { $0.readers.removeLast() }
        #expect(try grant(container).isEmpty && stored.current.grants.count == 100)
    }

    @Test func `R-269: a share that comes, or a record where somebody waits, gives keys`()
        throws
    {
        _ = try enterEndToEnd()
        let (bob, container) = (X25519KeyPair.random(), container())
        var waiting = Self.reader("_bob", bob)
        waiting.publicKey = []
        stored.change { [waiting] in $0.readers = [waiting] }
        func fetched(_ record: CKRecord) throws {
            try scheduler.complete {
                _ = try await container.privateCloudDatabase.cloud.unsealed([(record.recordID, .success(record))])
            }
        }
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: own))
        try fetched(note)
        #expect(count(.grantKeys) == 0)
        try fetched(CKShare(recordZoneID: own))
        #expect(count(.grantKeys) > 0 && stored.current.grants.isEmpty, "bob has no key yet")
        stored.change { $0.readers = [Self.reader("_bob", bob)] }
        try fetched(note)
        #expect(stored.current.grants.isEmpty, "not at once")
        scheduler.advance(by: .seconds(60))
        try fetched(note)
        #expect(stored.current.grants.map(\.user) == ["_bob"], "bob waited")
        let before = count(.grantKeys)
        scheduler.advance(by: .seconds(60))
        try fetched(note)
        #expect(count(.grantKeys) == before, "nobody waits")
    }

    @Test func `R-296: while keys are given slowly where somebody waits, one call waits for it, and no other`() throws {
        _ = try enterEndToEnd()
        var waiting = Self.reader("_bob", .random())
        waiting.publicKey = []
        stored.change { [waiting] in $0.readers = [waiting] }
        let container = container()
        let cloud = try container.privateCloudDatabase.cloud
        try scheduler.complete { [own] in await cloud.grantQuietly([own]) }
        scheduler.advance(by: .seconds(60))
        server.hold { $0.request?.kind == .fetchKeys }
        let done = Mutex<[Int]>([])
        for number in 1...3 {
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "\(number)", zoneID: own))
            scheduler.run {
                _ = try? await cloud.unsealed([(note.recordID, .success(note))])
                done.withLock { $0.append(number) }
            }
        }
        scheduler.runUntilIdle()
        #expect(done.withLock { $0 } == [2, 3])
        server.hold { _ in false }
        scheduler.advance(by: .seconds(60))
        #expect(done.withLock { $0 } == [2, 3, 1], "it gave up")
    }

    @Test func `R-296: a save without encrypted values asks for no keys, however slow they are`() throws {
        _ = try enterEndToEnd()
        server.hold { $0.request?.kind == .fetchKeys || $0.request?.kind == .grantKeys }
        let database = container().privateCloudDatabase
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: own))
        note["title"] = "plain"
        // The server has no such zone: it was asked, at once.
        let error = #expect(throws: CKError.self) { try scheduler.complete { try await database.save(note) } }
        #expect(error?.code == .zoneNotFound && scheduler.now < .seconds(1))
        #expect(count(.fetchKeys) == 0 && count(.grantKeys) == 0)
    }

    @Test func `R-269: a device of an account whose key the server has gives nothing, and asks for nothing`() throws {
        stored.change { state in
            state.account.mode = .escrowed
            state.readers = [Self.reader("_bob", .random())]
        }
        let container = container()
        let share = CKShare(recordZoneID: own)
        try scheduler.complete {
            _ = try await container.privateCloudDatabase.cloud.unsealed([(share.recordID, .success(share))])
        }
        #expect(count(.fetchKeys) == 0 && count(.grantKeys) == 0)
        #expect(try grant(container).isEmpty && count(.grantKeys) == 0)
    }

    @Test func `R-285: a device that finds nobody without keys has asked once`() throws {
        _ = try enterEndToEnd()
        let (bob, container) = (X25519KeyPair.random(), container())
        stored.change { $0.readers = [Self.reader("_bob", bob)] }
        #expect(try grant(container).isEmpty && stored.current.grants.count == 1)
        let before = server.envelopes.count
        let share = CKShare(recordZoneID: own)
        for number in 1...3 {
            try scheduler.complete {
                _ = try await container.privateCloudDatabase.cloud.unsealed([(share.recordID, .success(share))])
            }
            #expect(server.envelopes.count == before + number)
        }
        #expect(server.envelopes.last?.request?.kind == .grantKeys)
        // Somebody else has come.
        stored.change { $0.readers.append(Self.reader("_carol", .random())) }
        try scheduler.complete {
            _ = try await container.privateCloudDatabase.cloud.unsealed([(share.recordID, .success(share))])
        }
        #expect(stored.current.grants.map(\.user) == ["_bob", "_carol"])
    }

    @Test func `R-269: whoever is not the owner is told why they give no keys, and nothing is asked`() throws {
        _ = try enterEndToEnd()
        let container = container()
        let error = #expect(throws: CKError.self) {
            try scheduler.complete { [theirs] in _ = try await container.grantKeys(of: theirs) }
        }
        #expect(error?.code == .permissionFailure)
        #expect(error?.localizedDescription.contains("Only devices of a zone's owner") == true)
        #expect(count(.grantKeys) == 0 && count(.fetchKeys) == 0)
    }

    // MARK: Readers

    let theirs = CKRecordZone.ID(zoneName: "Plans", ownerName: "_bob")

    /// The server tells the ids of the zone's keys, and what bob's device has given.
    func serve(_ ids: [ZoneSecret], _ given: WireGivenKeys?) {
        let wires = ids.map { secret in
            var key = WireZoneKey()
            key.id = secret.id
            return key
        }
        stored.change { ($0.keys, $0.given) = (wires, given) }
    }

    func given(
        _ secrets: [ZoneSecret], by bob: X25519KeyPair, zoneName: String = "Plans", to user: String = "_alice",
        mode: WireEncryptionMode = .endToEnd, publicKey: [UInt8]? = nil
    ) throws -> WireGivenKeys {
        let pair = try #require(secret).pair(in: identifier)
        let place = ZoneKeyGrant(container: identifier, zoneName: zoneName, owner: "_bob", reader: user)
        var given = WireGivenKeys()
        given.sealed = try place.seal(
            secrets.map { (id: $0.id, key: $0.key) }, to: publicKey ?? pair.publicKey, from: bob)
        (given.ownerPublicKey, given.ownerMode) = (bob.publicKey, mode)
        return given
    }

    func sealing(_ container: CKContainer) throws -> Result<ZoneSecret, CKError>? {
        try scheduler.complete { [theirs] in
            try await container.sharedCloudDatabase.cloud.sealingSecrets(of: [theirs])[theirs]
        }
    }

    @Test func `R-270: a participant reads and writes with what the owner's device has given`() throws {
        let account = try enterEndToEnd()
        let (bob, old, new) = (X25519KeyPair.random(), ZoneSecret.random(), ZoneSecret.random())
        serve([old, new], nil)
        #expect(try sealing(container())?.error?.localizedDescription.contains("grantKeys(of:)") == true)
        #expect(
            stored.current.account.publicKey == account.pair(in: identifier).publicKey, "so that bob can give some")
        serve([old, new], try given([old, new], by: bob))
        for _ in 1...2 {
            let container = container()
            #expect(try sealing(container)?.get() == new)
            let failures = try scheduler.complete { [theirs] in
                try await container.sharedCloudDatabase.cloud.fetchKeys(of: [theirs])
            }
            #expect(failures.isEmpty)
        }
        // Another key, which was not given yet. What is there stays readable.
        let newest = ZoneSecret.random()
        serve([old, new, newest], try given([old, new], by: bob))
        #expect(try sealing(container())?.error?.code == .serverRejectedRequest)
        serve([old, new, newest], try given([old, new, newest], by: bob))
        #expect(try sealing(container())?.get() == newest)
    }

    @Test func `R-286: no device goes back to a key that it knows to be older`() throws {
        _ = try enterEndToEnd()
        let (bob, old, new) = (X25519KeyPair.random(), ZoneSecret.random(), ZoneSecret.random())
        func refuses(_ ids: [ZoneSecret], _ given: WireGivenKeys) throws {
            serve(ids, given)
            let container = container()
            let error = try #require(try sealing(container)?.error)
            #expect(error.userInfo[CKError.olderKeyKey] != nil && error.code == .serverRejectedRequest)
            #expect(error.ofMissingKeys.keepsChangePending, "the edit waits")
            let ring = try container.sharedCloudDatabase.cloud.keys
            #expect(ring.secret(old.id, of: theirs) == old, "older values are read")
        }
        let (first, second) = (try given([old], by: bob), try given([old, new], by: bob))
        // The owner has said what comes after what.
        try refuses([new, old], second)
        serve([old], first)
        #expect(try sealing(container())?.get() == old)
        serve([old, new], second)
        #expect(try sealing(container())?.get() == new)
        // What was given before, in an app that was started again; with the ids of then, and in another order.
        try refuses([old], first)
        try refuses([new, old], second)
        // The zone was made again, and the server shows the keys of its life before.
        let other = ZoneSecret.random()
        serve([other], try given([other], by: bob))
        #expect(try sealing(container())?.get() == other)
        try refuses([old, new], second)
        // Another key of the owner ends it.
        let newest = ZoneSecret.random()
        serve([old, newest], try given([old, newest], by: bob))
        #expect(try sealing(container())?.get() == newest)
    }

    @Test func `R-270: an edit waits for keys of whoever may be given some, and for nobody else's`() throws {
        _ = try enterEndToEnd()
        let (bob, old, new) = (X25519KeyPair.random(), ZoneSecret.random(), ZoneSecret.random())
        /// The error of a save that is not sent.
        func refusal() throws -> CKError { try #require(try sealing(container())?.error?.ofMissingKeys) }
        serve([old], nil)
        #expect(try refusal().keepsChangePending, "nothing was given yet")
        serve([old, new], try given([old], by: bob))
        #expect(try refusal().keepsChangePending, "the newest key is missing")
        serve([old], try given([old], by: .random()))
        let changed = try refusal()
        #expect(changed.keepsChangePending && changed.changedKeyUserRecordID?.recordName == "_bob")
        // A server has the account's key, so nobody gives it any, unless the owner's app allows it.
        let escrowed = try #require(self.secret)
        try store.replace(try store.key(for: keyName), by: nil, for: keyName)
        stored.change { ($0.account.mode, $0.account.key) = (.escrowed, escrowed.key) }
        serve([old, new], nil)
        #expect(try refusal().code == .serverRejectedRequest)
        #expect(try !refusal().keepsChangePending)
        serve([old, new], try given([old], by: bob))
        #expect(try refusal().keepsChangePending, "an owner who has given a key gives the next one")
    }

    @Test func `R-969: a grant that was cut, or is of another zone, person or owner, opens nothing`() throws {
        _ = try enterEndToEnd()
        let (bob, secret) = (X25519KeyPair.random(), ZoneSecret.random())
        let right = try given([secret], by: bob)
        var cut = right
        cut.sealed.removeLast()
        var empty = right
        empty.sealed = []
        var changed = right
        changed.sealed[40] ^= 1
        var stranger = right
        stranger.ownerPublicKey = X25519KeyPair.random().publicKey
        var strange = right
        strange.ownerMode = .unspecified
        let forged = try given([secret], by: .random())
        var inBobsName = forged
        inBobsName.ownerPublicKey = bob.publicKey
        let wrong = [
            cut, empty, changed, stranger, strange, inBobsName, try given([secret], by: bob, zoneName: "Plan"),
            try given([secret], by: bob, to: "_carol"),
            try given([secret], by: bob, publicKey: X25519KeyPair.random().publicKey),
            // Of another number: the zone's key is none of those that were given.
            try given([.random()], by: bob),
        ]
        for (number, given) in wrong.enumerated() {
            // Nothing of it may be remembered.
            let container = container()
            serve([secret], given)
            #expect(try sealing(container)?.error?.code == .serverRejectedRequest, "\(number)")
        }
        serve([secret], right)
        #expect(try sealing(container())?.get() == secret)
    }

    @Test func `R-273: keys in the name of the owner's other public key are refused until the app accepts it`() throws {
        _ = try enterEndToEnd()
        let (bob, other) = (X25519KeyPair.random(), X25519KeyPair.random())
        let (first, second) = (ZoneSecret.random(), ZoneSecret.random())
        serve([first], try given([first], by: bob))
        #expect(try sealing(container())?.get() == first)
        serve([first, second], try given([first, second], by: other))
        let device = container()
        let error = try #require(try sealing(device)?.error)
        #expect(error.changedKeyUserRecordID?.recordName == "_bob" && error.code == .serverRejectedRequest)
        // The same key with another mode is another one too.
        serve([first, second], try given([first, second], by: bob, mode: .escrowed))
        #expect(try sealing(device)?.error?.changedKeyUserRecordID != nil)
        serve([first, second], try given([first, second], by: other))
        try scheduler.complete { try await device.acceptChangedKey(of: CKRecord.ID(recordName: "_bob")) }
        #expect(try sealing(device)?.get() == second)
    }

    /// A URL has brought these keys of the zone.
    func link(_ secrets: [ZoneSecret]) throws {
        let kept = try #require(ZoneLinkKeys(secrets))
        _ = try store.keep(kept.bytes, for: "link \(keyName) 4 _bob Plans")
    }

    @Test func `R-270: what a known owner gives counts before what a link says of the same id`() throws {
        _ = try enterEndToEnd()
        let (bob, right) = (X25519KeyPair.random(), ZoneSecret.random())
        let forged = ZoneSecret(id: right.id, key: ZoneSecret.random().key)
        serve([right], try given([right], by: bob))
        #expect(try sealing(container())?.get() == right)
        try link([forged])
        serve([right], nil)
        #expect(try sealing(container())?.get() == forged, "there is nothing else")
        serve([right], try given([right], by: bob))
        #expect(try sealing(container())?.get() == right)
    }

    @Test func `R-859, R-273: no server adds keys to those of a link by a public key that it calls the owner's`()
        throws
    {
        _ = try enterEndToEnd()
        let (bob, fake) = (X25519KeyPair.random(), X25519KeyPair.random())
        let (genuine, next) = (ZoneSecret.random(), ZoneSecret.random())
        try link([genuine])
        // Under a known id, and under a new one as the newest.
        serve([genuine], try given([ZoneSecret(id: genuine.id, key: ZoneSecret.random().key)], by: fake))
        #expect(try sealing(container())?.get() == genuine)
        let own = ZoneSecret.random()
        serve([genuine, own], try given([own], by: fake))
        let error = try #require(try sealing(container())?.error)
        #expect(error.code == .serverRejectedRequest && error.localizedDescription.contains("none in common"))
        #expect(error.ofMissingKeys.keepsChangePending)
        // The owner has what the link has brought. Nothing of the other key was remembered.
        serve([genuine, next], try given([genuine, next], by: bob))
        #expect(try sealing(container())?.get() == next)
        serve([genuine, next, own], try given([genuine, next, own], by: fake))
        #expect(try sealing(container())?.error?.changedKeyUserRecordID?.recordName == "_bob")
    }

    @Test func `R-270: without the account's key a device asks for it`() throws {
        let (bob, secret) = (X25519KeyPair.random(), ZoneSecret.random())
        let account = try #require(self.secret)
        stored.change { state in
            state.account.mode = .endToEnd
            state.account.id = account.id
        }
        serve([secret], try given([secret], by: bob))
        let container = container()
        #expect(try sealing(container)?.error?.code == .accountTemporarilyUnavailable)
        try scheduler.complete { try await container.importRecoveryKey(RecoveryKey.text(of: account.key)) }
        #expect(try sealing(container)?.get() == secret)
    }

    @Test func `R-268: an account without a key gets one when a zone needs it`() throws {
        stored.change { $0.account.mode = .endToEnd }
        let secret = ZoneSecret.random()
        serve([secret], nil)
        #expect(try sealing(container())?.error?.code == .serverRejectedRequest)
        let made = stored.current.account
        let kept = try #require(try store.key(for: keyName).flatMap(AccountSecret.init))
        #expect(made.id == kept.id && made.key.isEmpty, "no server has the key")
        #expect(made.publicKey == kept.pair(in: identifier).publicKey)
        let before = count(.saveAccountKey)
        #expect(try sealing(container())?.error?.code == .serverRejectedRequest)
        #expect(count(.saveAccountKey) == before, "it is told once")
    }
}
