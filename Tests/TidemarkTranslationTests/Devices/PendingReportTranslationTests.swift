// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkWire

@testable import TidemarkTranslation

@Suite struct PendingReportTranslationTests {
    @Test func `R-853: what a device says of itself is read, and a wait that the server does not know is none`() {
        let waits: [(WirePendingWait, PendingReport.Obstacle)] = [
            (.waitsForNothing, .nothing), (.waitsForConnection, .connection), (.waitsForAccount, .account),
            (.waitsForDelay, .delay), (.waitsForQuota, .quota), (.waitsForApp, .app), (.unrecognized(99), .nothing),
        ]
        for (wire, wait) in waits {
            var report = WirePendingReport()
            (report.saves, report.deletes, report.databaseChanges, report.lastError) = (1, 2, 3, 4)
            report.waitsFor = wire
            let now = Timestamp(milliseconds: 5)
            #expect(
                PendingReport(report, at: now)
                    == PendingReport(saves: 1, deletes: 2, databaseChanges: 3, wait: wait, lastError: 4, at: now))
        }
        #expect(Set(waits.map(\.1)).count == PendingReport.Obstacle.allCases.count)
    }

    @Test func `R-853: a report may come without a request, and an empty message may not`() throws {
        var envelope = WireClientEnvelope()
        #expect(throws: Refusal.self) { try ClientMessage(envelope.encoded) }
        envelope.pendingReport.saves = 1
        let message = try ClientMessage(envelope.encoded)
        #expect(message.id == 0 && message.request == nil && message.pendingReport?.saves == 1)
        envelope.fetchZones = WireFetchZones()
        #expect(throws: Refusal.self, "a request has an id") { try ClientMessage(envelope.encoded) }
        envelope.id = 3
        #expect(try ClientMessage(envelope.encoded).pendingReport?.saves == 1)
    }
}
