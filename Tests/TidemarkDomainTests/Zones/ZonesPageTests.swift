// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct ZonesPageTests {
    private func zones(_ ids: ClosedRange<Int64>) -> [ZoneState] {
        ids.map { ZoneState(id: ZoneID($0), key: ZoneKey(database: database, name: "z\($0)"), createdAt: 0) }
    }

    @Test func `R-716: a page has a cursor only if another one follows`() {
        var limits = Limits()
        limits.pageZonesMax = 3
        for count in 0...4 as ClosedRange<Int64> {
            let read = count == 0 ? [] : zones(1...count)
            let page = ZonesPage(of: read, in: database, within: limits)
            #expect(page.zones == Array(read.prefix(3)))
            #expect(page.cursor == (count == 4 ? ZonesCursor(database: database, lastZone: ZoneID(3)) : nil))
        }
    }

    @Test func `R-716: cursors of zones come back as they were given out, and belong to their database`() {
        for id in [0, 1, 127, 128, Int64.max, -1] {
            let cursor = ZonesCursor(database: database, lastZone: ZoneID(id))
            #expect(ZonesCursor.opened(cursor.bytes, in: database) == .success(cursor))
            #expect(ZonesCursor.opened(cursor.bytes, in: DatabaseID(8)) == .failure(.cursorInvalid))
        }
        #expect(ZonesCursor.opened([], in: database) == .success(nil))
    }

    @Test func `R-716, I-6: a cursor of zones that was cut or garbled is refused`() {
        let bytes = ZonesCursor(database: database, lastZone: ZoneID(1_000)).bytes
        for count in 1..<bytes.count {
            #expect(ZonesCursor.opened(Array(bytes.prefix(count)), in: database) == .failure(.cursorInvalid))
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var wrong = bytes
                wrong[index] ^= 1 << UInt8(bit)
                #expect(ZonesCursor.opened(wrong, in: database) == .failure(.cursorInvalid))
            }
        }
        var random = SeededRandom()
        for count in 1..<100 {
            #expect(ZonesCursor.opened(random.bytes(count: count), in: database) == .failure(.cursorInvalid))
        }
    }
}
