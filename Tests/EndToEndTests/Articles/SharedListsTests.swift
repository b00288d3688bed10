// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

@testable import TidemarkTestKit

/// What the article *Sharing* promises.
@Suite struct SharedListsTests {
    private let cloud = TestCloud()
    private let list = CKRecordZone.ID(zoneName: "Shopping")

    private func makeLists(_ account: String, _ device: String = "phone") async -> ShoppingLists {
        let lists = ShoppingLists(container: cloud.account(account).device(device).container)
        await lists.start()
        return lists
    }

    private func texts(_ lists: ShoppingLists) async -> [String] {
        await lists.items.values.map(\.text).sorted()
    }

    /// alice has milk on her list, and shares it by a link, with which bob joins.
    private func share(
        _ permission: CKShare.ParticipantPermission
    ) async throws -> (alice: ShoppingLists, bob: ShoppingLists, joined: CKRecordZone.ID) {
        let (alice, bob) = (await makeLists("alice"), await makeLists("bob"))
        await alice.write("milk", as: "1", in: list)
        try await cloud.settle()
        let url = try #require(try await alice.publish(list, permission))
        let joined = try await bob.join(url)
        try await cloud.settle()
        return (alice, bob, joined)
    }

    @Test func `R-317, R-320, R-323, R-555: two people edit one list`() async throws {
        let (alice, bob, joined) = try await share(.readWrite)
        #expect(joined.zoneName == "Shopping" && joined.ownerName != CKCurrentUserDefaultName)
        #expect(await texts(bob) == ["milk"])
        #expect(await bob.mayWrite(in: joined))

        await bob.write("bread", as: "2", in: joined)
        await alice.write("oat milk", as: "1", in: list)
        try await cloud.settle()
        for lists in [alice, bob] { #expect(await texts(lists) == ["bread", "oat milk"]) }
        #expect(await alice.shares[list]?.participants.count == 2)
        #expect(await alice.problems.isEmpty)
        #expect(await bob.problems.isEmpty)

        // Another device of bob's has it without joining again.
        let laptop = await makeLists("bob", "laptop")
        try await cloud.settle()
        #expect(await texts(laptop) == ["bread", "oat milk"])
        #expect(await laptop.mayWrite(in: joined))
    }

    @Test func `R-970: a one-time URL lets one person in, and nobody after them`() async throws {
        let (alice, bob) = (await makeLists("alice"), await makeLists("bob"))
        let carol = await makeLists("carol")
        await alice.write("milk", as: "1", in: list)
        try await cloud.settle()
        let url = try #require(try await alice.inviteOnce(to: list))
        let joined = try await bob.join(url)
        try await cloud.settle()
        #expect(await texts(bob) == ["milk"])
        #expect(await bob.mayWrite(in: joined))
        let error = await #expect(throws: CKError.self) { _ = try await carol.join(url) }
        #expect(error?.code == .unknownItem)
    }

    @Test func `R-972, R-973: people ask for a list, and those who are welcome join it`() async throws {
        let (alice, bob) = (await makeLists("alice"), await makeLists("bob"))
        let mallory = await makeLists("mallory")
        cloud.account("bob").setName(given: "Bob", family: nil)
        await alice.write("milk", as: "1", in: list)
        try await cloud.settle()
        let url = try #require(try await alice.allowRequests(for: list))
        for asking in [bob, mallory] { try await asking.ask(url) }
        // alice's engine brings the requests.
        try await cloud.settle()
        #expect(await alice.shares[list]?.requesters.count == 2)
        try await alice.answerRequests(for: list) { $0.nameComponents?.givenName == "Bob" }
        #expect(await alice.shares[list]?.requesters.isEmpty == true)
        _ = try await bob.join(url)
        let error = await #expect(throws: CKError.self) { _ = try await mallory.join(url) }
        #expect(error?.code == .unknownItem)
        try await cloud.settle()
        #expect(await texts(bob) == ["milk"])
        let again = await #expect(throws: CKError.self) { try await bob.ask(url) }
        #expect(again?.code == .participantAlreadyInvited)
    }

    @Test func `R-307, R-329: who may only read hears that an edit is refused, and has the list as it is`()
        async throws
    {
        let (alice, bob, joined) = try await share(.readOnly)
        #expect(await !bob.mayWrite(in: joined))
        await bob.write("bread", as: "2", in: joined)
        await bob.write("no milk", as: "1", in: joined)
        try await cloud.settle()
        #expect(await Set(bob.problems.keys) == ["1", "2"])
        for lists in [alice, bob] { #expect(await texts(lists) == ["milk"]) }
    }

    @Test func `R-326, R-330: who leaves loses the list, and nobody else does; who stops sharing keeps it`()
        async throws
    {
        let (alice, bob, joined) = try await share(.readWrite)
        try await bob.leave(joined)
        try await cloud.settle()
        #expect(await texts(bob) == [])
        #expect(await texts(alice) == ["milk"])
        #expect(await bob.problems["Shopping"] != nil)

        let url = try #require(await alice.shares[list]?.url)
        #expect(try await bob.join(url) == joined)
        try await cloud.settle()
        #expect(await texts(bob) == ["milk"])
        try await alice.stopSharing(list)
        try await cloud.settle()
        #expect(await texts(bob) == [])
        #expect(await texts(alice) == ["milk"])
        #expect(try await failure { try await bob.join(url) }.code == .unknownItem)
        // the link leads there again.
        #expect(try await alice.publish(list, .readWrite) == url)
    }

    @Test func `R-304, R-306: an app that is started again goes on with its share, and a second share is refused`()
        async throws
    {
        let phone = cloud.account("alice").device("phone")
        let (alice, bob) = (ShoppingLists(container: phone.container), await makeLists("bob"))
        let url = try #require(try await alice.publish(list, .readWrite))
        let joined = try await bob.join(url)
        // It has not fetched yet.
        let restarted = ShoppingLists(container: phone.container)
        #expect(try await restarted.publish(list, .readWrite) == url)
        #expect(await restarted.shares[list]?.participants.count == 2)

        let database = phone.container.privateCloudDatabase
        let error = try await failure { try await database.save(CKShare(recordZoneID: list)) }
        #expect(error.code == .serverRecordChanged)
        #expect((error.serverRecord as? CKShare)?.participants.count == 2)
        await bob.write("bread", as: "1", in: joined)
        try await cloud.settle()
        await restarted.start()
        try await cloud.settle()
        #expect(await texts(restarted) == ["bread"])
        #expect(await bob.problems.isEmpty)
    }

    @Test func `R-318, R-323: an app edits a zone that the test has shared with its user`() async throws {
        let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
        let lists = ShoppingLists(container: bob.device("phone").container)
        await lists.start()
        let list = try await alice.share(CKRecordZone.ID(zoneName: "Shopping"), with: bob)
        await lists.write("bread", as: "1", in: list)
        try await cloud.settle()
        let bread = CKRecord.ID(recordName: "1", zoneID: CKRecordZone.ID(zoneName: "Shopping"))
        #expect(try await alice.database.record(for: bread)["text"] as? String == "bread")
    }

    @Test func `R-157, R-317: an app that loses the answer to its acceptance has joined`() async throws {
        let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
        let phone = bob.device("phone")
        let lists = ShoppingLists(container: phone.container)
        await lists.start()
        try await cloud.settle()
        let url = try await alice.invite(bob, to: CKRecordZone.ID(zoneName: "Shopping"))
        phone.loseNextAnswer()
        let list = try await lists.join(url)
        try await cloud.settle()
        #expect(await lists.mayWrite(in: list))
        #expect(phone.lostAnswerCount == 1)
    }

    @Test func `R-552, R-645: a list that was joined after the backup has ended for who joined, and its owner has it`()
        async throws
    {
        let (alice, bob) = (await makeLists("alice"), await makeLists("bob"))
        await alice.write("milk", as: "1", in: list)
        try await cloud.settle()
        let backup = cloud.backUp()
        let joined = try await bob.join(try #require(try await alice.publish(list, .readWrite)))
        try await cloud.settle()
        #expect(await texts(bob) == ["milk"])
        cloud.restore(backup)
        try await cloud.settle()
        #expect(await texts(bob) == [])
        #expect(await !bob.mayWrite(in: joined))
        #expect(await bob.problems["Shopping"] != nil)
        #expect(await texts(alice) == ["milk"])
    }

    /// One of the two engines hears of the new user first. What it brings back stays when the other one hears of it.
    @Test func `R-643: what a user had not sent is there again in both databases when they come back`() async throws {
        let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
        let phone = bob.device("phone")
        let lists = ShoppingLists(container: phone.container)
        await lists.start()
        let joined = try await alice.share(CKRecordZone.ID(zoneName: "Shopping"), with: bob)
        await lists.write("milk", as: "1", in: list)
        try await cloud.settle()
        phone.goOffline()
        await lists.write("tea", as: "2", in: list)
        await lists.write("bread", as: "3", in: joined)
        phone.signOut()
        try await cloud.settle()
        #expect(await texts(lists) == [])
        phone.goOnline()
        phone.signIn(alice)
        try await cloud.settle()
        #expect(await texts(lists) == [])

        phone.signIn(bob)
        try await cloud.settle()
        #expect(await texts(lists) == ["bread", "milk", "tea"])
        #expect(await lists.mayWrite(in: joined))
        #expect(await lists.problems.isEmpty)
        let tea = try await bob.database.record(for: CKRecord.ID(recordName: "2", zoneID: list))
        #expect(tea["text"] as? String == "tea")
        let bread = CKRecord.ID(recordName: "3", zoneID: CKRecordZone.ID(zoneName: "Shopping"))
        #expect(try await alice.database.record(for: bread)["text"] as? String == "bread")
    }

    @Test func `R-314, R-316, R-328: who is invited by an address is alone to join, until they are removed`()
        async throws
    {
        let (alice, bob, carol) = (await makeLists("alice"), await makeLists("bob"), await makeLists("carol"))
        cloud.core.database.addAddress("bob@example.org", account: "bob")
        await alice.write("milk", as: "1", in: list)
        try await cloud.settle()
        cloud.account("alice").setName(given: "Alice", family: "Liddell")
        cloud.account("bob").setName(given: "Bob", family: nil)
        let url = try #require(try await alice.share(list, with: ["Bob@Example.org"]))
        #expect(await alice.people(in: list) == ["Alice Liddell", "bob@example.org"])
        #expect(try await failure { try await carol.join(url) }.code == .unknownItem)
        let joined = try await bob.join(url)
        #expect(await bob.people(in: joined) == ["Alice Liddell", "Bob"])
        try await cloud.settle()
        #expect(await texts(bob) == ["milk"])
        #expect(await alice.people(in: list) == ["Alice Liddell", "Bob"], "R-779: the engine brings the names")

        let guest = try #require(await alice.shares[list]?.participants.last)
        #expect(guest.role == .privateUser && guest.acceptanceStatus == .accepted)
        try await alice.remove(guest, from: list)
        try await cloud.settle()
        #expect(await texts(bob) == [])
        #expect(try await failure { try await bob.join(url) }.code == .unknownItem)
    }
}
