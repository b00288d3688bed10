// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct SyncEngineMachineFetchingTests {
    /// Zones A and B with records.
    private func filled() -> MachineHarness {
        let harness = MachineHarness.started(zones: "A", "B")
        harness.server.save("1", in: zone("A"), value: "x")
        harness.server.save("2", in: zone("A"), value: "x")
        harness.server.save("3", in: zone("B"), value: "x")
        return harness
    }

    @Test func `R-540, R-543, R-601: a fetch tells zones, then each zone's records, then its end`() {
        let harness = filled()
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "zones +A +B",
                "ask options", "willFetch A", "→ A(nil)", "records +A/1 +A/2", "didFetch A",
                "ask options", "willFetch B", "→ B(nil)", "records +B/3", "didFetch B",
                "stateUpdate", "didFetch", "call 1 ok",
            ])
        #expect(harness.unfetched == [])
    }

    @Test func `R-542, R-543, R-212: one event for each page that has content, and none for an empty one`() {
        let harness = filled()
        harness.server.feedPageSize = 1
        harness.server.zonePageSize = 1
        harness.fetch()
        let log = harness.take()
        #expect(log.filter { $0.hasPrefix("zones") } == ["zones +A", "zones +B"])
        #expect(log.filter { $0.hasPrefix("records") } == ["records +A/1", "records +A/2", "records +B/3"])
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(d10)", "didFetch", "call 2 ok",
            ])
    }

    @Test func `R-212: a server that promises more and brings nothing new does not keep the engine`() {
        let harness = filled()
        harness.fetch()
        harness.run()
        harness.log = []
        harness.respond = { request in
            guard case .databaseChanges(let token?, _, _, _) = request else { return nil }
            return .success(
                .databasePage(.init(modifications: [], deletions: [], token: token, moreComing: true)))
        }
        harness.fetch()
        #expect(harness.take().filter { $0.hasPrefix("→") } == ["→ feed(d10)"])
    }

    @Test func `R-732, R-212: after an empty page with more to come the engine goes on, and tells of no page`() {
        let harness = filled()
        let tokens = [nil, "z1.0"].map { $0.map(CKServerChangeToken.of) }
        harness.respond = { request in
            // Two pages of tombstones that the server passed over. Zone A begins behind them.
            guard case .zoneChanges(zone("A"), let token, _, _) = request,
                let index = tokens.firstIndex(of: token)
            else { return nil }
            return .success(
                .zonePage(.init(modifications: [], deletions: [], token: .of("z1.\(index)"), moreComing: true)))
        }
        harness.fetch()
        let log = harness.take()
        #expect(log.filter { $0.hasPrefix("→ A") } == ["→ A(nil)", "→ A(z1.0)", "→ A(z1.1)"])
        #expect(log.filter { $0.hasPrefix("records") } == ["records +A/1 +A/2", "records +B/3"])
    }

    @Test func `R-544, R-223: later fetches bring what changed since`() {
        let harness = filled()
        harness.fetch()
        harness.run()
        harness.log = []
        harness.server.save("3", in: zone("B"), value: "y")
        harness.server.delete("1", in: zone("A"))
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(d10)", "zones +B +A",
                "ask options", "willFetch B", "→ B(z3.9)", "records +B/3", "didFetch B",
                "ask options", "willFetch A", "→ A(z1.7)", "records -A/1", "didFetch A",
                "stateUpdate", "didFetch", "call 2 ok",
            ])
    }

    @Test func `R-548, R-602: a token is taken only when the delegate has handled its page`() {
        let harness = filled()
        var tokens: [String] = []
        harness.onEvent = { _ in
            let snapshot = harness.machine.snapshot
            tokens.append("\(snapshot.databaseToken?.text ?? "nil") \(snapshot.zoneTokens[zone("A")]?.text ?? "nil")")
        }
        harness.fetch()
        harness.run()
        // willFetch, zones, willFetch A, records, didFetch A, …
        #expect(tokens.prefix(5) == ["nil nil", "nil nil", "d10 nil", "d10 nil", "d10 z1.7"])
    }

    @Test func `R-522: changed zones are unfetched from their page on until their records are there`() {
        let harness = filled()
        var unfetched: [[String]] = []
        harness.onEvent = { _ in unfetched.append(harness.unfetched) }
        harness.fetch()
        harness.run()
        #expect(
            unfetched == [
                [], ["A", "B"], ["A", "B"], ["A", "B"], ["B"], ["B"], ["B"], [], [], [],
            ])
    }

    @Test func `R-545: preferred zones come first, those without changes are passed over`() {
        let harness = filled()
        var options = CKSyncEngine.FetchChangesOptions()
        options.prioritizedZoneIDs = [zone("none"), zone("B")]
        harness.fetch(options)
        #expect(harness.take().filter { $0.hasPrefix("willFetch ") } == ["willFetch B", "willFetch A"])
    }

    @Test func `R-546: the delegate's answer replaces scope and priorities from then on`() {
        let harness = filled()
        harness.options = { context in
            var options = context.options
            options.scope = .zoneIDs([zone("B")])
            return options
        }
        harness.fetch()
        #expect(harness.take().filter { $0.hasPrefix("willFetch ") } == ["willFetch B"])
        #expect(harness.unfetched == ["A"])
    }

    @Test func `R-546, R-612: the delegate's answer does not replace the group of the call`() {
        let harness = filled()
        harness.options = { _ in .init(scope: .zoneIDs([zone("B")])) }
        var groups: [String] = []
        harness.respond = { request in
            switch request {
            case .databaseChanges(_, _, _, let group), .zoneChanges(_, _, _, let group):
                groups.append(group.operationGroupID)
            default: break
            }
            return nil
        }
        let options = CKSyncEngine.FetchChangesOptions()
        harness.fetch(options)
        harness.run()
        #expect(groups.count == 2 && Set(groups) == [options.operationGroup.operationGroupID])
    }

    @Test func `R-546, R-547: a zone that leaves the scope between two pages stays unfetched`() {
        let harness = filled()
        harness.server.zonePageSize = 1
        var questions = 0
        harness.options = { context in
            questions += 1
            // The feed, the first page of A, the second.
            return questions == 3 ? .init(scope: .allExcluding([zone("A")])) : context.options
        }
        harness.fetch()
        #expect(
            harness.take().filter { $0.contains("A") } == [
                "zones +A +B", "willFetch A", "→ A(nil)", "records +A/1", "didFetch A",
            ])
        #expect(harness.unfetched == ["A"])
        harness.fetch()
        #expect(
            harness.take().filter { $0.contains("A") } == ["willFetch A", "→ A(z1.5)", "records +A/2", "didFetch A"])
    }

    @Test func `R-547: the scope restricts whose records are fetched, not what is told of zones`() {
        let cases: [(CKSyncEngine.FetchChangesOptions.Scope, [String])] = [
            (.all, ["willFetch A", "willFetch B"]),
            (.allExcluding([zone("A")]), ["willFetch B"]),
            (.zoneIDs([zone("A")]), ["willFetch A"]),
            (.zoneIDs([zone("C")]), []),
        ]
        for (scope, expected) in cases {
            let harness = filled()
            harness.fetch(.init(scope: scope))
            let log = harness.take()
            #expect(log.contains("zones +A +B"), "\(scope)")
            #expect(log.filter { $0.hasPrefix("willFetch ") } == expected, "\(scope)")
        }
    }

    @Test func `R-549, R-207: a zone deleted and created again is told as both, and starts anew`() {
        let harness = filled()
        harness.fetch()
        harness.run()
        harness.log = []
        harness.server.delete(zone: zone("A"))
        harness.server.save(zone: zone("A"))
        harness.server.save("9", in: zone("A"), value: "x")
        harness.onEvent = { event in
            guard case .fetchedDatabaseChanges = event else { return }
            #expect(harness.machine.snapshot.zoneTokens[zone("A")] == nil)
        }
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(d10)", "zones -A +A",
                "ask options", "willFetch A", "→ A(nil)", "records +A/9", "didFetch A",
                "stateUpdate", "didFetch", "call 2 ok",
            ])
    }

    @Test func `R-541, R-550: a zone that fails has its end with the error, others go on, the call throws`() {
        let harness = filled()
        harness.respond = { request in
            if case .zoneChanges(zone("A"), _, _, _) = request { return .error(.permissionFailure) }
            return nil
        }
        let call = harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "zones +A +B",
                "ask options", "willFetch A", "→ A(nil)", "didFetch A permissionFailure",
                "ask options", "willFetch B", "→ B(nil)", "records +B/3", "didFetch B",
                "stateUpdate", "didFetch", "call 1 permissionFailure",
            ])
        #expect(harness.error(of: call)?.code == .permissionFailure)
        #expect(harness.unfetched == ["A"])
    }

    @Test func `R-550: several failed zones are a partialFailure by zone ID`() {
        let harness = filled()
        harness.respond = { $0.isZone ? .error(.permissionFailure) : nil }
        let call = harness.fetch()
        harness.run()
        let error = harness.error(of: call)
        #expect(error?.code == .partialFailure)
        let zones = error?.partialErrorsByItemID?.compactMap { ($0.key.base as? CKRecordZone.ID)?.zoneName }
        #expect(zones?.sorted() == ["A", "B"])
    }

    @Test(arguments: [CKError.Code.zoneNotFound, .userDeletedZone])
    func `R-551: a zone that is gone is forgotten, with the error in its end`(code: CKError.Code) {
        let harness = filled()
        harness.respond = { request in
            if case .zoneChanges(zone("A"), _, _, _) = request { return .error(code) }
            return nil
        }
        harness.fetch()
        #expect(harness.take().contains("didFetch A \(code)"))
        #expect(harness.unfetched == [])
    }

    @Test(arguments: [CKError.Code.zoneNotFound, .userDeletedZone])
    func `R-551: the token of a zone that is gone is dropped: another zone of that name is read from its beginning`(
        code: CKError.Code
    ) {
        let harness = filled()
        harness.fetch()
        harness.run()
        #expect(harness.machine.snapshot.zoneTokens[zone("A")] != nil)
        harness.server.save("1", in: zone("A"), value: "y")
        harness.respond = { request in
            if case .zoneChanges(zone("A"), _, _, _) = request { return .error(code) }
            return nil
        }
        harness.fetch()
        harness.run()
        #expect(harness.machine.snapshot.zoneTokens.keys.map(\.zoneName) == ["B"])
        #expect(harness.lastSerialization?.snapshot.zoneTokens.count == 1)
        harness.respond = { _ in nil }
        harness.server.save("2", in: zone("A"), value: "y")
        harness.fetch()
        #expect(harness.take().contains("→ A(nil)"))
    }

    @Test func `R-552: an expired zone token restarts that zone within the same fetch`() {
        let harness = filled()
        harness.fetch()
        harness.run()
        harness.log = []
        harness.server.save("1", in: zone("A"), value: "y")
        harness.respond = { request in
            if case .zoneChanges(_, .some, _, _) = request { return .error(.changeTokenExpired) }
            return nil
        }
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(d10)", "zones +A",
                "ask options", "willFetch A", "→ A(z1.7)", "ask options", "→ A(nil)",
                // Of tokens that cannot be read nobody takes absent records for deleted.
                "all of A: anotherLife", "records +A/2 +A/1", "had all of A: anotherLife", "didFetch A",
                "stateUpdate", "didFetch", "call 2 ok",
            ])
    }

    @Test func `R-552: an expired database token restarts the feed with all zones`() {
        let harness = filled()
        harness.fetch()
        harness.run()
        harness.log = []
        harness.respond = { request in
            if case .databaseChanges(.some, _, _, _) = request { return .error(.changeTokenExpired) }
            return nil
        }
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(d10)", "ask options", "→ feed(nil)", "zones +A +B",
                "had all zones: anotherLife", "ask options", "willFetch A", "→ A(z1.7)", "didFetch A",
                "ask options", "willFetch B", "→ B(z3.9)", "didFetch B",
                "stateUpdate", "didFetch", "call 2 ok",
            ])
    }

    @Test func `R-552: a server that calls even nil expired ends the fetch`() {
        let harness = filled()
        harness.respond = { $0.isFeed ? .error(.changeTokenExpired) : nil }
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "didFetch", "call 1 changeTokenExpired",
            ])
    }

    @Test func `R-541, R-553: an error that is retried ends the fetch, with all ends`() {
        let harness = filled()
        harness.respond = { $0.isZone ? .error(.networkFailure) : nil }
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(nil)", "zones +A +B",
                "ask options", "willFetch A", "→ A(nil)", "didFetch A networkFailure",
                "stateUpdate", "didFetch", "call 1 networkFailure",
            ])
        #expect(harness.unfetched == ["A", "B"])
    }

    @Test func `R-556: records of the default zone are never fetched`() {
        let harness = MachineHarness.started()
        harness.respond = { request in
            guard request.isFeed else { return nil }
            return .success(
                .databasePage(
                    .init(
                        modifications: [.init(zoneID: .default)], deletions: [], token: .of("d1"), moreComing: false)))
        }
        harness.fetch()
        #expect(!harness.take().contains { $0.hasPrefix("willFetch _") })
        #expect(harness.unfetched == [])
    }

    @Test func `R-522: an interrupted fetch is resumed from what is unfetched`() {
        let harness = filled()
        harness.respond = { $0.isZone ? .error(.networkFailure) : nil }
        harness.fetch()
        harness.run()
        harness.log = []
        harness.respond = { _ in nil }
        harness.fetch()
        #expect(
            harness.take() == [
                "willFetch(manual)", "ask options", "→ feed(d10)",
                "ask options", "willFetch A", "→ A(nil)", "records +A/1 +A/2", "didFetch A",
                "ask options", "willFetch B", "→ B(nil)", "records +B/3", "didFetch B",
                "stateUpdate", "didFetch", "call 2 ok",
            ])
    }
}
