// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct ModifySubscriptionsHandlerTests {
    private static func subscription(_ id: String, createdBy name: String? = nil) -> WireSubscription {
        var predicate = WirePredicate()
        if let name {
            predicate.compare.key = "creatorUserRecordID"
            predicate.compare.operator = .equal
            predicate.compare.value.reference.recordName = name
        } else {
            predicate.always = true
        }
        var subscription = WireSubscription()
        subscription.id = id
        subscription.kind = .query
        subscription.recordType = "Note"
        subscription.options = 1
        subscription.predicate = predicate.encoded
        return subscription
    }

    @Test func `R-183, R-293: of many predicates each has its own result, whoever they name`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        _ = try world.enter("bob", device: 2)
        let hub = world.server.hub
        let own = try #require(hub.session(numbered: 1)?.member?.identity)
        let bob = try #require(hub.session(numbered: 2)?.member?.identity)
        var broken = Self.subscription("broken")
        broken.predicate = [0xFF]
        var request = WireModifySubscriptions()
        request.database = .private
        request.saves = [
            Self.subscription("all"), Self.subscription("bob", createdBy: bob.userRecordName), broken,
            Self.subscription("nobody", createdBy: "_nobody"), Self.subscription("own", createdBy: own.userRecordName),
        ]
        let answer = try alice.ask(.modifySubscriptions(request))
        guard case .modifySubscriptions(let results)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(results.saves.map(\.subscription.id) == ["all", "bob", "", "nobody", "own"])
        #expect(results.saves[2].failure.code == .invalidArguments)
        #expect(results.saves[1].subscription == request.saves[1])

        let stored = try world.scheduler.complete {
            try await hub.service.subscriptions(in: .private, of: own.user).get()
        }
        func createdBy(_ user: UserID?) -> QueryPredicate {
            .compare(.system(.creatorUserRecordID), .equal, .user(user))
        }
        #expect(stored.map(\.id) == ["all", "bob", "nobody", "own"])
        #expect(
            stored.map { $0.query?.predicate }
                == [.always(true), createdBy(bob.user), createdBy(nil), createdBy(own.user)])
    }
}
