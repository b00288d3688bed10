// SPDX-License-Identifier: Apache-2.0

/// How many bytes the databases of a container may hold. An operator sets it.
///
/// Public data counts against the app, so all of it shares one number. Private data counts against its owner, so each
/// private database has the same quota.
package struct StorageQuota: Hashable, Sendable {
    /// The quota of each private database; nil if there is none.
    package var privateBytes: Int64?
    /// The quota of the public database; nil if there is none.
    package var publicBytes: Int64?
    /// The share of one account in the public database.
    package var publicShare: PublicShare

    package init(privateBytes: Int64? = nil, publicBytes: Int64? = nil, publicShare: PublicShare = .standard) {
        self.privateBytes = privateBytes
        self.publicBytes = publicBytes
        self.publicShare = publicShare
    }

    /// The most bytes that one account may have in the public database; nil: there is no bound.
    package var publicShareBytes: Int64? { publicShare.bytesMax(of: publicBytes) }
}

/// How full the private databases of an account are, if it has a quota.
package struct AccountUse: Hashable, Sendable {
    package let account: AccountID
    package let use: StorageUse

    package init(account: AccountID, use: StorageUse) {
        self.account = account
        self.use = use
    }
}

/// How full a database with a quota is, or all private databases of an account together.
package struct StorageUse: Hashable, Sendable {
    /// The bytes of the records in living zones (``RecordState/countedBytes(fieldBytes:)``), and of the assets.
    package var byteCount: Int64
    /// The quota.
    package let bytesMax: Int64
    /// Whether it is of an account's private databases in all containers.
    package let isOfAccount: Bool

    package init(byteCount: Int64, bytesMax: Int64, isOfAccount: Bool = false) {
        self.byteCount = byteCount
        self.bytesMax = bytesMax
        self.isOfAccount = isOfAccount
    }

    /// The one that leaves less room. Whatever grows in the database grows in both.
    package static func tighter(_ one: StorageUse?, _ other: StorageUse?) -> StorageUse? {
        guard let one, let other else { return one ?? other }
        return other.bytesMax - other.byteCount < one.bytesMax - one.byteCount ? other : one
    }

    /// Whether the database may grow by this many bytes. A change that does not make it larger is always allowed, also
    /// in a database beyond its quota: the quota may have been lowered.
    package func hasRoom(for growth: Int64) -> Bool {
        growth <= 0 || growth <= bytesMax - byteCount
    }

    /// Says why it may not grow by this much, with the numbers.
    package func refusalText(of growth: Int64) -> String {
        let holder = isOfAccount ? "The account's private databases hold" : "The database holds"
        return FailureReason.quotaExceeded.text
            + " \(holder) \(byteCount) of \(bytesMax) bytes, and this needs \(growth) more."
    }

    /// The same for a user's share of a public database. The numbers are the user's own.
    package func shareRefusalText(of growth: Int64) -> String {
        FailureReason.publicShareFull.text
            + " The account has \(byteCount) of \(bytesMax) bytes there, and this needs \(growth) more."
    }
}
