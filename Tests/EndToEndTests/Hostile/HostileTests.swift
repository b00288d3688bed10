// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// I-6 and I-7 as a neighbour sees them: somebody attacks, and whoever behaves does not notice.
///
/// `make hostile` runs the campaign: each attack by nobody, by one account and by ten, for a minute. It holds times as
/// well. The suite runs a short form, which holds memory and what is refused.
@Suite(.serialized, .timeLimit(.minutes(60))) struct HostileTests {
    /// Seconds for each attack of a campaign.
    private static let campaign =
        ProcessInfo.processInfo.environment["TIDEMARK_HOSTILE_SECONDS"].flatMap { Int($0) }

    private static let attackers: [Attackers] = campaign == nil ? [.one] : Attackers.allCases
    private static let growthMax = 256 * 1_048_576
    private static let p99Max = Duration.milliseconds(250)
    private static let slowdownMax = 10

    @Test(.disabled(if: ThreadSanitizer.isOn, "its memory would be counted"), arguments: Attack.all, attackers)
    func `I-6, I-7: whoever behaves is served beside an attack, and memory stays bounded`(
        _ attack: Attack, by attackers: Attackers
    ) async throws {
        let isLong = Self.campaign != nil
        try await OperatorPlace.with(["--create-containers"], keepsAssets: true) { place in
            let neighbour = try await Neighbour(place, token: try await place.makeAccount("neighbour"))
            let credentials = try await attackers.credentials(place)
            for credential in credentials where !credential.isEmpty {
                try await attack.prepare(place.database(token: credential), isLong)
            }
            let quiet = try await neighbour.live(for: isLong ? .seconds(5) : .milliseconds(300))
            let idle = try place.server.resetPeakMemory()

            var clients: [HostileClient] = []
            for (number, credential) in credentials.enumerated() {
                clients += try attack.begin(place, credential: credential, number: UInt8(number + 1))
            }
            let during = try await neighbour.live(for: .seconds(Self.campaign ?? 1))
            let growth = try place.server.peakMemoryBytes() - idle
            var told = HostileClient.Told()
            for client in clients { told = told + (await client.stop()) }

            let story =
                "\(attack.testDescription) by \(attackers.rawValue): quiet \(quiet); during \(during); "
                + "grew by \(growth / 1_048_576) MiB; attackers \(told)"
            if isLong { print(story) }
            #expect(during.refusals.isEmpty, "\(story) \(during.refusals.prefix(3))")
            #expect(growth <= Self.growthMax, "\(story)")
            if isLong {
                #expect(during.p99 <= Self.p99Max && during.p99 <= quiet.p99 * Self.slowdownMax, "\(story)")
            }
        }
    }
}
