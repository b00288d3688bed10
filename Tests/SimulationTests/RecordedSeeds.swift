// SPDX-License-Identifier: Apache-2.0

/// Seeds worth to be tried each time.
enum RecordedSeeds {
    /// Each broke a promise once, or made the judge believe so: a view that never had the record, deleted and made again.
    static let found: [UInt64] = [2, 391, 100_412]

    /// Where each planted fault shows; 0 if it is not in the list.
    static let showing: [PlantedFault: UInt64] = [
        .lostAnswerTakenForSuccess: 1, .lostAnswerTakenForFailure: 126, .outcomesForgotten: 2, .readBeforeLock: 2,
        .pageAndTokenFromTwoSnapshots: 176,
    ]
}
