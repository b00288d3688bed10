// SPDX-License-Identifier: Apache-2.0

import Glibc
import SessionTestSupport
import TidemarkDomain
import TidemarkPostgres
import TidemarkServer
import TidemarkService
import TidemarkSockets
import TidemarkStore
import TidemarkTLS
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWire

/// A database of a test's own with accounts alice and bob, certificates, and any number of servers on it.
final class LiveWorld: Sendable {
    static let container = "iCloud.dev.tidemark"

    let database: TestDatabase
    let directory: TestDirectory
    let certificates: DevelopmentCertificates
    let tls: TLSContext
    /// For clients and for the admin's work.
    let loop: EventLoop
    let storage: PostgresStorage
    let alice: Credential
    let bob: Credential

    static let template = TestTemplate(name: "server") { url in
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
    }

    init() async throws {
        database = try await TestPostgres.database(Self.template)
        directory = try TestDirectory()
        certificates = try DevelopmentCertificates(
            directory: directory.path, hosts: ["localhost", "127.0.0.1"], now: Int64(time(nil)))
        tls = try TLSContext(
            client: .init(additionalRootsFile: certificates.authorityFile, trustsSystemRoots: false))
        loop = try EventLoop(name: "clients")
        storage = try PostgresStorage(url: database.url, loop: loop, connections: 2, queryTimes: .patient)
        let admin = AdminStore(storage)
        alice = try await Self.issue("alice", admin).credential
        bob = try await Self.issue("bob", admin).credential
    }

    var admin: AdminStore { AdminStore(storage) }

    @discardableResult
    static func issue(
        _ name: String, _ admin: AdminStore, expiresAt: Timestamp? = nil
    ) async throws -> (id: CredentialID, credential: Credential) {
        _ = try await admin.createAccount(name)
        let credential = Credential.make()
        guard let account = try await admin.account(named: name) else { throw LiveError("no account \(name)") }
        let id = try await admin.issueCredential(
            hash: credential.hash, label: "test", expiresAt: expiresAt, for: account)
        return (id, credential)
    }

    var configuration: ServerConfiguration {
        var configuration = ServerConfiguration(
            addresses: [.loopback(port: 0)],
            certificate: .init(
                certificateFile: certificates.certificateFile, privateKeyFile: certificates.privateKeyFile),
            databaseURL: database.url, limits: Limits())
        configuration.createsContainers = true
        // A busy machine does not miss them.
        configuration.helloTimeout = .seconds(60)
        configuration.transport.handshakeDeadline = .seconds(60)
        return configuration
    }

    /// Runs `body` with a server, and stops it.
    func withServer<Value>(
        _ change: (inout ServerConfiguration) -> Void = { _ in }, _ body: (Server) async throws -> Value
    ) async throws -> Value {
        var configuration = configuration
        change(&configuration)
        let server = try await Server.start(configuration)
        do {
            let value = try await body(server)
            await server.stop(patience: .seconds(5))
            return value
        } catch {
            await server.stop(patience: .zero)
            throw error
        }
    }

    /// Connected, and nothing said but the greeting.
    func connect(
        to server: Server, subprotocols: [String] = [Server.subprotocol], isEncrypted: Bool = true,
        greeting: WireClientEnvelope.OneOfRequest? = nil
    ) async throws -> LiveClient {
        let port = server.addresses[0].port
        let client = LiveClient(loop: loop)
        let tls = isEncrypted ? tls : nil
        if let greeting { client.greet(with: greeting) }
        loop.execute { client.connect(port: port, tls: tls, subprotocols: subprotocols) }
        return client
    }

    /// Connected, and `Hello` accepted.
    func enter(
        _ credential: Credential? = nil, device: UInt64 = 1, server: Server, isEncrypted: Bool = true
    ) async throws -> LiveClient {
        var hello = SessionWorld.hello((credential ?? alice).text, device: device)
        hello.clientName = "test/1"
        let client = try await connect(to: server, isEncrypted: isEncrypted, greeting: .hello(hello))
        guard case .hello? = try await client.answer(to: 1).answer else { throw LiveError("Hello was refused") }
        return client
    }

    func close() async {
        await storage.stop()
        loop.stop()
        directory.remove()
    }
}

struct LiveError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Runs `body` in a new world and closes it.
func withLiveWorld(_ body: (LiveWorld) async throws -> Void) async throws {
    let world = try await LiveWorld()
    do {
        try await body(world)
        await world.close()
    } catch {
        await world.close()
        throw error
    }
}
