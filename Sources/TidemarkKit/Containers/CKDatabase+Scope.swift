// SPDX-License-Identifier: Apache-2.0

extension CKDatabase {
    /// One of a container's databases.
    public enum Scope: Int, Sendable {
        /// The database that all users of the app share.
        case `public` = 1
        /// The user's own database.
        case `private` = 2
        /// Data that others share with the user.
        case shared = 3
    }
}
