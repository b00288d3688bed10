// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkService
package import TidemarkSessions
package import TidemarkTestKit
package import TidemarkTestSupport
package import TidemarkWire

/// A store in memory with any number of servers' hubs on it, on one scheduler whose time the test moves.
package struct SessionWorld {
    /// One server, or what one of its event loops has.
    package struct Server {
        package let service: CloudService
        package let hub: SessionHub
        package let faults: Faults
        package let listener: Int
        package let assets: MemoryAssetStore
    }

    package static let container = "iCloud.dev.tidemark"

    package let scheduler = ManualScheduler()
    package let database: MemoryDatabase
    private let firesQueries: Bool
    /// The first server's event loops.
    package let loops: [Server]

    /// The first server's first event loop.
    package var server: Server { loops[0] }

    /// - Parameters:
    ///   - loopCount: event loops of the first server.
    ///   - firesQueries: whether changes fire query subscriptions, of which the servers then read.
    ///   - change: to its settings.
    package init(
        loopCount: Int = 1, firesQueries: Bool = false, _ change: (inout SessionSettings) -> Void = { _ in }
    ) {
        database = MemoryDatabase(scheduler: scheduler)
        self.firesQueries = firesQueries
        let sharedWrites = SharedWrites()
        loops = (0..<loopCount).map { [database, scheduler] _ in
            Self.makeServer(on: database, scheduler, sharedWrites, firesQueries, change)
        }
        SessionHub.unite(loops.map(\.hub))
        for loop in loops.dropFirst() { database.stopListening(loop.listener) }
        issue("alice")
        issue("bob")
    }

    package func anotherServer(_ change: (inout SessionSettings) -> Void = { _ in }) -> Server {
        Self.makeServer(on: database, scheduler, nil, firesQueries, change)
    }

    private static func makeServer(
        on database: MemoryDatabase, _ scheduler: ManualScheduler, _ sharedWrites: SharedWrites?,
        _ firesQueries: Bool, _ change: (inout SessionSettings) -> Void
    ) -> Server {
        var settings = SessionSettings(serverName: "tidemark/test", limits: Limits()) { $0.reversed() }
        settings.createsContainers = true
        change(&settings)
        let faults = Faults()
        let outlet = MovedOutlet()
        let assets = MemoryAssetStore()
        let service = CloudService(
            storage: MemoryStore(database, faults: FaultPlan(at: faults.at)), assets: assets, scheduler: scheduler,
            limits: settings.limits, sharedWrites: sharedWrites, isTraced: settings.traces != nil,
            firesQueries: firesQueries, onMoved: outlet.moved)
        let hub = SessionHub(service: service, scheduler: scheduler, settings: settings)
        outlet.connect { hub.committed($0) }
        let listener = database.listen { hub.heard($0) }
        return Server(service: service, hub: hub, faults: faults, listener: listener, assets: assets)
    }

    /// A credential whose text is the account's name.
    @discardableResult
    package func issue(_ name: String, expiresAt: Timestamp? = nil) -> CredentialID {
        database.issueCredential(hash: Array(name.utf8).reversed(), account: name, expiresAt: expiresAt)
    }

    /// Whether the hub has no session: one that stops waits for each that it has. It takes no more from then on.
    package func hasNoSession(_ hub: SessionHub) throws -> Bool {
        let start = scheduler.now
        try scheduler.complete { await hub.stop(patience: .seconds(1_000)) }
        return scheduler.now == start
    }

    /// A connection that has said nothing.
    package func connect(to server: Server? = nil) -> TestClient {
        TestClient((server ?? self.server).hub, scheduler)
    }

    /// A connection whose `Hello` was accepted.
    package func enter(
        _ account: String = "alice", device: UInt64 = 1, life: UInt64? = nil, server: Server? = nil
    ) throws -> TestClient {
        let client = connect(to: server)
        let answer = try client.ask(.hello(Self.hello(account, device: device, life: life)))
        guard case .hello? = answer else { throw Unexpected(answer) }
        return client
    }

    /// - Parameter life: nil: as a client that knows of no lives.
    package static func hello(_ account: String, device: UInt64 = 1, life: UInt64? = nil) -> WireHello {
        var hello = WireHello()
        hello.container = container
        hello.credential = account
        hello.device = [UInt8](DeviceID(high: 0, low: device).bytes)
        hello.deviceName = "device \(device)"
        if let life { hello.life = [UInt8](DeviceID(high: 1, low: life).bytes) }
        return hello
    }

    package struct Unexpected: Error, CustomStringConvertible {
        package let description: String
        package init(_ answer: WireServerEnvelope.OneOfAnswer?) {
            description = "unexpected answer: \(String(describing: answer))"
        }
    }
}

/// What goes wrong in a server's store from now on.
package final class Faults: Sendable {
    private struct State {
        var always: [FaultPoint: Fault] = [:]
        var next: [FaultPoint: Fault] = [:]
        /// How often each point is still reached without a fault.
        var spared: [FaultPoint: Int] = [:]
        var counts: [FaultPoint: Int] = [:]
    }

    private let state = Mutex(State())

    /// - Parameter sparedCount: so often the point is reached without a fault before.
    package func always(_ point: FaultPoint, _ fault: Fault, after sparedCount: Int = 0) {
        state.withLock { state in
            state.always[point] = fault
            state.spared[point] = sparedCount
        }
    }

    /// Only the next time that the point is reached.
    package func next(_ point: FaultPoint, _ fault: Fault) { state.withLock { $0.next[point] = fault } }

    package func at(_ point: FaultPoint) -> Fault {
        state.withLock { state in
            state.counts[point, default: 0] += 1
            if let fault = state.next.removeValue(forKey: point) { return fault }
            let sparedCount = state.spared[point] ?? 0
            state.spared[point] = max(0, sparedCount - 1)
            return sparedCount > 0 ? .none : state.always[point] ?? .none
        }
    }

    /// How often the point was reached.
    package func count(of point: FaultPoint) -> Int { state.withLock { $0.counts[point] ?? 0 } }
}
