// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct NoticePayloadTests {
    private func notice(_ number: Int, name: String = "Notes") -> ServerNotice {
        .zone(
            ZoneNotice(
                database: DatabaseID(Int64(number)), life: DeviceID(high: UInt64(number), low: .max), zoneName: name))
    }

    private func query(_ reason: QueryReason?, _ record: QueryNotification.Record?) -> QueryNotice {
        QueryNotice(
            database: DatabaseID(7),
            subscriber: SubscriberKey(user: UserID(8), key: Subscription.Key(scope: .public, id: "notes of \u{7E}")),
            reason: reason, record: record, maker: DeviceID(high: 1, low: .max))
    }

    private var presence: [ServerNotice] {
        let place = PresencePlace(zone: ZoneID(7), share: ShareNumber(9))
        var news = PresenceNews()
        news.members = [
            PresenceMember(number: .max, user: UserID(1), userName: "_a b\t\n~", state: Array(0...255)),
            PresenceMember(number: 1, user: UserID(-2), userName: "", state: []),
        ]
        let content = [UInt8](repeating: 9, count: 1_024)
        news.messages = [PresenceMessage(from: news.members[0], content: content)]
        news.gone = [3, .max]
        return [
            .presence(PresenceNotice(database: DatabaseID(1), place: place, origin: .max, news: news)),
            .presence(
                PresenceNotice(
                    database: DatabaseID(1), place: PresencePlace(zone: ZoneID(8), share: nil), origin: 1, asks: true,
                    told: PresenceTally(count: 3, digest: .max))),
        ]
    }

    @Test func `notices survive the way through text, each once, in pieces that PostgreSQL takes`() {
        let notices =
            (0..<500).map { notice($0, name: String(repeating: "~ ", count: 120)) } + presence
            + [
                .credentialRevoked(CredentialID(7)), notice(1, name: ""),
                .deviceRevoked(AccountDevice(account: AccountID(7), device: DeviceID(high: 1, low: .max))),
                .zone(ZoneNotice(database: DatabaseID(1), life: .nobody, zoneName: "a", changesShares: true)),
                .limitsChanged(AccountID(7)), .limitsChanged(nil), .connectionsClosed(AccountID(7), nil),
                .connectionsClosed(AccountID(7), DeviceID(high: 1, low: .max)), .containerClosed(ContainerID(7)),
                .queriesChanged(DatabaseID(7)), .queriesLost(DatabaseID(7)),
                .queriesEvaluated(
                    EvaluatedChanges(database: DatabaseID(7), part: ChangeRanges.Part(after: 0, upTo: .max))),
                .queryFired(query(.created, QueryNotification.Record(name: "a b", zoneName: "_defaultZone"))),
                .queryFired(query(nil, nil)),
                .devicesAsked(DeviceQuestion(number: .max, account: nil)),
                .devicesAsked(DeviceQuestion(number: 0, account: AccountID(7))),
                .devicesWritten(
                    DeviceAnswer(question: .max, server: "host/7", serverSince: Timestamp(milliseconds: -5))),
            ]
        let payloads = NoticePayload.encode(notices + notices)
        #expect(payloads.allSatisfy { $0.utf8.count < 8_000 })
        let back = payloads.flatMap(NoticePayload.decode)
        #expect(back.count == notices.count)
        #expect(Set(back) == Set(notices))
    }

    private func fired(_ reason: QueryReason?, _ record: String, by maker: UInt64 = 1) -> ServerNotice {
        .queryFired(
            QueryNotice(
                database: DatabaseID(7),
                subscriber: SubscriberKey(user: UserID(8), key: Subscription.Key(scope: .public, id: "s")),
                reason: reason, record: QueryNotification.Record(name: record, zoneName: "notes"),
                maker: DeviceID(high: 0, low: maker)))
    }

    @Test func `R-249: what happens to a record is told in its order, also if it is deleted and made again`() {
        let notices = [
            fired(.deleted, "b"), fired(.deleted, "a"), fired(.created, "a"), fired(.updated, "a"),
            fired(.deleted, "a"),
            fired(.created, "a"), fired(.created, "a", by: 2),
        ]
        #expect(NoticePayload.encode(notices).flatMap(NoticePayload.decode) == notices)
        // Equal ones that follow each other are one.
        let twice = notices.flatMap { [$0, $0] }
        #expect(NoticePayload.encode(twice).flatMap(NoticePayload.decode) == notices)
    }

    @Test func `R-249: of payloads that are equal none is lost, because PostgreSQL would send one of them`() {
        // Each round fills one payload exactly: lines of 100 bytes, 79 of them.
        let length = NoticePayload.encode([fired(.created, "")]).joined().utf8.count
        let names = (0..<79).map { String(1_000 + $0) + String(repeating: "~", count: 100 - length - 4) }
        let reasons: [QueryReason] = [.created, .deleted, .created, .deleted, .created]
        let notices: [ServerNotice] = reasons.flatMap { reason in
            names.map { fired(reason, $0) }
        }
        let payloads = NoticePayload.encode(notices)
        #expect(payloads.count == 5 && Set(payloads).count == 5)
        #expect(payloads.allSatisfy { $0.utf8.count < 8_000 })
        #expect(payloads.flatMap(NoticePayload.decode) == notices)
    }

    @Test(arguments: [
        "", "x", "z\t1\n", "z\t1\tzz\tname\n", "z\tone\t00\tname\n", "c\tx\n", "\t\t\t\n", "c\n", "d\t1\n",
        "d\t1\tzz\n", "l\tx\n", "l\t1\t2\n", "x\t1\n", "x\t1\tzz\n", "x\tone\t\n", "k\n", "k\tone\n",
        "k\t1\t2\n", "q\t1\n", "q\tone\t1\n", "q\t1\tg\n", "q\t1\t11111111111111111\n", "a\t1\t1\n",
        "a\t1\tg\thost/1\n", "a\tone\t1\thost/1\n", "w\tx\n", "w\t1\t2\n", "v\t\n", "f\t1\t2\t1\t1\tzz\ts\tr\tz\n",
        "f\t1\tx\t1\t1\t00\ts\tr\tz\n", "f\t1\t2\t9\t1\t00\ts\tr\tz\n", "f\t1\t2\t1\t1\n",
        "e\t1\t2\n", "e\t1\t2\t2\n", "e\t1\t3\t2\n", "e\t1\t-1\t2\n", "e\t1\tx\t2\n", "e\t1\t1\t2\t3\n",
    ])
    func `I-4: what cannot be understood is passed over`(_ payload: String) {
        #expect(NoticePayload.decode(payload).isEmpty)
    }

    @Test func `R-965: the name of a server's connection fits into PostgreSQL, and tells long names apart`() {
        #expect(ListenerName.part(of: "host/7") == "host/7")
        let whole = String(repeating: "h", count: 47)
        #expect(ListenerName.part(of: whole) == whole)
        let long = String(repeating: "h", count: 70)
        let names = (1...9).map { ListenerName.part(of: "\(long)/\($0)") }
        #expect(Set(names).count == 9)
        #expect(names.allSatisfy { $0.hasPrefix("hhhhhhhhhh") })
        // Also after very many more migrations.
        for name in names + ["host/7", whole] {
            #expect(ListenerName.whole(name, migrationCount: 999_999).utf8.count <= 63)
            let server = ListeningServer(connection: ListenerName.whole(name))
            #expect(server == ListeningServer(name: name, migrationCount: Migrations.all.count))
        }
    }

    @Test(
        arguments: [
            ("tidemark server host/7", "host/7", nil), ("tidemark server a b", "a b", nil),
            ("tidemark/47 host/7", "host/7", 47),
            ("tidemark/47", "", 47), ("tidemark/48 server é/1", "server é/1", 48), ("tidemark/46 a", "a", 46),
            ("tidemark/0 a", "a", 0),
        ] as [(String, String, Int?)])
    func `R-999: the name of a server's connection tells how many migrations it knows`(
        _ connection: String, _ name: String, _ count: Int?
    ) {
        let server = ListeningServer(connection: connection)
        #expect(server == ListeningServer(name: name, migrationCount: count))
        for number in [1, 46, 47, 48, 49] {
            #expect(server?.isOlder(than: number) == ((count ?? 0) < number), "\(number)")
        }
    }

    @Test(arguments: [
        "", "tidemark", "tidemark-migrate", "tidemark/", "tidemark/ 47", "tidemark/x host/7", "tidemark/-1 host/7",
        "tidemark/47host/7", "tidemark/99999999999999999999 host/7", "tidemark/４７ host/7", "prod", "Tidemark/47 a",
        "tidemark serverless",
    ])
    func `R-999: other connections are no servers`(_ connection: String) {
        #expect(ListeningServer(connection: connection) == nil)
    }

    @Test func `R-999: hierarchies came with the migration that makes the rows of shares' records`() {
        #expect(Migrations.all[Migrations.hierarchies - 1].name == "0047_create_share_records")
    }

    @Test(arguments: [[:], ["application_name": "prod"]])
    func `R-965: operators find the servers that listen, whatever the URL calls them`(
        _ name: [String: String]
    ) async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            let store = AdminStore(storage)
            #expect(try await store.listeningServers().isEmpty, "there is none of another database either")
            let url = PostgresURL.replacing(name, in: fixture.database.url)
            let long = String(repeating: "h", count: 64) + "/1"
            var listeners: [NoticeListener] = []
            let (listening, listens) = AsyncStream.makeStream(of: Void.self)
            for server in ["b/2", "a/1", "a/1", long, "", nil] {
                listeners.append(
                    try NoticeListener(
                        url: try #require(url), loop: fixture.loop, server: server, onNotices: { _ in },
                        onListening: { listens.yield() }))
            }
            var connected = listening.makeAsyncIterator()
            for _ in listeners { _ = await connected.next() }
            let servers = try await store.listeningServers()
            #expect(Set(servers) == ["a/1", "b/2", ListenerName.part(of: long)] && servers.count == 4)
            let all = try await store.connectedServers()
            #expect(all.count == 5 && all.contains { $0.name.isEmpty })
            #expect(all.allSatisfy { $0.migrationCount == Migrations.all.count })
            #expect(try await storage.olderServers() == OlderServersSight(servers: [], isSettled: true))
            for listener in listeners { listener.stop() }
            try await eventually(within: .seconds(60)) { try await store.listeningServers().isEmpty }
            await storage.stop()
        }
    }

    @Test func `two servers on one database tell each other`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            let (heard, hear) = AsyncStream.makeStream(of: [ServerNotice].self)
            let (listening, listens) = AsyncStream.makeStream(of: Void.self)
            let listener = try NoticeListener(
                url: fixture.database.url, loop: fixture.loop, onNotices: { hear.yield($0) },
                onListening: { listens.yield() })
            for await _ in listening { break }
            try await storage.post([notice(1), notice(2)])
            for await notices in heard {
                #expect(Set(notices) == [notice(1), notice(2)])
                break
            }
            listener.stop()
            await storage.stop()
        }
    }
}
