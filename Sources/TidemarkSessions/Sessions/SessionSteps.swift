// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling

extension Scheduler {
    /// The most sessions that are visited in one step. If all of them are sent something, it takes a millisecond or two.
    private var visitsPerStep: Int { 128 }

    /// Does a small piece of work for each of many sessions, in steps. Between two steps others have their turn.
    ///
    /// A session may end between two steps, so it is looked up when it is visited.
    func visit(_ numbers: [UInt64], _ visit: (UInt64) -> Void) async {
        for (index, number) in numbers.enumerated() {
            // Cancelled work does not wait.
            if index > 0, index.isMultiple(of: visitsPerStep) { try? await sleep(for: .zero) }
            visit(number)
        }
    }
}
