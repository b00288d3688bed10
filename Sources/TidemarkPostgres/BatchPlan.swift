// SPDX-License-Identifier: Apache-2.0

/// How a batch changes the transaction of its connection.
struct BatchPlan {
    /// Whether a transaction is open if the whole batch has succeeded.
    private(set) var isInTransactionAfter: Bool
    /// Whether a transaction may be open if a statement of the batch has failed.
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
                // Outside a transaction the Sync commits.
                if !isInTransactionAfter { commit.mayCommit = true }
            }
        }
    }
}
