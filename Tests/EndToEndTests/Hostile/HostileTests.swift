// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// I-6 and I-7 as a neighbour sees them: somebody attacks, and whoever behaves does not notice.
///
/// `make hostile` runs the campaign: each attack by nobody, by one account and by ten, for a minute. It also holds times,
/// and that memory goes back. The suite runs a short form, which holds memory and what is refused.
@Suite(.serialized, .timeLimit(.minutes(60))) struct HostileTests {
    private static let variables = ProcessInfo.processInfo.environment
    /// Seconds for each attack of a campaign.
    private static let campaign = variables["TIDEMARK_HOSTILE_SECONDS"].flatMap { Int($0) }
    /// A part of the names of the attacks to which a campaign is limited. Empty: all.
    private static let only = campaign == nil ? "" : variables["TIDEMARK_HOSTILE_ONLY"] ?? ""

    private static let attacks = Attack.all.filter { only.isEmpty || $0.testDescription.contains(only) }
    private static let attackers: [Attackers] = campaign == nil ? [.one] : Attackers.allCases
    private static let growthMax = 256 * 1_048_576
    /// What may still be there when the attackers have gone.
    private static let restMax = 128 * 1_048_576
    private static let p99Max = Duration.milliseconds(250)
    private static let slowdownMax = 10
    /// No turn of a loop may take a processor so many milliseconds.
    private static let heldMax = 400

    @Test func `a campaign has an attack`() {
        #expect(!Self.attacks.isEmpty, "TIDEMARK_HOSTILE_ONLY=\(Self.only) is in no attack's name")
    }

    @Test(.disabled(if: ThreadSanitizer.isOn, "its memory would be counted"), arguments: attacks, attackers)
    func `I-6, I-7, R-721, R-722: whoever behaves is served beside an attack, and memory stays bounded`(
        _ attack: Attack, by attackers: Attackers
    ) async throws {
        if attackers == .nobody, case .none(let why) = attack.byNobody {
            return print("\(attack.testDescription) by nobody: left out, \(why)")
        }
        let isLong = Self.campaign != nil
        let options = ["--create-containers"] + attack.options
        try await OperatorPlace.with(options, keepsAssets: true, keepsKeys: true) { place in
            let neighbour = try await Neighbour(place, token: try await place.makeAccount("neighbour"))
            let credentials = try await attackers.credentials(place)
            for credential in credentials {
                try await attack.prepare(place, credential: credential, isLong: isLong)
            }
            let quiet = await neighbour.live(for: isLong ? .seconds(5) : .milliseconds(300))
            #expect(quiet.refusals.isEmpty, "before the attack: \(quiet.refusals.prefix(3))")
            let idle = try place.server.resetPeakMemory()

            let clients = try attack.begin(place, credentials: credentials)
            let during = await neighbour.live(for: .seconds(Self.campaign ?? 1))
            let told = await end(attack, by: attackers, clients)
            let growth = try place.server.peakMemoryBytes() - idle

            let story =
                "\(attack.testDescription) by \(attackers.rawValue): quiet \(quiet); during \(during); "
                + "grew by \(growth / 1_048_576) MiB; \(heldLoop(place.server)); attackers \(told)"
            if isLong { print(story) }
            #expect(during.refusals.isEmpty, "\(story) \(during.refusals.prefix(3))")
            #expect(growth <= Self.growthMax, "\(story)")
            guard isLong else { return }
            #expect(heldMilliseconds(place.server) < Self.heldMax, "\(story)")
            #expect(during.p99 <= Self.p99Max && during.p99 <= quiet.p99 * Self.slowdownMax, "\(story)")
            await #expect(throws: Never.self, "\(story)") {
                try await eventually("memory goes back to \(idle / 1_048_576) MiB and a little", within: .seconds(60)) {
                    try place.server.memoryBytes() <= idle + Self.restMax
                }
            }
        }
    }

    /// How long a processor worked, at least, for the longest turn of a loop since the server began. 0: less than 100 ms
    /// for each.
    private func heldMilliseconds(_ server: Program) -> Int {
        let lines = server.output.matches(of: /an event loop was held cause="it worked for (\d+) ms/)
        return lines.compactMap { Int($0.1) }.max() ?? 0
    }

    private func heldLoop(_ server: Program) -> String {
        let held = heldMilliseconds(server)
        return held == 0 ? "no loop held for 100 ms" : "a loop held for \(held) to \(2 * held) ms"
    }

    /// Waits until the server has heard each of the attackers, and ends the attack.
    ///
    /// - Returns: what all of them were told.
    private func end(
        _ attack: Attack, by attackers: Attackers, _ clients: [[HostileClient]]
    ) async -> HostileClient.Told {
        func told(_ clients: [HostileClient]) -> HostileClient.Told { clients.map(\.told).reduce(.init(), +) }
        for own in clients {
            await #expect(throws: Never.self, "\(attack.testDescription) is no attack: \(told(own))") {
                try await eventually("the server hears an attacker") {
                    if !attack.reads { for client in own { client.takeAnswer() } }
                    return attack.isFelt(by: told(own), attackers)
                }
            }
        }
        for client in clients.joined() { await client.stop() }
        return told(clients.flatMap(\.self))
    }
}
