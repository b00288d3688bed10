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
        #expect(!waiting.add([]))
        #expect(waiting.add(places(1...3, of: 1)))
        #expect(!waiting.add(places(2...4, of: 1)))
        #expect(zones(waiting.take(2)) == [ZoneID(1), ZoneID(2)])
        // It may come again while others wait, and is the last then.
        #expect(!waiting.add(places(1...1, of: 1)))
        #expect(zones(waiting.take(9)) == [ZoneID(3), ZoneID(4), ZoneID(1)])
        #expect(waiting.take(9).isEmpty)
        #expect(waiting.add(places(1...1, of: 1)))
    }

    @Test func `R-865, I-5: however often places of one database come, those of others have their turn`() {
        var checks = PresenceChecks()
        // The busy database has the older zones, with the lower numbers.
        #expect(checks.add(places(1...256, of: 1)))
        #expect(!checks.add(places(1_000...1_000, of: 2)))
        #expect(zones(checks.take(20)).contains(ZoneID(1_000)))
        var taken: Set<ZoneID> = []
        for _ in 0..<13 {
            let some = zones(checks.take(20))
            taken.formUnion(some)
            // It changes again before the read is over.
            #expect(!checks.add(places(1...20, of: 1)))
        }
        #expect(taken.isSuperset(of: (20...256).map { ZoneID($0) }))
    }
}
