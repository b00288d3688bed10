// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto

@Suite struct SecureRandomTests {
    @Test func `random bytes have the length asked for and do not repeat`() {
        #expect(SecureRandom.bytes(0).isEmpty)
        let drawn = (0..<100).map { _ in SecureRandom.bytes(16) }
        #expect(drawn.allSatisfy { $0.count == 16 })
        #expect(Set(drawn).count == 100)
    }
}
