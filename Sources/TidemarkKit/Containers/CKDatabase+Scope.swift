// SPDX-License-Identifier: Apache-2.0

extension CKDatabase {
    /// Which of a container's databases is meant.
    public enum Scope: Int, Sendable {
        /// One for all users of the app.
        case `public` = 1
        /// The user's own.
        case `private` = 2
        /// What others share with the user.
        case shared = 3
    }
}
