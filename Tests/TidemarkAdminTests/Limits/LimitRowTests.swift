// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import TidemarkDomain

@testable import TidemarkAdmin

@Suite struct LimitRowTests {
    @Test func `R-869: every limit is shown with its value, and every setting names a limit`() {
        let rows = LimitRow.of(nil)
        #expect(rows.allSatisfy { $0.source == .default })
        var limits = Limits.standard
        limits.itemsMax = 17
        let running = LimitRow.of(limits)
        #expect(running.first { $0.name == "itemsMax" }?.value == 17)
        #expect(running.allSatisfy { $0.source == .server } && running.map(\.name) == rows.map(\.name))
        // All but what is either so or not.
        #expect(rows.count == Mirror(reflecting: Limits.standard).children.count { !($0.value is Bool) })
        #expect(rows.allSatisfy { $0.value != nil }, "\(rows.filter { $0.value == nil })")
        #expect(rows.first { $0.name == "itemsMax" }?.value == Int64(Limits.standard.itemsMax))
        #expect(rows.first { $0.name == "recordBytesMax" }?.unit == "bytes")
        #expect(rows.first { $0.name == "querySecondsMax" }?.unit == "seconds")
        #expect(rows.first { $0.name == "zonesMax" }?.unit == "count")
        let step = rows.first { $0.name == "accessRequestStep" }
        #expect(step?.value == 200 && step?.unit == "milliseconds")
        #expect(Set(LimitRow.options.keys).isSubset(of: Set(rows.map(\.name))))
        #expect(rows.first { $0.name == "assetBytesMax" }?.setting == "serve --asset-megabytes")
        #expect(rows.first { $0.name == "requestsPerSecond" }?.unit == "a second")
    }

    @Test func `R-869, R-935: what an account may send is shown with where it is from`() throws {
        let standard = RequestRate(perSecond: 5)
        let chosen = try #require(RequestRate(perSecond: 7, burst: 9))
        for (choice, perSecond, burst, source) in [
            (RateChoice.standard, 5, 50, LimitRow.Source.server), (.unlimited, nil, nil, .store),
            (.atMost(chosen), 7, 9, .store),
        ] as [(RateChoice, Int64?, Int64?, LimitRow.Source)] {
            let rows = LimitRow.of(choice, of: "alice", setting: "s", standard: (standard, .server))
            #expect(rows.map(\.name) == ["requestsPerSecond of alice", "requestBurst of alice"])
            #expect(rows.map(\.value) == [perSecond, burst] && rows.allSatisfy { $0.source == source })
        }
    }

    @Test func `R-869, R-963: in a container its choice is shown for an account, and not what would hold elsewhere`()
        throws
    {
        let standard = RequestRate(perSecond: 5)
        let (own, ofContainer) = (
            try #require(RequestRate(perSecond: 7, burst: 9)), try #require(RequestRate(perSecond: 3, burst: 4))
        )
        let cases: [(RateChoice, RateChoice?, String, Int64?, LimitRow.Source)] = [
            (.standard, nil, "alice", 5, .server), (.standard, .standard, "alice", 5, .server),
            (.standard, .atMost(ofContainer), "alice in the container", 3, .store),
            (.standard, .unlimited, "alice in the container", nil, .store),
            // Both hold, and the container's has rows of its own.
            (.atMost(own), .atMost(ofContainer), "alice", 7, .store), (.atMost(own), nil, "alice", 7, .store),
            (.unlimited, .atMost(ofContainer), "alice", nil, .store),
        ]
        for (choice, inContainer, name, perSecond, source) in cases {
            let rows = LimitRow.of(choice, inContainer: inContainer, of: "alice", standard: (standard, .server))
            #expect(rows.map(\.name) == ["requestsPerSecond of \(name)", "requestBurst of \(name)"])
            #expect(rows.first?.value == perSecond && rows.allSatisfy { $0.source == source }, "\(rows)")
        }
    }

    @Test func `R-935: a choice of requests is a number, none or default`() throws {
        func choice(_ words: String...) throws -> RateChoice? { try RateOptions.parse(words).choice() }
        #expect(try choice() == nil)
        #expect(try choice("--requests-per-second", "default") == .standard)
        #expect(try choice("--requests-per-second", "none") == .unlimited)
        #expect(try choice("--requests-per-second", "3") == RequestRate(perSecond: 3, burst: 30).map { .atMost($0) })
        #expect(
            try choice("--requests-per-second", "3", "--request-burst", "1")
                == RequestRate(perSecond: 3, burst: 1).map { .atMost($0) })
        for words in [
            ["--requests-per-second", "0"], ["--requests-per-second", "1000001"], ["--request-burst", "3"],
            ["--requests-per-second", "none", "--request-burst", "3"], ["--requests-per-second", "-1"],
            ["--requests-per-second", "3", "--request-burst", "0"],
        ] {
            #expect(throws: (any Error).self, "\(words)") { try RateOptions.parse(words) }
        }
        #expect(RequestRate(perSecond: 1_000_000)?.burst == 1_000_000)
        #expect(RequestRate(perSecond: 0) == nil && RequestRate(perSecond: 1, burst: 0) == nil)
    }
}
