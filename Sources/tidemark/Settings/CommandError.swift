// SPDX-License-Identifier: Apache-2.0

/// Why a command failed: one sentence on what is wrong, and one on what to do.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
