// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkTestSupport
import TidemarkWire

/// People who are invited by an address before they have an account.
@Suite(.timeLimit(.minutes(20))) struct InvitedAddressTests {
    private static let zone = "Notes"
    private let provider = TokenSigner()

    /// The operator trusts the provider with addresses.
    private func issuersFile(in directory: TestDirectory) throws -> String {
        try provider.issuersFile(in: directory, #""trust-email":true"#, #""trust-phone":true"#)
    }

    /// A device of somebody who signs in with a token of the provider for the first time.
    private func signIn(_ subject: String, _ claims: [String], at site: Site) async throws -> ShareClient {
        let token = provider.token(subject, claims: claims)
        var person = Site(url: site.url, authorityFile: site.authorityFile, tokens: [subject: token])
        person.container = site.container
        return try await ShareClient(person, subject)
    }

    @Test
    func `R-314, R-924, R-976: an address is invited before it has an account, and whoever signs in with it joins`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let flags = ["--create-containers", "--issuers", try issuersFile(in: directory)]
        try await OperatorPlace.with(flags) { (place: OperatorPlace) async throws in
            let alice = try await ShareClient(place.site, "alice")
            try await alice.makeZone(Self.zone)
            var people = [ShareRequests.participant(1), ShareRequests.participant(2)]
            (people[0].email, people[1].phone) = ("Carol@Example.org", "+354 555-0100")
            let share = ShareRequests.share(Self.zone, with: people, alice.stamp())
            let link = try await alice.succeed(.modifyRecords(share)).records.first?.share.link ?? ""
            func invited() async throws -> [WireParticipant] {
                let record = try await alice.shareRecord(of: Self.zone)
                return (record?.share.participants.dropFirst() ?? []).sorted { $0.id.lexicographicallyPrecedes($1.id) }
            }
            #expect(try await invited().map(\.status) == [.pending, .pending])
            #expect(try await invited().map(\.user) == ["", ""])

            // Who says so, and is not believed; and who has another address.
            let email = #""email":"carol@example.org""#
            let others = [
                try await signIn("unverified", [email, #""email_verified":false"#], at: place.site),
                try await signIn(
                    "other", [#""email":"other@example.org""#, #""email_verified":true"#], at: place.site),
            ]
            for other in others {
                #expect(try await other.ask(ShareRequests.metadata(link)).failureCodes == [.unknownItem])
                #expect(try await other.ask(ShareRequests.accept(link)).failureCodes == [.unknownItem])
            }

            let carol = try await signIn("carol", [email, #""email_verified":true"#], at: place.site)
            #expect(try await carol.ask(ShareRequests.metadata(link)).failureCodes == [])
            // Until she accepts, nobody is told whose the address is.
            #expect(try await invited().map(\.user) == ["", ""])
            try await carol.succeed(ShareRequests.accept(link))
            let zone = ShareRequests.zone(Self.zone, of: alice.name)
            #expect(try await carol.readingFails(in: zone) == nil)
            let now = try await invited()
            #expect(now.map(\.user) == [carol.name, ""] && now.map(\.status) == [.accepted, .pending])
            #expect(now.map(\.email) == ["carol@example.org", ""])

            // The address is hers: somebody else whom the provider gives it does not get it.
            let second = try await signIn("second", [email, #""email_verified":true"#], at: place.site)
            #expect(try await second.ask(ShareRequests.accept(link)).failureCodes == [.unknownItem])
            let phone = [#""phone_number":"+3545550100""#, #""phone_number_verified":true"#]
            let dave = try await signIn("dave", phone, at: place.site)
            try await dave.succeed(ShareRequests.accept(link))
            #expect(try await invited().map(\.user) == [carol.name, dave.name])
        }
    }

    @Test func `R-976: an address that is verified later opens what it was invited to, also for who is signed in`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let flags = ["--create-containers", "--issuers", try issuersFile(in: directory)]
        try await OperatorPlace.with(flags) { (place: OperatorPlace) async throws in
            let alice = try await ShareClient(place.site, "alice")
            try await alice.makeZone(Self.zone)
            var person = ShareRequests.participant(1)
            person.email = "carol@example.org"
            let share = ShareRequests.share(Self.zone, with: [person], alice.stamp())
            let link = try await alice.succeed(.modifyRecords(share)).records.first?.share.link ?? ""
            let carol = try await signIn("carol", [], at: place.site)
            #expect(try await carol.ask(ShareRequests.accept(link)).failureCodes == [.unknownItem])
            // An operator records the address. The open connection need not be made anew.
            let accounts = try await place.admin("accounts", "list", "-o", "name")
            let name = try #require(accounts.output.split(separator: "\n").first { $0.hasPrefix("example:") })
            let created = try await place.admin("addresses", "create", String(name), "carol@example.org")
            #expect(created.status == 0, "\(created.output)")
            try await carol.succeed(ShareRequests.accept(link))
            #expect(try await carol.listedZones() == [Self.zone])
        }
    }
}
