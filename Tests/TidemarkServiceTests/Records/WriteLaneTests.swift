// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields

@testable import TidemarkService

/// A lane alone, without its queue.
@Suite struct WriteLaneTests {
    private let alice = WorkOwner.account(1)
    private let bob = WorkOwner.account(2)
    private let key = ZoneKey(database: DatabaseID(1), name: "a")

    private func entry(_ ticket: UInt64, of owner: WorkOwner, isLarge: Bool = false) -> WriteQueue.Entry {
        let request = RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: 1), ticket + 1), key: key,
            saves: [RecordSave(name: "r", type: "T", tag: nil, fields: FieldMap(), parent: .unchanged)], deletes: [],
            policy: .allKeys, isAtomic: true, user: UserID(1), access: .owner(UserID(1)))
        var entry = WriteQueue.Entry(
            ticket: ticket, key: key, owner: owner, asker: Asker(), request: request, itemCount: 1, byteCount: 0,
            deadline: .seconds(10), arrivalEpoch: nil)
        entry.isLarge = isLarge
        return entry
    }

    /// The tickets of what may go, in order.
    private func takeAll(_ lane: inout WriteLane) -> [UInt64] {
        var tickets: [UInt64] = []
        while let next = lane.next {
            tickets.append(next.ticket)
            lane.removeNext()
        }
        return tickets
    }

    @Test func `R-711: a lane has one turn of each owner who waits there, at one loop`() {
        var lane = WriteLane(loop: 0)
        let turns = [
            lane.add(entry(0, of: alice), at: 2), lane.add(entry(1, of: alice), at: 1),
            lane.add(entry(2, of: bob), at: 1), lane.add(entry(3, of: .nobody), at: 0),
        ]
        // The first request brings the lane to its loop, and it stays there.
        #expect(turns == [2, nil, 2, 2])
        #expect(lane.phase == .ready && lane.loop == 2)
        let had = [lane.unlist(bob), lane.unlist(bob), lane.unlist(alice), lane.unlist(.account(9))]
        #expect(had == [true, false, true, false])
        let lacked = [lane.list(alice), lane.list(alice), lane.list(.nobody)]
        #expect(lacked == [true, false, false])
    }

    @Test func `R-711: within a lane owners take turns, and keep the order of their own requests`() {
        var lane = WriteLane(loop: 0)
        for ticket in 0..<3 as Range<UInt64> { _ = lane.add(entry(ticket, of: alice), at: 0) }
        _ = lane.add(entry(3, of: bob), at: 0)
        let tickets = takeAll(&lane)
        #expect(tickets == [0, 3, 1, 2])
        #expect(lane.waiting.isEmpty)
    }

    @Test(arguments: [WriteLane.Phase.writing, .resting])
    func `what comes while a lane is written, or rests, gets no turn`(_ phase: WriteLane.Phase) {
        var lane = WriteLane(loop: 0)
        lane.phase = phase
        let turn = lane.add(entry(0, of: alice), at: 1)
        #expect(turn == nil && lane.phase == phase && lane.loop == 0)
        #expect(lane.next?.ticket == 0)
    }

    @Test func `an idle lane has no turns, and goes where its next request comes`() {
        var lane = WriteLane(loop: 0)
        for (ticket, owner) in [alice, bob].enumerated() { _ = lane.add(entry(UInt64(ticket), of: owner), at: 0) }
        lane.becomeIdle()
        let had = [lane.unlist(alice), lane.unlist(bob)]
        #expect(had == [false, false] && lane.phase == .idle)
        lane.move(to: 3)
        #expect(lane.loop == 3 && lane.phase == .idle)
        let turn = lane.add(entry(2, of: alice), at: 1)
        #expect(turn == 1 && lane.loop == 1 && lane.phase == .ready)
    }

    @Test func `R-737: a large request waits for its place, then goes alone, and others go meanwhile`() throws {
        var reads = LargeReads(placesMax: 1)
        let taken = reads.ask(for: .nobody, in: ZoneKey(database: DatabaseID(2), name: "b"))
        var lane = WriteLane(loop: 0)
        _ = lane.add(entry(0, of: alice, isLarge: true), at: 0)
        #expect(lane.needsPlace(alice) && !lane.needsPlace(bob))
        let read = reads.ask(for: alice, in: key)
        #expect(!read.hasPlace)
        lane.add(read)
        #expect(!lane.needsPlace(alice) && !lane.mayGo(alice) && lane.mayGo(bob))
        #expect(lane.next == nil && !lane.hasLargeTurn(alice))

        let turn = lane.add(entry(1, of: bob), at: 0)
        #expect(turn == 0)
        let others = takeAll(&lane)
        #expect(others == [1])
        lane.becomeIdle()
        // It comes behind the large one, and waits with it.
        let later = lane.add(entry(2, of: alice), at: 1)
        #expect(later == nil && lane.phase == .idle)

        let given = reads.end(taken)
        let ticket = try #require(given.first).ticket
        let begun = lane.take(ticket, at: 4)
        #expect(begun == 4 && lane.loop == 4 && lane.phase == .ready)
        #expect(lane.hasLargeTurn(alice) && lane.mayGo(alice) && lane.next == nil)
        let popped = lane.popLarge(of: alice)
        #expect(popped?.ticket == 0 && popped?.largeRead?.hasPlace == true && popped?.largeRead?.ticket == ticket)
        let next = takeAll(&lane)
        #expect(next == [2])
        let none = lane.popLarge(of: alice)
        #expect(none == nil)
    }

    @Test func `R-737: a place is given back once the request that needs it has left, and not before`() {
        var reads = LargeReads(placesMax: 2)
        var lane = WriteLane(loop: 0)
        for (ticket, owner) in [alice, bob].enumerated() {
            _ = lane.add(entry(UInt64(ticket), of: owner, isLarge: true), at: 0)
            lane.add(reads.ask(for: owner, in: key))
        }
        let early = lane.removeUnusedRead()
        #expect(early == nil)
        lane.waiting.removeAll { $0.owner == bob }
        let unused = lane.removeUnusedRead()
        #expect(unused?.ticket.owner == bob && unused?.hasPlace == true)
        let more = lane.removeUnusedRead()
        #expect(more == nil && lane.hasLargeTurn(alice))
        // The owner's next request is small, and needs none.
        lane.waiting.prepend(entry(2, of: alice), of: alice)
        let other = lane.removeUnusedRead()
        #expect(other?.ticket.owner == alice && lane.next?.ticket == 2)
    }
}
