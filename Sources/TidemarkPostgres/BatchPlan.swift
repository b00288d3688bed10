// SPDX-License-Identifier: Apache-2.0

/// What a batch does to the transaction of its connection.
struct BatchPlan {
    /// A transaction is open when the whole batch has succeeded.
    private(set) var isInTransactionAfter: Bool
    /// One may be open when a statement of it has failed.
    private(set) var mayBeInTransactionAfterFailure: Bool
    private(set) var commit = CommitRisk()

    init(_ batch: [BoundStatement], isInTransaction: Bool) {
        isInTransactionAfter = isInTransaction
        mayBeInTransactionAfterFailure = isInTransaction
        for (index, bound) in batch.enumerated() {
            switch bound.statement.effect {
            case .begin:
                isInTransactionAfter = true
                mayBeInTransactionAfterFailure = true
            case .commit:
                isInTransactionAfter = false
                commit.mayCommit = true
                commit.commitIndex = index
            case .rollback:
                isInTransactionAfter = false
            case .read:
                break
            case .write:
                // Outside of a transaction the Sync commits.
                if !isInTransactionAfter { commit.mayCommit = true }
            }
        }
    }
}
