// SPDX-License-Identifier: Apache-2.0

import TidemarkTestSupport

@testable import TidemarkShares

/// Shares beside a list of what became of each work.
struct ShareHistory {
    private(set) var shares: Shares
    /// In the order in which they came.
    private var waiting: [ShareTicket] = []
    private var underWay: [ShareTicket] = []
    private var owners: [ShareOwner]
    /// What is wrong; nil if nothing is.
    private(set) var complaint: String?

    init(_ random: inout SeededRandom) {
        let room = Int.random(in: 1...10, using: &random)
        let perOwner = Int.random(in: 1...room, using: &random)
        let waiting = Int.random(in: 0...12, using: &random)
        shares = Shares(
            ShareBounds(
                room: room, roomPerOwner: perOwner, waitingMax: waiting,
                waitingPerOwnerMax: Int.random(in: 0...12, using: &random)))
        owners = (1...Int64.random(in: 1...6, using: &random)).map { ShareOwner.account($0) } + [.nobody]
    }

    mutating func step(_ random: inout SeededRandom) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5: ask(&random)
        case 5..<9:
            guard let index = underWay.indices.randomElement(using: &random) else { return }
            let charge: Int? = random.next() % 2 == 0 ? nil : Int.random(in: 0...100, using: &random)
            begun(shares.finish(underWay.remove(at: index), charge: charge))
        default:
            guard let index = waiting.indices.randomElement(using: &random) else { return }
            guard let tickets = shares.cancel(waiting.remove(at: index)) else { return complain("it does not wait") }
            begun(tickets)
        }
        check()
    }

    /// Ends everything.
    mutating func drain() {
        while complaint == nil, !underWay.isEmpty {
            begun(shares.finish(underWay.removeLast()))
            check()
        }
        if !waiting.isEmpty { complain("\(waiting.count) works wait for nothing") }
    }

    private mutating func ask(_ random: inout SeededRandom) {
        let owner = random.pick(owners)
        let room = Int.random(in: 1...3, using: &random)
        switch shares.ask(for: owner, room: room, charge: Int.random(in: 0...9, using: &random)) {
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
            if (refusal.reason == .tooLarge) != (room > shares.bounds.roomPerOwner) { complain("\(refusal)") }
            if refusal.retryAfter < .seconds(1) || refusal.retryAfter > .seconds(30) { complain("\(refusal)") }
        }
    }

    private mutating func begun(_ tickets: [ShareTicket]) {
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
        let bounds = shares.bounds
        if underWay.reduce(0, { $0 + $1.room }) != shares.heldRoom { complain("the room is miscounted") }
        if waiting.count != shares.waitingCount { complain("the queue is miscounted") }
        if shares.heldRoom > bounds.room || shares.waitingCount > bounds.waitingMax { complain("over a bound") }
        var firsts: [ShareTicket] = []
        for owner in owners {
            let held = underWay.reduce(0) { $0 + ($1.owner == owner ? $1.room : 0) }
            let own = waiting.filter { $0.owner == owner }
            if held != shares.heldRoom(of: owner) || held > bounds.roomPerOwner { complain("\(owner) holds \(held)") }
            if own.count > bounds.waitingPerOwnerMax { complain("\(owner) waits \(own.count) times") }
            if let first = own.first, held + first.room <= bounds.roomPerOwner { firsts.append(first) }
        }
        // Whoever is next waits for room, and the others wait behind it.
        if !firsts.isEmpty, firsts.allSatisfy({ shares.heldRoom + $0.room <= bounds.room }) {
            complain("room is idle while somebody waits")
        }
        let known = Set((waiting + underWay).map(\.owner))
        if waiting.isEmpty, shares.places.count != known.count { complain("an owner with nothing is remembered") }
    }

    private mutating func complain(_ text: String) { complaint = complaint ?? text }
}
