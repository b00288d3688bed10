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
    /// A server that comes back on the same addresses.
    private struct Seat {
        let name: String
        let port: Int
        let checks: Int
        let flags: [String]
        let url: String
        let directory: String

        func start() async throws -> Program {
            let server = try Program(
                "tidemark",
                [
                    "serve", "--listen", "127.0.0.1:\(port)", "--admin-listen", "127.0.0.1:\(checks)",
                    "--drain-seconds", "3",
                ] + flags,
                environment: ["TIDEMARK_DATABASE_URL": url], directory: directory)
            try await eventually("server \(name) serves", within: .seconds(60)) {
                guard server.isRunning else { throw NeverHappened(description: server.output) }
                return server.output.contains(" serving ")
            }
            return server
        }
    }

    /// What the devices were told.
    private final class Ledger: Sendable {
        private let state = Mutex((saved: Set<String>(), errors: [String](), isOver: false))

        func saved(_ name: String) { state.withLock { _ = $0.saved.insert(name) } }
        func failed(_ error: any Error) { state.withLock { $0.errors.append("\(error)") } }
        func end() { state.withLock { $0.isOver = true } }
        var saved: Set<String> { state.withLock { $0.saved } }
        var errors: [String] { state.withLock { $0.errors } }
        var isOver: Bool { state.withLock { $0.isOver } }
    }

    private static let deviceCount = 12
    private static let rounds = 2
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
            "--proxy-from", FrontProxy.address, "--ticket-secret-file", secret,
        ]
        let seats = try ["one", "two"].map {
            Seat(
                name: $0, port: try FrontProxy.freePort(), checks: try FrontProxy.freePort(), flags: flags,
                url: database.url, directory: directory.path)
        }
        var servers: [Program] = []
        for seat in seats { servers.append(try await seat.start()) }
        let proxy = try await FrontProxy.start(
            .haproxy, before: seats[0].port, checks: seats[0].checks, and: (seats[1].port, seats[1].checks),
            in: directory)
        var site = Site(
            url: "wss://127.0.0.1:\(proxy.port)", authorityFile: files.authorityFile, tokens: ["alice": token])
        site.container = "iCloud.test.rolling"
        let zone = CKRecordZone(zoneName: "Notes")
        try await site.makeContainer().privateCloudDatabase.save(zone)

        let ledger = Ledger()
        try await withThrowingTaskGroup(of: Void.self) { [site] group in
            for device in 0..<Self.deviceCount {
                group.addTask { try await Self.saveOn(as: device, site, zone.zoneID, ledger) }
            }
            do {
                for round in 1...Self.rounds {
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
                            return proxy.program.output.ranges(of: "Server tidemark/\(seat.name) is UP").count >= round
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
        let (names, changes) = try await Self.stored(in: zone.zoneID, site.makeContainer())
        #expect(names == ledger.saved && changes == names.count)
        #expect(names.count > Self.deviceCount * Self.rounds)
        for server in servers { #expect(try await server.stop() == 0) }
        try await proxy.stop()
    }

    /// Saves one record after another, each until it is acknowledged.
    private static func saveOn(as device: Int, _ site: Site, _ zoneID: CKRecordZone.ID, _ ledger: Ledger) async throws {
        let database = site.makeContainer().privateCloudDatabase
        var number = 0
        var isUnderWay = false
        // What was begun is finished.
        while isUnderWay || !ledger.isOver {
            isUnderWay = true
            let name = "n\(device)-\(number)"
            do {
                try await database.save(
                    CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID)))
                ledger.saved(name)
                number += 1
                isUnderWay = false
            } catch let error as CKError where retryable.contains(error.code) {
                // An app tries again. The first attempt may have been carried out.
                try await Task.sleep(for: .milliseconds(50))
            } catch let error as CKError where error.code == .serverRecordChanged {
                ledger.saved(name)
                number += 1
                isUnderWay = false
            } catch {
                ledger.failed(error)
                return
            }
        }
    }

    /// The records, and how often a feed from the beginning has one.
    private static func stored(
        in zoneID: CKRecordZone.ID, _ container: CKContainer
    ) async throws -> (names: Set<String>, changes: Int) {
        let database = container.privateCloudDatabase
        var (names, changes, token, hasMore) = (Set<String>(), 0, CKServerChangeToken?.none, true)
        while hasMore {
            let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
            changes += page.modificationResultsByID.count
            (token, hasMore) = (page.changeToken, page.moreComing)
        }
        return (names, changes)
    }
}
