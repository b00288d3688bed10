// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

/// What the machine tells of itself.
@Suite struct SyncEngineMachineStatusTests {
    private typealias Reason = TidemarkSyncStatus.Wait.Reason

    /// Dates begin at the scheduler's zero.
    private func date(_ time: Duration) -> Date {
        let (seconds, attoseconds) = time.components
        return Date(timeIntervalSinceReferenceDate: Double(seconds) + Double(attoseconds) / 1e18)
    }

    private func status(_ harness: MachineHarness) -> TidemarkSyncStatus {
        harness.machine.status(at: harness.now, date: date)
    }

    private func waits(_ harness: MachineHarness) -> [Reason] { status(harness).waits.map(\.reason) }

    @Test func `R-840: what is pending counts until the server has it, also while it is being sent`() {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        harness.server.save("3", in: zone("A"), value: "x")
        #expect(status(harness) == TidemarkSyncStatus() && status(harness).isUpToDate)
        harness.add("A/1", "A/2", "-A/3")
        harness.addZones("B")
        harness.holds = \.isRecords
        let call = harness.send()
        harness.advance(by: .seconds(1))
        // B is there already.
        var now = status(harness)
        #expect((now.pendingSaveCount, now.pendingDeleteCount, now.pendingDatabaseChangeCount) == (2, 1, 0))
        #expect(now.activity == .sending(.init(sentCount: 0, total: 3)) && !now.isUpToDate)
        #expect(now.lastSent == date(.seconds(1)))
        // The same record once more, and another one.
        harness.add("A/1", "A/4")
        now = status(harness)
        #expect(now.pendingSaveCount == 3 && now.activity == .sending(.init(sentCount: 0, total: 4)))
        harness.holds = { _ in false }
        harness.release()
        now = status(harness)
        #expect(harness.error(of: call) == nil)
        #expect(now.isUpToDate && now.lastSent == date(.seconds(2)) && now.lastFailure == nil)
    }

    @Test func `R-840: a fetch tells its zones of how many, as soon as that is known, and its records so far`() {
        let harness = MachineHarness.started()
        for name in ["A", "B"] {
            harness.server.save(zone: zone(name))
            harness.server.save("1", in: zone(name), value: "x")
        }
        harness.holds = { $0.isFeed || $0.isZone }
        harness.fetch()
        harness.run()
        #expect(status(harness).activity == .fetching(.init()))
        harness.release()
        #expect(status(harness).activity == .fetching(.init(zoneCount: 0, zoneTotal: 2, zoneID: zone("A"))))
        #expect(status(harness).unfetchedZoneCount == 2 && status(harness).lastFetched == nil)
        harness.release()
        #expect(
            status(harness).activity
                == .fetching(.init(zoneCount: 1, zoneTotal: 2, recordCount: 1, zoneID: zone("B"))))
        harness.release()
        #expect(status(harness).isUpToDate && status(harness).lastFetched == date(harness.now))
    }

    @Test func `R-840: an engine without an account, a network or leave to work says so`() {
        let nobody = MachineHarness(automatic: true)
        nobody.account = .success(nil)
        nobody.advance(by: .seconds(1))
        #expect(waits(nobody) == [.account] && status(nobody).waits.first?.until == nil)
        nobody.account = .failure(CKError(.accountTemporarilyUnavailable))
        nobody.machine.accountHinted(at: nobody.moment)
        nobody.run()
        #expect(waits(nobody) == [.account] && status(nobody).waits.first?.until == nobody.nextDue.map(date))
        #expect(status(nobody).lastFailure?.subject == .account)
        #expect(status(nobody).lastFailure?.error.code == .accountTemporarilyUnavailable)

        let harness = MachineHarness.started(automatic: true)
        #expect(waits(harness) == [])
        harness.machine.connectivityChanged(isOnline: false, at: harness.moment)
        #expect(waits(harness) == [.network] && !status(harness).isUpToDate)
        harness.machine.connectivityChanged(isOnline: true, at: harness.moment)
        harness.run()
        #expect(waits(harness) == [])
        harness.cancelOperations()
        harness.run()
        #expect(waits(harness) == [.cancellation])
        harness.add("A/1")
        #expect(!waits(harness).contains(.cancellation))
    }

    @Test func `R-840: what failed is told with its error, and when it is tried again`() throws {
        for (isFeed, reason) in [(true, Reason.fetchRetry), (false, .sendRetry)] {
            let harness = MachineHarness.started(automatic: true)
            harness.server.save(zone: zone("A"))
            harness.respond = { request in
                (isFeed ? request.isFeed : request.isRecords) ? .error(.networkFailure) : nil
            }
            if isFeed { harness.machine.pushReceived([], at: harness.moment) } else { harness.add("A/1") }
            harness.run()
            let failed = status(harness)
            #expect(failed.waits.map(\.reason) == [reason])
            #expect(failed.lastFailure?.subject == (isFeed ? .fetch : .send))
            #expect(failed.lastFailure?.error.code == .networkFailure)
            let until = try #require(failed.waits.first?.until)
            #expect(until > date(harness.now))
            harness.respond = { _ in nil }
            // A millisecond more: a date is not exact.
            harness.advance(by: .seconds(until.timeIntervalSince(date(harness.now))) + .milliseconds(1))
            #expect(status(harness).waits.isEmpty)
            // The error stays, with its date.
            #expect(status(harness).lastFailure == failed.lastFailure)
        }
    }

    @Test func `R-840: a pause that the server asked for comes before what waits in it`() throws {
        let harness = MachineHarness.started(automatic: true)
        harness.respond = { $0.isFeed ? .error(.requestRateLimited, retryAfter: 30) : nil }
        harness.machine.pushReceived([], at: harness.moment)
        harness.run()
        #expect(waits(harness) == [.throttling, .fetchRetry])
        let until = try #require(status(harness).waits.first?.until).timeIntervalSince(date(harness.now))
        #expect((30...33).contains(until))
    }

    @Test func `R-840: a zone, a record and the delegate are named`() {
        let harness = MachineHarness.started(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.respond = { $0.isZone ? .error(.internalError) : nil }
        harness.machine.pushReceived([zone("A")], at: harness.moment)
        harness.run()
        #expect(status(harness).lastFailure?.subject == .zone(zone("A")))
        harness.respond = { _ in nil }
        harness.add("C/1")
        harness.advance(by: .seconds(1))
        #expect(status(harness).lastFailure?.subject == .record(recordID("C/1")))
        #expect(status(harness).lastFailure?.error.code == .zoneNotFound)
        harness.batch = { _ in nil }
        harness.add("A/2")
        harness.advance(by: .milliseconds(200))
        #expect(waits(harness).last == .batch && status(harness).waits.last?.until != nil)
        #expect(status(harness).pendingSaveCount == 1)
    }

    /// A conflict is the app's to merge, and not a failure to show.
    @Test func `R-840: a conflict is no failure`() {
        let harness = MachineHarness.started()
        harness.server.save(zone: zone("A"))
        harness.server.save("1", in: zone("A"), value: "theirs")
        harness.respond = { request in
            guard request.isRecords else { return nil }
            var results = SyncEngineRecordResults()
            results.saves[recordID("A/1")] = .failure(CKError(.serverRecordChanged))
            return .success(.recordResults(results))
        }
        harness.add("A/1")
        harness.send()
        harness.run()
        #expect(harness.log.contains { $0.contains("serverRecordChanged") })
        #expect(status(harness).lastFailure == nil && status(harness).lastSent == nil)
    }

    @Test func `R-840: another user's zone that was gone when it should be read is waited for`() {
        let shared = CKRecordZone.ID(zoneName: "S", ownerName: "_bob")
        var read = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        read.user = user("alice")
        read.databaseToken = .of("d0")
        read.zoneTokens = [shared: .of("z1.1")]
        read.unfetchedZones.add(shared)
        let harness = MachineHarness(snapshot: read)
        harness.fetch()
        harness.advance(by: .seconds(1))
        #expect(waits(harness) == [.zone(shared)])
        #expect(status(harness).lastFailure?.subject == .zone(shared))
    }

    @Test func `R-840, R-563: what one account has achieved is not told to the next one`() {
        let harness = MachineHarness.started()
        harness.fetch()
        harness.run()
        #expect(status(harness).lastFetched != nil)
        harness.account = .success(user("bob"))
        harness.machine.accountHinted(at: harness.moment)
        harness.run()
        #expect(status(harness).lastFetched == nil && status(harness).lastFailure == nil)
    }
}
