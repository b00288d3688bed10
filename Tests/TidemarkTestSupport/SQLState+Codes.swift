// SPDX-License-Identifier: Apache-2.0

package import TidemarkPostgres

/// Errors that tests cause and the store does not tell apart.
extension SQLState {
    package static let undefinedTable = SQLState("42P01")
    package static let objectInUse = SQLState("55006")
}
