// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkDomain
import TidemarkStore
import TidemarkTestKit

/// What the article *Encrypted values* promises.
@Suite struct DiaryTests {
    private static let day = "2026-11-26"

    @Test func `R-067: another device reads a page, and its text is no plain field`() async throws {
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let (phone, laptop) = (
            Diary(container: alice.device("phone").container), Diary(container: alice.device("laptop").container)
        )
        try await phone.write("Rain all day.", on: Self.day)
        try await phone.write("Rain till noon.", on: Self.day)
        #expect(try await laptop.text(on: Self.day) == "Rain till noon.")
        let page = try await alice.database.record(for: CKRecord.ID(recordName: Self.day, zoneID: phone.zoneID))
        #expect(page.allKeys() == ["day"] && page["text"] == nil)
    }

    @Test func `R-067: what can go wrong in an escrowed account`() async throws {
        let cloud = TestCloud()
        let container = cloud.account("alice").device("phone").container
        let diary = Diary(container: container)
        try await diary.write("Rain all day.", on: Self.day)

        func code(_ work: () async throws -> Void) async throws -> CKError.Code { try await failure(work).code }
        let id = CKRecord.ID(recordName: "other", zoneID: diary.zoneID)
        let plain = CKRecord(recordType: "Page", recordID: id)
        plain["text"] = "in the clear"
        #expect(try await code { try await container.privateCloudDatabase.save(plain) } == .invalidArguments)
        let reference = CKRecord(recordType: "Page", recordID: id)
        reference.encryptedValues["text"] = CKRecord.Reference(recordID: id, action: .none)
        #expect(try await code { try await container.privateCloudDatabase.save(reference) } == .invalidArguments)
        let asset = CKRecord(recordType: "Page", recordID: id)
        asset.encryptedValues["text"] = CKAsset(fileURL: URL(fileURLWithPath: "/etc/hostname"))
        #expect(try await code { try await container.privateCloudDatabase.save(asset) } == .invalidArguments)
        let open = CKRecord(recordType: "Page", recordID: CKRecord.ID(recordName: "open"))
        open.encryptedValues["text"] = "for all"
        #expect(try await code { try await container.publicCloudDatabase.save(open) } == .invalidArguments)
        #expect(try await code { _ = try await diary.recoveryKey() } == .invalidArguments)
        let key = Array(repeating: "AAAAAA", count: 10).joined(separator: "-")
        #expect(try await code { try await diary.enter(key) } == .invalidArguments)
    }

    @Test func `with end-to-end encryption a new device reads once it has the recovery key`() async throws {
        try await KeyWorld.with { world in
            _ = try await world.admin.setEncryptionMode(.endToEnd, of: world.alice, resets: false)
            try await world.withServer(masterKeyFile: nil) { site in
                let phone = Diary(container: site.makeContainer("phone"))
                let laptop = Diary(container: site.makeContainer("laptop"))
                try await phone.write("Rain all day.", on: Self.day)
                let error = try await failure { try await laptop.text(on: Self.day) }
                #expect(error.code == .accountTemporarilyUnavailable)
                #expect(error.localizedDescription.contains("this device does not have its key"))
                let key = try await phone.recoveryKey()
                #expect(key.split(separator: "-").map(\.count) == Array(repeating: 6, count: 10))
                try await laptop.enter(key.lowercased())
                #expect(try await laptop.text(on: Self.day) == "Rain all day.")
            }
        }
    }
}
