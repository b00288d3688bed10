// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFields

@testable import TidemarkKit

@Suite struct ValueCipherTests {
    private let secret = ZoneSecret.random()

    private func cipher(
        container: String = "iCloud.test", zone: String = "Notes", owner: String = CKCurrentUserDefaultName,
        record: String = "r"
    ) -> ValueCipher {
        ValueCipher(
            container: container,
            recordID: CKRecord.ID(
                recordName: record, zoneID: CKRecordZone.ID(zoneName: zone, ownerName: owner)))
    }

    private func fields() throws -> FieldMap {
        try FieldMap([
            Field("a", .string("secret"), isEncrypted: true), Field("b", .string("open")),
            Field("c", .int64s([1, 2]), isEncrypted: true), Field("d", .removed, isEncrypted: true),
        ])
    }

    @Test func `R-067: sealed fields keep their keys and what is plain, and open to what they were`() throws {
        let fields = try fields()
        let sealed = try cipher().seal(fields, with: secret, keys: .app)
        #expect(sealed.keys == fields.keys)
        #expect(sealed["b"]?.type == .string && sealed["d"]?.type == .removed)
        #expect(sealed["a"]?.type == .bytes && sealed["c"]?.isEncrypted == true)
        #expect(sealed.sealingKeyIDs == [secret.id])
        #expect(try cipher().seal(fields, with: secret, keys: .app) != sealed, "a nonce is used once")
        let opened = try cipher().open(sealed, keys: .app) { $0 == secret.id ? [secret] : [] }
        #expect(opened == fields)
    }

    @Test func `R-859: of several keys under one id the one that fits opens, wherever it is among them`() throws {
        let sealed = try cipher().seal(try fields(), with: secret, keys: .app)
        let others = (0..<2).map { _ in ZoneSecret(id: secret.id, key: ZoneSecret.random().key) }
        for place in 0...2 {
            let candidates = Array(others.prefix(place)) + [secret] + Array(others.dropFirst(place))
            let opened = try cipher().open(sealed, keys: .app) { _ in candidates }
            #expect(try opened == fields(), "\(place)")
        }
        #expect(throws: ValueCipher.Trouble.self) { try cipher().open(sealed, keys: .app) { _ in others } }
    }

    @Test func `R-021: who sees the zone under another owner's name opens the same`() throws {
        let sealed = try cipher().seal(try fields(), with: secret, keys: .app)
        #expect(try cipher(owner: "_someone").open(sealed, keys: .app) { _ in [secret] } == fields())
    }

    @Test func `R-219: moved to another place, or opened by another key, nothing opens`() throws {
        let sealed = try cipher().seal(try fields(), with: secret, keys: .app)
        let others = [
            cipher(container: "iCloud.other"), cipher(zone: "Other"), cipher(record: "s"),
            // Lengths are told apart from content.
            cipher(zone: "Notesr", record: ""), cipher(zone: "Note", record: "sr"),
        ]
        for other in others {
            #expect(throws: ValueCipher.Trouble.self) { try other.open(sealed, keys: .app) { _ in [secret] } }
        }
        #expect(throws: ValueCipher.Trouble.self) { try cipher().open(sealed, keys: .app) { _ in [.random()] } }
        let renamed = try FieldMap(
            sealed.map { Field($0.key == "a" ? "aa" : $0.key, try $0.value(), isEncrypted: $0.isEncrypted) })
        #expect(throws: ValueCipher.Trouble.self) { try cipher().open(renamed, keys: .app) { _ in [secret] } }
        do throws(ValueCipher.Trouble) {
            _ = try cipher().open(sealed, keys: .app) { _ in [] }
            Issue.record("there was no key")
        } catch {
            if case .keyMissing(secret.id) = error {} else { Issue.record("\(error)") }
        }
    }

    @Test func `R-067: what must not be encrypted is not taken out of ciphertext either`() throws {
        let reference = try FieldMap([
            Field("a", .reference(FieldReference(recordName: "x", action: .none)), isEncrypted: true)
        ])
        let sealed = try cipher().seal(reference, with: secret, keys: .app)
        #expect(throws: ValueCipher.Trouble.self) { try cipher().open(sealed, keys: .app) { _ in [secret] } }
    }

    @Test func `R-082: what is too large once it is encrypted is said to be`() throws {
        let fields = try FieldMap([
            Field("a", .bytes(Array(repeating: 1, count: FieldLimits.standard.byteCountMax - 30)), isEncrypted: true)
        ])
        #expect(throws: FieldError.self) { try cipher().seal(fields, with: secret, keys: .app) }
    }

    @Test func `a zone's key opens by the account's key, for its zone and container alone`() throws {
        let account = try #require(AccountSecret(AccountSecret.randomKey()))
        let other = try #require(AccountSecret(AccountSecret.randomKey()))
        #expect(account.id != other.id && account.id.count == 16)
        let wrapped = account.wrap(secret, container: "c", zoneName: "z")
        #expect(wrapped.count == 60)
        #expect(account.unwrap(wrapped, id: secret.id, container: "c", zoneName: "z") == secret)
        #expect(other.unwrap(wrapped, id: secret.id, container: "c", zoneName: "z") == nil)
        #expect(account.unwrap(wrapped, id: secret.id, container: "d", zoneName: "z") == nil)
        #expect(account.unwrap(wrapped, id: secret.id, container: "c", zoneName: "y") == nil)
        #expect(account.unwrap(wrapped, id: account.id, container: "c", zoneName: "z") == nil)
        #expect(account.unwrap([1, 2], id: secret.id, container: "c", zoneName: "z") == nil)
        #expect(AccountSecret([1, 2, 3]) == nil)
    }
}
