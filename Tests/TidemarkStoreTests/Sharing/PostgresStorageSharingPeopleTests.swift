// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct PostgresStorageSharingPeopleTests {
    @Test func `R-314: an address is one account's, and finds its user in a container`() async throws {
        try await SharingFixture.run { fixture in
            let (admin, storage) = (AdminStore(fixture.storage), fixture.storage)
            let (alice, bob) = (fixture.alice.account, fixture.bob.account)
            let (email, phone) = ("bob@example.org", "+4412345678")
            #expect(try await admin.addAddress(phone, kind: .phone, to: bob))
            for _ in 0..<2 { #expect(try await admin.addAddress(email, kind: .email, to: bob)) }
            #expect(try await !admin.addAddress(email, kind: .email, to: alice))
            #expect(try await admin.addresses(of: bob).map(\.text) == [phone, email])
            #expect(try await admin.addresses(of: bob).map(\.kind) == [.phone, .email])
            #expect(try await storage.addresses(of: fixture.bob.user) == [phone, email])
            let found = try await storage.users(withAddresses: [email, "x@y", phone], in: SharingFixture.container)
            #expect(found == [email: fixture.bob.user, phone: fixture.bob.user])
            let others = ContainerKey(identifier: "iCloud.other", environment: .development)
            #expect(try await storage.users(withAddresses: [email], in: others) == [:])
            #expect(try await !admin.removeAddress(email, of: alice))
            #expect(try await admin.removeAddress(email, of: bob))
            #expect(try await storage.addresses(of: fixture.bob.user) == [phone])
        }
    }

    @Test func `R-779: an operator sets a person's name, replaces it and clears it, and no long one is stored`()
        async throws
    {
        try await SharingFixture.run { fixture in
            let admin = AdminStore(fixture.storage)
            let (alice, shown) = (fixture.alice, SharingRead.shown(to: fixture.alice.user))
            func name() async throws -> PersonName? {
                let listed = try await admin.accounts().first(where: { $0.id == alice.account })?.personName
                let sharing = try await fixture.storage.sharing(of: fixture.zone, shown)?.sharing
                let expected: [UserID: PersonName] = listed.map { [alice.user: $0] } ?? [:]
                #expect(sharing?.personNames == expected)
                return listed
            }
            #expect(try await name() == nil)
            for (given, family) in [("Alice", "Liddell"), ("Alice", ""), ("", "Pleasance"), ("", "")] {
                let set = PersonName(given: given, family: family)
                for _ in 0..<2 { try await admin.setPersonName(set, of: alice.account) }
                #expect(try await name() == set)
            }
            let long = PersonName(given: String(repeating: "a", count: 129), family: "")
            await #expect(throws: StorageError.self) { try await admin.setPersonName(long, of: alice.account) }
            #expect(try await name() == nil)
            #expect(try await admin.accounts().filter { $0.personName != nil }.isEmpty, "nobody else has one")
        }
    }

    @Test func `R-353: owners are found by their names and by their databases`() async throws {
        try await SharingFixture.run { fixture in
            let (storage, alice) = (fixture.storage, fixture.alice)
            let owner = ZoneOwner(
                user: alice.user, recordName: alice.userRecordName, privateDatabase: alice.privateDatabase)
            let named = try await storage.owners(named: [owner.recordName, "_none"], in: SharingFixture.container)
            #expect(named == [owner.recordName: owner])
            let owners = try await storage.owners(of: [alice.privateDatabase, alice.sharedDatabase])
            #expect(owners == [alice.privateDatabase: owner])
        }
    }
}
