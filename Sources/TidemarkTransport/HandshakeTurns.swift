// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFairness
internal import TidemarkSockets

/// Decides which connection of a loop takes the next step of its TLS handshake. No clock, no socket.
///
/// The first step of an address block in a tick is taken at once while nobody waits. Further ones wait for the end of
/// the tick. Blocks then take turns, until the tick has had its steps.
struct HandshakeTurns<Waiter: AnyObject> {
    private let stepsPerTickMax: Int
    private var waiting = FairTurns<AddressBlock, Waiter>()
    /// The blocks that took the steps of this tick.
    private var takers: [AddressBlock] = []

    init(stepsPerTickMax: Int) {
        self.stepsPerTickMax = stepsPerTickMax
    }

    /// Whether nobody waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// Whether a connection takes its step at once. Otherwise it waits until ``next()`` returns it.
    mutating func mayStep(_ waiter: Waiter, of block: AddressBlock) -> Bool {
        if waiting.isEmpty, takers.count < stepsPerTickMax, !takers.contains(block) { return true }
        waiting.append(waiter, of: block)
        return false
    }

    /// A connection takes a step. One that finds nothing to receive takes none.
    mutating func takesStep(of block: AddressBlock) {
        takers.append(block)
    }

    /// A connection that waits has ended.
    mutating func leave(_ waiter: Waiter, of block: AddressBlock) {
        waiting.removeFirst(of: block) { $0 === waiter }
    }

    /// The connection whose turn it is. Nil if nobody waits, or if the tick has had its steps.
    mutating func next() -> Waiter? {
        takers.count < stepsPerTickMax ? waiting.popFirst() : nil
    }

    /// The next tick has steps again.
    mutating func endTick() {
        takers.removeAll(keepingCapacity: true)
    }
}
