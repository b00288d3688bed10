// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What a hub remembers of databases, bounded by account, because an account may be in many containers. What was
/// read last always stays. A pure value.
struct AccountMemory {
    private struct Kept {
        let database: DatabaseID
        let byteCount: Int
    }

    private let bytesPerAccountMax: Int
    /// In the order in which they were read, the newest last.
    private var kept: [AccountID: [Kept]] = [:]

    init(bytesPerAccountMax: Int) {
        self.bytesPerAccountMax = bytesPerAccountMax
    }

    /// Takes in that something of a database was read, and how many bytes it has.
    ///
    /// - Returns: the databases of the account of which it is to be forgotten.
    mutating func keep(_ byteCount: Int, of database: DatabaseID, for account: AccountID) -> [DatabaseID] {
        forget(database, of: account)
        guard byteCount > 0 else { return [] }
        var own = kept[account] ?? []
        own.append(Kept(database: database, byteCount: byteCount))
        var sum = own.reduce(0) { $0 + $1.byteCount }
        let forgotten = own.dropLast().prefix { oldest in
            guard sum > bytesPerAccountMax else { return false }
            sum -= oldest.byteCount
            return true
        }
        kept[account] = Array(own.dropFirst(forgotten.count))
        return forgotten.map(\.database)
    }

    mutating func forget(_ database: DatabaseID, of account: AccountID) {
        kept[account]?.removeAll { $0.database == database }
        if kept[account]?.isEmpty == true { kept[account] = nil }
    }
}
