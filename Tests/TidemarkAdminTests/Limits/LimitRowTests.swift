// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import TidemarkDomain
import TidemarkServer

@testable import TidemarkAdmin

@Suite struct LimitRowTests {
    @Test func `R-869: every limit is shown with its value, and every setting names a limit`() {
        let rows = LimitRow.of(nil, nil)
        #expect(rows.allSatisfy { $0.source == .default })
        var limits = Limits.standard
        limits.itemsMax = 17
        let running = LimitRow.of(limits, .standard)
        #expect(running.first { $0.name == "itemsMax" }?.value == 17)
        #expect(running.allSatisfy { $0.source == .server } && running.map(\.name) == rows.map(\.name))
        // All but what is either so or not.
        let ofConnections = Mirror(reflecting: ConnectionLimits.standard).children.count
        #expect(
            rows.count == ofConnections + Mirror(reflecting: Limits.standard).children.count { !($0.value is Bool) })
        #expect(Set(rows.map(\.name)).count == rows.count)
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

    @Test func `R-869: each setting with a number is a limit in the list, or no limit at all`() {
        // How much a server has at its disposal, and how long it keeps or waits for something.
        let others: Set = [
            "loops", "database-connections", "long-queries", "known-zones-megabytes", "device-days", "audit-days",
            "device-seconds", "drain-seconds", "asset-grace-hours", "slow-request-ms",
        ]
        let numbers = ServeSetting.all.filter { if case .number = $0.kind { true } else { false } }.map(\.key)
        let shown = Set(LimitRow.options.values.map { String($0.dropFirst("serve --".count)) })
        #expect(shown.union(others) == Set(numbers) && shown.isDisjoint(with: others))
    }

    @Test func `R-721, R-869: the connections of a server and of an account are limits, as its options set them`() {
        func row(_ name: String, _ configuration: ServerConfiguration, isPlain: Bool = false) -> LimitRow? {
            LimitRow.of(configuration.limits, configuration.connectionLimits(isPlain: isPlain)).first {
                $0.name == name
            }
        }
        var configuration = ServerConfiguration(
            addresses: [], certificate: nil, databaseURL: "", limits: Limits.standard)
        #expect(row("connectionsMax", configuration)?.value == 20_000)
        #expect(row("connectionsPerAccountMax", configuration)?.value == 2_500)
        #expect(row("anonymousConnectionsMax", configuration)?.value == 5_000)
        #expect(row("anonymousConnectionsPerAddressMax", configuration)?.value == 256)
        // All of them have the address of the proxy.
        let behindProxy = row("anonymousConnectionsPerAddressMax", configuration, isPlain: true)
        #expect(behindProxy != nil && behindProxy?.value == nil)
        #expect(row("anonymousIdleSeconds", configuration)?.unit == "seconds")
        let message = row("messageBytesMax", configuration)
        #expect(message?.value == 4_194_304 && message?.unit == "bytes" && message?.setting == nil)
        configuration.connectionsPerAccountMax = 7
        configuration.anonymousConnectionsMax = 3
        let ofAccount = row("connectionsPerAccountMax", configuration)
        #expect(ofAccount?.value == 7 && ofAccount?.setting == "serve --connections-per-account")
        #expect(ofAccount?.unit == "count" && ofAccount?.source == .server)
        #expect(row("anonymousConnectionsMax", configuration)?.value == 3)
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

    @Test func `R-869, R-935: connections of an account are shown with where the number is from`() {
        for (choice, value, source) in [(nil, 7, .server), (3, 3, .store)] as [(Int?, Int64, LimitRow.Source)] {
            let row = LimitRow.of(connections: choice, of: "alice", setting: "s", standard: (7, .server))
            #expect(row.name == "connectionsMax of alice" && row.value == value && row.source == source)
        }
    }

    @Test func `R-935: a choice of connections is a number or default`() {
        #expect(ConnectionsArgument(argument: "default") == .standard)
        #expect(ConnectionsArgument(argument: "1") == .count(1))
        #expect(ConnectionsArgument(argument: "1000000")?.stored == 1_000_000)
        for wrong in ["", "0", "-1", "1000001", "none", "1.5", "99999999999999999999"] {
            #expect(ConnectionsArgument(argument: wrong) == nil, "\(wrong)")
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
