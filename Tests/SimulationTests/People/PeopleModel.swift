// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain

/// Who may come to a shared zone and by what, as one would draw it: seats with a name on each, and a door. It knows nothing
/// of rows, numbers and requests, and asks no rule of the server.
struct PeopleModel: Equatable {
    /// What is written on a seat.
    enum Name: Hashable {
        case user(UserID)
        case address(String)
        /// Whoever comes first with the link of the seat.
        case link
    }

    struct Seat: Equatable {
        var name: Name
        /// Who sits there; nil: nobody yet.
        var holder: UserID?
        var isAdministrator = false
        var mayWrite = false
        /// Whether who is invited by name had asked.
        var isApproved = false
    }

    /// With what somebody comes.
    enum Key: Hashable {
        case nothing, url
        /// The link of the seat with that number. It lives as long as the seat.
        case link(Int)
    }

    /// How somebody comes in.
    enum Way: Equatable {
        case owner, inside
        case seat(Int)
        /// With everybody else.
        case crowd
    }

    let owner: UserID
    /// Whose the addresses are.
    let addresses: [String: UserID]
    var isShared = false
    var open = SharePermission.noAccess
    var takesRequests = false
    var seats: [Int: Seat] = [:]
    /// Who came by the URL while the zone is open to all.
    var crowd: Set<UserID> = []
    var asking: Set<UserID> = []
    var blocked: Set<UserID> = []

    init(owner: UserID, addresses: [String: UserID]) {
        (self.owner, self.addresses) = (owner, addresses)
    }

    // MARK: Who is where

    func seat(heldBy user: UserID) -> Int? { seats.first { $0.value.holder == user }?.key }

    func isIn(_ user: UserID) -> Bool { crowd.contains(user) || seat(heldBy: user) != nil }

    func mayManage(_ user: UserID) -> Bool {
        user == owner || seat(heldBy: user).flatMap { seats[$0] }?.isAdministrator == true
    }

    func way(of user: UserID, with key: Key) -> Way? {
        guard isShared else { return nil }
        if case .link(let number) = key, seats[number] == nil { return nil }
        if user == owner { return .owner }
        if isIn(user) { return .inside }
        if let own = seats.first(where: { $0.value.name == .user(user) })?.key { return .seat(own) }
        if blocked.contains(user) { return nil }
        if case .link(let number) = key { return seats[number]?.holder == nil ? .seat(number) : nil }
        if let number = addressed(to: user) { return .seat(number) }
        return open != .noAccess && key == .url ? .crowd : nil
    }

    /// The best free seat with an address of the user.
    private func addressed(to user: UserID) -> Int? {
        var best: (number: Int, rank: Int, address: String)?
        for (number, seat) in seats where seat.holder == nil {
            guard case .address(let address) = seat.name, addresses[address] == user else { continue }
            let rank = (seat.isAdministrator ? 2 : 0) + (seat.mayWrite ? 1 : 0)
            if let known = best, known.rank > rank || known.rank == rank && known.address < address { continue }
            best = (number, rank, address)
        }
        return best?.number
    }

    // MARK: Coming, asking and going

    mutating func accept(_ user: UserID, with key: Key) -> FailureReason? {
        switch way(of: user, with: key) {
        case nil: return .shareUnknown
        case .owner: return .shareIsOwn
        case .inside: return nil
        case .seat(let number): seats[number]?.holder = user
        case .crowd: crowd.insert(user)
        }
        asking.remove(user)
        return nil
    }

    /// Who asks is not told whether somebody hears of it.
    mutating func ask(_ user: UserID, with key: Key) -> FailureReason? {
        switch way(of: user, with: key) {
        case .owner: return .shareIsOwn
        case .inside, .seat, .crowd: return .alreadyInvited
        case nil:
            if isShared, takesRequests, key == .url, !blocked.contains(user) { asking.insert(user) }
            return nil
        }
    }

    mutating func decline(_ user: UserID, with key: Key) {
        guard let way = way(of: user, with: key), way != .crowd else { return }
        crowd.remove(user)
        for (number, seat) in seats {
            let isOwn: Bool
            switch (seat.holder, seat.name) {
            case (let holder?, _): isOwn = holder == user
            case (nil, .user(let name)): isOwn = name == user
            case (nil, .address(let address)): isOwn = addresses[address] == user
            case (nil, .link): isOwn = key == .link(number)
            }
            if isOwn { seats[number] = nil }
        }
    }

    mutating func leave(_ user: UserID) {
        crowd.remove(user)
        if let number = seat(heldBy: user) { seats[number] = nil }
    }

    mutating func end() { self = PeopleModel(owner: owner, addresses: addresses) }

    // MARK: Saving the share

    struct Save {
        var user: UserID
        var isOld = false
        /// Who everybody is from now on; nil: as now.
        var open: SharePermission?
        /// All seats from now on; nil: those of now. A seat keeps its number.
        var seats: [Int: Seat]?
        var takesRequests: Bool?
        var denied: Set<UserID> = []
        var blocked: Set<UserID> = []
        var unblocked: Set<UserID> = []
    }

    mutating func save(_ save: Save) -> FailureReason? {
        if save.user != owner, !isIn(save.user) { return .zoneNotFound }
        if !mayManage(save.user) { return .notShareAdministrator }
        if isShared, save.isOld { return .recordChanged }
        let (before, wasOpen) = (seats, open != .noAccess)
        isShared = true
        open = save.open ?? open
        takesRequests = save.takesRequests ?? takesRequests
        if open != .noAccess {
            // Whoever has not come yet comes as everybody does.
            seats = seats.filter { $0.value.holder != nil }
        } else if wasOpen {
            (seats, crowd) = ([:], [])
        }
        if let wanted = save.seats { seats = wanted }
        answer(save, before)
        return nil
    }

    private mutating func answer(_ save: Save, _ before: [Int: Seat]) {
        for (number, seat) in seats where before[number] == nil {
            guard case .user(let user) = seat.name, !save.blocked.contains(user) else { continue }
            if asking.remove(user) != nil { seats[number]?.isApproved = true }
            blocked.remove(user)
        }
        asking.subtract(save.denied)
        blocked.subtract(save.unblocked.subtracting(save.blocked))
        for user in save.blocked where user != owner {
            asking.remove(user)
            crowd.remove(user)
            seats = seats.filter { seat in
                let isTheirs = seat.value.holder.map { $0 == user } ?? (seat.value.name == .user(user))
                return !isTheirs
            }
            blocked.insert(user)
        }
    }
}

// MARK: What people see

extension PeopleModel {
    /// The share as somebody sees it who takes part, in words and sorted; empty: there is nothing to see.
    func view(of user: UserID) -> [String] {
        guard isShared, user == owner || isIn(user) else { return [] }
        let (sees, own) = (mayManage(user), seat(heldBy: user))
        var lines = ["owner \(owner.rawValue)"]
        for (number, seat) in seats where sees || own != nil && seat.holder != nil {
            lines.append(line(of: seat, number, seesAll: sees))
        }
        for member in crowd where sees || own != nil || member == user {
            lines.append("public \(open) \(member.rawValue)")
        }
        if sees {
            lines += asking.map { "asks \($0.rawValue)" } + blocked.map { "blocked \($0.rawValue)" }
            if takesRequests { lines.append("takes requests") }
        }
        return lines.sorted()
    }

    private func line(of seat: Seat, _ number: Int, seesAll: Bool) -> String {
        var user = seat.holder
        var (address, link) = ("", "")
        switch seat.name {
        case .user(let name): user = name
        case .address(let text): address = seesAll ? text : ""
        case .link: link = seesAll ? "link \(number)" : ""
        }
        return Self.line(
            isAdministrator: seat.isAdministrator, mayWrite: seat.mayWrite, hasCome: seat.holder != nil, user: user,
            address, link, isApproved: seat.isApproved)
    }

    static func line(
        isAdministrator: Bool, mayWrite: Bool, hasCome: Bool, user: UserID?, _ address: String, _ link: String,
        isApproved: Bool
    ) -> String {
        "\(isAdministrator ? "administrator" : "guest") \(mayWrite ? "writes" : "reads") \(hasCome ? "in" : "invited") "
            + "\(user?.rawValue ?? 0) \(address) \(link)\(isApproved ? " approved" : "")"
    }

    /// What somebody with a key is told of themselves before they accept; nil: that there is nothing.
    func standing(of user: UserID, with key: Key) -> String? {
        switch way(of: user, with: key) {
        case nil: nil
        case .owner: "owner accepted readWrite"
        case .crowd: "publicUser pending \(open.name)"
        case .inside:
            if let seat = seat(heldBy: user).flatMap({ seats[$0] }) {
                Self.text(of: seat, "accepted")
            } else {
                "publicUser accepted \(open.name)"
            }
        case .seat(let number): seats[number].map { Self.text(of: $0, "pending") }
        }
    }

    private static func text(of seat: Seat, _ status: String) -> String {
        "\(seat.isAdministrator ? "administrator" : "privateUser") \(status) \(seat.mayWrite ? "readWrite" : "readOnly")"
    }
}
