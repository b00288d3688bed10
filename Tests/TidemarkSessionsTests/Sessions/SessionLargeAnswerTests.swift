// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Answers that may be much larger than their requests.
@Suite struct SessionLargeAnswerTests {
    private static var large: [(name: String, request: WireClientEnvelope.OneOfRequest)] {
        var zones = WireFetchZones()
        zones.database = .private
        var changes = WireFetchDatabaseChanges()
        changes.database = .private
        var subscriptions = WireFetchSubscriptions()
        subscriptions.database = .private
        var keys = WireFetchKeys()
        keys.database = .private
        keys.zones = [TestClient.zone("notes")]
        var records = WireFetchRecords()
        records.database = .private
        var query = WireQueryRecords()
        query.database = .private
        query.query.recordType = "Note"
        var inventory = WireVerifyZone()
        inventory.database = .private
        inventory.zone = TestClient.zone("notes")
        inventory.lists = true
        var metadata = WireFetchShareMetadata()
        metadata.links = ["00"]
        var people = WireFetchShareParticipants()
        people.lookups = [WireParticipantLookup()]
        people.lookups[0].user = "_" + String(repeating: "0", count: 32)
        var acceptance = WireAcceptShares()
        acceptance.links = [String(repeating: "0", count: 32)]
        var presence = WireJoinPresence()
        (presence.database, presence.zone) = (.private, TestClient.zone("notes"))
        return [
            ("zones", .fetchZones(zones)),
            ("database changes", .fetchDatabaseChanges(changes)),
            ("subscriptions", .fetchSubscriptions(subscriptions)), ("keys", .fetchKeys(keys)),
            ("records", .fetchRecords(records)), ("query", .queryRecords(query)),
            ("zone changes", .fetchZoneChanges(TestClient.zoneChanges("notes"))),
            ("names of records", .verifyZone(inventory)),
            ("metadata of shares", .fetchShareMetadata(metadata)),
            ("people", .fetchShareParticipants(people)), ("acceptances", .acceptShares(acceptance)),
            ("presence", .joinPresence(presence)),
        ]
    }

    /// Their answers are about as long as they are. Parts of assets are counted apart.
    private static let small: Set<WireRequestKind> = [
        .hello, .modifyRecords, .modifyZones, .modifySubscriptions, .prepareAssetUpload, .uploadAssetChunk,
        .fetchAssetChunk, .saveAccountKey, .saveZoneKey, .grantKeys, .requestShareAccess,
        .publishPresence, .leavePresence, .unread,
    ]

    @Test func `R-716: of each request it is known whether its answer may be large`() {
        let large = Set(Self.large.map(\.request.kind))
        #expect(large.isDisjoint(with: Self.small))
        #expect(large.union(Self.small) == Set(WireRequestKind.allCases))
    }

    @Test func `R-716: of large answers four are made at once for a connection, and none while it does not read`()
        throws
    {
        for (name, request) in Self.large {
            let world = SessionWorld { $0.queuedBytesMax = 3 }
            let client = try world.enter()
            try client.makeZone("notes")
            try client.save("r", in: "notes")
            client.forgetInbox()
            client.takesAnswers(false)
            for _ in 0..<12 { client.post(request) }
            world.scheduler.runUntilIdle()
            // Those that had begun when the first was sent.
            #expect(client.inbox.count { $0.id > 0 } == 4, "\(name)")
            client.takesAnswers(true)
            world.scheduler.runUntilIdle()
            #expect(client.inbox.count { $0.id > 0 } == 12, "\(name)")
            #expect(!client.failures.contains { $0.code == .requestRateLimited }, "\(name)")
        }
    }

    @Test func `R-711, R-716: fetches take turns by account, on however many connections one of them asks`() throws {
        let world = SessionWorld {
            $0.fetches.room = 1
            $0.fetches.roomPerOwner = 1
        }
        let crowd = try (1...5).map { try world.enter(device: $0) }
        let bob = try world.enter("bob", device: 9)
        for client in crowd + [bob] { client.forgetInbox() }
        world.server.faults.always(.callSent, .delay(.seconds(1)))
        for client in crowd { for _ in 0..<4 { client.post(Self.large[0].request) } }
        world.scheduler.runUntilIdle()
        bob.post(Self.large[0].request)
        while bob.inbox.isEmpty, world.scheduler.now < .seconds(100) { world.scheduler.advance(by: .milliseconds(500)) }
        let first = crowd.reduce(0) { $0 + $1.inbox.count }
        #expect(first <= 2, "\(first) of the crowd's came first")
        #expect(bob.failures.isEmpty)
    }

    @Test func `R-712, R-716: an account with too many fetches is told when to try again`() throws {
        let world = SessionWorld {
            $0.fetches.room = 1
            $0.fetches.roomPerOwner = 1
            $0.fetches.waitingPerOwnerMax = 2
        }
        let client = try world.enter()
        client.forgetInbox()
        world.server.faults.always(.callSent, .delay(.seconds(1)))
        for _ in 0..<4 { client.post(Self.large[0].request) }
        world.scheduler.runUntilIdle()
        #expect(client.failures.map(\.code) == [.requestRateLimited])
        #expect(client.failures.allSatisfy { $0.retryAfterSeconds >= 1 })
    }

    @Test func `R-713, R-716: fetches of a client that is gone leave the queue`() throws {
        let world = SessionWorld {
            $0.fetches.room = 1
            $0.fetches.roomPerOwner = 1
            $0.fetches.waitingPerOwnerMax = 3
        }
        let (first, next) = (try world.enter(), try world.enter(device: 2))
        next.forgetInbox()
        world.server.faults.always(.callSent, .delay(.seconds(1)))
        for _ in 0..<4 { first.post(Self.large[0].request) }
        world.scheduler.runUntilIdle()
        first.disconnect()
        world.scheduler.runUntilIdle()
        for _ in 0..<3 { next.post(Self.large[0].request) }
        world.scheduler.runUntilIdle()
        #expect(next.failures.isEmpty)
        while next.inbox.count < 3, world.scheduler.now < .seconds(100) {
            world.scheduler.advance(by: .milliseconds(500))
        }
        #expect(next.inbox.count == 3 && next.failures.isEmpty)
    }

    /// Fetches the records with so many names.
    private func records(_ count: Int) -> WireClientEnvelope.OneOfRequest {
        var names = WireZoneRecordNames()
        names.zone = TestClient.zone("notes")
        names.names = (0..<count).map { "r\($0)" }
        var request = WireFetchRecords()
        request.database = .private
        request.zones = [names]
        return .fetchRecords(request)
    }

    /// Fetches so many zones by name; none: a page of all.
    private func zones(_ count: Int) -> WireClientEnvelope.OneOfRequest {
        var request = WireFetchZones()
        request.database = .private
        request.zones = (0..<count).map { TestClient.zone("z\($0)") }
        return .fetchZones(request)
    }

    @Test func `R-716: what may be a page takes the room of four records, or of four lists of a few zones`() throws {
        func time(_ request: WireClientEnvelope.OneOfRequest, count: Int) throws -> Duration {
            let world = SessionWorld {
                $0.fetches.room = 4
                $0.fetches.roomPerOwner = 4
            }
            let client = try world.enter()
            try client.makeZone("notes")
            client.forgetInbox()
            world.server.faults.always(.callSent, .delay(.seconds(1)))
            let start = world.scheduler.now
            for _ in 0..<count { client.post(request) }
            world.scheduler.runUntilIdle()
            while client.inbox.count < count, world.scheduler.now - start < .seconds(100) {
                world.scheduler.advance(by: .milliseconds(250))
            }
            return world.scheduler.now - start
        }
        for few in [records(1), zones(8)] { #expect(try time(few, count: 4) == time(few, count: 1)) }
        for page in [records(3), records(9), zones(9), zones(0)] {
            #expect(try time(page, count: 2) > time(page, count: 1))
        }
    }

    @Test func `R-744: no answer to a client that asks for long subscriptions is longer than a page`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        var saving = WireModifySubscriptions()
        saving.database = .private
        saving.saves = (0..<250).map { number in
            var subscription = TestClient.subscription("subscription \(1_000 + number)")
            subscription.notificationInfo.alertBody = String(repeating: "x", count: 4_000)
            return subscription
        }
        _ = try client.ask(.modifySubscriptions(saving))
        var request = WireFetchSubscriptions()
        request.database = .private
        #expect(try client.ask(.fetchSubscriptions(request))?.code == .limitExceeded)
        request.inPages = true
        var found: [String] = []
        var sizes: [Int] = []
        repeat {
            let answer = try client.ask(.fetchSubscriptions(request))
            guard case .fetchSubscriptions(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
            found += page.subscriptions.map(\.subscription.id)
            sizes.append(page.size)
            request.cursor = page.cursor
        } while !request.cursor.isEmpty && sizes.count < 100
        #expect(found == saving.saves.map(\.id))
        #expect(sizes.count == 8)
        let most = Limits().pageSubscriptionBytesMax
        #expect(sizes.dropLast().allSatisfy { (most - 5_000...most + 100).contains($0) }, "\(sizes)")
    }

    @Test func `R-111, R-716: conflicts cost a client that does not read no more than its other answers`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("notes")
        let text = String(repeating: "x", count: 900_000)
        try client.save("r", in: "notes", text: text)
        client.forgetInbox()
        client.takesAnswers(false)
        for _ in 0..<20 {
            var stale = try client.saving("r", in: "notes")
            stale.policy = .ifServerRecordUnchanged
            stale.stamp.lowestUnanswered = 1
            client.post(.modifyRecords(stale))
        }
        world.scheduler.runUntilIdle()
        #expect(client.inbox.count == 20)
        #expect(client.queuedByteCount < 3_000_000)
        let failures = client.inbox.compactMap { $0.modifyRecords.zones.first?.saves.first?.failure }
        #expect(failures.allSatisfy { $0.failure.code == .serverRecordChanged })
        #expect(failures.first?.serverRecord.fields.count ?? 0 > 900_000)
        #expect(failures.last?.serverRecord.fields.isEmpty == true)
    }

    @Test func `R-054, R-716: records that come with saves cost a client that does not read no more than answers`()
        throws
    {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("notes")
        try client.save("r", in: "notes", text: String(repeating: "x", count: 900_000))
        client.forgetInbox()
        client.takesAnswers(false)
        for number in 0..<20 {
            var blind = try client.saving("r", in: "notes")
            blind.stamp.lowestUnanswered = 1
            blind.zones[0].saves[0].fields = try FieldMap([Field("number", .int64(Int64(number)))]).bytes
            client.post(.modifyRecords(blind))
        }
        world.scheduler.runUntilIdle()
        #expect(client.inbox.count == 20)
        #expect(client.queuedByteCount < 3_000_000)
        let saves = client.inbox.compactMap { $0.modifyRecords.zones.first?.saves.first?.saved }
        #expect(saves.count == 20 && saves.allSatisfy { $0.hasRecord != $0.mustFetch })
        #expect(saves.first?.record.fields.count ?? 0 > 900_000)
        #expect(saves.last?.mustFetch == true)
    }
}
