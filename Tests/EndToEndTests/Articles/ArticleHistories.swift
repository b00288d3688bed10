// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// Histories of the articles' apps, from seeds, with all that can go wrong. Environment:
/// - `TIDEMARK_SEEDS`: how many histories each test runs, from a random seed; unless set a few, which take seconds in all.
/// - `TIDEMARK_TEST_SEED`: the seed of the only one.
/// - `TIDEMARK_TRACE`: print what happens in each.
enum ArticleHistories {
    /// - Parameter recorded: seeds that broke a promise once. They run each time, before the others.
    static func run(
        count: Int, recorded: [UInt64] = [], _ history: (_ seed: UInt64) async throws -> Void
    ) async {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["TIDEMARK_TEST_SEED"] != nil ? 1 : Int(environment["TIDEMARK_SEEDS"] ?? "") ?? count
        let first = SeededRandom().seed
        let fresh = (0..<count).map { first &+ UInt64($0) }
        for seed in (environment["TIDEMARK_TEST_SEED"] == nil ? recorded : []) + fresh {
            do {
                try await history(seed)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }
}
