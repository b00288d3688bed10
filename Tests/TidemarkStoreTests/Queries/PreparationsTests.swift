// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkScheduling
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

/// Whose types are prepared for queries, and when.
@Suite struct PreparationsTests {
    private final class Told: Sendable {
        private let result = Mutex<Result<Void, StorageError>?>(nil)

        func tell(_ outcome: Result<Void, StorageError>) { result.withLock { $0 = outcome } }
        var outcome: Result<Void, StorageError>? { result.withLock { $0 } }
    }

    private let scheduler = ManualScheduler()
    private let journal = TestLog<String>()
    private let preparations: Preparations
    private let alice = WorkOwner.account(1)
    private let bob = WorkOwner.account(2)

    init() { preparations = Preparations(scheduler: scheduler) }

    /// Takes a second from its beginning.
    @discardableResult
    private func prepare(
        _ type: String, for owner: WorkOwner, failingWith code: StorageError.Code? = nil
    ) -> Preparations.Preparation {
        let key = Preparations.Key(container: ContainerID(1), type: type)
        return preparations.join(key, for: owner) { [scheduler, journal] () async throws(StorageError) in
            journal.append(type)
            try? await scheduler.sleep(for: .seconds(1))
            if let code { throw StorageError(code) }
        }
    }

    /// What a query hears that waits for it now; nil if it goes on waiting.
    private func outcome(of preparation: Preparations.Preparation) -> Result<Void, StorageError>? {
        let told = Told()
        let query = scheduler.run { [preparations] in
            do throws(StorageError) {
                try await preparations.wait(for: preparation, for: .account(99))
                told.tell(.success(()))
            } catch {
                told.tell(.failure(error))
            }
        }
        scheduler.runUntilIdle()
        defer {
            query.cancel()
            scheduler.runUntilIdle()
        }
        return told.outcome
    }

    private func isDone(_ preparation: Preparations.Preparation) -> Bool {
        if case .success? = outcome(of: preparation) { true } else { false }
    }

    private func error(of preparation: Preparations.Preparation) -> StorageError? {
        if case .failure(let error)? = outcome(of: preparation) { error } else { nil }
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
        let refused = all.compactMap { error(of: $0) }
        // One is under way, and 16 wait.
        #expect(refused.count == 23)
        #expect(refused.allSatisfy { $0.code == .crowded && $0.retryAfter ?? .zero >= .seconds(1) })
        let bobs = prepare("bob", for: bob)
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(1))
        #expect(isDone(bobs))
    }

    @Test func `R-719: whoever needs a type that is being prepared waits for that, and nothing is remembered after it`()
    {
        let first = prepare("note", for: alice)
        let second = prepare("note", for: bob)
        #expect(first === second)
        scheduler.runUntilIdle()
        #expect(journal.all == ["note"] && outcome(of: first) == nil)
        scheduler.advance(by: .seconds(1))
        #expect(isDone(first))
        #expect(prepare("note", for: alice) !== first)
    }

    /// A query that waits for a preparation, and what became of it.
    @discardableResult
    private func wait(
        for preparation: Preparations.Preparation, of owner: WorkOwner, _ name: String
    ) -> Task<Void, Never> {
        scheduler.run { [preparations, journal] in
            do throws(StorageError) {
                try await preparations.wait(for: preparation, for: owner)
                journal.append("\(name) goes on")
            } catch {
                journal.append("\(name) \(error)")
                if error.code == .crowded, let delay = error.retryAfter, delay >= .seconds(1) {
                    journal.append("later")
                }
            }
        }
    }

    @Test func `R-719: queries wait until the preparation has ended, and hear how`() {
        let note = prepare("note", for: alice)
        let list = prepare("list", for: bob, failingWith: .tooSlow)
        for (preparation, name) in [(note, "first"), (list, "second"), (note, "third")] {
            wait(for: preparation, of: alice, name)
            scheduler.runUntilIdle()
        }
        #expect(journal.all == ["note", "list"])
        scheduler.advance(by: .seconds(1))
        #expect(Set(journal.all.dropFirst(2)) == ["first goes on", "second tooSlow", "third goes on"])
        wait(for: note, of: alice, "late")
        scheduler.runUntilIdle()
        #expect(journal.all.last == "late goes on")
    }

    @Test func `R-719: a query waits 3 seconds for its type, and the preparation goes on`() {
        // They are prepared one by one.
        let last = (0..<5).map { prepare("\($0)", for: alice) }[4]
        wait(for: last, of: alice, "query")
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(3))
        #expect(journal.all.contains("query zoneBusy") && outcome(of: last) == nil)
        scheduler.advance(by: .seconds(2))
        #expect(isDone(last))
    }

    @Test func `R-712, R-719: of an account 32 queries wait for types, and one more is told when to try again`() {
        let note = prepare("note", for: alice)
        for _ in 0..<33 { wait(for: note, of: alice, "alice") }
        wait(for: note, of: bob, "bob")
        scheduler.runUntilIdle()
        #expect(journal.all == ["note", "alice crowded", "later"])
        scheduler.advance(by: .seconds(1))
        #expect(journal.all.count { $0 == "alice goes on" } == 32 && journal.all.contains("bob goes on"))
    }

    @Test func `R-712, R-719: of all accounts 1,024 queries wait for types`() {
        let note = prepare("note", for: alice)
        for account in 1...33 {
            for _ in 0..<32 { wait(for: note, of: .account(Int64(account)), "query") }
            scheduler.runUntilIdle()
        }
        #expect(journal.all.count { $0 == "query crowded" } == 32)
        scheduler.advance(by: .seconds(1))
        #expect(journal.all.count { $0 == "query goes on" } == 1_024)
    }

    @Test func `R-713, R-719: a query of a client that is gone does not wait for its type`() {
        let note = prepare("note", for: alice)
        let waiting = (0..<32).map { _ in wait(for: note, of: alice, "gone") }
        scheduler.runUntilIdle()
        for task in waiting { task.cancel() }
        scheduler.runUntilIdle()
        #expect(journal.all.count { $0 == "gone crowded" } == 32)
        wait(for: note, of: alice, "next")
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(1))
        #expect(journal.all.last == "next goes on")
    }

    @Test func `R-719: a preparation that fails is begun anew by the next query`() {
        let first = prepare("note", for: alice, failingWith: .zoneBusy)
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(1))
        #expect(error(of: first)?.code == .zoneBusy)
        let second = prepare("note", for: alice)
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(1))
        #expect(isDone(second) && journal.all == ["note", "note"])
    }
}
