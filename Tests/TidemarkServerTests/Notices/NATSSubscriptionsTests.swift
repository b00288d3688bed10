// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkServer

@Suite struct NATSSubscriptionsTests {
    private func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "; ")
    }

    private func databases(_ numbers: Int64...) -> [DatabaseID] { numbers.map { DatabaseID($0) } }

    @Test func `R-874: a database has one subscription, as long as anybody follows it`() {
        var subscriptions = NATSSubscriptions(prefix: "t")
        #expect(text(subscriptions.follow(databases(7, 8))) == "SUB t.z.7 1; SUB t.z.8 2; ")
        #expect(subscriptions.follow(databases(7)).isEmpty)
        #expect(subscriptions.leave(databases(7, 9)).isEmpty, "one follows it still, and nobody ever followed 9")
        #expect(text(subscriptions.all) == "SUB t.z.7 1; SUB t.z.8 2; ")
        #expect(text(subscriptions.leave(databases(7))) == "UNSUB 1; ")
        #expect(subscriptions.leave(databases(7)).isEmpty)
        #expect(text(subscriptions.follow(databases(7))) == "SUB t.z.7 3; ")
        #expect(text(subscriptions.all) == "SUB t.z.8 2; SUB t.z.7 3; ")
    }

    @Test
    func `R-874, I-7: beyond so many databases there is one subscription for all, and nothing is missed in between`() {
        var subscriptions = NATSSubscriptions(prefix: "t", countMax: 4)
        _ = subscriptions.follow(databases(1, 2, 3, 4))
        #expect(
            text(subscriptions.follow(databases(5)))
                == "SUB t.z.5 5; SUB t.z.* 6; UNSUB 1; UNSUB 2; UNSUB 3; UNSUB 4; UNSUB 5; ")
        #expect(subscriptions.follow(databases(6)).isEmpty)
        #expect(text(subscriptions.all) == "SUB t.z.* 6; ")
        #expect(subscriptions.leave(databases(1, 2, 3)).isEmpty)
        #expect(text(subscriptions.leave(databases(4))) == "SUB t.z.5 7; SUB t.z.6 8; UNSUB 6; ")
        #expect(text(subscriptions.all) == "SUB t.z.5 7; SUB t.z.6 8; ")
    }

    @Test func `R-874: a subject is of one database, and no other text is`() {
        let subscriptions = NATSSubscriptions(prefix: "a.b")
        #expect(subscriptions.database(of: subscriptions.subject(of: DatabaseID(7))) == DatabaseID(7))
        for subject in ["a.b.z.", "a.b.z.x", "a.b.7", "a.c.z.7", "a.b.z.7.8", "", "a.b.z.99999999999999999999"] {
            #expect(subscriptions.database(of: subject) == nil, "\(subject)")
        }
    }
}
