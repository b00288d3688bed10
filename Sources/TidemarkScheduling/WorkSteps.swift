// SPDX-License-Identifier: Apache-2.0

/// Cuts long work on an event loop into steps. Between two steps everything else has its turn.
///
/// What a step is worth is counted, and not measured: in bytes, keys or places, as whoever works says.
package struct WorkSteps: Sendable {
    private let costPerStep: Int
    private var costLeft: Int
    /// How many steps have ended.
    package private(set) var count = 0

    package init(costPerStep: Int) {
        self.costPerStep = costPerStep
        costLeft = costPerStep
    }

    /// So much more was done. Others have their turn if the step is long enough.
    package mutating func did(_ cost: Int) async {
        costLeft -= cost
        guard costLeft <= 0 else { return }
        costLeft = costPerStep
        count += 1
        await Task.yield()
    }
}
