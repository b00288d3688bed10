// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

@testable import TidemarkAdmin

/// An operator who keeps from apps which addresses have an account.
@Suite(.timeLimit(.minutes(20))) struct AddressLookupTests {
    private static let email = "bob@example.org"

    @Test(arguments: [["--address-lookups", "off"], ["--address-lookups", "on"], []])
    func `R-314, R-976, R-996: an app is told of an account or not, and its invitation is accepted either way`(
        _ flags: [String]
    ) async throws {
        try await OperatorPlace.with(["--create-containers"] + flags) { (place: OperatorPlace) async throws in
            let token = try #require(try place.makeAccounts(["bob"]).first)
            let (alice, bob) = (place.container(), place.container(token: token))
            let bobs = try await bob.userRecordID()
            #expect(try await place.admin("addresses", "create", "bob", Self.email).status == 0)
            let found = try await alice.shareParticipant(forEmailAddress: Self.email)
            #expect(found.userIdentity.hasiCloudAccount == (flags.last != "off"))
            #expect(found.userIdentity.userRecordID == nil && found.userIdentity.lookupInfo?.emailAddress == Self.email)
            let nobody = try await alice.shareParticipant(forEmailAddress: "nobody@example.org")
            #expect(!nobody.userIdentity.hasiCloudAccount)
            // A record name is told: nobody can guess it.
            #expect(try await alice.shareParticipant(forUserRecordID: bobs).userIdentity.hasiCloudAccount)

            let zoneID = CKRecordZone.ID(zoneName: "Notes")
            try await alice.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            let share = CKShare(recordZoneID: zoneID)
            share.addParticipant(found)
            let saved = try #require(try await alice.privateCloudDatabase.save(share) as? CKShare)
            let url = try #require(saved.url)
            _ = try await bob.accept(try await bob.shareMetadata(for: url))
            #expect(try await bob.sharedCloudDatabase.allRecordZones().map(\.zoneID.zoneName) == ["Notes"])
        }
    }

    @Test func `R-930, R-996: the setting is on or off, and nothing else`() {
        let setting = ServeSetting.named("address-lookups")
        #expect(setting.problem(with: "on") == nil && setting.problem(with: "off") == nil)
        #expect(setting.problem(with: "false") == "must be one of on, off, not false")
    }
}
