// SPDX-License-Identifier: Apache-2.0

/// Why a command failed: one sentence on what is wrong, and one on what to do.
package struct AdminFailure: Error, CustomStringConvertible, Equatable {
    package let status: ExitStatus
    /// Safe to show.
    package let description: String

    package init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}

/// Why a command ended early without having failed.
package enum CommandEnd: Error {
    /// `--dry-run`: what would happen has been said.
    case dryRun
    /// Whoever read the output wants no more, for example `head`.
    case readerGone
}
