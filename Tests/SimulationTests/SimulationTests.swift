// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// Servers, devices and whole engines in virtual time, with every fault that we could think of (I-1 … I-4).
///
/// A test says which seeds it tries; a seed that breaks a promise is printed, and replays exactly. Environment:
/// - `TIDEMARK_SEED`: the first seed; unless set random, or 0 for planted faults.
/// - `TIDEMARK_SEEDS`: how many histories of simple devices; a fifth of that with shares, a tenth with people who come, ask and
///   go, a fifth with engines, and a fifteenth with engines and shares.
/// - `TIDEMARK_PLANTED`: search every planted fault in so many seeds, and print the first that shows it.
/// - `TIDEMARK_TRACE`: print what happens in each history.
@Suite struct SimulationTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    private static let first = setting("TIDEMARK_SEED") ?? UInt64.random(in: 0...(.max / 2))
    private static let count = setting("TIDEMARK_SEEDS") ?? 200
    private static let planted = setting("TIDEMARK_PLANTED")

    /// In two parts that run side by side.
    @Test(arguments: [0, 1] as [UInt64])
    func `I-1, I-2, I-3: no fresh seed breaks a promise`(_ part: UInt64) async throws {
        let (first, count) = (Self.first + part * ((Self.count + 1) / 2), (Self.count + 1 - part) / 2)
        print("simulation: \(count) seeds from \(first)")
        try await search(first, count) { SimulationRun(seed: $0).violations }
    }

    @Test func `I-5, R-328: whatever the seed, guests see what is shared with them, and end equal`() async throws {
        let count = max(1, Self.count / 5)
        print("simulation of shares: \(count) seeds from \(Self.first)")
        try await search(Self.first, count) { SharingRun(seed: $0).violations }
    }

    @Test
    func `I-5, R-312, R-970 … R-976: whatever the seed, people come in, ask and see as the naive model says`()
        async throws
    {
        let count = max(1, Self.count / 10)
        print("simulation of people in shares: \(count) seeds from \(Self.first)")
        try await search(Self.first, count) { PeopleRun(seed: $0).violations }
    }

    @Test func `I-1 … I-4: real engines end equal, whatever the seed`() async throws {
        let count = max(1, Self.count / 5)
        print("simulation of engines: \(count) seeds from \(Self.first)")
        try await search(Self.first, count) { EngineRun(seed: $0).violations }
    }

    @Test func `I-1, I-5, R-328, R-330: guests' engines end with what is shared, and no edit is lost untold`()
        async throws
    {
        let count = max(1, Self.count / 15)
        print("simulation of engines with shares: \(count) seeds from \(Self.first)")
        try await search(Self.first, count) { SharingEngineRun(seed: $0).violations }
    }

    /// Ends after a few seeds that fail. For seconds: on a thread of its own, or what runs beside it would wait.
    private func search(
        _ first: UInt64, _ count: UInt64, _ violations: @escaping @Sendable (UInt64) -> [String]
    ) async throws {
        let found = try await blocking {
            var found: [(seed: UInt64, violations: [String])] = []
            for seed in first..<(first + count) where found.count < 5 {
                let violations = violations(seed)
                if !violations.isEmpty { found.append((seed, violations)) }
            }
            return found
        }
        for (seed, violations) in found {
            Issue.record(
                """
                seed \(seed): \(violations.prefix(3)). Again: \
                TIDEMARK_SEED=\(seed) TIDEMARK_SEEDS=1 TIDEMARK_TRACE=1 swift test -c release --filter SimulationTests
                """)
        }
    }

    @Test(arguments: RecordedSeeds.found)
    func `seeds that once found something find nothing any more`(_ seed: UInt64) async throws {
        #expect(try await blocking { SimulationRun(seed: seed).violations } == [])
    }

    @Test(arguments: RecordedSeeds.foundWithShares)
    func `seeds with which shares once found something find nothing any more`(_ seed: UInt64) async throws {
        #expect(try await blocking { SharingRun(seed: seed).violations } == [])
    }

    @Test(arguments: RecordedSeeds.foundByEngines)
    func `seeds with which engines once found something find nothing any more`(_ seed: UInt64) async throws {
        #expect(try await blocking { EngineRun(seed: seed).violations } == [])
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func `a seed replays exactly`(_ seed: UInt64) {
        let first = SimulationRun(seed: seed)
        #expect(SimulationRun(seed: seed).digest == first.digest)
        #expect(SimulationRun(seed: seed + 1_000).digest != first.digest)
        #expect(EngineRun(seed: seed).digest == EngineRun(seed: seed).digest)
        #expect(SharingRun(seed: seed).digest == SharingRun(seed: seed).digest)
        #expect(PeopleRun(seed: seed).digest == PeopleRun(seed: seed).digest)
    }

    /// Each process hashes in its own way, so that its sets and dictionaries have other orders.
    @Test func `a seed replays exactly in another process`() async throws {
        let other = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            for line in SimulationTests.replays() { print(line) }
            fflush(nil)
        }
        let text = String(decoding: other.standardOutputContent, as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(Self.replayMark) }
        let own = Self.replays()
        #expect(lines.dropLast() == own.dropLast())
        #expect(lines.last != own.last, "with equal hashes this shows nothing")
    }

    private static let replayMark = "replay: "

    /// What this process makes of some seeds, one of them with journals, and last how it hashes.
    private static func replays() -> [String] {
        let digests = ([1, 2, 3, 4, 5] as [UInt64]).flatMap { seed in
            [
                SimulationRun(seed: seed).digest, EngineRun(seed: seed).digest, SharingRun(seed: seed).digest,
                PeopleRun(seed: seed).digest,
            ]
        }
        let shared = SharingEngineRun(seed: 1).digest
        return (digests + [shared, "hash \("".hashValue)"]).map { replayMark + $0 }
    }

    /// From a seed that showed it when it was written down; a change of the program changes histories, so a few more.
    @Test(arguments: PlantedFault.allCases)
    func `the judge sees a planted fault`(_ fault: PlantedFault) async throws {
        let recorded = RecordedSeeds.showing[fault] ?? 0
        let first = try await blocking { fault.firstSeed(from: recorded, count: 1_000) }
        let found = try #require(first, "\(fault) was not seen")
        if found.seed != recorded { print("simulation: \(fault) shows with seed \(found.seed), not with \(recorded)") }
        #expect(try await blocking { fault.violationsWithout(seed: found.seed) } == [])
    }

    /// For `make simulate`.
    @Test(.enabled(if: planted != nil), arguments: PlantedFault.allCases)
    func `a search finds a planted fault`(_ fault: PlantedFault) throws {
        let first = fault.firstSeed(from: Self.setting("TIDEMARK_SEED") ?? 0, count: Self.planted ?? 0)
        let found = try #require(first, "\(fault) was not found")
        print("simulation: \(fault) shows with seed \(found.seed): \(found.violation)")
    }
}
