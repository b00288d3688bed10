// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFairness

/// What holds of a fair queue in any history. A history that fails prints its seed; `TIDEMARK_TEST_SEED` makes it the
/// first.
@Suite struct FairQueuePropertyTests {
    /// Runs a body with many seeds, until one fails.
    private func withSeeds(_ count: Int, _ body: (inout SeededRandom) throws -> Void) rethrows {
        let first = SeededRandom().seed
        print("fair queue: TIDEMARK_TEST_SEED=\(first)")
        for seed in (0..<UInt64(count)).map({ first &+ $0 }) {
            var random = SeededRandom(seed: seed)
            try body(&random)
        }
    }

    @Test func `R-710, R-713: in any history bounds hold, no room is idle, and each work ends in one way`() throws {
        try withSeeds(300) { random in
            var history = WorkHistory(&random)
            for _ in 0..<400 {
                history.step(&random)
                try #require(history.complaint == nil, "TIDEMARK_TEST_SEED=\(random.seed)")
            }
            history.drain()
            try #require(history.complaint == nil, "TIDEMARK_TEST_SEED=\(random.seed)")
            #expect(history.queue.places.count == 0, "owners with nothing are kept, TIDEMARK_TEST_SEED=\(random.seed)")
        }
    }

    /// The most works of others that begin while one owner waits for its next.
    ///
    /// An owner's turn comes after its start tag, and each of the others can have works with tags up to that.
    private func turnsMax(of owner: WorkOwner, among owners: [WorkOwner]) -> Int {
        owners.filter { $0 != owner }.reduce(0) { $0 + ($1.weight + owner.weight - 1) / owner.weight + 1 }
    }

    @Test func `R-711: no owner with work waits for more than a fixed number of others' turns`() throws {
        try withSeeds(60) { random in
            let owners =
                (1...Int64.random(in: 2...9, using: &random)).map { WorkOwner.account($0) } + [.nobody]
            let room = Int.random(in: 1...4, using: &random)
            var crowd = WorkCrowd(owners, room: room)
            var turns: [WorkOwner: Int] = [:]
            for _ in 0..<2_000 {
                let begun = crowd.turn(&random) { _ in 1 }
                for ticket in begun {
                    for owner in owners where owner != ticket.owner { turns[owner, default: 0] += 1 }
                    turns[ticket.owner] = 0
                }
                for owner in owners {
                    try #require(
                        turns[owner, default: 0] <= turnsMax(of: owner, among: owners),
                        "\(owner) waits, TIDEMARK_TEST_SEED=\(random.seed)")
                }
            }
        }
    }

    @Test func `R-711: a newcomer is served after at most one turn of each who waits, however much they wait for`()
        throws
    {
        try withSeeds(60) { random in
            let owners = (1...Int64.random(in: 1...9, using: &random)).map { WorkOwner.account($0) }
            var crowd = WorkCrowd(owners, room: 1)
            for _ in 0..<200 { _ = crowd.turn(&random) { $0.next() % 2 == 0 ? 100 : 1 } }
            let newcomer = WorkOwner.account(100)
            guard case .wait(let ticket, _) = crowd.queue.ask(for: newcomer) else {
                Issue.record("there was room, TIDEMARK_TEST_SEED=\(random.seed)")
                return
            }
            var turns: [WorkOwner: Int] = [:]
            while true {
                let begun = crowd.turn(&random) { _ in 100 }
                if begun.contains(ticket) { break }
                for ticket in begun { turns[ticket.owner, default: 0] += 1 }
                try #require(turns.values.allSatisfy { $0 <= 1 }, "TIDEMARK_TEST_SEED=\(random.seed)")
            }
        }
    }

    @Test func `R-711: what owners with work get converges to their weights, whatever their works cost`() {
        withSeeds(30) { random in
            let owners =
                (1...Int64.random(in: 1...6, using: &random)).map { WorkOwner.account($0) } + [.nobody]
            let room = Int.random(in: 1...3, using: &random)
            let costMax = 100
            // Some have costly works, and some have cheap ones.
            let costs = Dictionary(uniqueKeysWithValues: owners.map { ($0, random.pick([1, 10, costMax])) })
            var crowd = WorkCrowd(owners, room: room)
            for _ in 0..<6_000 {
                _ = crowd.turn(&random) { Int.random(in: 1...costs[$0.owner, default: 1], using: &$1) }
            }
            // As in start-time fair queueing, for each work that can be under way before its cost is known.
            let perWeight = owners.map { Double(crowd.cost[$0, default: 0]) / Double($0.weight) }
            let difference = (perWeight.max() ?? 0) - (perWeight.min() ?? 0)
            let allowed = Double(2 * (room + 1) * costMax)
            #expect(difference <= allowed, "\(perWeight), TIDEMARK_TEST_SEED=\(random.seed)")
            #expect(perWeight.allSatisfy { $0 > 0 })
        }
    }
}

/// Owners of whom each always has works that wait.
struct WorkCrowd {
    var queue: FairQueue
    private let owners: [WorkOwner]
    private var underWay: [WorkTicket] = []
    /// How many works of each owner wait.
    private var waitingCounts: [WorkOwner: Int] = [:]
    /// What each owner's works have cost.
    private(set) var cost: [WorkOwner: Int] = [:]

    init(_ owners: [WorkOwner], room: Int) {
        self.owners = owners
        queue = FairQueue(
            FairBounds(room: room, roomPerOwner: room, waitingMax: 1_000, waitingPerOwnerMax: 1_000))
        fill()
    }

    private mutating func fill() {
        for owner in owners {
            while waitingCounts[owner, default: 0] < 2 {
                switch queue.ask(for: owner) {
                case .begin(let ticket): underWay.append(ticket)
                case .wait: waitingCounts[owner, default: 0] += 1
                case .refuse: preconditionFailure("the queue has room for two works of each owner")
                }
            }
        }
    }

    /// One work ends, which has cost so much.
    ///
    /// - Returns: the works that begin.
    mutating func turn(
        _ random: inout SeededRandom, cost: (WorkTicket, inout SeededRandom) -> Int
    ) -> [WorkTicket] {
        let index = Int.random(in: underWay.indices, using: &random)
        let ticket = underWay.remove(at: index)
        let charge = cost(ticket, &random)
        self.cost[ticket.owner, default: 0] += charge
        let begun = queue.finish(ticket, charge: charge)
        for ticket in begun { waitingCounts[ticket.owner, default: 0] -= 1 }
        underWay += begun
        fill()
        return begun
    }

    mutating func turn(_ random: inout SeededRandom, cost: (inout SeededRandom) -> Int) -> [WorkTicket] {
        turn(&random) { cost(&$1) }
    }
}
