// SPDX-License-Identifier: Apache-2.0

/// Mistakes that are made on purpose, to show that the judge sees them. None of them is in the program: they are made
/// between the Service and its store, or by the simulated device.
enum PlantedFault: String, CaseIterable, Sendable {
    /// A page's token is one change past what the page holds.
    case tokenOneTooFar
    /// A page's records are read before its token.
    case pageAndTokenFromTwoSnapshots
    /// Deletions are missing from pages.
    case tombstonesLost
    /// Pages end anywhere, also within a batch.
    case batchesUnknown
    /// A save is acknowledged while its commit is still under way.
    case answerBeforeCommit
    /// When the answer to a commit is lost, the save is taken for done.
    case lostAnswerTakenForSuccess
    /// When the answer to a commit is lost, the save is taken for not done.
    case lostAnswerTakenForFailure
    /// Outcomes of requests are not remembered.
    case outcomesForgotten
    /// Records are read before their zone is locked.
    case readBeforeLock
    /// A batch is committed in two transactions.
    case batchInTwoTransactions
    /// The reader of the database feed does not look for zones that moved.
    case feedNeverBehind
    /// The token of the database feed is one number past what was given out.
    case feedTokenOneTooFar
    /// A device that starts again uses the numbers of its requests again.
    case reusedRequestID
}
