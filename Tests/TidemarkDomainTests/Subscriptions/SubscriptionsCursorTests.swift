// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct SubscriptionsCursorTests {
    @Test func `R-744: cursors of subscriptions come back as they were given out`() {
        for id in ["a", "all changes", String(repeating: "~", count: 255)] {
            let cursor = SubscriptionsCursor(lastID: id)
            #expect(SubscriptionsCursor.opened(cursor.bytes) == .success(cursor))
            #expect(cursor.bytes.count < 1_024, "more is refused")
        }
        #expect(SubscriptionsCursor.opened([]) == .success(nil))
    }

    @Test func `R-744, I-6: a cursor of subscriptions that was cut or garbled is refused`() {
        let bytes = SubscriptionsCursor(lastID: "all changes").bytes
        for count in 1..<bytes.count {
            #expect(SubscriptionsCursor.opened(Array(bytes.prefix(count))) == .failure(.cursorInvalid))
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var wrong = bytes
                wrong[index] ^= 1 << UInt8(bit)
                #expect(SubscriptionsCursor.opened(wrong) == .failure(.cursorInvalid))
            }
        }
        var random = SeededRandom()
        for count in 1..<100 {
            #expect(SubscriptionsCursor.opened(random.bytes(count: count)) == .failure(.cursorInvalid))
        }
    }
}
