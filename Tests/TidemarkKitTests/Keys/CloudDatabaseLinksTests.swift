// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkCrypto
import TidemarkFields
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Keys that a link brings, on a server that has none of them.
@Suite struct CloudDatabaseLinksTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let store = MemoryKeyStore()
    private let zoneID = CKRecordZone.ID(zoneName: "Plans for May", ownerName: "_bob")
    private let container: CKContainer

    init() {
        server = ScriptedServer(scheduler)
        container = CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: "alice", transport: server,
                scheduler: scheduler, engineScheduler: scheduler, keyStore: store))
    }

    /// The server tells the ids of the zone's keys alone. The account is end-to-end encrypted, and its key is elsewhere.
    ///
    /// - Parameter retired: saves under these keys are refused. All others meet a zone that is not there.
    private func serve(_ secrets: [ZoneSecret], retired: [ZoneSecret] = [], owner: String = "_bob") {
        let zone = WireZoneID.named("Plans for May", of: owner)
        server.answer { envelope in
            switch envelope.request {
            case .fetchKeys(let request):
                #expect(request.knowsLinks)
                var answer = WireFetchKeysAnswer()
                answer.account.mode = .endToEnd
                answer.account.id = [UInt8](repeating: 1, count: 16)
                answer.zones = request.zones.map { _ in
                    var result = WireZoneKeysResult()
                    result.keys.keys = secrets.map { secret in
                        var key = WireZoneKey()
                        key.id = secret.id
                        return key
                    }
                    return result
                }
                return .fetchKeys(answer)
            case .modifyRecords(let request):
                var answer = WireModifyRecordsAnswer()
                answer.zones = request.zones.map { zone in
                    var results = WireZoneModificationResults()
                    results.saves = zone.saves.map { save in
                        let ids = Self.keyIDs(save)
                        let isRefused = retired.contains { ids.contains($0.id) }
                        var result = WireSaveResult()
                        result.failure.failure.code = isRefused ? .serverRejectedRequest : .zoneNotFound
                        result.failure.failure.zoneKeyUnknown = isRefused
                        return result
                    }
                    return results
                }
                return .modifyRecords(answer)
            case .fetchShareMetadata(let request):
                var answer = WireFetchShareMetadataAnswer()
                answer.results = request.links.map { _ in Self.metadata(of: zone) }
                return .fetchShareMetadata(answer)
            case .acceptShares(let request):
                var answer = WireAcceptSharesAnswer()
                answer.results = request.links.map { _ in Self.metadata(of: zone) }
                return .acceptShares(answer)
            default: return nil
            }
        }
    }

    private static func keyIDs(_ save: WireRecordSave) -> [[UInt8]] {
        (try? FieldMap(validating: save.fields))?.sealingKeyIDs ?? []
    }

    private static func metadata(of zone: WireZoneID) -> WireShareMetadataResult {
        var result = WireShareMetadataResult()
        result.metadata.zone = zone
        result.metadata.share = .share(owner: "_bob", [.person(1, "", .accepted)], link: "L")
        (result.metadata.role, result.metadata.status) = (.privateUser, .accepted)
        result.metadata.permission = .readWrite
        result.metadata.owner = .owner("_bob")
        return result
    }

    private func url(_ secrets: some Collection<ZoneSecret>) throws -> URL {
        let keys = try #require(ZoneLinkKeys(secrets))
        return try #require(URL(string: "https://cloud.example.org/share/L#\(keys.fragment)"))
    }

    /// Accepts the share by a URL.
    private func accept(_ url: URL) throws {
        try scheduler.complete { [container] in
            let metadata = try await container.shareMetadata(for: url)
            try await container.accept(metadata)
        }
    }

    /// A note of the server, encrypted with that key.
    private func note(_ secret: ZoneSecret) throws -> CKRecord {
        let id = CKRecord.ID(recordName: "n", zoneID: zoneID)
        let cipher = ValueCipher(container: container.containerIdentifier ?? "", recordID: id)
        let fields = try cipher.seal(
            try FieldMap([Field("text", .string("secret"), isEncrypted: true)]), with: secret, keys: .app)
        return CKRecord(
            recordID: id, recordType: "Note", fields: fields,
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
    }

    /// The text of a note that is encrypted with that key, or the error's code.
    private func read(_ secret: ZoneSecret) throws -> String {
        let record = try note(secret)
        return try scheduler.complete { [container] in
            let found = try await container.sharedCloudDatabase.cloud.unsealed([(record.recordID, .success(record))])
            switch found.first?.result {
            case .success(let record): return record.encryptedValues["text"] as? String ?? "none"
            case .failure(let error): return "\(error.code)"
            case nil: return "nothing"
            }
        }
    }

    /// Saves a note with an encrypted value, as an engine does.
    private func save() throws -> CKError? {
        try scheduler.complete { [container, zoneID] in
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "e", zoneID: zoneID))
            record.encryptedValues["text"] = "edited"
            let results = try await container.sharedCloudDatabase.cloud.modifyRecords(
                saving: [record], deleting: [], policy: .ifServerRecordUnchanged, atomically: false)
            return results.saves[record.recordID]?.error
        }
    }

    /// With which keys the saves that were sent so far are encrypted.
    private var sentKeyIDs: [[UInt8]] {
        server.envelopes.flatMap { envelope -> [[UInt8]] in
            guard case .modifyRecords(let request) = envelope.request else { return [] }
            return request.zones.flatMap { $0.saves.flatMap(Self.keyIDs) }
        }
    }

    private func sealing(_ other: CKContainer? = nil) throws -> Result<ZoneSecret, CKError>? {
        let container = other ?? container
        return try scheduler.complete { [zoneID] in
            try await container.sharedCloudDatabase.cloud.sealingSecrets(of: [zoneID])[zoneID]
        }
    }

    /// The same app after a start, with what is in the file of keys.
    private func restarted() -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: container.containerIdentifier ?? "", token: "alice", transport: server,
                scheduler: scheduler, engineScheduler: scheduler, keyStore: store))
    }

    /// The server has the account's key, and hands on these keys of the zone, wrapped with it. Nil: it says that it has none to give.
    private func offer(_ secrets: [ZoneSecret]?) throws {
        let account = try #require(AccountSecret(AccountSecret.randomKey()))
        let name = container.containerIdentifier ?? ""
        server.answer { envelope in
            guard case .fetchKeys(let request) = envelope.request else { return nil }
            var answer = WireFetchKeysAnswer()
            answer.account.mode = .escrowed
            (answer.account.id, answer.account.key) = (account.id, account.key)
            answer.zones = request.zones.map { zone in
                var result = WireZoneKeysResult()
                guard let secrets else {
                    result.failure.code = .serverRejectedRequest
                    return result
                }
                result.keys.keys = secrets.map { secret in
                    var key = WireZoneKey()
                    (key.id, key.accountKeyID) = (secret.id, account.id)
                    key.wrapped = account.wrap(secret, container: name, zoneName: zone.name)
                    return key
                }
                return result
            }
            return .fetchKeys(answer)
        }
    }

    @Test func `R-858: keys of a link open and encrypt, and no request has anything of them`() throws {
        let (old, new) = (ZoneSecret.random(), ZoneSecret.random())
        serve([old, new])
        #expect(try read(new) == "serverRejectedRequest")
        #expect(try sealing()?.error?.code == .serverRejectedRequest)
        let url = try url([old, new])
        try accept(url)
        #expect(try read(old) == "secret" && read(new) == "secret")
        #expect(try sealing()?.get() == new, "the newest by what the server says")
        let fragment = try #require(url.fragment)
        for envelope in server.envelopes {
            #expect(!"\(envelope)".contains(fragment))
            switch envelope.request {
            case .fetchShareMetadata(let request): #expect(request.links == ["L"])
            case .acceptShares(let request): #expect(request.links == ["L"])
            case .saveZoneKey, .saveAccountKey: Issue.record("a key was made")
            default: break
            }
        }
    }

    @Test func `R-858: what a link has brought is there after a start, and for that zone alone`() throws {
        let secret = ZoneSecret.random()
        serve([secret])
        try accept(try url([secret]))
        let again = restarted()
        let other = CKRecordZone.ID(zoneName: "May", ownerName: "_bob Plans for")
        let found = try scheduler.complete { [zoneID] in
            try await again.sharedCloudDatabase.cloud.sealingSecrets(of: [zoneID, other])
        }
        #expect(try found[zoneID]?.get() == secret)
        #expect(found[other]?.error?.code == .serverRejectedRequest)
    }

    @Test func `R-859: after a change of the key nothing is encrypted with the old one, until a new link is accepted`()
        throws
    {
        let (old, new) = (ZoneSecret.random(), ZoneSecret.random())
        serve([old])
        try accept(try url([old]))
        #expect(try sealing()?.get() == old)
        serve([old, new])
        // The key is not known here, so the ring asks. What it has stays readable.
        #expect(try read(new) == "serverRejectedRequest")
        #expect(try read(old) == "secret")
        #expect(try sealing()?.error?.code == .serverRejectedRequest)
        try accept(try url([old, new]))
        #expect(try sealing()?.get() == new)
        #expect(try read(new) == "secret")
    }

    @Test func `R-859, R-967: what is refused for its key stays pending, and goes with the key of a new link`() throws {
        let (old, new) = (ZoneSecret.random(), ZoneSecret.random())
        serve([old])
        let early = try #require(try save())
        #expect(early.code == .accountTemporarilyUnavailable && early.keepsChangePending, "a key may be given")
        try accept(try url([old]))
        #expect(try sealing()?.get() == old)
        serve([old, new], retired: [old])
        for _ in 0..<2 {
            let refused = try #require(try save())
            #expect(refused.code == .accountTemporarilyUnavailable && refused.keepsChangePending)
            #expect(refused.isOfMissingKeys && !refused.leavesOutcomeOpen)
            #expect(refused.localizedDescription.contains("urlWithKeys"))
            #expect(sentKeyIDs == [old.id], "tried once, and not again with the old key")
        }
        try accept(try url([old, new]))
        #expect(try save()?.code == .zoneNotFound, "it was sent")
        #expect(sentKeyIDs == [old.id, new.id])
    }

    @Test func `R-967: an edit that meets two changes of the key stays pending`() throws {
        let (old, new) = (ZoneSecret.random(), ZoneSecret.random())
        serve([old, new], retired: [old, new])
        try accept(try url([old, new]))
        // The server retires the key that it has just named, because the owner has changed it again.
        #expect(try save()?.keepsChangePending == true)
        #expect(sentKeyIDs == [new.id, new.id])
    }

    @Test func `R-859: an edit that meets a record under the new key stays pending until the new link`() throws {
        let (old, new) = (ZoneSecret.random(), ZoneSecret.random())
        serve([old])
        try accept(try url([old]))
        serve([old, new])
        func meet() throws -> CKError? {
            let record = try note(new)
            return try scheduler.complete { [container] in
                let mine = CKRecord(recordType: "Note", recordID: record.recordID)
                var results = CloudDatabase.RecordResults()
                results.saves[mine.recordID] = .failure(CKError(serverRecordChanged: record, client: mine))
                try await container.sharedCloudDatabase.cloud.unsealConflicts(&results)
                return results.saves[mine.recordID]?.error
            }
        }
        let refused = try #require(try meet())
        #expect(refused.code == .accountTemporarilyUnavailable && refused.keepsChangePending)
        try accept(try url([old, new]))
        let conflict = try #require(try meet())
        #expect(conflict.code == .serverRecordChanged)
        #expect(conflict.serverRecord?.encryptedValues["text"] as? String == "secret")
    }

    @Test func `R-859: once a link has brought keys of a zone, no key counts that a server hands on`() throws {
        let genuine = ZoneSecret.random()
        let forged = ZoneSecret(id: genuine.id, key: ZoneSecret.random().key)
        // Before that, the device has to believe the server.
        try offer([forged])
        #expect(try sealing()?.get() == forged)
        serve([genuine])
        try accept(try url([genuine]))
        #expect(try sealing()?.get() == genuine)
        // Under the known id, to an app that was started again.
        try offer([forged])
        let again = restarted()
        #expect(try sealing(again)?.get() == genuine)
        // Under a new id as the newest, no key at all, and none that the server can give.
        let offers: [[ZoneSecret]?] = [[genuine, .random()], [], nil]
        for offered in offers {
            try offer(offered)
            let started = restarted()
            #expect(try sealing(started)?.error?.code == .serverRejectedRequest, "\(offered?.count ?? -1)")
            #expect(try sealing(started)?.error?.ofMissingKeys.keepsChangePending == true)
        }
        #expect(!server.log.contains { $0.hasSuffix("saveZoneKey") }, "no key is made that the server can open")
    }

    @Test(arguments: ["_bob", ""])
    func `R-858, R-859: keys that were asked for before a link was opened count only for the zone's owner`(
        owner: String
    ) throws {
        let ring = try container.sharedCloudDatabase.cloud.keys
        let account = try #require(AccountSecret(AccountSecret.randomKey()))
        let (genuine, late) = (ZoneSecret.random(), ZoneSecret.random())
        var wire = WireZoneKey()
        (wire.id, wire.accountKeyID) = (late.id, account.id)
        wire.wrapped = account.wrap(late, container: ring.container, zoneName: zoneID.zoneName)
        serve([genuine], owner: owner)
        try accept(try url([genuine]))
        let own = CKRecordZone.ID(zoneName: zoneID.zoneName)
        let adopted = ring.adopt([wire], of: owner.isEmpty ? own : zoneID, with: account)
        #expect(adopted == (owner.isEmpty ? late : nil))
        #expect(ring.newest(of: owner.isEmpty ? own : zoneID) == adopted)
        // Other zones are as before.
        let other = CKRecordZone.ID(zoneName: zoneID.zoneName, ownerName: "_carol")
        #expect(ring.adopt([wire], of: other, with: account) == late)
    }

    @Test func `R-859: a forged link with a known key's id changes nothing`() throws {
        let secret = ZoneSecret.random()
        serve([secret])
        try accept(try url([secret]))
        #expect(try sealing()?.get() == secret)
        try accept(try url([ZoneSecret(id: secret.id, key: ZoneSecret.random().key)]))
        #expect(try sealing()?.get() == secret)
        #expect(try read(secret) == "secret")
    }

    @Test func `R-859: whoever opened a forged link first reads everything once the genuine one is opened`() throws {
        let (old, new) = (ZoneSecret.random(), ZoneSecret.random())
        let forged = ZoneSecret(id: old.id, key: ZoneSecret.random().key)
        serve([old])
        try accept(try url([forged]))
        #expect(try read(old) == "internalError", "it was encrypted with the genuine key")
        serve([old, new])
        try accept(try url([old, new]))
        for secret in [old, new, forged] { #expect(try read(secret) == "secret") }
        #expect(try sealing()?.get() == new)
        #expect(try sealing(restarted())?.get() == new)
    }

    @Test func `R-859: what finds no room beside the keys of other links is refused, and the share is not accepted`()
        throws
    {
        let genuine = ZoneSecret.random()
        serve([genuine])
        try accept(try url([genuine]))
        for _ in 0..<9 { try accept(try url((0..<100).map { _ in ZoneSecret.random() })) }
        let acceptCount = server.log.count { $0.hasSuffix("acceptShares") }
        let error = #expect(throws: CKError.self) { try accept(try url((0..<100).map { _ in ZoneSecret.random() })) }
        #expect(error?.code == .limitExceeded)
        #expect(server.log.count { $0.hasSuffix("acceptShares") } == acceptCount)
        try accept(try url([genuine]))
        #expect(try sealing(restarted())?.get() == genuine)
    }

    /// The keys in the URL that this device passes on.
    private func passOn() throws -> [ZoneSecret] {
        let plain = try #require(URL(string: "https://cloud.example.org/share/L"))
        let url = try scheduler.complete { [container, zoneID] in
            try await container.sharedCloudDatabase.cloud.urlWithKeys(plain, of: zoneID)
        }
        return try #require(try ZoneLinkKeys(in: url)).secrets
    }

    @Test func `R-858: a participant passes the newest keys on, also if the zone had more before`() throws {
        let all = (0..<20).map { _ in ZoneSecret.random() }
        serve(all)
        try accept(try url(all.suffix(16)))
        #expect(try passOn() == Array(all.suffix(16)))
        #expect(try read(all[0]) == "serverRejectedRequest" && read(all[4]) == "secret")
        // Not without the key that is the newest by now, though this device has not heard of that.
        serve(all + [.random()])
        let error = #expect(throws: CKError.self) { _ = try passOn() }
        #expect(error?.code == .serverRejectedRequest)
    }

    /// The number, or the error's code.
    private func number(of zoneID: CKRecordZone.ID) throws -> String {
        try scheduler.complete { [container] in
            do {
                return try await container.safetyNumber(of: zoneID)
            } catch let error as CKError {
                return "\(error.code)"
            }
        }
    }

    @Test func `R-968: whoever encrypts with another key than the owner has another safety number`() throws {
        let (old, new) = (ZoneSecret.random(), ZoneSecret.random())
        func owners(_ secret: ZoneSecret) -> String {
            let place = [container.containerIdentifier ?? "", "_bob", "Plans for May"].map { Array($0.utf8) }
            return SafetyNumber.text(of: secret.key, parts: place + [secret.id])
        }
        serve([old])
        #expect(try number(of: zoneID) == "serverRejectedRequest", "no key, no number")
        try accept(try url([old]))
        #expect(try number(of: zoneID) == owners(old))
        // The owner changes the key. As long as the server hides that, the numbers differ. When it tells, there is none.
        #expect(try number(of: zoneID) != owners(new))
        serve([old, new])
        #expect(try number(of: zoneID) == "serverRejectedRequest")
        // Somebody has exchanged the key in the new URL, under its id.
        try accept(try url([old, ZoneSecret(id: new.id, key: ZoneSecret.random().key)]))
        let forged = try number(of: zoneID)
        #expect(forged != owners(new) && forged.split(separator: " ").count == 12)
        // The other way round: a server names the old key as the newest.
        serve([new, old])
        #expect(try number(of: zoneID) == owners(old))
    }

    @Test func `R-858: a URL whose keys were cut off accepts nothing, and the server is not asked`() throws {
        let secret = ZoneSecret.random()
        serve([secret])
        let cut = try #require(URL(string: String(try url([secret]).absoluteString.dropLast(3))))
        let error = #expect(throws: CKError.self) { try accept(cut) }
        #expect(error?.code == .invalidArguments)
        #expect(!server.log.contains { $0.hasSuffix("fetchShareMetadata") })
    }

    @Test func `R-858: in the private database a server cannot say that keys come by links`() throws {
        let secret = ZoneSecret.random()
        serve([secret])
        let own = CKRecordZone.ID(zoneName: "Plans for May")
        let failures = try scheduler.complete { [container] in
            try await container.privateCloudDatabase.cloud.fetchKeys(of: [own])
        }
        #expect(failures[own]?.code == .accountTemporarilyUnavailable, "the account's key is asked for")
    }

    @Test func `R-858: keys survive an archive of metadata, and its text does not show them`() throws {
        let secret = ZoneSecret.random()
        serve([secret])
        let url = try url([secret])
        let metadata = try scheduler.complete { [container] in try await container.shareMetadata(for: url) }
        let data = try NSKeyedArchiver.archivedData(withRootObject: metadata, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.Metadata.self, from: data)
        #expect(back?.keys?.secrets == [secret])
        #expect(!metadata.description.contains("keys1."))
    }
}
