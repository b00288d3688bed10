// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport
import TidemarkWire

/// The command that deletes an account, killed at its statements, while a server serves the others.
@Suite(.timeLimit(.minutes(20))) struct AccountEndCutTests {
    /// Alice shares a zone with somebody who shares one with her. Each round has its own.
    private struct Round {
        let place: OperatorPlace
        let account: String
        let alice: ShareClient
        /// Of the account that is deleted.
        let name: String
        let zone: String
        let his: WireZoneID

        init(_ number: Int, _ place: OperatorPlace, _ alice: ShareClient) async throws {
            account = "bob-\(number)"
            let token = try place.makeAccounts([account])[0]
            var site = Site(url: place.site.url, authorityFile: place.site.authorityFile, tokens: [account: token])
            site.container = place.site.container
            let bob = try await ShareClient(site, account)
            zone = "Notes \(number)"
            let hisZone = "His \(number)"
            try await alice.makeZone(zone)
            let people = [ShareRequests.participant(1, named: bob.name)]
            let save = ShareRequests.share(zone, with: people, alice.stamp())
            let link = try await alice.succeed(.modifyRecords(save)).records.first?.share.link ?? ""
            try await bob.succeed(ShareRequests.accept(link))
            try await bob.makeZone(hisZone)
            try await alice.succeed(ShareRequests.accept(try await bob.share(hisZone)))
            bob.raw.disconnect()
            (self.place, self.alice, name) = (place, alice, bob.name)
            his = ShareRequests.zone(hisZone, of: bob.name)
        }

        /// What alice sees of the account.
        struct Sight: Equatable {
            /// Whether he is in her share.
            var isIn: Bool
            /// Whether she reads his zone.
            var isRead: Bool

            static let whole = Sight(isIn: true, isRead: true)
            static let gone = Sight(isIn: false, isRead: false)
        }

        func look() async throws -> Sight {
            let share = try #require(try await alice.shareRecord(of: zone)).share
            let others = share.participants.filter { $0.role != .owner }
            // He takes part as before or not at all.
            #expect(others.allSatisfy { $0.user == name && $0.status == .accepted } && others.count < 2)
            let code = try await alice.readingFails(in: his)
            #expect(code == nil || code == .zoneNotFound)
            // The feed and the list say what reading says.
            #expect(try await alice.listedZones().contains(his.name) == (code == nil))
            #expect(try await alice.fedZones().contains(his.name) == (code == nil))
            return Sight(isIn: !others.isEmpty, isRead: code == nil)
        }

        /// Whether the account has its name yet.
        func isNamed() throws -> Bool {
            try StoredRows.exist("SELECT FROM account WHERE name = '\(account)'", url: place.database.url)
        }

        func hasWork() throws -> Bool {
            try StoredRows.exist(
                """
                SELECT FROM account_end e JOIN container_user u ON u.account_id = e.account_id
                 WHERE u.record_name = '\(name)'
                """, url: place.database.url)
        }
    }

    /// Deletes the account of a round, and kills the command at that place if it comes to it.
    ///
    /// - Returns: the places until then.
    private func delete(_ round: Round, killingAt number: Int, _ line: CutLine) async throws -> [String] {
        await line.count(cuttingAt: number)
        let program = try Program(
            "tidemark", ["admin", "accounts", "delete", round.account, "--yes"],
            environment: ["TIDEMARK_DATABASE_URL": line.url], directory: round.place.directory.path)
        try await eventually("the command comes to place \(number), or ends", within: .seconds(60)) {
            if !program.isRunning { return true }
            return await line.isStill
        }
        let places = await line.places
        if program.isRunning { try await program.killNow() }
        try await eventually("PostgreSQL is through with it") { await line.linkCount == 0 }
        await line.resume()
        return places
    }

    @Test func `R-992, R-993, R-863: a deletion that is killed at any statement is completed by the next one`()
        async throws
    {
        let isWhole = ProcessInfo.processInfo.environment["TIDEMARK_ACCOUNT_CUTS"] == "all"
        try await OperatorPlace.with(["--create-containers"]) { place in
            let directory = try TestDirectory()
            defer { directory.remove() }
            let line = try await CutLine.start(to: place.database.url, in: directory)
            defer { line.stop() }
            let alice = try await ShareClient(place.site, "alice")
            let first = try await Round(0, place, alice)
            #expect(try await first.look() == .whole)
            let places = try await delete(first, killingAt: .max, line)
            #expect(try await first.look() == .gone)
            #expect(try !first.isNamed())
            let steps = ["begin_account_end", "commit", "end_some_zones", "forget_database_pointers", "forget_account"]
            #expect(steps.allSatisfy { step in places.contains { $0.contains(step) } }, "\(places)")
            // In a usual run, the steps that others can see, what follows each, and some of the rest.
            let numbers = places.indices.filter { index in
                isWhole || index % 7 == 0
                    || places[max(0, index - 1)...index].contains { place in steps.contains(place) }
            }
            var cutCount = 0
            for (number, index) in numbers.enumerated() {
                let round = try await Round(number + 1, place, alice)
                let reached = try await delete(round, killingAt: index + 1, line)
                cutCount += reached.count == index + 1 ? 1 : 0
                let what: Comment = "killed at \(index + 1) of \(places.count): \(reached.last ?? "-")"
                let sight = try await round.look()
                // Each of the two is there or not, and a begun deletion is not forgotten.
                if sight != .whole { #expect(try round.hasWork(), what) }
                let again = try await place.admin("accounts", "delete", round.account, "--yes")
                let isGone = again.output.contains("There is no account named")
                #expect(again.status == 0 || isGone, "\(again.output)")
                #expect(try await round.look() == .gone, what)
                #expect(try !round.isNamed() && round.hasWork(), what)
            }
            // What the server does meanwhile may save the command a statement, or cost it one.
            #expect(cutCount * 2 > numbers.count, "\(cutCount) of \(numbers.count) places")
        }
    }

    /// As a server does it, which looks once a minute.
    private func completeEnds(in url: String) async throws {
        let loop = try EventLoop(name: "ends")
        defer { loop.stop() }
        let storage = try PostgresStorage(url: url, loop: loop, connections: 2, queryTimes: .patient)
        while try await AccountEnd.completeOne(in: storage, scheduler: loop, limits: Limits()) {}
        await storage.stop()
    }

    @Test func `R-863, R-992: an account that saves, accepts and shares while it is deleted leaves nothing`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let alice = try await ShareClient(place.site, "alice")
            let token = try place.makeAccounts(["bob"])[0]
            var site = Site(url: place.site.url, authorityFile: place.site.authorityFile, tokens: ["bob": token])
            site.container = place.site.container
            let bob = try await ShareClient(site, "bob")
            var links: [String] = []
            for number in 0..<12 {
                try await alice.makeZone("Notes \(number)")
                links.append(try await alice.share("Notes \(number)"))
            }
            try await bob.makeZone("His")
            let invitations = links
            // Until he is cut off.
            async let work: Void = {
                for round in 0..<10_000 {
                    let save = try ShareRequests.saving(
                        ["r\(round)"], in: ShareRequests.zone("His"), bob.stamp())
                    try bob.send(.modifyRecords(save))
                    try bob.send(ShareRequests.make("More \(round)", bob.stamp()))
                    guard let answer = try? await bob.ask(ShareRequests.accept(invitations[round % invitations.count])),
                        answer.failureCodes.isEmpty || answer.failureCodes == [.unknownItem]
                    else { return }
                }
            }()
            let deleted = try await place.admin("accounts", "delete", "bob", "--yes")
            #expect(deleted.status == 0, "\(deleted.output)")
            try? await work
            try await eventually("his session is closed") { bob.raw.isClosed }
            // What the session made last, a server ends once it is sure that nothing more comes.
            try PostgresAdministration.execute(
                [
                    """
                    UPDATE account_end SET worked_at = worked_at - interval '6 minutes',
                                           begun_at = begun_at - interval '6 minutes'
                    """
                ], url: place.database.url)
            try await completeEnds(in: place.database.url)
            try await eventually("the rest is done") {
                try !StoredRows.exist("SELECT FROM account_end", url: place.database.url)
            }
            let his =
                "(SELECT u.id FROM container_user u JOIN account a ON a.id = u.account_id WHERE a.deleted_at IS NOT NULL)"
            let traces = [
                "SELECT FROM share_participant WHERE user_id IN \(his)",
                "SELECT FROM zone z JOIN database d ON d.id = z.database_id WHERE d.user_id IN \(his) AND z.removal IS NULL",
                "SELECT FROM record r JOIN database d ON d.id = r.database_id WHERE d.user_id IN \(his)",
                "SELECT FROM shared_zone p JOIN database d ON d.id = p.database_id WHERE d.user_id IN \(his)",
            ]
            for trace in traces { #expect(try !StoredRows.exist(trace, url: place.database.url), "\(trace)") }
            for number in 0..<12 {
                let share = try #require(try await alice.shareRecord(of: "Notes \(number)")).share
                #expect(share.participants.allSatisfy { $0.user != bob.name }, "\(number)")
            }
        }
    }
}
