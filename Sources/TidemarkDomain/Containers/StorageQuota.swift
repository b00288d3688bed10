// SPDX-License-Identifier: Apache-2.0

/// What the databases of a container may hold: an operator's choice, in bytes.
///
/// Public data counts against the app, so that there is one number for all of it; private data counts against its owner, so
/// that each private database has as much as any other.
package struct StorageQuota: Hashable, Sendable {
    /// Of each private database; nil: no quota.
    package var privateBytes: Int64?
    /// Of the public database; nil: no quota.
    package var publicBytes: Int64?

    package init(privateBytes: Int64? = nil, publicBytes: Int64? = nil) {
        self.privateBytes = privateBytes
        self.publicBytes = publicBytes
    }
}

/// How full a database with a quota is.
package struct StorageUse: Hashable, Sendable {
    /// The fields of its records in living zones, and its assets.
    package var byteCount: Int64
    /// The quota.
    package let bytesMax: Int64

    package init(byteCount: Int64, bytesMax: Int64) {
        self.byteCount = byteCount
        self.bytesMax = bytesMax
    }

    /// Whether the database may grow by so many bytes. What does not make it larger always may be done, also where it holds
    /// more than its quota, which may have been lowered.
    package func hasRoom(for growth: Int64) -> Bool {
        growth <= 0 || growth <= bytesMax - byteCount
    }

    /// Why it may not, with the numbers.
    package func refusalText(of growth: Int64) -> String {
        FailureReason.quotaExceeded.text
            + " The database holds \(byteCount) of \(bytesMax) bytes, and this needs \(growth) more."
    }
}
