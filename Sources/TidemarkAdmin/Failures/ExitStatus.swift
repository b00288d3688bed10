// SPDX-License-Identifier: Apache-2.0

/// How `tidemark` ends, for all of its commands. The table is in docs/admin.md.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    case ok = 0
    /// A check found something wrong, for example rows that could not be imported.
    case failedCheck = 1
    /// The command cannot be understood, or asks for a confirmation where nobody can be asked.
    case usage = 2
    /// The database or the server cannot be reached. The same command may work later.
    case unreachable = 3
    /// PostgreSQL or the operator's role does not allow it.
    case notAllowed = 4
    /// The state of the store or of this machine forbids it: for example, there is no such account.
    case refused = 5
    /// A mistake of Tidemark, or a damaged database.
    case fault = 6
}
