// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkSessions

@Suite struct QueryAudienceTests {
    private static func query(_ id: String, in database: Int64, _ scope: DatabaseScope = .public) -> Subscription {
        Subscription(
            id: id, scope: scope, kind: .query, recordType: "Note", notificationInfo: [],
            query: SubscriptionQuery(
                database: DatabaseID(database), predicate: .always(true), options: .changes, predicateBytes: []))
    }

    private static func own(_ numbers: Int64...) -> [DatabaseID] { numbers.map { DatabaseID($0) } }

    @Test func `I-4: who watches a public database is found, and so is whoever may`() {
        var audience = QueryAudience()
        for number in Int64(1)...4 { audience.knows(nil, of: DatabaseID(number)) }
        audience.knows([Self.query("a", in: 90), Self.query("b", in: 90)], of: DatabaseID(1))
        audience.knows([Self.query("a", in: 91), Self.query("p", in: 2, .private)], of: DatabaseID(2))
        audience.knows([], of: DatabaseID(3))
        #expect(audience.watchers(of: DatabaseID(90)) == Self.own(1, 4))
        #expect(audience.watchers(of: DatabaseID(2)) == Self.own(4))
        #expect(audience.watchers(of: nil) == Self.own(1, 2, 4))
        // They are forgotten, and known again.
        audience.knows(nil, of: DatabaseID(2))
        #expect(audience.publicDatabases() == Set(Self.own(90, 91)))
        #expect(audience.publicDatabases(of: DatabaseID(2)) == Set(Self.own(91)))
        #expect(audience.watchers(of: DatabaseID(90)) == Self.own(1, 2, 4))
        audience.knows([Self.query("a", in: 90)], of: DatabaseID(2))
        #expect(audience.watchers(of: DatabaseID(91)) == Self.own(4))
        #expect(audience.publicDatabases() == Set(Self.own(90)))
        audience.knows([], of: DatabaseID(1))
        #expect(audience.watchers(of: DatabaseID(90)) == Self.own(2, 4))
        audience.leave(DatabaseID(4))
        audience.leave(DatabaseID(2))
        #expect(audience.watchers(of: nil).isEmpty && audience.publicDatabases().isEmpty)
    }

    @Test func `R-723: very many are told in groups, and each once`() {
        var audience = QueryAudience()
        let all = (Int64(1)...250).map { DatabaseID($0) }
        let starts = [audience.add([]), audience.add(all), audience.add(all)]
        #expect(starts == [false, true, false])
        let groups = (0..<4).map { _ in audience.take(100) }
        #expect(groups.map(\.count) == [100, 100, 50, 0] && Array(groups.joined()) == all)
        let startsAgain = audience.add([DatabaseID(7)])
        #expect(startsAgain)
    }
}
