// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The places in a ``MemoryStore`` at which other work may go first, and at which something can go wrong.
package enum FaultPoint: String, Sendable, CaseIterable {
    /// A call that is one statement, before it and after it.
    case callSent, callAnswered
    /// A transaction: before its locks, between locks and reading, and before the snapshot is told.
    case beginSent, beginLocked, beginAnswered
    /// Before a commit takes place, and after it, before that is told.
    case commitSent, commitAnswered
    /// The reader of the database feed: before its lock, under it, and after its commit.
    case advanceSent, advanceLocked, advanceAnswered
    /// A notice to other servers, for each of them.
    case notice
}

/// What happens at a ``FaultPoint``.
package enum Fault: Sendable, Equatable {
    case none
    case delay(Duration)
    /// The connection breaks: what was not committed is rolled back, and an answer that was under way is lost.
    case disconnect
    /// Only at `commitSent`: the answer is lost at once, while the commit takes place this much later.
    case commitLate(after: Duration)
    /// The statement fails by itself.
    case reject
    /// The server dies: all its transactions are rolled back, but for commits under way, which the dice decide.
    case crash
}

/// Which faults a ``MemoryStore`` meets. The default meets none.
package struct FaultPlan: Sendable {
    /// Asked whenever a point is reached; throws its own dice.
    package var at: @Sendable (FaultPoint) -> Fault
    /// Whether the database refuses to write this, as often as it is tried.
    package var rejects: @Sendable ([ZoneChanges]) -> Bool
    /// Called when ``Fault/crash`` comes up.
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
