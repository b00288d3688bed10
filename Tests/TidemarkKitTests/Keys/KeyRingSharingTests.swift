// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Keys of zones that others share, on a server that answers as a test says.
@Suite struct KeyRingSharingTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let container: CKContainer
    private let zoneID = CKRecordZone.ID(zoneName: "Plans", ownerName: "_bob")

    init() {
        server = ScriptedServer(scheduler)
        container = .scripted(server, scheduler)
    }

    /// The server wraps these keys for the account that asks, once it has a key.
    ///
    /// - Parameter hasKey: whether it has one from the beginning.
    private func serve(_ secrets: [String: ZoneSecret], _ account: AccountSecret?) {
        let kept = Locked(account)
        let identifier = container.containerIdentifier ?? ""
        server.answer { envelope in
            switch envelope.request {
            case .saveAccountKey(let request):
                kept.withLock { $0 = AccountSecret(request.account.key) }
                var answer = WireSaveAccountKeyAnswer()
                answer.account = request.account
                return .saveAccountKey(answer)
            case .fetchKeys(let request):
                var answer = WireFetchKeysAnswer()
                answer.account.mode = .escrowed
                let account = kept.withLock { $0 }
                if let account { (answer.account.id, answer.account.key) = (account.id, account.key) }
                answer.zones = request.zones.map { zone in
                    var result = WireZoneKeysResult()
                    guard let account, let secret = secrets[zone.owner] else {
                        result.failure.code = .serverRejectedRequest
                        return result
                    }
                    var key = WireZoneKey()
                    (key.id, key.accountKeyID) = (secret.id, account.id)
                    key.wrapped = account.wrap(secret, container: identifier, zoneName: zone.name)
                    result.keys.keys = [key]
                    return result
                }
                return .fetchKeys(answer)
            default: return nil
            }
        }
    }

    private func account() throws -> AccountSecret { try #require(AccountSecret(AccountSecret.randomKey())) }

    /// A note whose text is encrypted with that key.
    private func sealed(_ name: String, in zoneID: CKRecordZone.ID, with secret: ZoneSecret) throws -> CKRecord {
        let id = CKRecord.ID(recordName: name, zoneID: zoneID)
        let cipher = ValueCipher(container: container.containerIdentifier ?? "", recordID: id)
        let fields = try cipher.seal(
            try FieldMap([Field("text", .string(name), isEncrypted: true)]), with: secret, keys: .app)
        return CKRecord(
            recordID: id, recordType: "Note", fields: fields,
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
    }

    private func plain(_ name: String) -> CKRecord {
        CKRecord(
            recordID: CKRecord.ID(recordName: name, zoneID: zoneID), recordType: "Note", fields: FieldMap(),
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
    }

    /// What an engine would tell of these records: their texts, or the error's code.
    private func unsealed(_ records: [CKRecord]) throws -> [String] {
        let fetched = records.map { (id: $0.recordID, result: Result<CKRecord, CKError>.success($0)) }
        return try scheduler.complete { [container] in
            try await container.sharedCloudDatabase.cloud.unsealed(fetched, missing: .leaveOut).map { item in
                switch item.result {
                case .success(let record): record.encryptedValues["text"] as? String ?? "none"
                case .failure(let error): "\(error.code)"
                }
            }
        }
    }

    @Test func `R-067: an account without a key gets one before it asks for the keys of another's zone`() throws {
        let secret = ZoneSecret.random()
        serve(["_bob": secret], nil)
        #expect(try unsealed([sealed("n", in: zoneID, with: secret)]) == ["n"])
        #expect(
            server.log.filter { $0.hasSuffix("Keys") || $0.hasSuffix("Key") }
                == ["alice fetchKeys", "alice saveAccountKey", "alice fetchKeys"])
        #expect(try unsealed([sealed("m", in: zoneID, with: secret)]) == ["m"], "asked once")
        #expect(server.log.count { $0.hasSuffix("fetchKeys") } == 2)
    }

    @Test func `R-067: another owner's key with the same id opens nothing here, and encrypts nothing here`() throws {
        let secret = ZoneSecret.random()
        let forged = ZoneSecret(id: secret.id, key: ZoneSecret.random().key)
        serve(["_bob": secret, "_mallory": forged], try account())
        let other = CKRecordZone.ID(zoneName: "Plans", ownerName: "_mallory")
        #expect(try unsealed([sealed("m", in: other, with: forged)]) == ["m"])
        #expect(try unsealed([sealed("n", in: zoneID, with: secret)]) == ["n"])
        let newest = try scheduler.complete { [container, zoneID] in
            try await container.sharedCloudDatabase.cloud.sealingSecrets(of: [zoneID])[zoneID]?.get()
        }
        #expect(newest == secret)
    }

    @Test func `R-219: where the keys are not to be had, records fail one by one, and the others are told`() throws {
        serve([:], try account())
        let records = [try sealed("n", in: zoneID, with: .random()), plain("p")]
        #expect(try unsealed(records) == ["serverRejectedRequest", "none"])
    }

    // MARK: Requests for keys that fail as a whole

    private func refuseKeys(_ code: WireErrorCode) {
        server.answer { envelope in
            guard case .fetchKeys? = envelope.request else { return nil }
            var failure = WireFailure()
            failure.code = code
            return .failure(failure)
        }
    }

    /// Saves "n", which has an encrypted value, and "p", which has none. The server finds the zone of neither.
    ///
    /// - Returns: the error of each.
    private func save() throws -> [String: CKError] {
        try scheduler.complete { [container, zoneID] in
            let records = ["n", "p"].map {
                CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: $0, zoneID: zoneID))
            }
            records[0].encryptedValues["text"] = "n"
            let results = try await container.sharedCloudDatabase.cloud.modifyRecords(
                saving: records, deleting: [], policy: .ifServerRecordUnchanged, atomically: false)
            var errors: [String: CKError] = [:]
            for (id, result) in results.saves {
                if case .failure(let error) = result { errors[id.recordName] = error }
            }
            return errors
        }
    }

    @Test(arguments: [WireErrorCode.serviceUnavailable, .zoneBusy, .internalError])
    func `R-067, R-373: without keys now, the records that need them stay pending, and the others go`(
        code: WireErrorCode
    ) throws {
        refuseKeys(code)
        let errors = try save()
        #expect(errors["n"]?.keepsChangePending == true && errors["n"]?.code != .zoneNotFound)
        #expect(errors["n"]?.isOfMissingKeys == true && errors["n"]?.leavesOutcomeOpen == false, "it was not sent")
        #expect(errors["p"]?.code == .zoneNotFound, "it was sent")
        serve(["_bob": .random()], try account())
        #expect(try save().mapValues(\.code) == ["n": .zoneNotFound, "p": .zoneNotFound], "both were sent")
    }

    @Test func `R-067, R-157: a record whose zone has no keys for now was not sent, and the others go`() throws {
        let account = try account()
        server.answer { envelope in
            guard case .fetchKeys(let request)? = envelope.request else { return nil }
            var answer = WireFetchKeysAnswer()
            answer.account.mode = .escrowed
            (answer.account.id, answer.account.key) = (account.id, account.key)
            answer.zones = request.zones.map { _ in
                var result = WireZoneKeysResult()
                result.failure.code = .serviceUnavailable
                return result
            }
            return .fetchKeys(answer)
        }
        let errors = try save()
        #expect(errors["n"]?.code == .serviceUnavailable && errors["n"]?.leavesOutcomeOpen == false)
        #expect(errors["p"]?.code == .zoneNotFound, "it was sent")
    }

    @Test(arguments: [WireErrorCode.serviceUnavailable, .zoneBusy, .internalError, .serverRejectedRequest])
    func `R-219, I-2: a page is fetched again if no keys can be had now, and nothing of it is told`(
        code: WireErrorCode
    ) throws {
        let secret = ZoneSecret.random()
        let records = [try sealed("n", in: zoneID, with: secret), plain("p")]
        refuseKeys(code)
        #expect(throws: CKError.self) { try unsealed(records) }
        serve(["_bob": secret], try account())
        #expect(try unsealed(records) == ["n", "none"])
    }
}
