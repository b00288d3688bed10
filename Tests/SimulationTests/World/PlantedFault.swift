// SPDX-License-Identifier: Apache-2.0

/// Mistakes that are made on purpose, to show that the judge sees them. None of them is in the program: they are made
/// between the Service and its store, between an engine and its cloud, or by the simulated device or app.
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
    /// What a server knows of a zone is not proven when it is written.
    case knowledgeUnproven
    /// A batch is committed in two transactions.
    case batchInTwoTransactions
    /// The reader of the database feed does not look for zones that moved.
    case feedNeverBehind
    /// The token of the database feed is one number past what was given out.
    case feedTokenOneTooFar
    /// The token of the database feed is one change past what it told of a zone that had no number.
    case feedAheadOneTooFar
    /// A device that starts again uses the names of its requests again, and takes each for a repeat.
    case reusedRequestID
    /// A device names its requests by itself and the wall clock.
    case counterFromClock
    /// The store forgets outcomes, and does not count how often.
    case epochsUncounted
    /// A store that is restored lives on as if it were the same.
    case storeLifeKept
    /// A device that comes back without its tokens is not told of what ended meanwhile.
    case returnUnknown

    // Seen only if zones are shared.

    /// What a zone's shares allow is read before what is shown of the zone.
    case accessReadBeforeData
    /// What a zone's shares allow is read before the zone is locked for an edit.
    case accessReadBeforeLock
    /// A zone comes into the list of a shared database after the acceptance that has brought it there.
    case pointerAfterAcceptance
    /// Whoever was invited is taken for a participant.
    case invitationTakenForAcceptance
    /// Whoever has outcomes of requests in a zone is taken for the participant that they were.
    case memoryTakenForAccess
    /// The feed of a shared database does not tell that access has ended.
    case accessEndsUntold
    /// The feed of a shared database does not tell that access has ended if the user has it again.
    case returnTakenForChange
    /// Shares change without a version of their record.
    case shareChangeUncounted
    /// Whoever is removed keeps the row of a participant.
    case removalForgotten

    // Seen only if people come by links and addresses, ask, and are blocked.

    /// Whoever takes a one-time link leaves it to the next one.
    case linkTakenTwice
    /// Of somebody who is blocked, a server that they ask does not know it.
    case blockedPersonHeard
    /// An administrator keeps the right when the share says otherwise.
    case administratorKept
    /// Everybody is taken for somebody who has verified each address.
    case addressOfEverybody

    // Seen by whole engines only.

    /// An engine does not fetch the further pages of a zone.
    case moreComingForgotten
    /// An engine does not hear of zones that have ended.
    case zoneEndsUntold
    /// An engine drops what it could not send.
    case pendingChangeDropped
    /// An engine takes a save that was in conflict for done.
    case conflictTakenForSuccess
    /// An engine sends atomic batches record by record.
    case atomicityForgotten
    /// An app stores the engine's state before the records that were fetched by then.
    case recordsStoredLate
    /// An engine drops what may have been carried out or not.
    case unknownOutcomeDropped
    /// An engine takes it for final that the server does not know what became of a request.
    case unknownOutcomeTakenForFinal
    /// The server takes all lives of a device for one.
    case memoryOfDevice
    /// A device that began as a copy of another one hears no pushes.
    case copyHearsNoPushes
    /// A computer forgets its timers when it falls asleep.
    case timersLostAsleep
    /// An app takes what a restored store has for news: what it has itself is undone.
    case restoreTakenForNews
    /// An app takes what a restored store lacks for deleted.
    case absenceTakenForDeletion

    // Seen by engines only if zones are shared.

    /// A guest's engine does not hear that access has ended.
    case endOfAccessUntold
    /// An engine takes an edit for saved that its user may not make.
    case refusalTakenForSuccess
    /// An engine says that its user has left a zone, and does not ask the server.
    case leavingForgotten

    /// The kind of history in which it shows.
    private enum World {
        case devices, shares, people, engines, sharingEngines
    }

    private var world: World {
        switch self {
        case .moreComingForgotten, .zoneEndsUntold, .pendingChangeDropped, .conflictTakenForSuccess,
            .atomicityForgotten, .recordsStoredLate, .unknownOutcomeDropped,
            .unknownOutcomeTakenForFinal, .memoryOfDevice, .copyHearsNoPushes, .timersLostAsleep, .restoreTakenForNews,
            .absenceTakenForDeletion:
            .engines
        case .accessReadBeforeData, .accessReadBeforeLock, .pointerAfterAcceptance, .invitationTakenForAcceptance,
            .memoryTakenForAccess, .accessEndsUntold, .returnTakenForChange, .shareChangeUncounted, .removalForgotten:
            .shares
        case .linkTakenTwice, .blockedPersonHeard, .administratorKept, .addressOfEverybody: .people
        case .endOfAccessUntold, .refusalTakenForSuccess, .leavingForgotten: .sharingEngines
        default: .devices
        }
    }

    /// What the judge says of the history of this seed when the mistake is made in it.
    func violations(seed: UInt64) -> [String] {
        Self.violations(seed: seed, planted: self, in: world)
    }

    /// The same when it is not made.
    func violationsWithout(seed: UInt64) -> [String] {
        Self.violations(seed: seed, planted: nil, in: world)
    }

    private static func violations(seed: UInt64, planted: PlantedFault?, in world: World) -> [String] {
        switch world {
        case .devices: SimulationRun(seed: seed, planted: planted).violations
        case .shares: SharingRun(seed: seed, planted: planted).violations
        case .people: PeopleRun(seed: seed, planted: planted).violations
        case .engines: EngineRun(seed: seed, planted: planted).violations
        case .sharingEngines: SharingEngineRun(seed: seed, planted: planted).violations
        }
    }

    /// The first seed from here on that shows the mistake, and what is said of it.
    func firstSeed(from first: UInt64, count: UInt64) -> (seed: UInt64, violation: String)? {
        for seed in first..<(first + count) {
            if let violation = violations(seed: seed).first { return (seed, violation) }
        }
        return nil
    }
}
