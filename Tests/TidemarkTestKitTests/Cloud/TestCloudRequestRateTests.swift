// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkDomain

@testable import TidemarkTestKit

/// What apps see of a limit of requests.
@Suite struct TestCloudRequestRateTests {
    private let cloud = TestCloud()
    private var alice: TestAccount { cloud.account("alice") }

    private func limit(_ perSecond: Int, burst: Int) throws {
        let rate = try #require(RequestRate(perSecond: perSecond, burst: burst))
        #expect(alice.core.database.setRequestRate(.atMost(rate), account: "alice"))
    }

    @Test func `R-934: engines wait as long as a limit of requests says, and lose nothing`() async throws {
        let notes = await NotesDevice(on: alice.device("phone"))
        let others = await NotesDevice(on: alice.device("laptop"))
        try await cloud.settle()
        try limit(1, burst: 1)
        var hasWaited = false
        for number in 1...30 {
            await notes.write("\(number)", to: "a\(number)")
            await others.write("\(number)", to: "b\(number)")
            try await cloud.settle()
            let pending = (await notes.pendingCount) + (await others.pendingCount)
            if pending > 0 { hasWaited = true }
        }
        #expect(hasWaited)
        try await cloud.clock.advance(by: .seconds(600))
        #expect(await notes.pendingCount == 0)
        #expect(await others.pendingCount == 0)
        #expect(await notes.texts.count == 60)
        #expect(await others.texts == notes.texts)
        let notesFailures = await notes.events.filter { $0.hasPrefix("failed") && !$0.hasSuffix("requestRateLimited") }
        #expect(notesFailures == [], "\(notesFailures)")
        let othersFailures = await others.events.filter {
            $0.hasPrefix("failed") && !$0.hasSuffix("requestRateLimited")
        }
        #expect(othersFailures == [], "\(othersFailures)")
    }

    @Test func `R-934, R-374: a call beyond the limit fails with a time, and succeeds after it`() async throws {
        let database = alice.device("tool").container.privateCloudDatabase
        try await database.save(NotesDevice.zone)
        try limit(1, burst: 1)
        try await cloud.settle()
        _ = try await database.allRecordZones()
        let error = await #expect(throws: CKError.self) { try await database.allRecordZones() }
        #expect(error?.code == .requestRateLimited)
        let wait = try #require(error?.retryAfterSeconds)
        #expect((0...60).contains(wait))
        #expect(error?.localizedDescription.contains("1 requests a second") == true, "\(String(describing: error))")
        try await cloud.clock.advance(by: .seconds(wait))
        #expect(try await database.allRecordZones().count == 2)
    }

    @Test func `R-936: an app reads what the server accepts, as of its last connection`() async throws {
        let device = alice.device("tool")
        #expect(device.container.limits == nil)
        _ = try await device.container.accountStatus()
        let limits = try #require(device.container.limits)
        #expect(limits.itemsPerRequest == 400 && limits.recordBytes == 1_048_576 && limits.requestBytes == 2_097_152)
        #expect(limits.messageBytes == 4_194_304 && limits.assetBytes == 1_073_741_824)
        #expect(limits.requestsPerSecond == nil && limits.requestBurst == nil && limits.quotaBytes == nil)
        try limit(20, burst: 60)
        #expect(device.container.limits == limits)
        device.cutConnections()
        _ = try await device.container.privateCloudDatabase.allRecordZones()
        #expect(device.container.limits?.requestsPerSecond == 20)
        #expect(device.container.limits?.requestBurst == 60)
        #expect("\(limits)".hasPrefix("TidemarkLimits(items per request: 400, "))
        device.signOut()
        #expect(device.container.limits == nil)
    }
}
