// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkWire

/// Shared zones whose owner and guest are at two servers of one database.
@Suite(.timeLimit(.minutes(10))) struct SharingServersTests {
    private static let zone = "Notes"

    private struct Couple {
        let alice: ShareClient
        let bob: ShareClient
        let link: String
        let own = ShareRequests.zone(SharingServersTests.zone)
        /// As bob names it.
        let guests: WireZoneID

        init(_ pair: ServerPair) async throws {
            let alice = try await ShareClient(pair.sites[0], "alice")
            let bob = try await ShareClient(pair.sites[1], "bob")
            try await alice.makeZone(SharingServersTests.zone)
            let link = try await alice.share(SharingServersTests.zone)
            try await bob.succeed(ShareRequests.accept(link))
            (self.alice, self.bob, self.link) = (alice, bob, link)
            guests = ShareRequests.zone(SharingServersTests.zone, of: alice.name)
        }

        func save(_ names: [String], _ text: String = "text", by client: ShareClient) async throws {
            let zone = client === alice ? own : guests
            try await client.succeed(.modifyRecords(try ShareRequests.saving(names, text, in: zone, client.stamp())))
        }

        /// - Returns: the number of the change that takes bob's access away.
        func remove() async throws -> ChangeNumber {
            let tag = try await alice.shareRecord(of: SharingServersTests.zone)?.tag ?? []
            let answer = try await alice.succeed(
                .modifyRecords(ShareRequests.share(SharingServersTests.zone, .noAccess, tag: tag, alice.stamp())))
            return try #require(answer.savedTags.first.flatMap { RecordPoint(tag: $0)?.number })
        }

        /// The tags of all records by their names, as the client sees the zone.
        func tags(_ client: ShareClient) async throws -> [String: [UInt8]] {
            var tags: [String: [UInt8]] = [:]
            var token: [UInt8] = []
            // Bounded: the zone has not so many records.
            for _ in 0..<200 {
                let zone = client === alice ? own : guests
                let answer = try await client.succeed(ShareRequests.page(of: zone, after: token, atMost: 20)).answer
                guard case .fetchZoneChanges(let page)? = answer else { break }
                for record in page.records { tags[record.name] = record.tag }
                guard page.moreComing else { break }
                token = page.token
            }
            return tags
        }

        /// What a guest may ask for records of the zone, by what it is.
        func questions(
            after token: [UInt8] = [], _ cursor: [UInt8] = [], by guest: ShareClient
        ) throws -> [(String, ShareRequests.Request)] {
            let edit = try ShareRequests.saving(["a"], "edit", in: guests, by: .ifServerRecordUnchanged, guest.stamp())
            return [
                ("a fetch", ShareRequests.records(["a", "b"], in: guests)),
                ("the share", ShareRequests.shareRecord(of: guests)), ("a first page", ShareRequests.page(of: guests)),
                ("a page", ShareRequests.page(of: guests, after: token)),
                ("a small page", ShareRequests.page(of: guests, after: token, atMost: 2)),
                ("a query", ShareRequests.notes(in: guests)),
                ("a query's page", ShareRequests.notes(in: guests, after: cursor, atMost: 2)),
                ("an edit", .modifyRecords(edit)),
            ]
        }

        /// The same, with the zone's link and with what was asked before.
        func questions(
            after token: [UInt8] = [], _ cursor: [UInt8] = [], by guest: ShareClient,
            repeating remembered: WireModifyRecords
        ) throws -> [(String, ShareRequests.Request)] {
            try questions(after: token, cursor, by: guest)
                + [("the link", ShareRequests.metadata(link)), ("a repeat", .modifyRecords(remembered))]
        }
    }

    @Test func `R-226, R-317, R-320, R-334: a zone that is shared at one server is accepted and edited at the other`()
        async throws
    {
        try await ServerPair.with { pair in
            let couple = try await Couple(pair)
            let (alice, bob) = (couple.alice, couple.bob)
            var own = WireModifySubscriptions()
            own.database = .private
            own.saves = [TestClient.subscription("own")]
            try await alice.succeed(.modifySubscriptions(own))
            try await bob.succeed(ShareRequests.subscribeToShared())
            let pushCounts = [alice.pushes.count, bob.pushes.count]
            try await couple.save(["b"], by: bob)
            try await eventually("the owner hears of it at the first server") { alice.pushes.count > pushCounts[0] }
            try await couple.save(["c"], by: alice)
            try await eventually("the guest hears of it at the second") { bob.pushes.count > pushCounts[1] }
            #expect(bob.pushes.allSatisfy { $0.database == .shared && $0.zones.isEmpty && !$0.hasChanges })

            // Both at once, each at its server: records of their own, and one that both have.
            async let hers: Void = {
                for number in 0..<20 { try await couple.save(["h\(number)", "both"], "hers \(number)", by: alice) }
            }()
            async let his: Void = {
                for number in 0..<20 { try await couple.save(["g\(number)", "both"], "his \(number)", by: bob) }
            }()
            _ = try await (hers, his)
            let tags = try await couple.tags(alice)
            let names = (0..<20).flatMap { ["h\($0)", "g\($0)"] } + ["a", "b", "c", "both", Share.zoneWideName]
            #expect(Set(tags.keys) == Set(names))
            #expect(try await couple.tags(bob) == tags)
        }
    }

    @Test func `F-25, I-5, R-328: a removal at one server ends everything at the other at once, also what had begun`()
        async throws
    {
        try await ServerPair.with { pair in
            let couple = try await Couple(pair)
            let bob = couple.bob
            try await couple.save((0..<30).map { "n\($0)" }, by: couple.alice)
            try await bob.succeed(ShareRequests.subscribeToShared())
            // A feed and a query that have begun, with pages that the server has read ahead by now.
            let first = try await bob.succeed(ShareRequests.page(of: couple.guests, atMost: 2)).answer
            guard case .fetchZoneChanges(let page)? = first else {
                throw NeverHappened(description: "\(first as Any)")
            }
            let second = try await bob.succeed(ShareRequests.page(of: couple.guests, after: page.token, atMost: 2))
            guard case .fetchZoneChanges(let next)? = second.answer else {
                throw NeverHappened(description: "\(second)")
            }
            let found = try await bob.succeed(ShareRequests.notes(in: couple.guests, atMost: 2)).answer
            guard case .queryRecords(let matches)? = found else {
                throw NeverHappened(description: "\(found as Any)")
            }
            #expect(next.moreComing && !matches.cursor.isEmpty)

            let number = try await couple.remove()
            for (what, request) in try couple.questions(after: next.token, matches.cursor, by: bob) {
                let answer = try await bob.ask(request)
                #expect(Set(answer.failureCodes.map { "\($0)" }) == ["zoneNotFound"], "\(what)")
                #expect(answer.records.isEmpty, "\(what)")
            }
            #expect(try await bob.listedZones() == [])
            #expect(try await bob.fedZones() == [])
            #expect(try await bob.ask(ShareRequests.metadata(couple.link)).failureCodes == [.unknownItem])
            for round in 0..<5 { try await couple.save(["later \(round)"], by: couple.alice) }
            // A push of another zone comes after all that came before.
            try await couple.alice.makeZone("Other")
            let link = try await couple.alice.share("Other")
            let pushCount = bob.pushes.count
            try await bob.succeed(ShareRequests.accept(link))
            try await eventually("a push of the other zone") { bob.pushes.count > pushCount }
            let told = bob.raw.answers.flatMap(\.records).compactMap { RecordPoint(tag: $0.tag) }
            let zone = try #require(RecordPoint(tag: page.records.first?.tag ?? [])?.zone)
            #expect(told.filter { $0.zone == zone && $0.number >= number } == [])
        }
    }

    @Test func `I-5: whatever a guest receives while access comes and goes is of a time when it was there`()
        async throws
    {
        try await ServerPair.with { pair in
            let couple = try await Couple(pair)
            try await couple.save((0..<30).map { "n\($0)" }, by: couple.alice)
            let ledger = AccessLedger()
            ledger.begins()
            var readers: [ShareClient] = []
            var remembered: [WireModifyRecords] = []
            for device in 2...4 {
                let reader = try await ShareClient(pair.sites[1], "bob", device: UInt8(device))
                try await reader.succeed(ShareRequests.subscribeToShared())
                // The server remembers the answer to this one, and reads the record in the way again.
                let request = try ShareRequests.saving(
                    ["a"], "first", in: couple.guests, by: .ifServerRecordUnchanged, reader.stamp())
                let answer = try await reader.ask(.modifyRecords(request))
                #expect(answer.failureCodes == [.serverRecordChanged] && answer.records.count == 1)
                readers.append(reader)
                remembered.append(request)
            }
            let kinds = Set(try couple.questions(by: couple.bob, repeating: remembered[0]).map(\.0))
            #expect(kinds.count == 10)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (reader, request) in zip(readers, remembered) {
                    group.addTask { try await Self.read(couple, as: reader, repeating: request, ledger) }
                }
                for round in 0..<12 {
                    try await couple.save(["in \(round)", "a"], by: couple.alice)
                    ledger.ended(at: try await couple.remove())
                    try await couple.save(["out \(round)", "a"], by: couple.alice)
                    let endCount = ledger.count
                    try await eventually("each kind of question is asked meanwhile") {
                        ledger.kindsShut(after: endCount) == kinds
                    }
                    ledger.begins()
                    _ = try await couple.alice.share(Self.zone)
                    try await couple.bob.succeed(ShareRequests.accept(couple.link))
                    let beginCount = ledger.count
                    try await eventually("each kind of question brings records again") {
                        ledger.kindsFull(after: beginCount) == kinds
                    }
                }
                group.cancelAll()
                while let result = await group.nextResult() {
                    if case .failure(let error) = result, !(error is CancellationError) { throw error }
                }
            }
            #expect(ledger.violations == [])
            // pushes have no content, so nothing in them can be too late.
            let pushes = readers.flatMap(\.pushes)
            #expect(!pushes.isEmpty && pushes.allSatisfy { $0.zones.isEmpty && !$0.hasChanges })
        }
    }

    /// Asks all questions in turn, until the task is cancelled.
    private static func read(
        _ couple: Couple, as reader: ShareClient, repeating remembered: WireModifyRecords, _ ledger: AccessLedger
    ) async throws {
        var (token, cursor): ([UInt8], [UInt8]) = ([], [])
        // Bounded, should nobody cancel it.
        for _ in 0..<20_000 where !Task.isCancelled {
            let questions = try couple.questions(after: token, cursor, by: reader, repeating: remembered)
            for (what, request) in questions {
                let sent = ledger.now
                let answer = try await reader.ask(request)
                ledger.receives(answer, sentAt: sent, what)
                switch answer.answer {
                case .fetchZoneChanges(let page)?: token = page.moreComing ? page.token : []
                case .queryRecords(let page)?: cursor = page.cursor
                default: break
                }
            }
        }
    }
}
