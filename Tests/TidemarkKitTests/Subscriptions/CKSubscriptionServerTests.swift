// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Query subscriptions as the protocol carries them.
@Suite struct CKSubscriptionServerTests {
    private static let predicates = [
        "TRUEPREDICATE", "FALSEPREDICATE", "a == 'x'", "a != 1 AND b > 2.5", "NOT (a BEGINSWITH 'y')",
        "a IN {1, 2, 3}", "list CONTAINS 'z'", "a == nil", "a BETWEEN {1, 5}", "self CONTAINS 'words'",
        "a > 1 AND (b < 'c' AND NOT (b == 'd'))",
    ]

    private static func query(
        _ id: String = "q", _ predicate: NSPredicate = NSPredicate(value: true),
        options: CKQuerySubscription.Options = .firesOnRecordCreation
    ) -> CKQuerySubscription {
        CKQuerySubscription(recordType: "Note", predicate: predicate, subscriptionID: id, options: options)
    }

    @Test(arguments: predicates)
    func `R-244: a predicate comes back as it was saved`(format: String) throws {
        let predicate =
            switch format {
            case "TRUEPREDICATE": NSPredicate(value: true)
            case "FALSEPREDICATE": NSPredicate(value: false)
            default: NSPredicate(format: format)
            }
        let saved = Self.query("q", predicate)
        let wire = try WireSubscription(saved)
        let back = try #require(try CKSubscription.make(wire).get() as? CKQuerySubscription)
        #expect(try PredicateNode(back.predicate) == PredicateNode(predicate))
        #expect(try WireSubscription(back) == wire)
    }

    @Test func `R-244: each set of options, a zone and how the push is shown come back as they were saved`() throws {
        for bits in 1...15 where bits != 8 {
            let saved = Self.query(options: CKQuerySubscription.Options(rawValue: UInt(bits)))
            saved.zoneID = bits.isMultiple(of: 2) ? CKRecordZone.ID(zoneName: "Z", ownerName: "_o") : nil
            saved.notificationInfo = CKSubscription.NotificationInfo(alertBody: "news", desiredKeys: ["a", "b"])
            let wire = try WireSubscription(saved)
            #expect(wire.kind == .query && wire.options == UInt32(bits) && wire.hasZone == (saved.zoneID != nil))
            let back = try #require(try CKSubscription.make(wire).get() as? CKQuerySubscription)
            #expect(back.subscriptionID == "q" && back.recordType == "Note")
            #expect(back.zoneID == saved.zoneID)
            #expect(back.querySubscriptionOptions == saved.querySubscriptionOptions)
            #expect(back.notificationInfo == saved.notificationInfo)
        }
    }

    @Test func `R-244: a predicate without bytes is that of all records`() throws {
        var wire = WireSubscription()
        (wire.id, wire.kind, wire.recordType, wire.options) = ("q", .query, "Note", 1)
        let back = try #require(try CKSubscription.make(wire).get() as? CKQuerySubscription)
        #expect(back.predicate == NSPredicate(value: true))
    }

    @Test func `R-244: a condition or a kind of a later version is told apart from a missing subscription`() {
        var wire = WireSubscription()
        (wire.id, wire.kind, wire.recordType, wire.options) = ("q", .query, "Note", 1)
        wire.predicate = [0xFA, 0x01, 0x01, 0x00]
        var other = wire
        other.kind = WireSubscriptionKind(rawValue: 77)
        var torn = wire
        torn.predicate = [0xFF]
        for wire in [wire, other, torn] {
            let error = #expect(throws: CKError.self) { try CKSubscription.make(wire).get() }
            #expect(error?.code == .incompatibleVersion)
        }
    }

    @Test func `R-184, R-242: a predicate that cannot be sent fails its own subscription, and no other`() throws {
        let scheduler = ManualScheduler()
        let server = ScriptedServer(scheduler)
        server.answer { envelope in
            guard case .modifySubscriptions(let request)? = envelope.request else { return nil }
            var answer = WireModifySubscriptionsAnswer()
            answer.saves = request.saves.map { save in
                var result = WireSubscriptionResult()
                if save.id == "refused" { result.failure.code = .invalidArguments } else { result.done = WireDone() }
                return result
            }
            return .modifySubscriptions(answer)
        }
        let database = server.container().privateCloudDatabase
        let outcome = try scheduler.complete { () async throws -> [String: CKError.Code?] in
            let long = NSPredicate(format: "a == %@", String(repeating: "x", count: 140_000))
            let saves = [
                Self.query("first"), Self.query("block", NSPredicate { _, _ in true }),
                Self.query("format", NSPredicate(format: "a LIKE 'x*'")), Self.query("long", long),
                Self.query("refused"), CKDatabaseSubscription(subscriptionID: "last"),
            ]
            return try await database.modifySubscriptions(saving: saves, deleting: []).saveResults
                .mapValues { result -> CKError.Code? in
                    guard case .failure(let error) = result else { return nil }
                    return (error as? CKError)?.code
                }
        }
        let invalid = CKError.Code.invalidArguments
        #expect(
            outcome == [
                "first": nil, "block": invalid, "format": invalid, "long": invalid, "refused": invalid, "last": nil,
            ])
        let sent = server.envelopes.compactMap { envelope in
            if case .modifySubscriptions(let request)? = envelope.request { request.saves.map(\.id) } else { nil }
        }
        #expect(sent == [["first", "refused", "last"]])
    }

    @Test func `R-184: if no subscription can be sent, nothing is asked`() throws {
        let scheduler = ManualScheduler()
        let server = ScriptedServer(scheduler)
        let database = server.container().privateCloudDatabase
        let error = #expect(throws: CKError.self) {
            try scheduler.complete { try await database.save(Self.query("block", NSPredicate { _, _ in true })) }
        }
        #expect(error?.code == .invalidArguments)
        #expect(!server.log.contains { $0.contains("modifySubscriptions") })
    }

    @Test func `R-244: a query subscription comes back from an archive with everything`() throws {
        let saved = Self.query(
            "q", NSPredicate(format: "a == 'x' AND b > 2"), options: [.firesOnRecordDeletion, .firesOnce])
        saved.zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
        saved.notificationInfo = CKSubscription.NotificationInfo(
            alertLocalizationKey: "key", alertLocalizationArgs: ["a"], desiredKeys: ["b"], collapseIDKey: "a")
        let data = try NSKeyedArchiver.archivedData(withRootObject: saved, requiringSecureCoding: true)
        let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuerySubscription.self, from: data))
        #expect(try WireSubscription(back) == WireSubscription(saved))
    }
}
