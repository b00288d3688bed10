// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkDomain
import TidemarkPostgres
import TidemarkScheduling
import TidemarkServer
import TidemarkService
import TidemarkSockets
import TidemarkStore
import TidemarkTLS
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkKit

/// A real server with PostgreSQL, TLS and sockets on a loopback address, in this process.
final class RealCloud: ConformingCloud {
    private struct Account {
        let id: AccountID
        let token: String
        let credential: CredentialID
    }

    private struct State {
        var accounts: [String: Account] = [:]
        var lines: [DeviceLine] = []
        var contexts: [CloudContext] = []
    }

    private static let container = "iCloud.test.conformance"
    private static let template = TestTemplate(name: "conformance") { url in
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
    }

    private let directory: TestDirectory
    private let storage: PostgresStorage
    private let adminLoop: EventLoop
    private let server: Server
    private let authorityFile: String
    private let databaseURL: String
    private let state = Mutex(State())

    private init() async throws {
        directory = try TestDirectory()
        let database = try await TestPostgres.database(Self.template)
        databaseURL = database.url
        let certificates = try DevelopmentCertificates(
            directory: directory.path, hosts: ["localhost", "127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
        authorityFile = certificates.authorityFile
        adminLoop = try EventLoop(name: "admin")
        storage = try PostgresStorage(url: database.url, loop: adminLoop, connections: 1, queryTimes: .patient)
        var configuration = ServerConfiguration(
            addresses: [.loopback(port: 0)],
            certificate: .init(
                certificateFile: certificates.certificateFile, privateKeyFile: certificates.privateKeyFile),
            databaseURL: database.url, limits: Limits())
        configuration.createsContainers = true
        configuration.assetDirectory = "\(directory.path)/assets"
        configuration.masterKeyFile = "\(directory.path)/master.key"
        server = try await Server.start(configuration)
    }

    /// Runs `body` with a server and a database of its own.
    static func with<Value>(_ body: (RealCloud) async throws -> Value) async throws -> Value {
        let cloud = try await RealCloud()
        return try await running {
            try await body(cloud)
        } finally: {
            await cloud.stop()
        }
    }

    private func stop() async {
        await server.stop(patience: .seconds(5))
        await storage.stop()
        adminLoop.stop()
        directory.remove()
    }

    // MARK: ConformingCloud

    func device(of account: String) async throws -> any ConformingDevice {
        let token = try await token(of: account)
        let configuration = TidemarkConfiguration(
            url: URL(string: "wss://127.0.0.1:\(server.addresses[0].port)"), token: token,
            certificateAuthorityFile: authorityFile)
        let line = DeviceLine(
            over: SocketTransport(configuration: configuration),
            timers: NetworkThread.scheduler)
        state.withLock { $0.lines.append(line) }
        let context = CloudContext(
            containerIdentifier: Self.container, token: token, transport: line, scheduler: NetworkThread.scheduler,
            keyStore: MemoryKeyStore())
        state.withLock { $0.contexts.append(context) }
        return RealDevice(cloud: self, line: line, container: CKContainer(context: context))
    }

    /// The account comes into being when it is first asked for.
    fileprivate func token(of account: String) async throws -> String {
        if let known = state.withLock({ $0.accounts[account] }) { return known.token }
        let admin = AdminStore(storage)
        let credential = Credential.make()
        guard let id = try await admin.createAccount(account) else {
            throw NeverHappened(description: "no account \(account)")
        }
        let issued = try await admin.issueCredential(hash: credential.hash, label: "test", expiresAt: nil, for: id)
        state.withLock { $0.accounts[account] = Account(id: id, token: credential.text, credential: issued) }
        return credential.text
    }

    func run(until what: String, _ condition: () async throws -> Bool) async throws {
        try await eventually(what, condition)
    }

    var elapsed: Duration { NetworkThread.scheduler.now }

    func purge(_ zoneID: CKRecordZone.ID, of account: String) async throws {
        try await end(zoneID, of: account, .purged)
    }

    func resetEncryptedData(in zoneID: CKRecordZone.ID, of account: String) async throws {
        try await end(zoneID, of: account, .encryptedDataReset)
    }

    private func end(_ zoneID: CKRecordZone.ID, of account: String, _ reason: ZoneRemovalReason) async throws {
        let admin = AdminStore(storage)
        let key = ContainerKey(identifier: Self.container, environment: .development)
        guard let database = try await admin.privateDatabase(ofAccount: account, in: key),
            try await admin.endZone(ZoneKey(database: database, name: zoneID.zoneName), reason: reason)
        else { throw NeverHappened(description: "no zone \(zoneID.zoneName)") }
    }

    func encryptEndToEnd(_ account: String) async throws {
        _ = try await token(of: account)
        guard let known = state.withLock({ $0.accounts[account] }),
            try await AdminStore(storage).setEncryptionMode(.endToEnd, of: known.id, resets: false)
                == .done(endedZoneCount: 0)
        else { throw NeverHappened(description: "\(account) has keys") }
    }

    func suspend(_ account: String) async throws {
        guard let known = state.withLock({ $0.accounts[account] }),
            try await AdminStore(storage).revokeCredential(known.credential)
        else { throw NeverHappened(description: "no credential of \(account)") }
    }

    /// An operator issues another credential; so that devices need not hear of it, the old one is good again.
    func resume(_ account: String) async throws {
        guard let known = state.withLock({ $0.accounts[account] }) else {
            throw NeverHappened(description: "no credential of \(account)")
        }
        let statement = "UPDATE credential SET revoked_at = NULL WHERE id = \(known.credential.rawValue)"
        try PostgresAdministration.execute([statement], url: databaseURL)
        for context in state.withLock({ $0.contexts }) { context.retryNow() }
    }

    func expireTokens() async throws {
        try await AdminStore(storage).renewIncarnation()
        for line in state.withLock({ $0.lines }) { line.cut() }
    }

    func forgetDeletions() async throws {
        // What was deleted just now is older than the next minute.
        let later = Timestamp(milliseconds: adminLoop.wallClockMilliseconds + 60_000)
        _ = try await AdminStore(storage).compact(before: later)
    }
}

private struct RealDevice: ConformingDevice {
    let cloud: RealCloud
    let line: DeviceLine
    let container: CKContainer

    func goOffline() { line.setOnline(false) }

    func goOnline() {
        line.setOnline(true)
        container.context.retryNow()
    }

    func cutConnections() {
        line.cut()
        container.context.retryNow()
    }

    func loseNextAnswer() { line.loseNextAnswer() }
    var lostAnswerCount: Int { line.lostAnswerCount }
    func throttle(for duration: Duration) { line.throttle(for: duration) }
    func signIn(as account: String) async throws { container.signIn(token: try await cloud.token(of: account)) }
    func signOut() { container.signOut() }
}
