// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto

@Suite struct SafetyNumberTests {
    private let key = [UInt8](0..<32)

    private func parts(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    /// The values of another implementation, by Python's hmac.
    @Test func `R-968: a safety number has twelve groups of five digits, which another implementation makes too`() {
        #expect(
            SafetyNumber.text(of: key, parts: parts("iCloud.test", "_alice", "Pläne"))
                == "30736 21642 81785 46507 03939 10405 97786 72988 68163 60683 95534 53284")
        // With a group that begins with zero.
        #expect(
            SafetyNumber.text(of: [UInt8](repeating: 0, count: 32), parts: [])
                == "60913 76218 46212 00818 60089 61319 26342 36740 43023 44997 15919 36632")
    }

    @Test func `R-968: any bit of the key, any part and any border of parts changes the number`() {
        var seen: Set<String> = [SafetyNumber.text(of: key, parts: parts("ab", "c"))]
        for bit in 0..<256 {
            var other = key
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            seen.insert(SafetyNumber.text(of: other, parts: parts("ab", "c")))
        }
        for others in [parts("a", "bc"), parts("abc"), parts("ab", "c", ""), parts("ab", "d"), parts("c", "ab")] {
            seen.insert(SafetyNumber.text(of: key, parts: others))
        }
        #expect(seen.count == 1 + 256 + 5)
        for number in seen {
            let groups = number.split(separator: " ")
            #expect(groups.count == 12 && groups.allSatisfy { $0.count == 5 && $0.allSatisfy(\.isNumber) })
        }
    }

    @Test func `R-275: the number of two people is the same whoever comes first`() {
        let (alice, bob) = (Array("alice".utf8), Array("bob".utf8))
        let number = "46475 27257 64067 47554 27328 98460 66719 62581 86789 30737 60245 52152"
        #expect(SafetyNumber.text(comparing: [alice, bob], container: "iCloud.test") == number)
        #expect(SafetyNumber.text(comparing: [bob, alice], container: "iCloud.test") == number)
        let others = [
            SafetyNumber.text(comparing: [alice, bob], container: "iCloud.other"),
            SafetyNumber.text(comparing: [alice, Array("bop".utf8)], container: "iCloud.test"),
            SafetyNumber.text(comparing: [alice + bob, []], container: "iCloud.test"),
            SafetyNumber.text(comparing: [alice, alice], container: "iCloud.test"),
        ]
        #expect(Set(others + [number]).count == 5)
    }
}
