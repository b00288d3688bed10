// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkScheduling
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// A device that sleeps with an engine and its connection, each on a scheduler of its own as in apps: clocks jump, and nothing
/// that was sent before is ever answered.
@Suite struct CloudConnectionSleepTests {
    private let connections = ManualScheduler(seed: 1)
    private let engines = ManualScheduler(seed: 2)
    private let server: ScriptedServer
    private let delegate = RecordingDelegate()
    private let engine: CKSyncEngine

    init() {
        server = ScriptedServer(connections)
        let context = CloudContext(
            containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: "alice", transport: server,
            scheduler: connections, engineScheduler: engines)
        let database = CKContainer(context: context).privateCloudDatabase
        engine = CKSyncEngine(.init(database: database, stateSerialization: nil, delegate: delegate))
    }

    /// Both in step; what one gives the other to do is done within the same tenth of a second.
    private func advance(seconds: Int) {
        for _ in 0..<(seconds * 10) {
            for scheduler in [connections, engines] { scheduler.advance(by: .milliseconds(100)) }
            for _ in 0..<20 {
                connections.runUntilIdle()
                engines.runUntilIdle()
            }
        }
    }

    private func newLog(_ count: Int) -> [String] { Array(server.log.dropFirst(count)) }

    @Test(arguments: [false, true], [false, true])
    func `R-508, R-375, I-4: an engine and its connection that slept for an hour are in sync seconds after`(
        isConnectionClockStill: Bool, isEngineClockStill: Bool
    ) {
        advance(seconds: 5)
        #expect(server.log.contains("alice fetchDatabaseChanges") && server.openCount == 1)
        // On its way when the machine falls asleep; the answer never comes.
        server.hold { _ in true }
        delegate.save("A/1", in: engine)
        advance(seconds: 1)
        #expect(server.log.last == "alice modifyRecords")
        connections.sleepOver(3_600, isMonotonicStill: isConnectionClockStill)
        engines.sleepOver(3_600, isMonotonicStill: isEngineClockStill)
        // Awake, and not yet noticed that the connection is dead.
        delegate.save("A/2", in: engine)
        advance(seconds: 2)
        delegate.log = []
        server.hold { _ in false }
        let count = server.log.count
        server.cut()
        advance(seconds: 3)
        let log = newLog(count)
        #expect(log.first == "alice hello" && server.openCount == 1)
        #expect(log.contains("alice fetchDatabaseChanges"), "pushes may have been lost")
        #expect(delegate.log.contains { $0.hasPrefix("sent ") && $0.contains("A/1") }, "asked for again")
        #expect(delegate.log.contains { $0.hasPrefix("sent ") && $0.contains("A/2") })
        #expect(engine.state.pendingRecordZoneChanges == [])
        // Without an end, the hour would come again and again.
        let end = server.log.count
        advance(seconds: 300)
        #expect(newLog(end) == [])
    }

    @Test(arguments: [true, false])
    func `R-375, R-508: an hour's sleep between two attempts to reach the server ends the wait`(sleeps: Bool) {
        advance(seconds: 5)
        server.hold { _ in true }
        server.cut()
        // Attempts that lead nowhere, with longer and longer waits between them.
        for _ in 0..<8 {
            advance(seconds: 20)
            server.cut()
        }
        advance(seconds: 1)
        #expect(server.openCount == 0)
        delegate.save("A/1", in: engine)
        server.hold { _ in false }
        if sleeps {
            connections.sleepOver(3_600, isMonotonicStill: true)
            engines.sleepOver(3_600, isMonotonicStill: true)
        }
        advance(seconds: 5)
        #expect((engine.state.pendingRecordZoneChanges == []) == sleeps)
        #expect(delegate.log.contains { $0.hasPrefix("sent ") && !$0.contains("network") } == sleeps)
    }
}
