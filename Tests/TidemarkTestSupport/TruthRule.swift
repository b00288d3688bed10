// SPDX-License-Identifier: Apache-2.0

/// One line of a truth table; the first that holds for a cell says what comes of it.
package struct TruthRule<Cell, Result: Sendable>: Sendable {
    /// Of the rules that say so.
    package let names: String
    package let result: Result
    let holds: @Sendable (Cell) -> Bool

    init(_ names: String, _ result: Result, _ holds: @escaping @Sendable (Cell) -> Bool) {
        self.names = names
        self.result = result
        self.holds = holds
    }
}
