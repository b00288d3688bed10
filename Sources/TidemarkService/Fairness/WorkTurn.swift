// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkFairness

/// A work's place at a gate. It can be given back while the work waits for something else, so that other works begin
/// meanwhile.
package final class WorkTurn: Sendable {
    package let owner: WorkOwner
    private let gate: FairGate?
    private let room: Int
    /// Nil while the work has no place.
    private let ticket = Mutex<WorkTicket?>(nil)

    /// - Parameters:
    ///   - gate: nil if the work needs no place.
    ///   - room: that the work takes there.
    package init(of owner: WorkOwner, at gate: FairGate? = nil, room: Int = 1) {
        self.owner = owner
        self.gate = gate
        self.room = room
    }

    /// Suspends until the owner's turn, unless the work has a place already. Call ``leave()`` when it has ended.
    ///
    /// - Throws: `crowded`.
    package func enter() async throws(StorageError) {
        guard let gate, ticket.withLock({ $0 == nil }) else { return }
        let entered: WorkTicket
        do {
            entered = try await gate.enter(owner, room: room)
        } catch {
            throw StorageError(error)
        }
        ticket.withLock { $0 = entered }
    }

    /// Gives the place back, if the work has one.
    package func leave() {
        if let ticket = ticket.withLock({ $0.take() }) { gate?.leave(ticket) }
    }

    /// Gives the place back while the work waits. Then it takes another, in the owner's turn. If the wait fails, the
    /// work has none.
    ///
    /// - Throws: what the wait throws, and `crowded`.
    package func stepAside(_ wait: () async throws(StorageError) -> Void) async throws(StorageError) {
        leave()
        try await wait()
        try await enter()
    }
}
