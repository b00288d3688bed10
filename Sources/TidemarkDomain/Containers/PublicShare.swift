// SPDX-License-Identifier: Apache-2.0

/// An operator's choice for each account's share of a public database.
package enum PublicShare: Hashable, Sendable {
    /// Nothing: a tenth of the public database's quota, if it has one.
    case standard
    /// Each account may fill the public database, as far as its quota goes.
    case unlimited
    case bytes(Int64)

    /// Ten accounts are needed to fill a public database for which nothing else was chosen. Without a quota there is nothing to
    /// share: then an account is not bounded either.
    package static let standardPart: Int64 = 10

    /// The most bytes of each account; nil: there is no bound.
    ///
    /// - Parameter quota: of the public database.
    package func bytesMax(of quota: Int64?) -> Int64? {
        switch self {
        case .standard: quota.map { $0 / Self.standardPart }
        case .unlimited: nil
        case .bytes(let count): count
        }
    }

    // MARK: As it is stored

    private static let storedUnlimited: Int64 = -1

    /// Nil, -1, or a number of bytes.
    package init(stored: Int64?) {
        switch stored {
        case nil: self = .standard
        case .some(let count) where count >= 0: self = .bytes(count)
        case .some: self = .unlimited
        }
    }

    package var stored: Int64? {
        switch self {
        case .standard: nil
        case .unlimited: Self.storedUnlimited
        case .bytes(let count): count
        }
    }
}

/// The bytes that accounts have created in a public database, as a transaction has read them.
package struct PublicUse: Hashable, Sendable {
    /// The most bytes of one account; nil: there is no bound, and nothing was read.
    package let bytesMax: Int64?
    /// The bytes of the users who send the requests, and of the creators of the records that they name. A user without
    /// records has no entry.
    package var byteCounts: [UserID: Int64]

    package init(bytesMax: Int64?, byteCounts: [UserID: Int64] = [:]) {
        self.bytesMax = bytesMax
        self.byteCounts = byteCounts
    }
}

/// The same, with what the requests of a group have changed so far.
struct CreatorUses: Sendable {
    private let use: PublicUse
    /// How much more each creator's records take.
    private var growth: [UserID: Int64] = [:]

    init(_ use: PublicUse) {
        self.use = use
    }

    var isBounded: Bool { use.bytesMax != nil }

    mutating func grow(by byteCount: Int64, of creator: UserID) {
        growth[creator, default: 0] += byteCount
    }

    /// Without those that stay as they were.
    var changed: [UserID: Int64] { growth.filter { $0.value != 0 } }

    /// The use of a user's share; nil: there is no bound.
    func share(of user: UserID) -> StorageUse? {
        use.bytesMax.map {
            StorageUse(byteCount: use.byteCounts[user, default: 0] + growth[user, default: 0], bytesMax: $0)
        }
    }
}
