// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkFairness
import TidemarkScheduling
import TidemarkService
import TidemarkTestSupport

/// Tasks that wait for their turns.
@Suite struct FairGateTests {
    private let scheduler = ManualScheduler()
    /// What became of each task, in order.
    private let journal = TestLog<String>()
    private let alice = WorkOwner.account(1)
    private let bob = WorkOwner.account(2)

    private func gate(room: Int = 1, waiting: Int = 8) -> FairGate {
        FairGate(
            FairBounds(room: room, roomPerOwner: room, waitingMax: waiting, waitingPerOwnerMax: waiting),
            patience: .seconds(5), scheduler: scheduler)
    }

    /// Enters, and stays until the work has been let go.
    @discardableResult
    private func enter(_ gate: FairGate, _ owner: WorkOwner, _ name: String, until end: Answered) -> Task<Void, Never> {
        scheduler.run { [journal] in
            do throws(WorkRefusal) {
                let ticket = try await gate.enter(owner)
                journal.append(name)
                await end.wait()
                gate.leave(ticket)
            } catch {
                journal.append("\(name) \(error.reason.rawValue)")
            }
        }
    }

    @Test func `R-711: owners take turns, however many works one of them has`() {
        let gate = gate()
        let ends = (0..<5).map { _ in Answered() }
        for (number, end) in ends[..<4].enumerated() { enter(gate, alice, "alice \(number)", until: end) }
        scheduler.runUntilIdle()
        enter(gate, bob, "bob", until: ends[4])
        scheduler.runUntilIdle()
        #expect(journal.all == ["alice 0"] && gate.waitingCount == 4)
        for end in ends {
            end.give()
            scheduler.runUntilIdle()
        }
        #expect(journal.all.prefix(2) == ["alice 0", "bob"])
        #expect(journal.all.count == 5 && gate.waitingCount == 0)
    }

    @Test func `R-711: who finds room does not go before one whose turn has just come`() {
        let gate = gate(room: 3)
        let ends = (0..<3).map { _ in Answered() }
        for end in ends { enter(gate, alice, "early", until: end) }
        scheduler.runUntilIdle()
        enter(gate, alice, "first", until: Answered())
        scheduler.runUntilIdle()
        #expect(gate.waitingCount == 1)
        // All works end, and two more tasks begin before the first one goes on.
        for end in ends { end.give() }
        enter(gate, alice, "second", until: Answered())
        enter(gate, alice, "third", until: Answered())
        scheduler.runUntilIdle()
        #expect(journal.all.dropFirst(3) == ["first", "second", "third"])
    }

    @Test func `R-713: a cancelled task leaves the queue, and the next has its turn`() {
        let gate = gate()
        let ends = (0..<3).map { _ in Answered() }
        enter(gate, alice, "first", until: ends[0])
        scheduler.runUntilIdle()
        let waiting = enter(gate, alice, "second", until: ends[1])
        enter(gate, alice, "third", until: ends[2])
        scheduler.runUntilIdle()
        waiting.cancel()
        scheduler.runUntilIdle()
        #expect(journal.all == ["first", "second cancelled"] && gate.waitingCount == 1)
        ends[0].give()
        scheduler.runUntilIdle()
        #expect(journal.all == ["first", "second cancelled", "third"])
    }

    @Test func `R-713: a task that was cancelled before does not wait`() {
        let gate = gate()
        enter(gate, alice, "first", until: Answered())
        scheduler.runUntilIdle()
        enter(gate, alice, "second", until: Answered()).cancel()
        scheduler.runUntilIdle()
        #expect(journal.all == ["first", "second cancelled"] && gate.waitingCount == 0)
    }

    @Test func `R-712: who waits in vain is refused after a while, and who gives way at once`() {
        let gate = gate(waiting: 2)
        enter(gate, alice, "first", until: Answered())
        scheduler.runUntilIdle()
        enter(gate, alice, "second", until: Answered())
        enter(gate, alice, "third", until: Answered())
        scheduler.runUntilIdle()
        enter(gate, bob, "bob", until: Answered())
        scheduler.runUntilIdle()
        #expect(journal.all == ["first", "third gaveWay"])
        scheduler.advance(by: .seconds(5))
        #expect(Set(journal.all.dropFirst(2)) == ["second waitedTooLong", "bob waitedTooLong"])
        #expect(gate.waitingCount == 0)
    }

    // MARK: Two gates

    /// Works at both gates until the work has been let go.
    private func run(_ owner: WorkOwner, _ name: String, _ first: FairGate, _ second: FairGate, until end: Answered) {
        scheduler.run { [journal] in
            do throws(StorageError) {
                try await first.run(for: owner, then: second) { () async throws(StorageError) in
                    journal.append(name)
                    await end.wait()
                }
            } catch {
                journal.append("\(name) \(error.code)")
            }
        }
    }

    @Test func `R-711: nobody is charged for waiting behind another's long work at a second gate`() {
        let (gate, shared) = (gate(), gate())
        let (long, ends) = (Answered(), (0..<4).map { _ in Answered() })
        // Somebody of another loop has the second gate for a while.
        enter(shared, .account(3), "long", until: long)
        scheduler.runUntilIdle()
        run(bob, "bob", gate, shared, until: ends[0])
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(3))
        run(bob, "bob", gate, shared, until: ends[1])
        run(alice, "alice", gate, shared, until: ends[2])
        run(alice, "alice", gate, shared, until: ends[3])
        scheduler.runUntilIdle()
        #expect(journal.all == ["long"])
        long.give()
        for end in ends {
            end.give()
            scheduler.runUntilIdle()
        }
        #expect(journal.all == ["long", "bob", "alice", "bob", "alice"], "they take turns, work by work")
    }

    @Test func `R-711: who works long is charged for it, and others come first`() {
        let (gate, shared) = (gate(), gate())
        let ends = (0..<4).map { _ in Answered() }
        run(bob, "bob", gate, shared, until: ends[0])
        scheduler.runUntilIdle()
        run(bob, "bob", gate, shared, until: ends[1])
        run(alice, "alice", gate, shared, until: ends[2])
        run(alice, "alice", gate, shared, until: ends[3])
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(3))
        for end in ends {
            end.give()
            scheduler.runUntilIdle()
        }
        #expect(journal.all == ["bob", "alice", "alice", "bob"])
    }

    @Test func `R-712: the waits at two gates together take no longer than one`() {
        let (gate, shared) = (gate(), gate())
        let end = Answered()
        enter(gate, alice, "alice", until: end)
        enter(shared, .account(3), "long", until: Answered())
        scheduler.runUntilIdle()
        run(bob, "bob", gate, shared, until: Answered())
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(3))
        end.give()
        scheduler.runUntilIdle()
        #expect(gate.waitingCount == 0 && shared.waitingCount == 1)
        scheduler.advance(by: .seconds(1))
        #expect(shared.waitingCount == 1)
        scheduler.advance(by: .milliseconds(1_001))
        #expect(journal.all == ["alice", "long", "bob crowded"] && shared.waitingCount == 0)
        // Its place at the first gate is free again.
        enter(gate, alice, "again", until: Answered())
        scheduler.runUntilIdle()
        #expect(journal.all.last == "again")
    }

    // MARK: Turns

    /// Enters, and stays aside until the wait has ended. Then it goes on, and ends.
    private func stepAside(_ turn: WorkTurn, _ name: String, until end: Answered, failingWith code: StorageError.Code?)
    {
        scheduler.run { [journal] in
            do throws(StorageError) {
                try await turn.enter()
                journal.append(name)
                try await turn.stepAside { () async throws(StorageError) in
                    await end.wait()
                    if let code { throw StorageError(code) }
                }
                journal.append("\(name) again")
                turn.leave()
            } catch {
                journal.append("\(name) \(error)")
            }
        }
    }

    @Test func `R-714: who steps aside leaves the place to others, and then waits for another turn`() {
        let gate = gate()
        let (aside, bobs) = (Answered(), Answered())
        stepAside(WorkTurn(of: alice, at: gate), "alice", until: aside, failingWith: nil)
        scheduler.runUntilIdle()
        enter(gate, bob, "bob", until: bobs)
        scheduler.runUntilIdle()
        #expect(journal.all == ["alice", "bob"])
        aside.give()
        scheduler.runUntilIdle()
        #expect(journal.all == ["alice", "bob"] && gate.waitingCount == 1)
        bobs.give()
        scheduler.runUntilIdle()
        enter(gate, bob, "next", until: Answered())
        scheduler.runUntilIdle()
        #expect(journal.all == ["alice", "bob", "alice again", "next"])
    }

    @Test func `R-714: who stepped aside and finds no place again is told when to try again`() {
        let gate = gate()
        let aside = Answered()
        stepAside(WorkTurn(of: alice, at: gate), "alice", until: aside, failingWith: nil)
        enter(gate, bob, "bob", until: Answered())
        scheduler.runUntilIdle()
        aside.give()
        scheduler.runUntilIdle()
        scheduler.advance(by: .seconds(5))
        #expect(journal.all == ["alice", "bob", "alice crowded"])
    }

    @Test func `R-714: whose wait fails is told at once, and has a place when it enters again`() {
        let gate = gate()
        let (aside, bobs) = (Answered(), Answered())
        let turn = WorkTurn(of: alice, at: gate)
        stepAside(turn, "alice", until: aside, failingWith: .zoneBusy)
        enter(gate, bob, "bob", until: bobs)
        scheduler.runUntilIdle()
        aside.give()
        scheduler.runUntilIdle()
        #expect(journal.all == ["alice", "bob", "alice zoneBusy"] && gate.waitingCount == 0)
        // It has no place that it could give back.
        turn.leave()
        stepAside(turn, "alice", until: Answered(), failingWith: nil)
        scheduler.runUntilIdle()
        #expect(journal.all.count == 3 && gate.waitingCount == 1)
        bobs.give()
        scheduler.runUntilIdle()
        #expect(journal.all.last == "alice" && journal.all.count == 4)
    }
}

/// Something that tasks wait for, and that comes once.
private final class Answered: Sendable {
    private let state = Mutex<(isGiven: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isGiven = state.withLock { state in
                if !state.isGiven { state.waiter = continuation }
                return state.isGiven
            }
            if isGiven { continuation.resume() }
        }
    }

    func give() {
        state.withLock { state in
            state.isGiven = true
            defer { state.waiter = nil }
            return state.waiter
        }?.resume()
    }
}
