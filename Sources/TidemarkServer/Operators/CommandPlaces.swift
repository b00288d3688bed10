// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// How many commands run at once. Each has a thread and a few connections to PostgreSQL.
///
/// Nobody holds more places than are left free, as in `FairAmounts`. `FairAmounts` divides bytes among accounts by quarters and halves,
/// which eight places do not have. And here nobody waits, so there are no turns.
struct CommandPlaces<ID: Hashable> {
    let placesMax: Int
    /// The senders of the commands, for messages.
    private let people: String
    private var taken: [ID: Int] = [:]

    fileprivate init(_ people: String, placesMax: Int) {
        self.people = people
        self.placesMax = placesMax
    }

    /// - Returns: the reason why there is no place; nil: it has one.
    mutating func take(_ id: ID) -> String? {
        let own = taken[id, default: 0]
        let all = taken.values.reduce(0, +)
        guard !isFull else {
            return "This server runs \(placesMax) commands of \(people). Try again later."
        }
        // Half of the places that others leave. With eight places that is 4, 2, 1 and 1: a newcomer finds one beside up to three others.
        guard own < max(1, (placesMax - (all - own)) / 2) else {
            return
                "You run \(own) \(own == 1 ? "command" : "commands") on this server already, and other \(people) need the "
                + "rest. Wait until one has ended, or end one."
        }
        taken[id] = own + 1
        return nil
    }

    var isFull: Bool { taken.values.reduce(0, +) >= placesMax }

    /// Whether somebody has a place.
    func has(_ id: ID) -> Bool { taken[id] != nil }

    mutating func giveBack(_ id: ID) {
        guard let own = taken[id] else { return }
        taken[id] = own > 1 ? own - 1 : nil
    }
}

extension CommandPlaces<OperatorID> {
    static var ofOperators: Self { Self("operators", placesMax: 8) }
}

extension CommandPlaces<AccountID> {
    /// Apart from those of operators, so that users never keep an operator out.
    static var ofUsers: Self { Self("users", placesMax: 4) }
}
