// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// What the article *The journal* promises.
@Suite struct ThermometerTests {
    private let cloud = TestCloud()
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func place(_ name: String) -> URL { URL(fileURLWithPath: directory.path).appendingPathComponent(name) }

    private func readings() async throws -> [Double] {
        let zoneID = CKRecordZone.ID(zoneName: "Readings")
        let query = CKQuery(recordType: "Reading", predicate: NSPredicate(value: true))
        let page = try await cloud.account("alice").database.records(matching: query, inZoneWith: zoneID)
        return try page.matchResults.compactMap { try $0.1.get()["celsius"] }
    }

    @Test func `R-603: a reading is sent, though the process ended before it stored any state`() async throws {
        defer { directory.remove() }
        let alice = cloud.account("alice")
        let device = alice.device("before")
        device.goOffline()
        let thermometer = try Thermometer(directory: place("before"))
        try await thermometer.start(in: device.container.privateCloudDatabase)
        try await thermometer.measured(21.5)
        // What a process leaves that ends here.
        try FileManager.default.createDirectory(at: place("after"), withIntermediateDirectories: true)
        for file in ["readings.json", "pending.journal"] {
            let (left, found) = (place("before"), place("after"))
            try FileManager.default.copyItem(at: left.appending(path: file), to: found.appending(path: file))
        }

        let next = try Thermometer(directory: place("after"))
        try await next.start(in: alice.device("after").container.privateCloudDatabase)
        try await cloud.settle()
        #expect(try await readings() == [21.5])
        #expect(await next.problems == [])
    }

    @Test func `R-563: what a user leaves unsent goes to whoever signs in next`() async throws {
        defer { directory.remove() }
        let device = cloud.account("bob").device("device")
        let thermometer = try Thermometer(directory: place("device"))
        try await thermometer.start(in: device.container.privateCloudDatabase)
        try await cloud.settle()
        device.goOffline()
        try await thermometer.measured(-3)
        device.signIn(cloud.account("alice"))
        device.goOnline()
        try await cloud.settle()
        #expect(try await readings() == [-3])
    }

    @Test func `two engines with one journal: the second goes on without it, and says so`() async throws {
        defer { directory.remove() }
        let alice = cloud.account("alice")
        let (first, second) = (try Thermometer(directory: place("one")), try Thermometer(directory: place("one")))
        try await first.start(in: alice.device("first").container.privateCloudDatabase)
        try await second.start(in: alice.device("second").container.privateCloudDatabase)
        #expect(await first.problems == [])
        let problem = try #require(await second.problems.first)
        #expect(problem.hasPrefix("The journal is in use by another engine: "), "\(problem)")
    }
}
