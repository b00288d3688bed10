// SPDX-License-Identifier: Apache-2.0

/// Seeds worth to be tried each time.
enum RecordedSeeds {
    /// Each broke a promise once, or made the judge believe so: a view that never had the record, deleted and made again;
    /// a request that had been decided in the zone before, and was carried out in the next.
    static let found: [UInt64] = [2, 391, 100_412, 3_958_837_755_747_753_326, 300_016_914]

    /// The same with shares. Believed by the judge: that a later page of a first fetch tells of ends from before the fetch.
    static let foundWithShares: [UInt64] = [5_546_228_513_442_936_101]

    /// The same with engines. Left unsent: a zone that was added again in the pass that had sent it. Not told: a deletion
    /// between a process that died before it had the token and the next; a zone that the app had heard of and the state had
    /// not, after a restore. Believed by the judge:
    /// an app that sends again what an earlier process had sent, or keeps as pending what is gone. Not pushed: what was
    /// saved after a subscription that another server had made.
    static let foundByEngines: [UInt64] = [
        5_471_943_326_574_054_023, 1_049, 1_091, 1_172, 1_386, 799, 1_779, 1_003, 1_048, 4_518,
        5_000_055, 5_000_157, 7_000_003, 7_000_077, 7_000_125, 7_000_525,
        162_000_211, 2_389_560_325_877_817_245, 310_020_205, 350_028_381, 350_042_045, 350_042_387, 360_016_372,
    ]

    /// Where each planted fault shows; where it is not listed: from the very first seed.
    static let showing: [PlantedFault: UInt64] = [
        .pageAndTokenFromTwoSnapshots: 32, .lostAnswerTakenForFailure: 5, .outcomesForgotten: 2,
        .feedAheadOneTooFar: 4, .epochsUncounted: 4, .storeLifeKept: 13, .returnUnknown: 2, .moreComingForgotten: 1,
        .zoneEndsUntold: 4, .pendingChangeDropped: 1, .atomicityForgotten: 1, .unknownOutcomeDropped: 2,
        .unknownOutcomeTakenForFinal: 2, .timersLostAsleep: 2, .restoreTakenForNews: 3, .absenceTakenForDeletion: 19,
    ]
}
