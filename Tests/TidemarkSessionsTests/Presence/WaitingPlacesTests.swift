// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkSessions

/// Whose place is next.
@Suite struct WaitingPlacesTests {
    private typealias Waiting = (place: PresencePlace, database: DatabaseID)

    private func places(_ zones: ClosedRange<Int64>, of database: Int64) -> [Waiting] {
        zones.map { (PresencePlace(zone: ZoneID($0), share: nil), DatabaseID(database)) }
    }

    private func zones(_ places: [PresencePlace]) -> [ZoneID] { places.map(\.zone) }

    @Test func `R-877: each place waits once, and one works until nothing is left`() {
        var waiting = WaitingPlaces()
        let ofNone = waiting.add([])
        let ofThree = waiting.add(places(1...3, of: 1))
        let ofMore = waiting.add(places(2...4, of: 1))
        #expect(!ofNone && ofThree && !ofMore)
        let two = zones(waiting.take(2))
        #expect(two == [ZoneID(1), ZoneID(2)])
        // It may come again while others wait, and is the last then.
        let again = waiting.add(places(1...1, of: 1))
        let rest = zones(waiting.take(9))
        let nothing = waiting.take(9)
        #expect(!again && rest == [ZoneID(3), ZoneID(4), ZoneID(1)] && nothing.isEmpty)
        let afterAll = waiting.add(places(1...1, of: 1))
        #expect(afterAll)
    }

    @Test func `R-865, I-5: however often places of one database come, those of others have their turn`() {
        var checks = PresenceChecks()
        // The busy database has the older zones, with the lower numbers.
        let starts = checks.add(places(1...256, of: 1))
        let startsAgain = checks.add(places(1_000...1_000, of: 2))
        #expect(starts && !startsAgain)
        let first = zones(checks.take(20))
        #expect(first.contains(ZoneID(1_000)))
        var taken: Set<ZoneID> = []
        for _ in 0..<13 {
            taken.formUnion(zones(checks.take(20)))
            // It changes again before the read is over.
            let restarts = checks.add(places(1...20, of: 1))
            #expect(!restarts)
        }
        #expect(taken.isSuperset(of: (20...256).map { ZoneID($0) }))
    }
}
