// SPDX-License-Identifier: Apache-2.0

/// Why a command did not do what it was asked: one sentence on what is wrong, one on what to do.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
