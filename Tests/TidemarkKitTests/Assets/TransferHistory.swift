// SPDX-License-Identifier: Apache-2.0

import TidemarkTestSupport

@testable import TidemarkKit

/// What happens around a ``TransferMachine``: a driver, a server and a file, in which a seed decides what goes wrong.
protocol TransferHistory {
    associatedtype Machine: TransferMachine

    var machine: Machine { get set }
    /// What must not have happened.
    var complaints: [String] { get set }
    var random: SeededRandom { get set }
    /// In how many of a thousand moments something goes wrong.
    var trouble: Int { get }
    var underWay: [Range<Int64>] { get }
    var hasPlace: Bool { get }

    /// - Returns: what happened, if the action leads to an event.
    mutating func perform(_ action: Machine.Action) -> Machine.Event?

    /// Looks at how it ended.
    mutating func judge()
}

extension TransferHistory {
    mutating func run(from begun: Machine.Event) {
        var event = begun
        for _ in 0..<20_000 {
            let actions = machine.handle(event)
            var answers = 0
            for action in actions {
                if let next = perform(action) {
                    event = next
                    answers += 1
                }
            }
            if machine.outcome != nil {
                expect(answers == 0, "something was begun at the end")
                expect(underWay.isEmpty && !hasPlace, "something is left under way")
                return judge()
            }
            expect(answers == 1, "\(actions) lead to \(answers) events")
            guard complaints.isEmpty else { return }
        }
        complaints.append("it does not end")
    }

    mutating func expect(_ isTrue: Bool, _ complaint: String) {
        if !isTrue { complaints.append(complaint) }
    }

    /// Whether something goes wrong now.
    mutating func happens() -> Bool { Int.random(in: 0..<1_000, using: &random) < trouble }
}
