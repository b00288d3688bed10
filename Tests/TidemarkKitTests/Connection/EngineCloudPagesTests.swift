// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Pages of a zone's feed that come with the answer to another request.
@Suite struct EngineCloudPagesTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")

    init() {
        server = ScriptedServer(scheduler)
    }

    private static func page(_ feed: WireFetchZoneChanges, _ name: String) -> WireFetchZoneChangesAnswer {
        var change = WireZoneChange()
        change.record.name = name
        change.record.type = "Note"
        change.record.tag = [1]
        var answer = WireFetchZoneChangesAnswer()
        answer.changes = [change]
        answer.token = feed.token + [2]
        return answer
    }

    /// A record "attached" in pages that come with the feed, "asked" in others.
    private static func answer(to request: WireClientEnvelope) -> WireServerEnvelope.OneOfAnswer? {
        switch request.request {
        case .fetchDatabaseChanges(let feed):
            var answer = WireFetchDatabaseChangesAnswer()
            answer.token = feed.token + [1]
            if feed.hasThen { answer.then = page(feed.then, "attached") }
            return .fetchDatabaseChanges(answer)
        case .fetchZoneChanges(let feed): return .fetchZoneChanges(page(feed, "asked"))
        default: return nil
        }
    }

    private func makeCloud(in container: CKContainer? = nil) throws -> any SyncEngineCloud {
        server.answer(Self.answer)
        let database = (container ?? server.container()).privateCloudDatabase
        let cloud = database.syncEngineHost.makeCloud(Array(0..<16), nil)
        #expect(try scheduler.complete { try await cloud.currentUser() }?.recordName == "_alice")
        return cloud
    }

    private func place(_ token: CKServerChangeToken?) -> SyncEngineZonePlace {
        SyncEngineZonePlace(zoneID: zoneID, token: token)
    }

    private func names(
        _ cloud: any SyncEngineCloud, since token: CKServerChangeToken?, asOfFeed: Bool = true,
        for name: String = "alice"
    ) throws -> [String] {
        let zoneID = zoneID
        return try scheduler.complete {
            try await cloud.zoneChanges(in: zoneID, since: token, asOfFeed: asOfFeed, for: user(name))
                .modifications.map(\.record.recordID.recordName)
        }
    }

    private func readFeed(_ cloud: any SyncEngineCloud, expecting place: SyncEngineZonePlace?) throws {
        _ = try scheduler.complete {
            try await cloud.databaseChanges(since: nil, expecting: place, asPushed: false, for: user("alice"))
        }
    }

    @Test func `R-508: what a push brought needs one request; the page that came with the feed is used once`() throws {
        let cloud = try makeCloud()
        let token = CKServerChangeToken(bytes: [7])
        try readFeed(cloud, expecting: place(token))
        guard case .fetchDatabaseChanges(let request)? = server.envelopes.last?.request else {
            Issue.record("the feed was asked for")
            return
        }
        #expect(request.then.zone.name == "Notes" && request.then.token == [7] && !request.then.withEnds)
        let count = server.log.count
        #expect(try names(cloud, since: token) == ["attached"])
        #expect(server.log.count == count, "nothing was asked")
        #expect(try names(cloud, since: token) == ["asked"])
        cloud.close()
    }

    @Test func `R-508: the page of a zone of another comes with the list of the shared database`() throws {
        server.answer(Self.answer)
        let cloud = server.container().sharedCloudDatabase.syncEngineHost.makeCloud(Array(0..<16), nil)
        #expect(try scheduler.complete { try await cloud.currentUser() }?.recordName == "_alice")
        let token = CKServerChangeToken(bytes: [7])
        let theirs = CKRecordZone.ID(zoneName: "Notes", ownerName: "_owner")
        try readFeed(cloud, expecting: SyncEngineZonePlace(zoneID: theirs, token: token))
        guard case .fetchDatabaseChanges(let request)? = server.envelopes.last?.request else {
            Issue.record("the feed was asked for")
            return
        }
        #expect(request.database == .shared && request.then.database == .shared)
        #expect(request.then.zone.name == "Notes" && request.then.zone.owner == "_owner" && request.then.token == [7])
        let count = server.log.count
        let page = try scheduler.complete {
            try await cloud.zoneChanges(in: theirs, since: token, asOfFeed: true, for: user("alice"))
        }
        #expect(page.modifications.map(\.record.recordID.zoneID) == [theirs])
        #expect(server.log.count == count, "nothing was asked")
        cloud.close()
    }

    @Test func `R-613: a page that came with the feed counts for its place only, and not after news`() throws {
        let cloud = try makeCloud()
        let token = CKServerChangeToken(bytes: [7])
        for (since, asOfFeed) in [(nil, true), (CKServerChangeToken(bytes: [8]), true), (token, false)] {
            try readFeed(cloud, expecting: place(token))
            #expect(try names(cloud, since: since, asOfFeed: asOfFeed) == ["asked"])
            #expect(try names(cloud, since: token) == ["asked"], "it is not kept for later")
        }
        try readFeed(cloud, expecting: place(token))
        try readFeed(cloud, expecting: nil)
        #expect(try names(cloud, since: token) == ["asked"], "the feed was read again since")
        cloud.close()
    }

    private func readFeed(
        _ cloud: any SyncEngineCloud, since token: CKServerChangeToken, expecting place: SyncEngineZonePlace?,
        asPushed: Bool = true
    ) throws -> [UInt8] {
        let page = try scheduler.complete {
            try await cloud.databaseChanges(since: token, expecting: place, asPushed: asPushed, for: user("alice"))
        }
        return page.token.bytes
    }

    /// A push that leads from feed 5 and zone 7 to feed 6 and zone 8.
    private func push(database: WireDatabaseScope = .private) -> WirePush {
        var push = WirePush()
        push.database = database
        push.kind = .database
        var zone = WireZoneID()
        zone.name = "Notes"
        push.zones = [zone]
        push.changes.databaseToken = [5]
        push.changes.zone = zone
        push.changes.zoneToken = [7]
        push.changes.answer.changed = [zone]
        push.changes.answer.token = [6]
        push.changes.answer.then = Self.page(WireFetchZoneChanges(), "pushed")
        push.changes.answer.then.token = [8]
        return push
    }

    private static let feed = CKServerChangeToken(bytes: [5])
    private static let zone = CKServerChangeToken(bytes: [7])

    @Test func `R-508: what a push brought needs no request at all, and is used once`() throws {
        let cloud = try makeCloud()
        try #require(cloud as? EngineCloud).pushed(push())
        let count = server.log.count
        #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [6])
        #expect(try names(cloud, since: Self.zone) == ["pushed"])
        #expect(server.log.count == count, "nothing was asked")
        #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [5, 1])
        #expect(try names(cloud, since: Self.zone) == ["attached"])
        guard case .fetchDatabaseChanges(let request)? = server.envelopes.last?.request else {
            Issue.record("the feed was asked for")
            return
        }
        #expect(request.follows, "so that the next push brings something, too")
        cloud.close()
    }

    @Test func `I-2: what a push brought counts where it goes on from, if all is to be had so`() throws {
        let cloud = try makeCloud()
        let engineCloud = try #require(cloud as? EngineCloud)
        let other = CKServerChangeToken(bytes: [9])
        for (feed, place, asPushed) in [
            (other, place(Self.zone), true), (Self.feed, place(other), true), (Self.feed, place(nil), true),
            (Self.feed, nil, true), (Self.feed, place(Self.zone), false),
            (Self.feed, SyncEngineZonePlace(zoneID: .init(zoneName: "Other"), token: Self.zone), true),
        ] as [(CKServerChangeToken, SyncEngineZonePlace?, Bool)] {
            engineCloud.pushed(push())
            #expect(try readFeed(cloud, since: feed, expecting: place, asPushed: asPushed) == feed.bytes + [1])
            let again = try readFeed(cloud, since: Self.feed, expecting: self.place(Self.zone))
            #expect(again == [5, 1], "it is not kept for later")
        }
        engineCloud.pushed(push())
        scheduler.advance(by: .seconds(3))
        #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [5, 1], "it is old")
        engineCloud.pushed(push(database: .shared))
        #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [5, 1], "not of here")
        cloud.close()
    }

    @Test func `R-507, R-889: the push of a query is the app's, and takes nothing from what another push brought`()
        throws
    {
        let cloud = try makeCloud()
        let engineCloud = try #require(cloud as? EngineCloud)
        var query = WirePush()
        (query.database, query.kind, query.isPruned) = (.private, .query, true)
        engineCloud.pushed(push())
        engineCloud.pushed(query)
        #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [6])
        cloud.close()
    }

    @Test func `I-4: after a push that brings nothing, or a cut, the engine asks before it takes what is brought`()
        throws
    {
        let cloud = try makeCloud()
        let engineCloud = try #require(cloud as? EngineCloud)
        var bare = WirePush()
        (bare.database, bare.kind, bare.zones) = (push().database, push().kind, push().zones)
        for pushes in [[bare, push()], [push(), bare]] {
            for push in pushes { engineCloud.pushed(push) }
            #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [5, 1])
            engineCloud.pushed(push())
            #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [6])
        }
        engineCloud.disconnected()
        engineCloud.pushed(push())
        #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [5, 1])
        // Who asked in vain has not asked.
        engineCloud.pushed(bare)
        server.answer { _ in
            var failure = WireFailure()
            failure.code = .serviceUnavailable
            return .failure(failure)
        }
        #expect(throws: CKError.self) { try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) }
        server.answer(Self.answer)
        engineCloud.pushed(push())
        #expect(try readFeed(cloud, since: Self.feed, expecting: place(Self.zone)) == [5, 1])
        cloud.close()
    }

    @Test(arguments: [false, true])
    func `R-563: a page of one account is not shown to the next`(isPushed: Bool) throws {
        let container = server.container()
        let cloud = try makeCloud(in: container)
        let token = Self.zone
        try readFeed(cloud, expecting: place(token))
        if isPushed { try #require(cloud as? EngineCloud).pushed(push()) }
        let zoneID = zoneID
        container.signIn(token: "bob")
        if isPushed {
            #expect(throws: CKError.self) { try readFeed(cloud, since: Self.feed, expecting: place(token)) }
        }
        #expect(throws: CKError.self) {
            try scheduler.complete {
                try await cloud.zoneChanges(in: zoneID, since: token, asOfFeed: true, for: user("alice"))
            }
        }
        #expect(try scheduler.complete { try await cloud.currentUser() }?.recordName == "_bob")
        #expect(try names(cloud, since: token, for: "bob") == ["asked"])
        cloud.close()
    }

    @Test
    func `R-594: after a page that did not come the engine asks for half as many records, and for more as they come`()
        throws
    {
        let cloud = try makeCloud()
        server.hold { if case .fetchZoneChanges = $0.request { true } else { false } }
        for _ in 0..<2 {
            let error = #expect(throws: CKError.self) { try names(cloud, since: nil, asOfFeed: false) }
            #expect(error?.code == .networkFailure)
        }
        server.hold { _ in false }
        for _ in 0..<7 { _ = try names(cloud, since: nil, asOfFeed: false) }
        let limits = server.envelopes.compactMap { envelope -> UInt32? in
            if case .fetchZoneChanges(let feed) = envelope.request { feed.limit } else { nil }
        }
        #expect(limits == [0, 100, 50, 62, 77, 96, 120, 150, 187])
        #expect(try names(cloud, since: nil, asOfFeed: false) == ["asked"])
        #expect(server.envelopes.suffix(1).contains { $0.fetchZoneChanges.limit == 0 })
    }
}
