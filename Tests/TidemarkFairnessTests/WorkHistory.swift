// SPDX-License-Identifier: Apache-2.0

import TidemarkTestSupport

@testable import TidemarkFairness

/// A fair queue beside a list of what became of each work.
struct WorkHistory {
    private(set) var queue: FairQueue
    /// In the order in which they came.
    private var waiting: [WorkTicket] = []
    private var underWay: [WorkTicket] = []
    private var owners: [WorkOwner]
    /// What is wrong; nil if nothing is.
    private(set) var complaint: String?

    init(_ random: inout SeededRandom) {
        let room = Int.random(in: 1...10, using: &random)
        let perOwner = Int.random(in: 1...room, using: &random)
        let waiting = Int.random(in: 0...12, using: &random)
        queue = FairQueue(
            FairBounds(
                room: room, roomPerOwner: perOwner, waitingMax: waiting,
                waitingPerOwnerMax: Int.random(in: 0...12, using: &random)))
        owners = (1...Int64.random(in: 1...6, using: &random)).map { WorkOwner.account($0) } + [.nobody]
    }

    mutating func step(_ random: inout SeededRandom) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5: ask(&random)
        case 5..<9:
            guard let index = underWay.indices.randomElement(using: &random) else { return }
            let charge: Int? = random.next() % 2 == 0 ? nil : Int.random(in: 0...100, using: &random)
            begun(queue.finish(underWay.remove(at: index), charge: charge))
        default:
            guard let index = waiting.indices.randomElement(using: &random) else { return }
            guard let tickets = queue.cancel(waiting.remove(at: index)) else { return complain("it does not wait") }
            begun(tickets)
        }
        check()
    }

    /// Ends everything.
    mutating func drain() {
        while complaint == nil, !underWay.isEmpty {
            begun(queue.finish(underWay.removeLast()))
            check()
        }
        if !waiting.isEmpty { complain("\(waiting.count) works wait for nothing") }
    }

    private mutating func ask(_ random: inout SeededRandom) {
        let owner = random.pick(owners)
        let room = Int.random(in: 1...3, using: &random)
        switch queue.ask(for: owner, room: room, charge: Int.random(in: 0...9, using: &random)) {
        case .begin(let ticket):
            if waiting.contains(where: { $0.owner == owner }) { complain("it overtook its owner's works") }
            underWay.append(ticket)
        case .wait(let ticket, let gaveWay):
            if let gaveWay {
                guard let index = waiting.firstIndex(of: gaveWay) else { return complain("it did not wait") }
                if gaveWay.owner == owner { complain("an owner gave way to itself") }
                waiting.remove(at: index)
            }
            waiting.append(ticket)
        case .refuse(let refusal):
            if (refusal.reason == .tooLarge) != (room > queue.bounds.roomPerOwner) { complain("\(refusal)") }
            if refusal.retryAfter < .seconds(1) || refusal.retryAfter > .seconds(30) { complain("\(refusal)") }
        }
    }

    private mutating func begun(_ tickets: [WorkTicket]) {
        for ticket in tickets {
            guard let index = waiting.firstIndex(where: { $0.owner == ticket.owner }) else {
                return complain("it did not wait")
            }
            if waiting[index] != ticket { complain("works of an owner begin out of order") }
            waiting.remove(at: index)
            underWay.append(ticket)
        }
    }

    private mutating func check() {
        let bounds = queue.bounds
        if underWay.reduce(0, { $0 + $1.room }) != queue.heldRoom { complain("the room is miscounted") }
        if waiting.count != queue.waitingCount { complain("the queue is miscounted") }
        if queue.heldRoom > bounds.room || queue.waitingCount > bounds.waitingMax { complain("over a bound") }
        var firsts: [WorkTicket] = []
        for owner in owners {
            let held = underWay.reduce(0) { $0 + ($1.owner == owner ? $1.room : 0) }
            let own = waiting.filter { $0.owner == owner }
            if held != queue.heldRoom(of: owner) || held > bounds.roomPerOwner { complain("\(owner) holds \(held)") }
            if own.count > bounds.waitingPerOwnerMax { complain("\(owner) waits \(own.count) times") }
            if let first = own.first, held + first.room <= bounds.roomPerOwner { firsts.append(first) }
        }
        // Whoever is next waits for room, and the others wait behind it.
        if !firsts.isEmpty, firsts.allSatisfy({ queue.heldRoom + $0.room <= bounds.room }) {
            complain("room is idle while somebody waits")
        }
        let known = Set((waiting + underWay).map(\.owner))
        if waiting.isEmpty, queue.places.count != known.count { complain("an owner with nothing is remembered") }
    }

    private mutating func complain(_ text: String) { complaint = complaint ?? text }
}
