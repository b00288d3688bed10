// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkKit

/// How large a page an engine asks for.
@Suite struct PageRoomTests {
    @Test func `R-594: pages that do not come get smaller, down to one record`() {
        var room = PageRoom()
        #expect(room.limit == 0, "the server decides")
        let limits = (0..<9).map { _ -> Int in
            room.pageDidNotCome()
            return room.limit
        }
        #expect(limits == [100, 50, 25, 12, 6, 3, 1, 1, 1])
    }

    @Test func `R-594: pages that come get larger again, until the server decides`() {
        var room = PageRoom()
        room.pageCame()
        #expect(room == PageRoom())
        for _ in 0..<9 { room.pageDidNotCome() }
        var limits: [Int] = []
        while room.limit > 0, limits.count < 100 {
            limits.append(room.limit)
            room.pageCame()
        }
        #expect(limits.first == 1 && limits.count < 30 && room == PageRoom())
        #expect(zip(limits, limits.dropFirst()).allSatisfy { $0 < $1 && $1 <= $0 + max(1, $0 / 4) })
    }
}
