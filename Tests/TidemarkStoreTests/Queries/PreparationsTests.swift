// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkShares
import TidemarkStore
import TidemarkTestSupport

/// Whose types are prepared for queries, and when.
@Suite struct PreparationsTests {
    private final class Journal: Sendable {
        private let entries = Mutex<[String]>([])

        func add(_ entry: String) { entries.withLock { $0.append(entry) } }
        var all: [String] { entries.withLock { $0 } }
    }

    private let scheduler = ManualScheduler()
    private let journal = Journal()
    private let preparations: Preparations
    private let alice = ShareOwner.account(1)
    private let bob = ShareOwner.account(2)

    init() { preparations = Preparations(scheduler: scheduler) }

    /// Takes a second from its beginning.
    @discardableResult
    private func prepare(
        _ type: String, for owner: ShareOwner, failingWith code: StorageError.Code? = nil
    ) -> Preparations.Preparation {
        let key = Preparations.Key(container: ContainerID(1), type: type)
        return preparations.join(key, for: owner) { [scheduler, journal] () async throws(StorageError) in
            journal.add(type)
            try? await scheduler.sleep(for: .seconds(1))
            if let code { throw StorageError(code) }
        }
    }

    @Test func `R-719: one type of an account is prepared at a time, and another account's beside it`() {
        for number in 0..<4 { prepare("alice \(number)", for: alice) }
        scheduler.runUntilIdle()
        prepare("bob", for: bob)
        scheduler.runUntilIdle()
        #expect(journal.all == ["alice 0", "bob"])
        scheduler.advance(by: .seconds(1))
        #expect(journal.all == ["alice 0", "bob", "alice 1"])
        scheduler.advance(by: .seconds(3))
        #expect(journal.all.count == 5)
    }

    @Test func `R-712, R-719: an account that asks for very many types is told when to try again`() {
        let all = (0..<40).map { prepare("alice \($0)", for: alice) }
        scheduler.runUntilIdle()
        let refused = all.compactMap(\.error)
        // One is under way, and 16 wait.
        #expect(refused.count == 23)
        #expect(refused.allSatisfy { $0.code == .crowded && $0.retryAfter ?? .zero >= .seconds(1) })
        let bobs = prepare("bob", for: bob)
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(1))
        #expect(bobs.isDone)
    }

    @Test func `R-719: whoever needs a type that is being prepared waits for that, and nothing is remembered after it`()
    {
        let first = prepare("note", for: alice)
        let second = prepare("note", for: bob)
        #expect(first === second)
        scheduler.runUntilIdle()
        #expect(journal.all == ["note"] && first.result == nil && preparations.count == 1)
        scheduler.advance(by: .seconds(1))
        #expect(first.isDone && preparations.count == 0)
    }

    @Test func `R-719: a preparation that fails is begun anew by the next query`() {
        let first = prepare("note", for: alice, failingWith: .zoneBusy)
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(1))
        #expect(first.error?.code == .zoneBusy && preparations.count == 0)
        let second = prepare("note", for: alice)
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(1))
        #expect(second.isDone && journal.all == ["note", "note"])
    }
}

extension Preparations.Preparation {
    fileprivate var isDone: Bool { if case .success? = result { true } else { false } }
    fileprivate var error: StorageError? { if case .failure(let error)? = result { error } else { nil } }
}
