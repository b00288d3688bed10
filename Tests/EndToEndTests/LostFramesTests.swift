// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkServer
import TidemarkTestSupport

@testable import TidemarkKit

/// Pushes, and what acknowledges them, that get lost on open connections: real clients, a real server, and a relay between them
/// that drops whole messages.
@Suite struct LostFramesTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    /// What gets lost: of pushes and acknowledgements each with this chance. Requests, answers and reminders never do: TCP would
    /// have to lose them with all that follows, which ends a connection.
    private final class Weather: Sendable {
        private let state: Mutex<(dice: SeededRandom, hasLost: Bool)>
        private let chance: Double

        init(_ dice: SeededRandom, chance: Double) {
            state = Mutex((dice, false))
            self.chance = chance
        }

        /// The first one is always lost: a busy machine sends few pushes, and all of them might come.
        func loses() -> Bool {
            state.withLock { state in
                defer { state.hasLost = true }
                return Double.random(in: 0..<1, using: &state.dice) < chance || !state.hasLost
            }
        }
    }

    /// `TIDEMARK_SEED=4711` takes the same chances again; how threads run is no part of it.
    private static var seed: UInt64 {
        ProcessInfo.processInfo.environment["TIDEMARK_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0...UInt64.max)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [0.3, 0.7, 1.0])
    func `R-261: what pushes that are lost were to tell comes all the same, over the same connections`(
        chance: Double
    ) async throws {
        let seed = Self.seed
        print("lost frames: TIDEMARK_SEED=\(seed) chance=\(chance)")
        var dice = SeededRandom(seed: seed)
        try await KeyWorld.with { world in
            // A tenth of the time that others have: the promise is in proportion, and the test is over in seconds.
            try await world.withServer(masterKeyFile: nil, change: { $0.pushPatience = .seconds(1) }) { server in
                let site = Site(
                    url: "ws://127.0.0.1:\(server.port)", authorityFile: "", tokens: ["alice": server.token],
                    container: KeyWorld.container)
                try await Relay.with(site) { relay in
                    let devices = (0..<3).map { _ in Device(relay.site.makeContainer()) }
                    devices[0].makeZone(Self.zoneID)
                    devices[0].write("begin", to: "begin", in: Self.zoneID)
                    for device in devices {
                        try await eventually("all have begun", of: device) { device.texts["begin"] == "begin" }
                    }
                    let connectionCount = relay.connectionCount

                    let weather = Weather(SeededRandom(seed: dice.next()), chance: chance)
                    relay.loseAnswers { $0.isPush && weather.loses() }
                    relay.loseRequests { $0.isAcknowledgement && weather.loses() }
                    var expected = ["begin": "begin"]
                    // One of them only listens: it has no answers to hear of what it missed.
                    for number in 0..<40 {
                        let writer = devices[Int.random(in: 0...1, using: &dice)]
                        let (name, text) = ("n\(number)", "\(number)")
                        expected[name] = text
                        writer.write(text, to: name, in: Self.zoneID)
                        if Int.random(in: 0..<8, using: &dice) == 0 {
                            try await eventually("a pause", of: writer) {
                                writer.engine?.state.pendingRecordZoneChanges.isEmpty == true
                            }
                        }
                    }
                    for device in devices {
                        try await eventually(
                            "seed \(seed): each device has everything, \(relay.lostCount) were lost", of: device
                        ) { device.texts == expected }
                    }
                    #expect(relay.lostCount > 0, "seed \(seed)")
                    #expect(relay.connectionCount == connectionCount, "seed \(seed): nobody connected anew")
                }
            }
        }
    }
}
