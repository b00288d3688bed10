// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// What an engine tells its server of itself.
@Suite struct SyncEngineReporterTests {
    private let scheduler = ManualScheduler()
    private let server = FakeServer()
    private let cloud: FakeCloud
    private let delegate = RecordingDelegate()

    init() {
        cloud = FakeCloud(server, scheduler)
        server.save(zone: zone("A"))
    }

    @Test func `R-853: an engine tells once a minute what has changed, and nothing else`() throws {
        cloud.wantsReports = true
        let engine = CKSyncEngine(.on(cloud, delegate))
        scheduler.advance(by: .seconds(1))
        #expect(cloud.reports.map(\.saveCount) == [0])
        for number in 0..<5 {
            delegate.save("A/\(number)", in: engine)
            scheduler.advance(by: .seconds(1))
        }
        #expect(cloud.reports.count == 1)
        scheduler.advance(by: .seconds(60))
        #expect(cloud.reports.map(\.saveCount) == [0, 5])
        // Nothing has changed, however often it works.
        for _ in 0..<3 {
            try scheduler.complete { try await engine.fetchChanges() }
            scheduler.advance(by: .seconds(61))
        }
        #expect(cloud.reports.count == 2)
        try scheduler.complete { try await engine.sendChanges() }
        scheduler.advance(by: .seconds(61))
        #expect(cloud.reports.map(\.saveCount) == [0, 5, 0])
        #expect(cloud.reports.allSatisfy { $0.lastError == 0 && $0.deleteCount == 0 && $0.databaseChangeCount == 0 })
    }

    @Test func `R-853: nothing is told to a server that does not ask, nor of an app that does not want it`() {
        let engine = CKSyncEngine(.on(cloud, delegate))
        scheduler.advance(by: .seconds(1))
        delegate.save("A/1", in: engine)
        scheduler.advance(by: .seconds(200))
        #expect(cloud.reports.isEmpty)

        let other = FakeCloud(server, scheduler)
        other.wantsReports = true
        var configuration = CKSyncEngine.Configuration.on(other, delegate)
        #expect(configuration.reportsPendingChanges, "unless the app says otherwise")
        configuration.reportsPendingChanges = false
        let silent = CKSyncEngine(configuration)
        scheduler.advance(by: .seconds(1))
        delegate.save("A/2", in: silent)
        scheduler.advance(by: .seconds(200))
        #expect(other.reports.isEmpty)
    }

    @Test func `R-853: the last error and what the engine waits for are told, until it succeeds`() throws {
        var status = TidemarkSyncStatus()
        #expect(SyncEngineReport(status) == SyncEngineReport(TidemarkSyncStatus()))
        status.pendingSaveCount = 1
        status.pendingDeleteCount = 2
        status.pendingDatabaseChangeCount = 3
        let date = Date(timeIntervalSince1970: 100)
        status.lastFailure = .init(error: CKError(.quotaExceeded), subject: .send, date: date)
        let full = SyncEngineReport(status)
        #expect(full.wait == .quota && full.lastError == CKError.Code.quotaExceeded.rawValue)
        let counts: [Int] = [full.saveCount, full.deleteCount, full.databaseChangeCount]
        #expect(counts == [1, 2, 3])
        status.lastSent = date.addingTimeInterval(1)
        #expect(SyncEngineReport(status).lastError == 0)
        let cases: [(TidemarkSyncStatus.Wait.Reason, SyncEngineReport.Obstacle)] = [
            (.account, .account), (.network, .connection), (.throttling, .delay), (.sendRetry, .delay),
            (.batch, .app), (.cancellation, .app), (.fetchRetry, .nothing),
        ]
        for (reason, wait) in cases {
            status.waits = [.init(reason: reason, until: nil)]
            #expect(SyncEngineReport(status).wait == wait, "\(reason)")
        }
    }

    @Test func `R-853: a report is sent without an id over an open connection to a server that asks`() throws {
        for wants in [false, true] {
            var bench = ConnectionMachineTests.Bench()
            bench.take(bench.machine.keepConnection(now: bench.now))
            var report = WirePendingReport()
            report.saves = 7
            bench.take(bench.machine.opened())
            #expect(bench.machine.report(report).isEmpty, "not before Hello was answered")
            var answer = WireServerEnvelope()
            answer.id = bench.sent.last?.id ?? 0
            answer.hello.memoryEpoch = 1
            answer.hello.wantsReports = wants
            bench.take(bench.machine.received(answer.encoded, now: bench.now))
            bench.sent = []
            bench.take(bench.machine.report(report))
            #expect(bench.sent.map(\.pendingReport.saves) == (wants ? [7] : []))
            #expect(bench.sent.allSatisfy { $0.id == 0 && $0.request == nil })
            bench.cut()
            #expect(bench.machine.report(report).isEmpty)
        }
    }
}
