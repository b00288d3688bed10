// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness

@testable import TidemarkService

/// Of three places, and the spare one.
@Suite struct WritePlacesTests {
    private let countMax = 3

    private func places(_ accounts: Int64...) -> WritePlaces {
        var taken = WritePlaces()
        for account in accounts { taken.take(for: .account(account)) }
        return taken
    }

    private func isFree(_ places: WritePlaces, for account: Int64, besides workerCount: Int) -> Bool {
        places.isOneFree(for: .account(account), besides: workerCount, of: countMax)
    }

    @Test func `R-727: an account may have all places, and the spare one is for another`() {
        #expect(isFree(places(1, 1), for: 1, besides: 2))
        #expect(!isFree(places(1, 1, 1), for: 1, besides: 3))
        #expect(isFree(places(1, 1, 1), for: 2, besides: 3))
        #expect(!isFree(places(1, 1, 1, 2), for: 3, besides: 4), "there is one spare place")
    }

    @Test func `R-727: the spare place is for who has none, while another has half of the places`() {
        #expect(isFree(places(1, 1, 2), for: 3, besides: 3))
        #expect(!isFree(places(1, 1, 2), for: 2, besides: 3), "it has one")
        #expect(!isFree(places(1, 2, 3), for: 4, besides: 3))
    }

    @Test func `R-727: workers that have no transaction do not close the spare place`() {
        var taken = places(1, 1, 1)
        for _ in 0..<2 { taken.giveBack(of: .account(1)) }
        #expect(taken.count == 1)
        #expect(isFree(taken, for: 2, besides: 3))
        #expect(!isFree(taken, for: 1, besides: 3))
    }

    @Test func `R-727: of owners that wait, one that has nothing gets the spare place`() {
        var ready = FairTurns<WorkOwner, ZoneKey>()
        #expect(!places().isOneFree(in: ready, besides: 0, of: countMax), "nobody waits")
        ready.append(ZoneKey(database: DatabaseID(1), name: "a"), of: .account(1))
        #expect(places(1, 1).isOneFree(in: ready, besides: 2, of: countMax))
        #expect(!places(1, 1, 1).isOneFree(in: ready, besides: 3, of: countMax))
        ready.append(ZoneKey(database: DatabaseID(2), name: "a"), of: .account(2))
        #expect(places(1, 1, 1).isOneFree(in: ready, besides: 3, of: countMax))
    }
}
