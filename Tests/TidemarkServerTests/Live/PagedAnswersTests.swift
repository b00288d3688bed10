// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkTestSupport
import TidemarkWire

/// The longest lists of keys and subscriptions that there may be, over TLS and PostgreSQL.
@Suite struct PagedAnswersTests {
    @Test func `R-744: ten thousand keys come in answers of a thousand, and all of them come`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let client = try await world.enter(server: server)
                let limits = Limits()
                let names = (0..<limits.keyZonesMax).map { "secret \($0)" }
                try await make(names, by: client)
                // Each save of a key would be a transaction.
                let statement = """
                    INSERT INTO zone_key (database_id, zone_id, number, created_at, id, account_key_id, wrapped)
                    SELECT z.database_id, z.id, n, now(), decode(lpad(to_hex(n), 32, '0'), 'hex'),
                           decode(repeat('02', 16), 'hex'), decode(repeat('03', 60), 'hex')
                      FROM zone z, generate_series(1, \(limits.zoneKeysMax)) AS n
                     WHERE z.name LIKE 'secret%'
                    """
                try PostgresAdministration.execute([statement], url: world.database.url)

                var request = WireFetchKeys()
                request.database = .private
                request.zones = names.map(TestClient.zone)
                #expect(try await client.ask(.fetchKeys(request)).failure.code == .limitExceeded)
                request.inPages = true
                var found: [WireZoneKeysResult] = []
                var sizes: [Int] = []
                while found.count < names.count, sizes.count < 100 {
                    request.zones = names[found.count...].map(TestClient.zone)
                    let answer = try await client.ask(.fetchKeys(request))
                    found += answer.fetchKeys.zones
                    sizes.append(answer.fetchKeys.size)
                }
                #expect(sizes.count == 10 && sizes.allSatisfy { $0 < 110_000 }, "\(sizes)")
                #expect(found.count == names.count)
                let numbers = (1...limits.zoneKeysMax).map { Optional(UInt8($0)) }
                #expect(found.allSatisfy { $0.keys.keys.map(\.id.last) == numbers }, "each has its keys, oldest first")
            }
        }
    }

    private func make(_ zones: [String], by client: LiveClient) async throws {
        var request = WireModifyZones()
        request.database = .private
        request.stamp = client.stamp()
        request.saves = zones.map(TestClient.zone)
        let answer = try await client.ask(.modifyZones(request))
        guard answer.modifyZones.saves.map(\.zone.id.name) == zones else { throw LiveError("no zones: \(answer)") }
    }

    @Test func `R-744: the most subscriptions of the most texts come in answers that a client can read`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let client = try await world.enter(server: server)
                // As many texts as one can have: each takes two bytes.
                var info = WireNotificationInfo()
                info.alertLocalizationArgs = Array(repeating: "", count: 2_000)
                let ids = (0..<Limits().subscriptionsMax).map { "subscription \(1_000 + $0)" }
                // A request of more would have too many parts.
                for start in stride(from: 0, to: ids.count, by: 5) {
                    var saving = WireModifySubscriptions()
                    saving.database = .private
                    saving.saves = ids[start..<start + 5].map { id in
                        var subscription = TestClient.subscription(id)
                        subscription.notificationInfo = info
                        return subscription
                    }
                    let answer = try await client.ask(.modifySubscriptions(saving))
                    #expect(answer.modifySubscriptions.saves.map(\.subscription.id) == saving.saves.map(\.id))
                }
                var request = WireFetchSubscriptions()
                request.database = .private
                #expect(try await client.ask(.fetchSubscriptions(request)).failure.code == .limitExceeded)
                request.inPages = true
                let all = try await pages(request, client) { request, page in
                    request.cursor = page.cursor
                    return !page.cursor.isEmpty
                }
                let backwards = Array(ids.reversed())
                request.ids = backwards
                let named = try await pages(request, client) { request, page in
                    request.ids.removeFirst(page.subscriptions.count)
                    return !request.ids.isEmpty
                }
                #expect(all.map(\.id) == ids && named.map(\.id) == backwards)
                #expect((all + named).allSatisfy { $0.notificationInfo == info })
            }
        }
    }

    /// - Parameter next: makes the next request of an answer. False: there is no more.
    private func pages(
        _ first: WireFetchSubscriptions, _ client: LiveClient,
        next: (inout WireFetchSubscriptions, WireFetchSubscriptionsAnswer) -> Bool
    ) async throws -> [WireSubscription] {
        var request = first
        var found: [WireSubscription] = []
        for _ in 0..<100 {
            let answer = try await client.ask(.fetchSubscriptions(request))
            guard case .fetchSubscriptions(let page)? = answer.answer, !page.subscriptions.isEmpty else {
                throw LiveError("no page: \(answer)")
            }
            #expect(page.size <= Limits().pageSubscriptionBytesMax + 100)
            found += page.subscriptions.map(\.subscription)
            guard next(&request, page) else { return found }
        }
        throw LiveError("subscriptions without an end")
    }
}
