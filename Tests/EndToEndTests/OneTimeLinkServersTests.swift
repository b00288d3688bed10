// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkWire

/// One-time links where several servers have one database.
@Suite(.timeLimit(.minutes(10))) struct OneTimeLinkServersTests {
    private static let zone = "Notes"

    /// The links of the zone's participants, as its owner is shown them.
    private func links(_ owner: ShareClient) async throws -> [String] {
        (try await owner.shareRecord(of: Self.zone)?.share.participants ?? []).map(\.link).filter { !$0.isEmpty }
    }

    private func share(_ owner: ShareClient, rounds: UInt8) async throws {
        try await owner.makeZone(Self.zone)
        let people = (1...rounds).map { number in
            var person = ShareRequests.participant(number)
            person.byLink = true
            return person
        }
        try await owner.succeed(.modifyRecords(ShareRequests.share(Self.zone, with: people, owner.stamp())))
    }

    @Test func `F-14, R-970: two who come with one link to two servers at once are one participant`() async throws {
        let roundCount: UInt8 = 12
        try await ServerPair.with { pair in
            let alice = try await ShareClient(pair.sites[0], "alice")
            try await share(alice, rounds: roundCount)
            let links = try await links(alice)
            #expect(links.count == Int(roundCount))
            let accounts = (0..<roundCount).flatMap { ["bob-\($0)", "carol-\($0)"] }
            let credentials = try OperatorPlace.makeAccounts(accounts, url: pair.databaseURL)
            let tokens = Dictionary(uniqueKeysWithValues: zip(accounts, credentials))
            let sites = pair.sites.map { site in
                Site(url: site.url, authorityFile: site.authorityFile, tokens: tokens, container: site.container)
            }
            var takers: [String: String] = [:]
            for (round, link) in links.enumerated() {
                let clients = [
                    try await ShareClient(sites[0], "bob-\(round)"), try await ShareClient(sites[1], "carol-\(round)"),
                ]
                async let first = clients[0].ask(ShareRequests.accept(link))
                async let second = clients[1].ask(ShareRequests.accept(link))
                let codes = [try await first.failureCodes, try await second.failureCodes]
                #expect(Set(codes) == [[], [.unknownItem]], "\(round): \(codes)")
                guard let winner = codes.firstIndex(of: []) else { continue }
                let (taker, other) = (clients[winner], clients[1 - winner])
                takers[link] = taker.name
                // Each asks again, at its server: nothing has become different.
                #expect(try await taker.ask(ShareRequests.accept(link)).failureCodes == [])
                #expect(try await other.ask(ShareRequests.accept(link)).failureCodes == [.unknownItem])
                #expect(try await other.ask(ShareRequests.metadata(link)).failureCodes == [.unknownItem])
                let zone = ShareRequests.zone(Self.zone, of: alice.name)
                #expect(try await taker.readingFails(in: zone) == nil)
                #expect(try await other.readingFails(in: zone) == .zoneNotFound)
            }
            let people = try await alice.shareRecord(of: Self.zone)?.share.participants.dropFirst() ?? []
            let seen = Dictionary(people.map { ($0.link, $0.user) }) { first, _ in first }
            #expect(seen == takers && people.allSatisfy { $0.status == .accepted })
        }
    }
}
