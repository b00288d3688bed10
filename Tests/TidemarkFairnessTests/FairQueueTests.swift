// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFairness

/// Who begins, who waits and who gives way, in small cases.
@Suite struct FairQueueTests {
    private let flood = WorkOwner.account(1)
    private let other = WorkOwner.account(2)

    private func queue(
        room: Int = 2, perOwner: Int? = nil, waiting: Int = 8, waitingPerOwner: Int? = nil
    ) -> FairQueue {
        FairQueue(
            FairBounds(
                room: room, roomPerOwner: perOwner ?? room, waitingMax: waiting,
                waitingPerOwnerMax: waitingPerOwner ?? waiting))
    }

    @Test func `R-710: while nothing waits, a work begins at once, and nothing is kept of it afterwards`() throws {
        var queue = queue()
        let ticket = try queue.begins(for: flood)
        #expect(queue.heldRoom == 1 && queue.heldRoom(of: flood) == 1 && queue.places.count == 1)
        #expect(queue.finish(ticket, charge: 1_000) == [])
        #expect(queue.heldRoom == 0 && queue.places.count == 0)
    }

    @Test func `R-710: one owner cannot take all the room`() throws {
        var queue = queue(room: 3, perOwner: 2)
        _ = try queue.begins(for: flood)
        _ = try queue.begins(for: flood)
        _ = try queue.waits(for: flood)
        _ = try queue.begins(for: other)
        #expect(queue.heldRoom == 3)
    }

    @Test func `R-710: a work larger than an owner's room is refused, and nobody waits for it`() throws {
        var queue = queue(room: 8, perOwner: 4)
        guard case .refuse(let refusal) = queue.ask(for: flood, room: 5) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.reason == .tooLarge)
        #expect(queue.places.count == 0)
    }

    @Test func `R-711: whoever asks for little goes before those who were served much`() throws {
        var queue = queue(room: 1)
        let first = try queue.begins(for: flood)
        let second = try queue.waits(for: flood)
        let third = try queue.waits(for: flood)
        #expect(queue.finish(first, charge: 100) == [second])
        let newcomer = try queue.waits(for: other)
        #expect(queue.finish(second, charge: 100) == [newcomer])
        #expect(queue.finish(newcomer) == [third])
    }

    @Test func `R-711: a debt is remembered while others wait, and no longer`() throws {
        var queue = queue(room: 1)
        let costly = try queue.begins(for: flood)
        let waiting = try (0..<3).map { _ in try queue.waits(for: other) }
        #expect(queue.finish(costly, charge: 100) == [waiting[0]])
        // As if it were new, but for its debt: the other's cheap works come first.
        let again = try queue.waits(for: flood)
        #expect(queue.finish(waiting[0]) == [waiting[1]])
        #expect(queue.finish(waiting[1]) == [waiting[2]])
        #expect(queue.finish(waiting[2]) == [again])
        #expect(queue.finish(again) == [])
        #expect(queue.places.count == 0)
    }

    @Test func `R-712: who has most in a full queue gives way, its latest work first`() throws {
        var queue = queue(room: 1, waiting: 4)
        let held = try queue.begins(for: flood)
        let floods = try (0..<4).map { _ in try queue.waits(for: flood) }
        guard case .wait(let newcomer, gaveWay: floods[3]) = queue.ask(for: other) else {
            Issue.record("the flood did not give way")
            return
        }
        #expect(queue.waitingCount == 4)
        // 3 and 1: an even share is reached when both have 2, and from then on each is refused.
        guard case .wait(_, gaveWay: floods[2]) = queue.ask(for: other) else {
            Issue.record("the flood did not give way")
            return
        }
        for owner in [flood, other] {
            guard case .refuse(let refusal) = queue.ask(for: owner) else {
                Issue.record("not refused")
                return
            }
            #expect(refusal.reason == .full)
        }
        #expect(queue.finish(held) == [newcomer])
    }

    @Test func `R-712: everybody without a credential is one owner, with the smallest share`() throws {
        var queue = queue(room: 1, waiting: 4)
        _ = try queue.begins(for: flood)
        for _ in 0..<4 { _ = try queue.waits(for: .nobody) }
        // An account has four times the weight: nobody keeps one place of these, and the accounts have three.
        var pushedOut = 0
        for _ in 0..<4 {
            guard case .wait(_, gaveWay: let gaveWay?) = queue.ask(for: other) else { continue }
            #expect(gaveWay.owner == .nobody)
            pushedOut += 1
        }
        #expect(pushedOut == 3)
        #expect(queue.waitingCount == 4)
    }

    @Test func `R-712: a refusal says when to try again, later if more wait`() throws {
        func retry(waiting: Int) throws -> Duration {
            var queue = FairQueue(
                FairBounds(
                    room: 1, roomPerOwner: 1, waitingMax: waiting, waitingPerOwnerMax: waiting, workTime: .seconds(1)))
            _ = try queue.begins(for: flood)
            for _ in 0..<waiting { _ = try queue.waits(for: flood) }
            guard case .refuse(let refusal) = queue.ask(for: flood) else { return .zero }
            #expect(refusal.reason == .ownerFull)
            return refusal.retryAfter
        }
        #expect(try retry(waiting: 1) == .seconds(2))
        #expect(try retry(waiting: 9) == .seconds(10))
        #expect(try retry(waiting: 1_000) == .seconds(30))
    }

    @Test func `R-712: of what is held, who has most gives way, until shares are even`() throws {
        var queue = queue(room: 6, waiting: 0)
        var tickets = try (0..<6).map { _ in try queue.begins(for: flood) }
        var moved = 0
        while let owner = queue.whoGivesWay(to: other) {
            #expect(owner == flood)
            #expect(queue.finish(tickets.removeLast()) == [])
            _ = try queue.begins(for: other)
            moved += 1
        }
        #expect(moved == 3)
        #expect(queue.whoGivesWay(to: flood) == nil)
        #expect(queue.whoGivesWay(to: .nobody) == nil, "nobody's share would be the largest by its weight")
    }

    @Test func `R-713: a work that is no longer wanted leaves, and who waited behind it goes on`() throws {
        var queue = queue(room: 4)
        let half = try (0..<2).map { _ in try queue.begins(for: flood, room: 2) }
        let large = try queue.waits(for: other, room: 4)
        let small = try queue.waits(for: .account(3), room: 1)
        #expect(queue.finish(half[0]) == [], "the large one is next, and waits for room")
        #expect(queue.cancel(large) == [small])
        #expect(queue.cancel(large) == nil)
        #expect(queue.cancel(small) == nil, "it has begun")
        #expect(queue.finish(half[1]) == [] && queue.finish(small) == [])
        #expect(queue.places.count == 0)
    }
}

extension FairQueue {
    private struct Unexpected: Error {
        let answer: Answer
    }

    fileprivate mutating func begins(for owner: WorkOwner, room: Int = 1) throws -> WorkTicket {
        let answer = ask(for: owner, room: room)
        guard case .begin(let ticket) = answer else { throw Unexpected(answer: answer) }
        return ticket
    }

    fileprivate mutating func waits(for owner: WorkOwner, room: Int = 1) throws -> WorkTicket {
        let answer = ask(for: owner, room: room)
        guard case .wait(let ticket, gaveWay: nil) = answer else { throw Unexpected(answer: answer) }
        return ticket
    }
}
