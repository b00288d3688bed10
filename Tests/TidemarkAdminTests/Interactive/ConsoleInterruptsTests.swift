// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct ConsoleInterruptsTests {
    @Test func `R-900: the first Ctrl-C takes the command back, and one at the prompt does nothing`() {
        var interrupts = ConsoleInterrupts()
        #expect(interrupts.interrupted(at: .seconds(1)) == .nothing)
        interrupts.began()
        #expect(interrupts.interrupted(at: .seconds(2)) == .abandon)
        interrupts.ended()
        #expect(interrupts.interrupted(at: .seconds(90)) == .nothing)
    }

    @Test func `R-900: a second Ctrl-C leaves the console if the command had its time, and not before`() {
        var interrupts = ConsoleInterrupts()
        interrupts.began()
        #expect(interrupts.interrupted(at: .seconds(10)) == .abandon)
        #expect(interrupts.interrupted(at: .seconds(10)) == .nothing)
        #expect(interrupts.interrupted(at: .milliseconds(14_999)) == .nothing)
        #expect(interrupts.interrupted(at: .seconds(15)) == .leave)
    }

    @Test func `R-900: the next command begins anew`() {
        var interrupts = ConsoleInterrupts()
        interrupts.began()
        #expect(interrupts.interrupted(at: .zero) == .abandon)
        interrupts.ended()
        interrupts.began()
        #expect(interrupts.interrupted(at: .seconds(60)) == .abandon)
    }
}
