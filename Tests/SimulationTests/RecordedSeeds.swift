// SPDX-License-Identifier: Apache-2.0

/// Seeds worth to be tried each time.
enum RecordedSeeds {
    /// Each broke a promise once, or made the judge believe so: a view that never had the record, deleted and made again.
    static let found: [UInt64] = [2, 391, 100_412]

    /// The same with engines.
    static let foundByEngines: [UInt64] = [1]

    /// Where each planted fault shows.
    static let showing: [PlantedFault: UInt64] = Dictionary(
        uniqueKeysWithValues: PlantedFault.allCases.map { ($0, 0) })
}
