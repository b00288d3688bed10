// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkPostgres
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport
import TidemarkTransport

@testable import TidemarkKit

/// A database of a test's own with alice, and a server in this process that keeps keys.
final class KeyWorld: Sendable {
    static let container = "iCloud.test.keys"

    /// For libpq.
    let databaseURL: String
    let directory: TestDirectory
    let loop: EventLoop
    let storage: PostgresStorage
    let alice: AccountID
    private let token: String

    private static let template = TestTemplate(name: "keys") { url in
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
    }

    private init(_ emptyDatabaseURL: String?) async throws {
        if let emptyDatabaseURL {
            databaseURL = emptyDatabaseURL
            try await Self.template.prepare(databaseURL)
        } else {
            databaseURL = try await TestPostgres.database(Self.template).url
        }
        directory = try TestDirectory()
        loop = try EventLoop(name: "keys")
        storage = try PostgresStorage(url: databaseURL, loop: loop, connections: 2, queryTimes: .patient)
        let admin = AdminStore(storage)
        guard let account = try await admin.createAccount("alice") else { throw NeverHappened(description: "alice") }
        alice = account
        let credential = Credential.make()
        token = credential.text
        _ = try await admin.issueCredential(
            hash: credential.hash, label: "test", expiresAt: nil, for: account)
    }

    /// - Parameter emptyDatabaseURL: nil: a database on the PostgreSQL of all tests.
    static func with(
        emptyDatabaseURL: String? = nil, _ body: (KeyWorld) async throws -> Void
    ) async throws {
        let world = try await KeyWorld(emptyDatabaseURL)
        try await running {
            try await body(world)
        } finally: {
            await world.close()
        }
    }

    private func close() async {
        await storage.stop()
        loop.stop()
        directory.remove()
    }

    var admin: AdminStore { AdminStore(storage) }

    /// Another account, on the same server.
    func join(_ name: String, _ mode: EncryptionMode = .escrowed, at site: KeySite) async throws -> KeySite {
        guard let account = try await admin.createAccount(name) else { throw NeverHappened(description: name) }
        if mode != .escrowed { _ = try await admin.setEncryptionMode(mode, of: account, resets: false) }
        let credential = Credential.make()
        _ = try await admin.issueCredential(hash: credential.hash, label: "test", expiresAt: nil, for: account)
        return KeySite(port: site.port, token: credential.text, directory: site.directory)
    }
    var masterKeyFile: String { "\(directory.path)/master.key" }

    /// Runs `body` with a server, and stops it.
    ///
    /// - Parameters:
    ///   - masterKeyFile: nil: the server keeps no keys.
    ///   - change: what else is special about the server.
    @discardableResult
    func withServer<Value>(
        masterKeyFile: String?, change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (KeySite) async throws -> Value
    ) async throws -> Value {
        var configuration = ServerConfiguration(
            addresses: [.loopback(port: 0)], certificate: nil, databaseURL: databaseURL, limits: Limits())
        configuration.createsContainers = true
        configuration.masterKeyFile = masterKeyFile
        configuration.helloTimeout = .seconds(60)
        configuration.transport.handshakeDeadline = .seconds(60)
        change(&configuration)
        let server = try await Server.start(configuration)
        let site = KeySite(port: server.addresses[0].port, token: token, directory: directory.path)
        do {
            let value = try await body(site)
            await server.stop(patience: .seconds(5))
            return value
        } catch {
            await server.stop(patience: .zero)
            throw error
        }
    }

    @discardableResult
    func withServer<Value>(_ body: (KeySite) async throws -> Value) async throws -> Value {
        try await withServer(masterKeyFile: masterKeyFile, body)
    }

    /// Changes what is stored.
    func change(_ statement: String) throws {
        try PostgresAdministration.execute([statement], url: databaseURL)
    }

    /// The first column of what a query finds.
    func texts(_ query: String) async throws -> [String] {
        let pool = try PostgresPool(url: databaseURL, connections: 1, loop: loop, applicationName: "test")
        return try await running {
            try await pool.execute([Statement(.read, "test", query, [])()])[0].map { row in
                try row.string(ifPresent: 0) ?? ""
            }
        } finally: {
            await pool.stop()
        }
    }

    /// Of all zones in all their lives, in hexadecimal digits, oldest first.
    func zoneKeyIDs() async throws -> [String] {
        try await texts("SELECT encode(id, 'hex') FROM zone_key ORDER BY number")
    }

    /// With which keys the values of the records of that name are encrypted.
    func sealingKeyIDs(of recordName: String) async throws -> [String] {
        let stored = try await texts("SELECT encode(fields, 'hex') FROM record WHERE name = '\(recordName)'")
        return try stored.flatMap { text in
            let fields = try FieldMap(validating: Hex.decode(text) ?? [])
            return (fields.sealingKeyIDs ?? []).map { Hex.encode($0) }
        }
    }

    /// Every value of every table as text, bytes as hexadecimal digits.
    func everything() async throws -> String {
        let tables = try await texts(
            "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'")
        var text = ""
        for table in tables { text += try await texts("SELECT t::text FROM \"\(table)\" t").joined(separator: "\n") }
        return text
    }
}

/// A server as devices with keys of their own know it.
struct KeySite: Sendable {
    let port: UInt16
    let token: String
    let directory: String

    /// - Parameter keyFile: where the device keeps keys; each name is a device of its own.
    func makeContainer(
        _ keyFile: String = "device", requiresEndToEnd: Bool = false, allowsEscrowed: Bool = false
    ) -> CKContainer {
        CKContainer(context: context(keyFile, requiresEndToEnd, allowsEscrowed))
    }

    private func context(_ keyFile: String, _ requiresEndToEnd: Bool, _ allowsEscrowed: Bool) -> CloudContext {
        var configuration = TidemarkConfiguration(
            url: URL(string: "ws://127.0.0.1:\(port)"), token: token,
            defaultContainerIdentifier: KeyWorld.container,
            keyFile: URL(fileURLWithPath: "\(directory)/\(keyFile).json"),
            requiresEndToEndEncryption: requiresEndToEnd)
        configuration.allowsEscrowedParticipants = allowsEscrowed
        return CloudContext(containerIdentifier: KeyWorld.container, configuration: configuration)
    }
}
