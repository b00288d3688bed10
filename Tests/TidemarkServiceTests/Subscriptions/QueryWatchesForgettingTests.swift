// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkService

@Suite struct QueryWatchesForgettingTests {
    private static func zone(in database: DatabaseID) -> WrittenZone {
        WrittenZone(key: ZoneKey(database: database, name: "notes"), records: [], replaced: [])
    }

    @Test func `I-4: whoever may have missed that subscriptions changed reads those of each database again`() {
        let databases = (1...3).map { DatabaseID($0) }
        var watches = QueryWatches()
        #expect(watches.isIdle)
        for database in databases { #expect(watches.written([Self.zone(in: database)], now: .zero).mustRead) }
        let wanted = watches.takeWanted(10)
        #expect(wanted.map(\.database) == databases && !watches.isIdle)
        // Of the first two the read ends before, of the third afterwards. The second one's work goes on.
        for one in wanted.prefix(2) {
            #expect(watches.read(one.database, .none, generation: one.generation, now: .zero) != nil)
        }
        _ = watches.done(databases[0], now: .zero)
        #expect(!watches.written([Self.zone(in: databases[0])], now: .zero).mustRead, "nobody has subscribed there")
        watches.changedAll()
        #expect(watches.written([Self.zone(in: databases[0])], now: .zero).mustRead)
        #expect(watches.takeWanted(10).map(\.database) == [databases[0]])
        // What was written meanwhile waits for a new read.
        _ = watches.written([Self.zone(in: databases[1])], now: .zero)
        guard case .read = watches.done(databases[1], now: .zero) else {
            Issue.record("the second one is not read again")
            return
        }
        #expect(watches.takeWanted(10).map(\.database) == [databases[1]])
    }
}
