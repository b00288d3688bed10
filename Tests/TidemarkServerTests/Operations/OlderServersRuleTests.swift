// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkStore

@testable import TidemarkServer

@Suite struct OlderServersRuleTests {
    private static let older = [ListeningServer(name: "host/7", migrationCount: nil)]

    /// What a look sees: an older server, none, or none in a database in which nothing has happened lately.
    private enum Sight: CaseIterable {
        case older, none, settled

        var facts: OlderServersSight {
            OlderServersSight(servers: self == .older ? OlderServersRuleTests.older : [], isSettled: self == .settled)
        }
    }

    @Test func `R-999: hierarchies need two looks without an older server, or one if nothing happened lately`() {
        // Looks at 0, 6, 12 and 18 seconds, with all that they can see. Ten seconds must be between two of them.
        for first in Sight.allCases {
            for second in Sight.allCases {
                for third in Sight.allCases {
                    for fourth in Sight.allCases {
                        check([first, second, third, fourth])
                    }
                }
            }
        }
    }

    private func check(_ sights: [Sight]) {
        var rule = OlderServersRule(quiet: .seconds(10))
        #expect(!rule.isAllowed && !rule.isDone, "nobody has looked")
        for index in sights.indices {
            rule.saw(sights[index].facts, at: .seconds(6 * index))
            let quiet = sights[...index].reversed().prefix { $0 != .older }
            let isSafe = quiet.count >= 3
            #expect(rule.isDone == isSafe, "\(sights), look \(index)")
            let isSettled = quiet.contains(.settled) && !sights[...index].contains(.older)
            #expect(rule.isAllowed == (isSafe || isSettled), "\(sights), look \(index)")
        }
    }

    @Test func `R-999: after an interruption it is looked twice again, and what is allowed stays so until then`() {
        var rule = OlderServersRule(quiet: .seconds(10))
        rule.saw(Sight.none.facts, at: .seconds(0))
        rule.beginAgain()
        rule.saw(Sight.none.facts, at: .seconds(10))
        #expect(!rule.isAllowed && !rule.isDone, "the first look was before the interruption")
        rule.saw(Sight.none.facts, at: .seconds(20))
        #expect(rule.isAllowed && rule.isDone)
        rule.beginAgain()
        #expect(rule.isAllowed && !rule.isDone)
        rule.saw(Sight.older.facts, at: .seconds(30))
        #expect(!rule.isAllowed && !rule.isDone)
    }

    @Test func `R-999: without a time to wait one look is enough`() {
        var rule = OlderServersRule(quiet: .zero)
        rule.saw(Sight.older.facts, at: .seconds(1))
        #expect(!rule.isAllowed)
        rule.saw(Sight.none.facts, at: .seconds(1))
        #expect(rule.isAllowed && rule.isDone)
    }
}
