// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// The requests that are one call of the store.
@Suite struct OtherRequestsTests {
    private let device = DeviceID(high: 2, low: 2)

    @Test func `R-170: records are fetched by name, each with its own result`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server(faults: FaultScript(first: [.callSent: [.disconnect]]).plan)
        try fixture.scheduler.simulate {
            let database = fixture.key().database
            _ = await service.modify(try fixture.saving(["a", "b", "c"], id: RequestID(device, 1)), in: database)
            _ = await service.modify(try fixture.saving([], deleting: ["b"], id: RequestID(device, 2)), in: database)
            let lookup = try await service.records(
                named: ["c", "b", "never", "a", "c"], in: fixture.key(), by: .owner(UserID(1))
            ).get()
            #expect(
                lookup.records.map { result in result.map(\.name) } == [
                    .success("c"), .failure(.recordUnknown), .failure(.recordUnknown), .success("a"), .success("c"),
                ])
            #expect(lookup.zone.key == fixture.key())
        }
    }

    @Test(arguments: [("none", FailureReason.zoneNotFound), ("_odd", .zoneNameInvalid), ("purged", .zonePurged)])
    func `R-029, R-106: a fetch in a missing zone says why`(_ zone: String, _ reason: FailureReason) throws {
        let fixture = try ServiceFixture(zones: ["purged"])
        fixture.database.endZone(fixture.key("purged"), reason: .purged)
        let service = fixture.server()
        try fixture.scheduler.simulate {
            guard
                case .failure(let told) = await service.records(
                    named: ["a"], in: fixture.key(zone), by: .owner(UserID(1)))
            else {
                Issue.record("there is no such zone")
                return
            }
            #expect(told == reason)
        }
    }

    @Test func `answers are bounded by bytes, and the client asks for the rest`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.answerBytesMax = 250
        let service = fixture.server(limits: limits)
        try fixture.scheduler.simulate {
            let names = ["a", "b", "c", "d"]
            let request = try fixture.saving(names, text: String(repeating: "x", count: 100), id: RequestID(device, 1))
            _ = await service.modify(request, in: fixture.key().database)
            let lookup = try await service.records(named: names, in: fixture.key(), by: .owner(UserID(1))).get()
            #expect(lookup.records.count == 2)
            let page = try await service.zoneChanges(of: fixture, token: []).get()
            #expect(page.entries.count == 2 && page.moreComing)
        }
    }

    @Test func `R-022, R-029: zones are listed with the default zone, and found by name`() throws {
        let fixture = try ServiceFixture(zones: ["b", "a"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let database = fixture.key().database
            let names = try await service.zonesPage(in: database, after: nil).get().zones.map(\.key.name)
            #expect(names == [ZoneName.default, "b", "a"])
            let found = try await service.zones(named: ["a", "none"], in: database).get()
            #expect(found.map { result in result.map(\.key.name) } == [.success("a"), .failure(.zoneNotFound)])
        }
    }

    @Test func `R-241, R-242: subscriptions are saved, replaced, fetched and deleted, each with its own result`() throws
    {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let user = fixture.identity.user
            func subscription(_ id: String, _ scope: DatabaseScope = .private, type: String? = nil) -> Subscription {
                Subscription(id: id, scope: scope, kind: .database, recordType: type, notificationInfo: [])
            }
            let saved = try await service.modifySubscriptions(
                saves: [subscription("a"), subscription("a", .public), subscription("a", type: "Note")],
                deletes: ["none", "\u{1}"], scope: .private, of: user
            ).get()
            #expect(
                saved.saves == [
                    .success(subscription("a")), .failure(.subscriptionInvalid),
                    .success(subscription("a", type: "Note")),
                ])
            #expect(saved.deletes.map(\.reason) == [.subscriptionUnknown, .subscriptionUnknown])
            #expect(
                await service.subscriptions(in: .private, of: user) == .success([subscription("a", type: "Note")]))
            #expect(await service.subscriptions(in: .shared, of: user) == .success([]))
            let deleted = try await service.modifySubscriptions(
                saves: [], deletes: ["a"], scope: .private, of: user
            ).get()
            #expect(deleted.deletes.map(\.reason) == [nil])
        }
    }

    @Test func `I-7: a user has a bounded number of subscriptions, and may go on replacing them`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.subscriptionsMax = 2
        let service = fixture.server(limits: limits)
        try fixture.scheduler.simulate {
            let wishes = ["a", "b", "c", "a"].map {
                Subscription(id: $0, scope: .private, kind: .database, recordType: nil, notificationInfo: [])
            }
            let outcome = try await service.modifySubscriptions(
                saves: wishes, deletes: [], scope: .private, of: fixture.identity.user
            ).get()
            #expect(outcome.saves.map(\.reason) == [nil, nil, .tooManySubscriptions, nil])
        }
    }

    @Test func `R-718, R-242: subscriptions of one request are two calls of the store, also if answers are lost`()
        throws
    {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.subscriptionsMax = 200
        let script = FaultScript()
        let lossy = FaultScript(first: [.callAnswered: [.disconnect, .none, .disconnect]])
        let service = fixture.server(faults: script.plan, limits: limits)
        let again = fixture.server(faults: lossy.plan, limits: limits)
        try fixture.scheduler.simulate {
            let saves = (0..<250).map { number in
                Subscription(
                    id: "\(number)", scope: number == 7 ? .shared : .private, kind: .database, recordType: nil,
                    notificationInfo: [])
            }
            let deletes = ["3", "\u{1}", "3", "4"] + (0..<146).map { "\($0 + 54)" }
            func modify(_ service: CloudService) async throws -> SubscriptionsOutcome {
                try await service.modifySubscriptions(
                    saves: saves, deletes: deletes, scope: .private, of: fixture.identity.user
                ).get()
            }
            let outcome = try await modify(service)
            #expect(script.count(.callSent) == 2)
            let refusals = (0..<250).map { number -> FailureReason? in
                if number == 7 { return .subscriptionInvalid }
                return number <= 200 ? nil : .tooManySubscriptions
            }
            #expect(outcome.saves.map(\.reason) == refusals)
            #expect(outcome.deletes.prefix(4).map(\.reason) == [nil, .subscriptionUnknown, .subscriptionUnknown, nil])
            #expect(outcome.deletes.dropFirst(4).allSatisfy { $0.reason == nil })
            // The deletions have made room for what was saved before, and for no more.
            let repeated = try await modify(again)
            #expect(lossy.count(.callSent) == 4)
            #expect(repeated.saves.map(\.reason) == outcome.saves.map(\.reason))
            #expect(repeated.deletes.map(\.reason) == outcome.deletes.map(\.reason))
        }
    }

    @Test func `a deletion whose answer was lost is a success`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript(first: [.callAnswered: [.none, .disconnect]])
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let subscription = Subscription(
                id: "a", scope: .private, kind: .database, recordType: nil, notificationInfo: [])
            let user = fixture.identity.user
            _ = await service.modifySubscriptions(saves: [subscription], deletes: [], scope: .private, of: user)
            let outcome = try await service.modifySubscriptions(
                saves: [], deletes: ["a"], scope: .private, of: user
            ).get()
            #expect(outcome.deletes.map(\.reason) == [nil])
        }
    }

    @Test func `R-014: a credential is checked before the container is looked for`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            func authenticate(_ hash: [UInt8], creates: Bool) async -> Result<Identity?, FailureReason> {
                await service.authenticate(
                    credentialHash: hash, container: "iCloud.other", environment: .development,
                    createsContainer: creates, device: device, deviceName: "")
            }
            #expect(await authenticate([1], creates: true) == .success(nil))
            #expect(await authenticate([1], creates: false) == .success(nil))
            #expect(await authenticate(fixture.credentialHash, creates: false) == .failure(.containerUnknown))
            let identity = try #require(try await authenticate(fixture.credentialHash, creates: true).get())
            #expect(identity.privateDatabase != fixture.identity.privateDatabase)
            #expect(await service.voidCredentials(among: [identity.credential]) == .success([]))
            fixture.database.revokeCredential(identity.credential)
            #expect(await service.voidCredentials(among: [identity.credential]) == .success([identity.credential]))
            #expect(await authenticate(fixture.credentialHash, creates: true) == .success(nil))
        }
    }

    @Test func `I-4: servers tell each other, and a hint may be lost`() throws {
        let fixture = try ServiceFixture()
        let heard = Log<ServerNotice>()
        let listener = fixture.database.listen { notices in for notice in notices { heard.append(notice) } }
        let notice = ServerNotice.zone(ZoneNotice(database: fixture.key().database, life: device, zoneName: "notes"))
        let service = fixture.server(faults: FaultScript(first: [.notice: [.none, .disconnect]]).plan)
        try fixture.scheduler.simulate {
            for _ in 0..<3 {
                #expect(await service.post([notice]).reason == nil)
                try await fixture.scheduler.sleep(for: .seconds(1))
            }
            fixture.database.stopListening(listener)
            _ = await service.post([notice])
            try await fixture.scheduler.sleep(for: .seconds(1))
        }
        #expect(heard.all == [notice, notice])
    }
}
