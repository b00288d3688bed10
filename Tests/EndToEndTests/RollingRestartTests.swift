// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkKit
import TidemarkServer
import TidemarkTLS
import TidemarkTestSupport

/// Two servers behind the real HAProxy, each restarted while devices save.
@Suite(
    .serialized, .timeLimit(.minutes(20)), .enabled(if: FrontProxy.Kind.haproxy.path != nil, "haproxy is not installed")
)
struct RollingRestartTests {
    /// How much of it there is.
    private struct Scale {
        var deviceCount = 12
        /// How often each server is restarted.
        var rounds = 2
        /// Between two saves of a device.
        var pause = Duration.zero
        /// The longest time of 99 of 100 saves; nil: any.
        var slowest: Duration?

        /// `make rolling` sets `TIDEMARK_RESTARTS`: so often, with many devices.
        static var wanted: Scale {
            let text = ProcessInfo.processInfo.environment["TIDEMARK_RESTARTS"] ?? ""
            guard let rounds = Int(text), rounds > 0 else { return Scale() }
            return Scale(
                deviceCount: 200, rounds: rounds, pause: .milliseconds(500), slowest: .seconds(2))
        }
    }

    /// What the devices were told.
    private final class Ledger: Sendable {
        private struct State {
            var saved: Set<String> = []
            var times: [Duration] = []
            var errors: [String] = []
            var feed = Feed()
            var isOver = false
        }

        private let state = Mutex(State())

        /// - Parameter time: from the first attempt to the answer.
        func saved(_ name: String, in time: Duration) {
            state.withLock { state in
                state.saved.insert(name)
                state.times.append(time)
            }
        }

        func followed(_ feed: Feed) { state.withLock { $0.feed = feed } }
        func failed(_ error: any Error) { state.withLock { $0.errors.append("\(error)") } }
        func end() { state.withLock { $0.isOver = true } }
        var saved: Set<String> { state.withLock { $0.saved } }
        var errors: [String] { state.withLock { $0.errors } }
        var feed: Feed { state.withLock { $0.feed } }
        var isOver: Bool { state.withLock { $0.isOver } }

        /// The time that this part of all saves took at the most.
        func time(_ part: Double) -> Duration {
            let times = state.withLock { $0.times }.sorted()
            return times.isEmpty ? .zero : times[min(Int(Double(times.count) * part), times.count - 1)]
        }
    }

    private static let retryable: [CKError.Code] = [
        .networkUnavailable, .networkFailure, .serviceUnavailable, .zoneBusy, .requestRateLimited,
    ]

    @Test
    func
        `R-875: while each of two servers is restarted again and again, devices save on, and nothing is lost or doubled`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let files = try DevelopmentCertificates(
            directory: directory.path, hosts: ["127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
        let secret = directory.path + "/ticket-secret"
        try String(repeating: "0123456789abcdef", count: 4).write(toFile: secret, atomically: true, encoding: .utf8)
        let database = try await TestPostgres.database(OperatorPlace.template)
        let token = try OperatorPlace.makeAccounts(["alice"], url: database.url)[0]
        let flags = [
            "--certificate", files.certificateFile, "--private-key", files.privateKeyFile, "--create-containers",
            "--proxy-from", FrontProxy.address, "--ticket-secret-file", secret, "--drain-seconds", "3",
        ]
        let scale = Scale.wanted
        let seats = try ["one", "two"].map {
            try ServerSeat($0, flags: flags, hasChecks: true, url: database.url, in: directory)
        }
        var servers: [Program] = []
        for seat in seats { servers.append(try await seat.start()) }
        let proxy = try await FrontProxy.start(
            .haproxy, before: seats[0].port, checks: seats[0].checks ?? 0,
            and: (seats[1].port, seats[1].checks ?? 0),
            in: directory)
        var site = Site(
            url: "wss://127.0.0.1:\(proxy.port)", authorityFile: files.authorityFile, tokens: ["alice": token])
        site.container = "iCloud.test.rolling"
        let zone = CKRecordZone(zoneName: "Notes")
        try await site.makeContainer().privateCloudDatabase.save(zone)

        let ledger = Ledger()
        try await withThrowingTaskGroup(of: Void.self) { [site] group in
            for device in 0..<scale.deviceCount {
                group.addTask { try await Self.saveOn(as: device, site, zone.zoneID, scale.pause, ledger) }
            }
            group.addTask { try await Self.follow(zone.zoneID, site, ledger) }
            do {
                for _ in 1...scale.rounds {
                    for (index, seat) in seats.enumerated() {
                        let before = ledger.saved.count
                        servers[index].signal(SIGTERM)
                        #expect(try await servers[index].exit(within: .seconds(90)) == 0)
                        servers[index] = try await seat.start()
                        // The next one goes only when this one has devices again.
                        try await eventually("HAProxy sees server \(seat.name)", within: .seconds(90)) {
                            guard proxy.program.isRunning else {
                                throw NeverHappened(description: proxy.program.output)
                            }
                            // A server that comes back soon is never down for it.
                            let (name, output) = ("Server tidemark/\(seat.name)", proxy.program.output)
                            return output.ranges(of: "\(name) is UP").count
                                >= output.ranges(of: "\(name) is DOWN").count
                        }
                        try await eventually("devices save", within: .seconds(90)) { ledger.saved.count > before }
                    }
                }
            } catch {
                ledger.end()
                throw error
            }
            ledger.end()
            try await group.waitForAll()
        }
        #expect(ledger.errors.isEmpty, "only what devices try again by themselves: \(ledger.errors.prefix(3))")
        // Each was made once, and by one request: what is there is what was acknowledged.
        let reader = site.makeContainer().privateCloudDatabase
        var feed = Feed()
        try await feed.readOn(in: zone.zoneID, of: reader)
        let names = feed.names
        #expect(names == ledger.saved && feed.count == names.count)
        // And who read all the time has had each once.
        var followed = ledger.feed
        try await followed.readOn(in: zone.zoneID, of: reader)
        #expect(followed.names == names && followed.count == names.count)
        #expect(names.count > scale.deviceCount * scale.rounds)
        let slowest = ledger.time(0.99)
        print(
            "rolling restart: \(names.count) saves of \(scale.deviceCount) devices, half in \(ledger.time(0.5)) at the most,",
            "99 of 100 in \(slowest)")
        if let limit = scale.slowest { #expect(slowest <= limit) }
        for server in servers { #expect(try await server.stop() == 0) }
        try await proxy.stop()
    }

    /// Saves one record after another, each until it is acknowledged.
    private static func saveOn(
        as device: Int, _ site: Site, _ zoneID: CKRecordZone.ID, _ pause: Duration, _ ledger: Ledger
    ) async throws {
        let database = site.makeContainer().privateCloudDatabase
        var number = 0
        var isUnderWay = false
        var start = ContinuousClock.now
        // What was begun is finished.
        while isUnderWay || !ledger.isOver {
            if !isUnderWay { start = .now }
            isUnderWay = true
            let name = "n\(device)-\(number)"
            do {
                try await database.save(
                    CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID)))
                ledger.saved(name, in: .now - start)
                number += 1
                isUnderWay = false
                try await Task.sleep(for: pause)
            } catch let error as CKError where retryable.contains(error.code) {
                // An app tries again. The first attempt may have been carried out.
                try await Task.sleep(for: .milliseconds(50))
            } catch let error as CKError where error.code == .serverRecordChanged {
                ledger.saved(name, in: .now - start)
                number += 1
                isUnderWay = false
            } catch {
                ledger.failed(error)
                return
            }
        }
    }

    /// What a device has read of the zone's feed.
    private struct Feed: Sendable {
        var names: Set<String> = []
        /// How many changes there were.
        var count = 0
        var token: CKServerChangeToken?

        /// Reads on, up to the end. If that fails, it has what came before.
        mutating func readOn(in zoneID: CKRecordZone.ID, of database: CKDatabase) async throws {
            var hasMore = true
            while hasMore {
                let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
                names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
                count += page.modificationResultsByID.count
                (token, hasMore) = (page.changeToken, page.moreComing)
            }
        }
    }

    /// Reads the feed while the others save.
    private static func follow(_ zoneID: CKRecordZone.ID, _ site: Site, _ ledger: Ledger) async throws {
        let database = site.makeContainer().privateCloudDatabase
        var feed = Feed()
        while !ledger.isOver {
            do {
                try await feed.readOn(in: zoneID, of: database)
            } catch let error as CKError where retryable.contains(error.code) {
            } catch {
                ledger.failed(error)
                return
            }
            ledger.followed(feed)
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
