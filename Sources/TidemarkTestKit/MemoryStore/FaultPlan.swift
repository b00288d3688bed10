// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The places in a ``MemoryStore`` where other work may run first, and where something can go wrong.
package enum FaultPoint: String, Sendable, CaseIterable {
    /// A call that is one statement, before it and after it.
    case callSent, callAnswered
    /// A transaction: before its locks, between locks and reading, and before the snapshot is returned.
    case beginSent, beginLocked, beginAnswered
    /// Before a commit takes place, and after it but before it is reported.
    case commitSent, commitAnswered
    /// The reader of the database feed: before its lock, under it, and after its commit.
    case advanceSent, advanceLocked, advanceAnswered
    /// A notice to other servers, for each of them.
    case notice
}

/// The fault at a ``FaultPoint``.
package enum Fault: Sendable, Equatable {
    case none
    case delay(Duration)
    /// The connection breaks: uncommitted changes are rolled back, and an answer under way is lost.
    case disconnect
    /// Only at `commitSent`: the answer is lost at once, while the commit takes place this much later.
    case commitLate(after: Duration)
    /// The statement itself fails.
    case reject
    /// The server dies: all its transactions are rolled back, except commits under way, which are decided at random.
    case crash
}

/// The faults of a ``MemoryStore``. The default has none.
package struct FaultPlan: Sendable {
    /// Called whenever a point is reached; has its own random numbers.
    package var at: @Sendable (FaultPoint) -> Fault
    /// Whether the database refuses to write this, however often it is tried.
    package var rejects: @Sendable ([ZoneChanges]) -> Bool
    /// Called when a ``Fault/crash`` happens.
    package var onCrash: @Sendable () -> Void

    package init(
        at: @escaping @Sendable (FaultPoint) -> Fault = { _ in .none },
        rejects: @escaping @Sendable ([ZoneChanges]) -> Bool = { _ in false },
        onCrash: @escaping @Sendable () -> Void = {}
    ) {
        self.at = at
        self.rejects = rejects
        self.onCrash = onCrash
    }
}
