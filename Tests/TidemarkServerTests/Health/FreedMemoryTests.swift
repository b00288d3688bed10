// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkServer

private let mebibyte = 1_048_576

/// When freed memory goes back to the system.
@Suite struct FreedMemoryTests {
    /// A process of 50 MiB, of which 30 are in use.
    private final class Looks {
        private var rule = FreedMemoryRule()
        private(set) var countsOfUse = 0

        init() { _ = look(50, used: 30, isIdle: false) }

        func look(_ resident: Int, used: Int, isIdle: Bool = true) -> Bool {
            var count = 0
            func counted() -> Int {
                count += 1
                return used * mebibyte
            }
            defer { countsOfUse += count }
            return rule.looked(resident: resident * mebibyte, isIdle: isIdle, used: counted())
        }

        func returned(_ resident: Int, used: Int) {
            rule.returned(resident: resident * mebibyte, used: used * mebibyte)
        }
    }

    @Test func `R-722: memory is returned after much was freed, when idle, and once`() {
        let looks = Looks()
        // Little, then much while requests are under way.
        #expect(!looks.look(80, used: 40) && !looks.look(80, used: 40))
        #expect(!looks.look(500, used: 40, isIdle: false) && !looks.look(500, used: 40, isIdle: false))
        // Idle for a moment only.
        #expect(!looks.look(500, used: 40) && !looks.look(500, used: 40, isIdle: false))
        #expect(!looks.look(500, used: 40) && looks.look(500, used: 40))
        looks.returned(90, used: 40)
        #expect(!looks.look(90, used: 40) && !looks.look(121, used: 40))
        // What cannot be returned stays, and is not looked for again and again.
        #expect(looks.look(122, used: 40))
        looks.returned(122, used: 40)
        #expect(!looks.look(122, used: 40) && !looks.look(153, used: 40) && looks.look(154, used: 40))
    }

    @Test func `R-722: what was in use when memory was returned is returned when it has been freed`() {
        let looks = Looks()
        #expect(!looks.look(600, used: 500) && looks.look(600, used: 500))
        looks.returned(530, used: 500)
        #expect(!looks.look(530, used: 500))
        // Those who did not read have gone. The process is as large as before.
        #expect(looks.look(530, used: 40))
        looks.returned(70, used: 40)
        #expect(!looks.look(70, used: 40))
    }

    @Test func `R-722: what is in use is counted only in an idle process that has grown`() {
        let looks = Looks()
        #expect(looks.countsOfUse == 1)
        for _ in 0..<5 { #expect(!looks.look(81, used: 30)) }
        for _ in 0..<5 { #expect(!looks.look(800, used: 30, isIdle: false)) }
        #expect(looks.countsOfUse == 1)
    }

    @Test(.disabled(if: ThreadSanitizer.isOn, "it has a heap of its own"))
    func `R-722: what the program has taken counts as used until it is given back`() {
        let before = Heap.usedBytes
        // Nothing is written there, so it takes no memory.
        let byteCount = 512 * mebibyte
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        // Other tests take and give back memory meanwhile, but not so much.
        #expect(Heap.usedBytes - before > byteCount / 2)
        memory.deallocate()
        #expect(Heap.usedBytes - before < byteCount / 2)
    }
}
