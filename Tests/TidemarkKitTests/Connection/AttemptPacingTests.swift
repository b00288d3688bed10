// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkScheduling
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// however a program calls, its server is not stormed.
@Suite struct AttemptPacingTests {
    private let scheduler = ManualScheduler()

    /// Counts connections. It refuses them, or leads on.
    private final class Door: CloudTransport, Sendable {
        private final class Closed: CloudChannel {
            func send(_ message: [UInt8]) {}
            func close() {}
        }

        private let scheduler: ManualScheduler
        private let beyond: (any CloudTransport)?
        private let openings = Mutex(0)

        init(_ scheduler: ManualScheduler, to beyond: (any CloudTransport)? = nil) {
            self.scheduler = scheduler
            self.beyond = beyond
        }

        var count: Int { openings.withLock { $0 } }

        func open(observer: any CloudChannelObserver) -> any CloudChannel {
            openings.withLock { $0 += 1 }
            if let beyond { return beyond.open(observer: observer) }
            let channel = Closed()
            scheduler.run { observer.channelClosed(channel, .network("refused")) }
            return channel
        }
    }

    private func makeContext(_ door: Door, token: String = "alice") -> CloudContext {
        CloudContext(
            containerIdentifier: "iCloud.test", token: token, transport: door, scheduler: scheduler,
            engineScheduler: scheduler)
    }

    /// Something every 20 ms for 10 s.
    private func storm(_ work: (Int) -> Void) {
        for number in 0..<500 {
            work(number)
            scheduler.advance(by: .milliseconds(20))
        }
    }

    private func call(_ context: CloudContext) -> PendingAnswer {
        context.connection.begin(timeout: .seconds(60), generation: nil) { _ in WireClientEnvelope() }
    }

    /// Attempts of 10 s that follow each other as ``AttemptPacing`` lets them.
    private let most = AttemptPacing.burst + 10

    @Test func `R-377: calls while connections are refused make one attempt a second`() {
        let door = Door(scheduler)
        let context = makeContext(door)
        storm { _ in _ = call(context) }
        #expect((5...10).contains(door.count), "\(door.count)")
    }

    @Test func `R-377: calls that are cancelled at once make no more`() {
        let door = Door(scheduler)
        let context = makeContext(door)
        storm { _ in context.connection.abandon(call(context)) }
        #expect(door.count <= 10, "\(door.count)")
    }

    @Test func `R-377, R-354: calls with a credential that is refused make an attempt a minute at most`() {
        let server = ScriptedServer(scheduler)
        server.refuse("alice")
        let door = Door(scheduler, to: server)
        let context = makeContext(door)
        storm { _ in _ = call(context) }
        #expect(door.count == 1)
        scheduler.advance(by: ReconnectPolicy.refusedWait)
        server.accept("alice")
        _ = call(context)
        scheduler.advance(by: .seconds(1))
        #expect(door.count == 2 && context.connection.userRecordName == "_alice")
    }

    @Test func `R-377: neither does who says again and again that the network is back`() {
        let door = Door(scheduler)
        let context = makeContext(door)
        storm { _ in
            context.retryNow()
            _ = call(context)
        }
        #expect(door.count <= most, "\(door.count)")
    }

    @Test func `R-377: neither does who signs in again and again, and who it is in the end is signed in soon`() {
        let server = ScriptedServer(scheduler)
        let door = Door(scheduler, to: server)
        let context = makeContext(door)
        storm { number in
            context.changeCredential(number.isMultiple(of: 2) ? "bob" : "carol")
            _ = call(context)
        }
        #expect(door.count <= most, "\(door.count)")
        context.changeCredential("dora")
        _ = call(context)
        scheduler.advance(by: .milliseconds(1_100))
        #expect(context.connection.userRecordName == "_dora")
    }

    @Test func `R-377: neither does who makes one engine after the other`() {
        let door = Door(scheduler)
        let context = makeContext(door)
        let delegate = RecordingDelegate()
        var engines: [CKSyncEngine] = []
        storm { _ in
            let database = CKContainer(context: context).privateCloudDatabase
            engines = [
                CKSyncEngine(.init(database: database, stateSerialization: nil, delegate: delegate))
            ]
        }
        #expect(!engines.isEmpty && door.count <= most, "\(door.count)")
    }

    @Test func `R-377: a program that starts with several engines waits for none of them`() {
        let server = ScriptedServer(scheduler)
        let context = makeContext(Door(scheduler, to: server))
        let connections = (0..<AttemptPacing.burst).map {
            context.makeConnection(device: [UInt8](repeating: UInt8($0), count: 16))
        }
        for connection in connections {
            _ = connection.begin(timeout: .seconds(60), generation: nil) { _ in WireClientEnvelope() }
        }
        scheduler.advance(by: .milliseconds(10))
        #expect(connections.allSatisfy { $0.userRecordName == "_alice" })
    }
}
